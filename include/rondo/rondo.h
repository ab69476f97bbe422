/* Rondo's C interface, the part that compiles: cells from text, plans chosen by database, by model or by
 * tuning, training, tuning databases. It is in librondo, with all of launch.h and package.h, whose rules on
 * errors, handles and versions hold here too. C11 and C++17. */
#ifndef RONDO_RONDO_H
#define RONDO_RONDO_H

#include <rondo/launch.h>
#include <rondo/package.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Cells ---- */

typedef struct rondo_cell rondo_cell;
typedef struct rondo_diagnostics rondo_diagnostics;

typedef struct rondo_cell_options {
  size_t struct_size;
  const char* text;  /* of a cell file; NULL: `path` is read */
  size_t text_bytes; /* of `text`; 0: it ends at its first NUL */
  /* A file, or the name of a cell that is shipped with Rondo ("lstm"); with `text` only what messages call
   * it. */
  const char* path;
  const char* name;    /* which cell of the file; NULL: its only one */
  double clip_forward; /* bounds of the recurrent path; 0: none */
  double clip_gradient;
  /* Forms of the sequence (docs/forms.md), 1 or 0: plans of the cell take a tensor of
   * RONDO_ROLE_RESETS or of RONDO_ROLE_LENGTHS more. */
  int32_t resets;
  int32_t lengths;
  int32_t reversed; /* 1: from the last step to the first */
  /* 1, with resets: each state NAME of the cell has another one beside it, NAME_reset, which no step changes:
   * its RONDO_ROLE_INITIAL_STATE is what NAME is reset to. */
  int32_t reset_states;
  /* Names of parameters that are not given: they count as zero, plans have no tensor of them and no gradient,
   * and all is as if the text were without them. Biases alone, which are only added wherever they stand: else
   * INPUT. */
  const char* const* without;
  size_t without_count;
  /* A form, too. 1: the first half of the heads walks from the first step to the last, the second half from
   * the last to the first; H is even. Not with `reversed`. */
  int32_t directions;
  /* A form, too. 1: the tangent cell. Beside each input, parameter, state and output NAME stands another one,
   * NAME_tangent: a forward pass takes a direction and gives the derivative of its results along it. Its
   * backward pass with gradients of the tangents of results alone gives a vector times the second derivative,
   * at the gradients of NAME. Inputs and parameters without a derivative, such as the seed of draws, have
   * none. Not with `clip_gradient`. */
  int32_t tangents;
} rondo_cell_options;

/* A cell is immutable. Errors: INPUT (the text has errors: the message shows all of them, and so does
 * `diagnostics`, if it is not NULL, one by one), MISSING (no such file). `*diagnostics` is NULL where there
 * are none; the caller destroys it. */
RONDO_MUST_USE RONDO_API rondo_status rondo_cell_create(const rondo_cell_options* options, rondo_cell** cell,
                                                        rondo_diagnostics** diagnostics);
RONDO_API rondo_status rondo_cell_destroy(rondo_cell* cell);

typedef struct rondo_diagnostic {
  size_t struct_size;
  int32_t line, column, length; /* of the text, from 1; columns count characters */
  int32_t reserved;
  const char* message;
  const char* help;     /* "" where there is none */
  const char* rendered; /* all of it for people, with the line and a caret */
} rondo_diagnostic;

RONDO_MUST_USE RONDO_API rondo_status rondo_diagnostics_count(const rondo_diagnostics* diagnostics,
                                                              int32_t* count);
/* The strings belong to the list. */
RONDO_MUST_USE RONDO_API rondo_status rondo_diagnostics_get(const rondo_diagnostics* diagnostics,
                                                            int32_t index, rondo_diagnostic* diagnostic);
RONDO_API rondo_status rondo_diagnostics_destroy(rondo_diagnostics* diagnostics);

typedef struct rondo_cell_info {
  size_t struct_size;
  const char* name;
  const char* hash;      /* of the canonical form: equal for texts that mean the same */
  const char* dimension; /* the cell's name of D */
  const char* structure; /* for people: how the next states depend on the previous ones */
  int32_t tensors;       /* inputs, parameters, states, outputs and those of forms */
  int32_t constants;
  int32_t state_rows;
  int32_t all_diagonal;               /* 1: each channel is on its own */
  int32_t affine;                     /* 1: and linear in the state */
  int32_t has_matrix;                 /* 1: some product of a matrix with a vector */
  int32_t has_reduction;              /* 1: some reduction over the head */
  int32_t saves_products;             /* 1: training may save products (RONDO_SAVE_PRODUCTS) */
  double clip_forward, clip_gradient; /* 0: none */
  int32_t resets, lengths, reversed;  /* 1: the cell has the form */
  int32_t reset_states;
  int32_t draws;      /* 1: it draws random numbers, which depend on the number of the step within a launch */
  int32_t directions; /* 1: the cell has the form */
  int32_t tangents;
  int32_t reserved;
} rondo_cell_info;

/* The strings belong to the cell. */
RONDO_MUST_USE RONDO_API rondo_status rondo_cell_get_info(const rondo_cell* cell, rondo_cell_info* info);
/* The step as a graph, or with `backward` = 1 its backward step: an SVG document in UTF-8 with colours of its
 * own, as notebooks show it. The text belongs to the cell, and is made at the first call. *svg is NULL after
 * an error. Fails with RONDO_ERROR_UNSUPPORTED where there are too many values for a picture. */
RONDO_MUST_USE RONDO_API rondo_status rondo_cell_get_picture(const rondo_cell* cell, int32_t backward,
                                                             const char** svg);

enum {
  RONDO_KIND_INPUT = 0,
  RONDO_KIND_PARAM = 1,
  RONDO_KIND_STATE = 2,
  RONDO_KIND_OUTPUT = 3,
  RONDO_KIND_RESET = 4, /* these two are of forms */
  RONDO_KIND_LENGTH = 5
};
enum { RONDO_TAIL_SCALAR = 0, RONDO_TAIL_VECTOR = 1, RONDO_TAIL_MATRIX = 2 };

typedef struct rondo_cell_tensor {
  size_t struct_size;
  const char* name; /* as declared; it belongs to the cell */
  int32_t kind;     /* RONDO_KIND_ */
  int32_t tail;     /* RONDO_TAIL_: x[4], x[4, D], x[4, D, D] */
  int32_t rows;     /* product of the leading extents */
  int32_t line;     /* of the declaration */
} rondo_cell_tensor;
RONDO_MUST_USE RONDO_API rondo_status rondo_cell_get_tensor(const rondo_cell* cell, int32_t index,
                                                            rondo_cell_tensor* tensor);

typedef struct rondo_constant {
  const char* name;
  double value;
} rondo_constant;
/* A constant of the cell and its default. The name belongs to the cell. What a later version adds to the
 * struct, this call does not write. */
RONDO_MUST_USE RONDO_API rondo_status rondo_cell_get_constant(const rondo_cell* cell, int32_t index,
                                                              rondo_constant* constant);

/* ---- Tuning databases ---- */

typedef struct rondo_database rondo_database;

typedef struct rondo_database_options {
  size_t struct_size;
  const char* path;  /* NULL: the user's own, that of the `rondo` command */
  int32_t read_only; /* 0: it is made where there is none; 1: MISSING then, and nothing is written: kernels
                        are compiled and verified anew in each process */
  int32_t reserved;
} rondo_database_options;

/* Any number of processes and threads may use one file. The program does not open it in any other way
 * meanwhile: closing it would drop the locks of this process (this library's calls refuse to). Errors: INPUT,
 * MISSING, DATABASE. */
RONDO_MUST_USE RONDO_API rondo_status rondo_database_open(const rondo_database_options* options,
                                                          rondo_database** database);
/* The last handle of a file moves its log, PATH-wal, into the file: who copies a database before copies both.
 */
RONDO_API rondo_status rondo_database_destroy(rondo_database* database);

typedef struct rondo_record {
  size_t struct_size;
  const char* cell; /* its name */
  const char* cell_hash;
  const char* device;     /* "h200" */
  const char* arch;       /* "sm_90" */
  const char* type;       /* "bf16" */
  const char* math;       /* "fast" */
  const char* pass;       /* "fw" */
  const char* strategy;   /* of the best; "" where there is none yet */
  const char* parameters; /* a JSON object */
  int64_t batch, time, heads, dim;
  int64_t trials;
  double best_ms; /* 0: there is none yet */
} rondo_record;

/* Called for each problem; the strings are valid during the call. Not 0: no more of them. */
typedef int32_t (*rondo_record_function)(void* user, const rondo_record* record);
RONDO_MUST_USE RONDO_API rondo_status rondo_database_list(rondo_database* database,
                                                          rondo_record_function each, void* user);

typedef struct rondo_merge_report {
  size_t struct_size;
  int64_t devices, cells, problems, trials, kernels; /* added or renewed */
  int64_t known_trials;                              /* were there already */
  int64_t best;                                      /* problems whose best changed */
} rondo_merge_report;

/* Adds what a JSON file of `rondo db export` holds, or another database. What comes in counts as recorded
 * elsewhere: it is verified before it is called tuned. It is done whole or not at all. `report` may be NULL.
 * Kernels stay behind: a stored kernel is a program of whoever made the file. (`rondo db merge
 * --with-kernels` takes them; they serve only once a trial process verified them on this machine.) */
RONDO_MUST_USE RONDO_API rondo_status rondo_database_import(rondo_database* database, const char* path,
                                                            rondo_merge_report* report);
RONDO_MUST_USE RONDO_API rondo_status rondo_database_merge(rondo_database* database, const char* path,
                                                           rondo_merge_report* report);

/* ---- Plans ---- */

enum {
  RONDO_PASS_FORWARD = 0,
  RONDO_PASS_FORWARD_SAVE = 1,
  RONDO_PASS_BACKWARD = 2,
  /* Of a plan: saves again what RONDO_PASS_FORWARD_SAVE saved, of its outputs. An output that is a state is
   * an input of this pass, by its name in the cell, and has the value of the step before each step.
   * UNSUPPORTED where outputs hold no state, or all that is saved, and where it is no faster than the forward
   * pass, unless rondo_plan_options.strategy is given. */
  RONDO_PASS_AGAIN = 3
};
/* Default: fast for 16-bit types, accurate for fp32. */
enum { RONDO_MATH_DEFAULT = 0, RONDO_MATH_FAST = 1, RONDO_MATH_ACCURATE = 2, RONDO_MATH_TF32 = 3 };
/* What a forward pass saves for the backward pass. Auto, of training alone: what takes less time in sum. */
enum { RONDO_SAVE_STATES = 0, RONDO_SAVE_PRODUCTS = 1, RONDO_SAVE_AUTO = 2 };

typedef struct rondo_problem {
  size_t struct_size;
  int64_t batch, time; /* B and T to choose for, below 2^31, 0 as 1; those of a call are free */
  int64_t heads, dim;  /* H and D, which are compiled in */
  int32_t type;        /* RONDO_TYPE_ of inputs and outputs: F32, BF16 or F16. F64, in a context of
                          the CPU: all tensors but those of forms are fp64, and so is all that is
                          computed; on a GPU UNSUPPORTED */
  int32_t math;        /* RONDO_MATH_ */
  int32_t pass;        /* RONDO_PASS_ */
  int32_t save;        /* RONDO_SAVE_ */
  const rondo_constant* constants; /* those of the cell that are to have other values */
  size_t constant_count;
  size_t constant_size; /* sizeof(rondo_constant) of the program; 0: a name and a value */
  /* Of training, with RONDO_SAVE_STATES: it runs in parts of so many steps (rondo_training_forward_part),
   * which its plans are chosen for. Where `time` has more than two of them states may be made again of
   * outputs, which takes a plan more. 0: in one piece. */
  int64_t every;
} rondo_problem;

enum {
  /* What is recorded in the database or shipped with Rondo for this problem or one like it, else the model's
   * choice. Nothing is shipped to who gives no database: its verification could not be kept. */
  RONDO_CHOOSE_DEFAULT = 0,
  RONDO_CHOOSE_RECORDED = 1, /* the same, and MISSING where nothing is recorded */
  RONDO_CHOOSE_MODEL = 2,    /* the model's choice; the database keeps its kernels */
  RONDO_CHOOSE_TUNE = 3      /* measured now */
};

typedef struct rondo_progress {
  size_t struct_size;
  const char* phase;    /* "search", "confirm", "done" */
  const char* best;     /* "stream channels=64 ..."; "" where there is none yet */
  int64_t tried, total; /* candidates */
  double best_ms;       /* 0: there is none yet */
  double seconds_left;
} rondo_progress;
/* Called on the thread that tunes; the strings are valid during the call. Not 0: stop tuning. It must not
 * throw. */
typedef int32_t (*rondo_progress_function)(void* user, const rondo_progress* progress);

enum {
  /* Of what is recorded or shipped and was not verified on this machine: it is verified now; */
  RONDO_PROOF_NOW = 0,
  RONDO_PROOF_REQUIRED = 1, /* it is refused (MISSING), and so is the model's choice; */
  /* it is used, and rondo_plan_info.verified is 0. A call with RONDO_PROOF_NOW, on a thread of its own say,
   * verifies it, and makes another plan where it is wrong. Code of others is verified all the same, in a
   * process of its own. */
  RONDO_PROOF_LATER = 2
};

/* An array of the program's own, which stands for random numbers where a kernel is compared or timed: of an
 * input, a parameter, or a state (what it begins with), by the tensor's name, in the shape that a run takes:
 * [B, T, H, rows..., D], [H, rows..., D], [B, H, rows..., D], rows as the cell declares them. */
typedef struct rondo_array {
  const char* name;
  const float* values; /* in C order; read during the call, and not changed */
  const int64_t* shape;
  int32_t rank;
  int32_t reserved;
} rondo_array;

typedef struct rondo_plan_options {
  size_t struct_size;
  int32_t choose;           /* RONDO_CHOOSE_ */
  int32_t strict;           /* RONDO_PROOF_ */
  rondo_database* database; /* NULL: none. It keeps kernels and, where it is tuned, trials */
  int32_t alignment;        /* bytes to which addresses and strides will be aligned: 2, 4, 8, 16; 0: 16 */
  int32_t workers;          /* compiler processes of tuning; 0: as many as there are cores but one */
  double budget_s;          /* of tuning, seconds; 0: 60. At most 60 more until the first kernel is found */
  rondo_progress_function progress;
  void* progress_user;
  const char* strategy;   /* NULL: any */
  const char* parameters; /* "channels=64 steps=32": those that must have these values; NULL: none */
  const char* lock; /* a file of `rondo db lock`: the choice is what it pins for this problem, or for one
                     * of other B, T or device; MISSING where that is nothing. Neither the model nor a tune
                     * chooses then, and no strategy or parameters may be given. It counts as verified where
                     * the database knows that it is. NULL: none */
  const rondo_array* data; /* for cells that random numbers take out of their domain: what plans are verified
                            * and tuned with. What no array gives stays random. H and D are the problem's, B
                            * and T may be others: rows and steps are repeated. INPUT where the cell
                            * has no such tensor, or an array has another shape or numbers outside of the
                            * tensor's range. NULL: all is random */
  size_t data_count;
  size_t data_size; /* sizeof(rondo_array) of the program; 0: that of this version */
  /* Bytes of workspace that the plan may need, each one of training, for the problem's B and T; 0: any. Where
   * it needs more, UNSUPPORTED says how much, and how many steps fit: docs/c-api.md (Parts of time). */
  int64_t most_workspace;
  /* Of training with RONDO_SAVE_AUTO: bytes that a step may need beside its tensors, saved and the larger
   * workspace, for the problem's B and T; 0: any. Of the ways to save that fit the fastest is taken, parts of
   * time among them (rondo_training_info.every). Where none fits, UNSUPPORTED says how much the least needs.
   * RONDO_CHOOSE_TUNE tunes the way that the model or what is recorded finds. */
  int64_t most_memory;
} rondo_plan_options;

/* The plan of a problem in a context. In one of the CPU it is a kernel ("host") where LLVM is installed;
 * where it is not, for what no kernel computes, and for the strategy "reference", it is the reference, in
 * fp64, and the context's log says why. The strategy "host", parameters, a lock and RONDO_CHOOSE_RECORDED ask
 * for a kernel: where there is none they are errors. A kernel is compiled, if the database does not hold it,
 * and a recorded one that was not verified on this machine is verified. Tuning compiles and tries kernels in
 * processes of the `rondo` program that is installed with the library, or that RONDO_WORKER names; where
 * there is none, in this process. `options` may be NULL. Errors: INPUT, UNSUPPORTED (no strategy computes
 * it), MISSING (nothing recorded, no compiler), COMPILE, DEVICE, WRONG (all that was tried is), CANCELLED (by
 * the callback). */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_create(rondo_context* context, const rondo_cell* cell,
                                                        const rondo_problem* problem,
                                                        const rondo_plan_options* options, rondo_plan** plan);

/* An outline: what rondo_plan_create() would choose now, without compiling, verifying, loading or running
 * anything. It takes a fraction of a second, and needs neither a compiler nor a free GPU. It is asked as a
 * plan is, for its info (origin, strategy, expected_ms; `verified` says whether the proof is there), tensors,
 * bytes and workspace, and launches nothing (UNSUPPORTED). Where what is recorded is then found wrong, or its
 * code does not fit, a plan is another one. `strict` is not read; RONDO_CHOOSE_TUNE is INPUT.
 *
 * `context` NULL: of no choice. Its tensors are those that plans of the problem may have on any device, in
 * name, shape, type and role: a plan has no others, may leave out those of them that it does not read, and
 * may require more. It has no workspace (UNSUPPORTED). `options` are checked and not used.
 *
 * Errors: INPUT, UNSUPPORTED, MISSING (nothing recorded). */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_outline(rondo_context* context, const rondo_cell* cell,
                                                         const rondo_problem* problem,
                                                         const rondo_plan_options* options,
                                                         rondo_plan** plan);

/* ---- Training ---- */

typedef struct rondo_training rondo_training;

/* The forward pass that saves and the backward pass that reads what was saved, chosen together. problem->pass
 * is not read; with RONDO_SAVE_AUTO what is saved is chosen as well, and tuning divides its budget: by times
 * that were measured for this problem, or by the model's where not all were. Errors: those of
 * rondo_plan_create(). */
RONDO_MUST_USE RONDO_API rondo_status rondo_training_create(rondo_context* context, const rondo_cell* cell,
                                                            const rondo_problem* problem,
                                                            const rondo_plan_options* options,
                                                            rondo_training** training);
/* Both as outlines (rondo_plan_outline), with what is saved. Without a context the workspaces count as 0, and
 * RONDO_SAVE_AUTO is INPUT. */
RONDO_MUST_USE RONDO_API rondo_status rondo_training_outline(rondo_context* context, const rondo_cell* cell,
                                                             const rondo_problem* problem,
                                                             const rondo_plan_options* options,
                                                             rondo_training** training);
RONDO_API rondo_status rondo_training_destroy(rondo_training* training);

typedef struct rondo_training_info {
  size_t struct_size;
  int32_t save;   /* RONDO_SAVE_STATES or RONDO_SAVE_PRODUCTS: what was chosen */
  int32_t shared; /* how many tensors both passes have */
  int64_t every;  /* steps of a part of time, as asked for or chosen; 0: one piece */
} rondo_training_info;
RONDO_MUST_USE RONDO_API rondo_status rondo_training_get_info(const rondo_training* training,
                                                              rondo_training_info* info);

/* RONDO_PASS_FORWARD_SAVE or RONDO_PASS_BACKWARD: a plan to launch, which the caller destroys. */
RONDO_MUST_USE RONDO_API rondo_status rondo_training_get_plan(const rondo_training* training, int32_t pass,
                                                              rondo_plan** plan);

typedef struct rondo_shared_tensor {
  size_t struct_size;
  const char* name; /* it belongs to the training object */
  int32_t forward;  /* its index in the forward plan, */
  int32_t backward; /* and in the backward plan */
  int32_t saved;    /* 1: the forward pass writes it; 0: both read it */
  int32_t role;     /* RONDO_ROLE_ */
} rondo_shared_tensor;
RONDO_MUST_USE RONDO_API rondo_status rondo_training_get_shared(const rondo_training* training, int32_t index,
                                                                rondo_shared_tensor* tensor);

typedef struct rondo_training_sizes {
  size_t struct_size;
  int64_t
      saved_bytes; /* of histories and products, which nobody else wants; in parts of the memory `saved` */
  int64_t forward_workspace_bytes, backward_workspace_bytes; /* in parts those of a part */
  int64_t parts;                                             /* 1 in one piece */
} rondo_training_sizes;
/* For B batch rows of T steps. */
RONDO_MUST_USE RONDO_API rondo_status rondo_training_get_sizes(const rondo_training* training, int64_t batch,
                                                               int64_t time, rondo_training_sizes* sizes);

/* ---- Training in parts of time ---- */

/* With rondo_problem.every = K only the states between parts of K steps are kept, and the backward pass makes
 * the others again, part by part, for one forward pass more of all parts but the last: docs/c-api.md (Parts
 * of time). A cell that draws random numbers, or walks both ways, is UNSUPPORTED. */
typedef struct rondo_training_part {
  size_t struct_size;
  int64_t begin, steps; /* its steps of all T: [begin, begin + steps) */
} rondo_training_part;
/* Of T steps part `part`, from 0, in the order in which the recurrence walks them: a reversed cell begins
 * with the last steps. All parts have K steps but for the last one. Error INPUT: there is no such part. */
RONDO_MUST_USE RONDO_API rondo_status rondo_training_get_part(const rondo_training* training, int64_t time,
                                                              int64_t part, rondo_training_part* info);

/* Starts the forward pass of part `part`. `forward` is what rondo_launch() of the forward plan takes for all
 * B and T, but for what is saved, which lies in `saved`; its workspace is that of a part. Outputs of the
 * part's steps are written, with the last part also the last states. `lengths`, of a cell that has them, are
 * those of the part: what is left of each row before it, and no more than the part has. `saved` has
 * rondo_training_sizes.saved_bytes, aligned to 256 bytes, on the plan's device, and stays the same from the
 * first part forwards to the first part backwards. The calls come in the order of the parts, on one stream;
 * otherwise as rondo_launch(). Errors: those of rondo_launch(); INPUT (training in one piece, no such part,
 * `saved` too small or not aligned). */
RONDO_MUST_USE RONDO_API rondo_status rondo_training_forward_part(const rondo_training* training,
                                                                  int64_t part,
                                                                  const rondo_launch_args* forward,
                                                                  void* saved, int64_t saved_bytes);
/* Starts the backward pass of part `part`, before which what it reads of each part but the last is made
 * again: by the forward pass, which writes the part's outputs again, or of the outputs, where that is faster.
 * So outputs stay as the forward pass left them. `forward` is as above, and `backward` what rondo_launch() of
 * the backward plan takes for the same B, T and stream, but for what is saved; both may have one workspace.
 * The calls come after the forward pass of all parts, from the last part to the first. Gradients of inputs
 * are those of the part's steps, with part 0 come those of initial states. Gradients of parameters are those
 * of the part: the caller adds them up. Where `backward` is refused, the forward pass may have started.
 * Errors as those of the forward pass. */
RONDO_MUST_USE RONDO_API rondo_status rondo_training_backward_part(const rondo_training* training,
                                                                   int64_t part,
                                                                   const rondo_launch_args* forward,
                                                                   const rondo_launch_args* backward,
                                                                   void* saved, int64_t saved_bytes);

#ifdef __cplusplus
}
#endif

#endif
