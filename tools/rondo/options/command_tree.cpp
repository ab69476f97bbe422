// The options of every command, and which fields they fill.
#include "tools/rondo/options/options.h"

#include <fmt/format.h>

#include "compiler/pipeline/passes.h"
#include "tools/rondo/options/command_tree.h"
#include "tools/rondo/options/groups.h"

namespace rondo::tools {
namespace {

void check_options(CLI::App& app, Options& o) {
  add_cell(app, o);
  add_forms(app, o);
  add_problem(app, o, false);
  add_save(app, o);
  add_target(app, o);
  add_kernel(app, o);
  app.get_option("--arch")->description(
      "as for the other commands, or all: every board in the table of what fits");
  add_json(app, o);
}

void emit_options(CLI::App& app, Options& o) {
  add_cell(app, o);
  add_forms(app, o);
  std::string stages;
  for (const pipeline::StageInfo& stage : pipeline::kStages)
    stages += fmt::format("{}{}", stages.empty() ? "" : ", ", stage.text);
  app.add_option("--stage", o.stage, stages)->capture_default_str();
  app.add_option("--print-after", o.print_after,
                 "instead of the stage, what this pass made on the way to it, or all passes")
      ->type_name("PASS");
  app.add_flag("--time-passes", o.time_passes, "a table of what each pass took, on standard error");
  add_problem(app, o, false);
  add_save(app, o);
  add_target(app, o);
  add_kernel(app, o);
  add_database(app, o);
  add_lock(app, o);
  add_output(app, o, "write there, whole or not at all");
  add_json(app, o);
}

void tune_options(CLI::App& app, Options& o) {
  add_cell(app, o, false);
  app.add_option(
         "--list", o.list,
         "in place of a cell all problems of this JSON file, of which packages are built too; those that "
         "the database holds as tuned are skipped")
      ->type_name("FILE");
  app.add_option(
         "--shard", o.shard,
         "part I of N of the list, in a database of its own; default: what SLURM, torchrun or Kubernetes "
         "say, else the whole")
      ->type_name("I/N");
  app.add_option("--gpus", o.gpus, "with --list: all, or numbers: 0,2; default: the first")
      ->type_name("LIST");
  app.add_option("--side", o.side, "with --list: problems side by side on each GPU")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  add_forms(app, o);
  add_problem(app, o, true);
  add_own_data(app, o);
  add_save(app, o, "; auto: both passes both ways, and which is faster");
  add_memory(app, o);
  add_target(app, o);
  add_backend(app, o);
  add_database(app, o);
  app.add_option("--budget", o.budget, "time for each pass: 60s, 5m, 1h")->capture_default_str();
  app.add_option("--strategy", o.strategy, "search this strategy only; default: all that are legal");
  app.add_option("--workers", o.workers, "compiler processes; 0: as many as the cores allow")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option(
         "--trial-limit", o.trial_limit,
         "time for each run of a kernel, after which its process is killed; 0s: none, in this process")
      ->capture_default_str();
  app.add_flag("--exhaustive", o.exhaustive, "try every configuration, however long it takes");
  app.add_flag("--again", o.again, "the winner replaces what the database holds, whatever that claims");
  app.add_option("--seed", o.seed, "of test data; 0: a fresh one")->capture_default_str();
  add_json(app, o);
}

void run_options(CLI::App& app, Options& o) {
  add_cell(app, o);
  add_arrays(app, o, "default: what the cell says, mostly zero");
  app.add_option("--resets", o.resets,
                 "bytes or truth values [B, T]: states begin anew before a step where they are set")
      ->type_name("FILE");
  app.add_option("--reset-state", o.reset_states,
                 "what a state is reset to: h=h1.npy, [B, H, ..., D]; default: zero")
      ->type_name("NAME=FILE");
  app.add_option("--lengths", o.lengths, "integers [B]: steps that each row has")->type_name("FILE");
  app.add_flag("--reversed", o.reversed,
               "from the last step to the first; outputs stay in the order of time");
  app.add_flag("--directions", o.directions,
               "the first half of the heads from the first step to the last, the second half back");
  app.add_flag("--tangents", o.tangents,
               "beside each tensor NAME another one, NAME_tangent: how results change along a direction");
  app.add_option("--out", o.outs, "write an output: h=h.npy, [B, T, H, ..., D]")->type_name("NAME=FILE");
  app.add_option("--last", o.lasts, "write a last state: h=last.npy, [B, H, ..., D]")->type_name("NAME=FILE");
  app.add_option("--grad", o.grads,
                 "write the gradient of an input, a parameter or an initial state: x=gx.npy, shaped as it is")
      ->type_name("NAME=FILE");
  app.add_option(
         "--loss", o.losses,
         "weights of an output in the loss that is differentiated: h=wh.npy, [B, T, H, ..., D]; default: 1 "
         "for all outputs, or where other weights are given, none")
      ->type_name("NAME=FILE");
  app.add_option("--loss-last", o.last_losses,
                 "weights of a last state in that loss: h=w.npy, [B, H, ..., D]")
      ->type_name("NAME=FILE");
  add_save(app, o, kEvery);
  add_memory(app, o);
  app.add_option("--seed", o.draw_seed, "of the cell's draws; default: 0");
  app.add_option("--shape", o.shape, "only where the arrays do not tell the sizes");
  app.add_option("--dtype", o.dtype, "storage type; default: that of the inputs");
  app.add_option("--math", o.math, "fast or accurate, with fp32 also tf32; default: fast for 16-bit types");
  app.add_flag("--reference", o.reference, "on the CPU, by the reference executor");
  add_target(app, o);
  add_backend(app, o);
  add_database(app, o);
  add_lock(app, o);
  add_strict(app, o);
  add_json(app, o);
}

void data_options(CLI::App& app, Options& o) {
  add_cell(app, o);
  add_forms(app, o);
  app.add_option("--shape", o.shape, "batch, time, heads, channels a head")->required();
  app.add_option("--dtype", o.dtype, "what inputs are rounded to: fp32, bf16, fp16 or fp64; default: fp32");
  app.add_option("-o,--output", o.folder, "folder for the files, which is made where it is missing")
      ->type_name("FOLDER")
      ->capture_default_str();
  app.add_flag("--force", o.force, "replace files that are there");
  app.add_option("--seed", o.seed, "of the numbers; 0: a fresh one")->capture_default_str();
  add_json(app, o);
}

void verify_options(CLI::App& app, Options& o) {
  add_cell(app, o);
  add_forms(app, o);
  add_problem(app, o, true);
  add_own_data(app, o);
  add_save(app, o, kEvery);
  add_memory(app, o);
  add_target(app, o);
  add_backend(app, o);
  add_kernel(app, o);
  add_database(app, o);
  add_lock(app, o);
  app.add_flag("--simulate", o.simulate, "in the simulator on the CPU instead of the GPU");
  app.add_flag("--no-full-shape", o.no_full_shape,
               "leave out the comparison with a plain kernel at the whole shape");
  app.add_flag("--arbitrary-states", o.arbitrary_states,
               "initial states are random numbers, not states that the cell reaches");
  app.add_option("--seed", o.seed, "of test data; 0: a fresh one")->capture_default_str();
  app.add_flag("-v,--verbose", o.verbose, "each comparison, its limit, and the sizes that were run");
  add_json(app, o);
}

void bench_options(CLI::App& app, Options& o) {
  add_cell(app, o);
  add_forms(app, o);
  add_problem(app, o, true);
  add_own_data(app, o);
  add_save(app, o, "; auto: what training would save; every=K: times both passes in parts of K steps");
  add_memory(app, o);
  add_target(app, o);
  add_backend(app, o);
  add_kernel(app, o);
  add_database(app, o);
  add_lock(app, o);
  app.add_option("--samples", o.samples, "timings to take the median of")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--weights", o.weights, "standard deviation of the parameters, uniform numbers")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_flag("--ablate", o.ablate,
               "what a step is made of: the kernels as they are, and without one part after the other");
  add_strict(app, o);
  app.add_flag("--leave-out", o.ablate)->group("");  // the option's earlier name
  add_json(app, o);
}

void why_options(CLI::App& app, Options& o) {
  add_cell(app, o);
  add_forms(app, o);
  add_problem(app, o, false);
  add_own_data(app, o);
  add_save(app, o);
  add_target(app, o);
  add_backend(app, o);
  add_kernel(app, o);
  add_database(app, o);
  add_lock(app, o);
  app.add_flag("--by-model", o.by_model, "measure nothing, though the GPU or CPUs are here");
  app.add_option("--counters", o.counters,
                 "figures of this kernel that ncu has printed: a file (docs/why.md)");
  add_strict(app, o);
  add_json(app, o);
}

// Without a cell the page is of the whole database: what tells of a problem then has no sense.
void report_options(CLI::App& app, Options& o) {
  CLI::Option* cell = app.add_option("cell", o.cell, "the cell of one problem; default: all that is tuned");
  app.add_option("--cell", o.cell_name, "which cell of a file with several");
  add_changes(app, o);
  add_forms(app, o);
  add_problem(app, o, false);
  add_own_data(app, o);
  add_save(app, o);
  add_target(app, o);
  add_kernel(app, o);
  add_lock(app, o);
  app.add_flag("--by-model", o.by_model, "measure nothing, though the GPU or CPUs are here");
  add_strict(app, o);
  for (CLI::Option* option : app.get_options())
    if (option != cell && option != app.get_help_ptr()) option->needs(cell);
  add_backend(app, o);
  add_database(app, o);
  CLI::Option* shipped =
      app.add_flag("--shipped", o.shipped, "of what is shipped with Rondo, in place of the database");
  shipped->excludes(cell);
  app.add_option("--record", o.record, "of a record as those of benchmarks/results, in place of the database")
      ->type_name("FILE")
      ->excludes(cell)
      ->excludes(shipped);
  app.add_option("--picture", o.picture, "one picture as SVG in place of the page: roofline or floors")
      ->type_name("NAME");
  app.add_option("--peers", o.peers,
                 "times of other implementations: a record as those of benchmarks/results")
      ->type_name("FILE");
  add_output(app, o, "the page or the picture, written whole or not at all");
  add_json(app, o);
}

void add_embed(CLI::App& app, Options& o) {
  app.add_option("-o,--output", o.output, "the package, written whole or not at all")->type_name("FILE");
  app.add_option("--embed", o.embed, "the package as C source, to be compiled into a program")
      ->type_name("FILE.c");
}

void package_build_options(CLI::App& app, Options& o) {
  app.add_option("cells", o.cells, "paths of .cell files, or names of shipped cells");
  app.add_option("--cell", o.cell_name, "which cell of a file with several");
  app.add_option("--list", o.list, "problems from this JSON file, beside the cells named")->type_name("FILE");
  app.add_option("--shape", o.shapes, "batch, time, heads, channels a head; several for several shapes");
  app.add_option("--dtype", o.dtype, "bf16, fp16, fp32, or a list: bf16,fp32")->capture_default_str();
  app.add_option("--pass", o.pass, "fw, fws, bw, or a list: fw,fws,bw")->capture_default_str();
  app.add_option("--math", o.math, "fast or accurate, with fp32 also tf32; default: fast for 16-bit types");
  add_changes(app, o);
  add_forms(app, o);
  add_save(app, o);
  app.add_option("--arch", o.archs,
                 "architectures or boards that get kernels of their own; default: "
                 "sm_80,sm_86,sm_89,sm_90,sm_100,sm_120")
      ->delimiter(',');
  app.add_option("--ptx", o.base,
                 "architecture of the PTX for all later GPUs, or none; default: sm_80, and with --lock none");
  app.add_flag_callback(
      "--no-self-test", [&o] { o.self_tests = false; },
      "leave out the self-tests, which take the reference some seconds");
  app.add_option("--workers", o.workers, "threads that compile; 0: as many as there are cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  add_database(app, o);
  add_lock(app, o);
  add_embed(app, o);
  app.add_option("--depfile", o.depfile,
                 "files that it is made from, as a rule of Make, which Ninja reads too")
      ->type_name("FILE.d");
  add_json(app, o);
}

void package_file_options(CLI::App& app, Options& o, const std::string& action) {
  app.add_option("file", o.argument, "the package")->required();
  if (action == "extract") app.add_option("-o,--output", o.output, "folder for its parts")->required();
  if (action == "verify") app.add_flag("--no-gpu", o.no_gpu, "only compare hashes: run no self-tests");
  add_json(app, o);
}

void package_options(CLI::App& app, Options& o) {
  app.require_subcommand(1);
  const auto action = [&](const char* name, const char* what) {
    CLI::App* sub = app.add_subcommand(name, what);
    sub->callback([&o, name] { o.action = name; });
    return sub;
  };
  package_build_options(*action("build", "choose and compile kernels ahead of time; needs no GPU"), o);
  package_file_options(*action("list", "the kernels of a package, one a line"), o, "list");
  package_file_options(*action("show", "all that is known of them"), o, "show");
  package_file_options(*action("verify", "compare every part with its hash, and run the self-tests on a GPU"),
                       o, "verify");
  package_file_options(*action("extract", "write its parts as files"), o, "extract");
  CLI::App* merge = action("merge", "several packages as one");
  merge->add_option("files", o.files, "the packages")->required();
  add_embed(*merge, o);
  add_json(*merge, o);
}

struct ActionOptions {
  const char* name;
  const char* what;
  const char* argument;  // what it is; null: there is none
  bool needed;
};
constexpr ActionOptions kActions[] = {
    {"list", "what is tuned", "only of this cell: a name or the start of a hash", false},
    {"show", "all trials of a cell", "a cell's name or the start of its hash", true},
    {"export", "write everything as JSON, or one cell", "a cell's name or the start of its hash", false},
    {"import", "read such JSON; the faster verified best wins", "the JSON file", true},
    {"merge", "take over another database, without its kernels", "the other database", true},
    {"prune", "remove old trials and kernels", nullptr, false},
    {"check", "look for damage", nullptr, false},
    {"lock", "write the choices to pin a fleet to", "only of this cell", false},
};

void database_options(CLI::App& app, Options& o) {
  app.require_subcommand(1);
  for (const ActionOptions& action : kActions) {
    const std::string name = action.name;
    CLI::App* sub = app.add_subcommand(name, action.what);
    sub->callback([&o, name] { o.action = name; });
    if (action.argument != nullptr)
      sub->add_option("argument", o.argument, action.argument)->required(action.needed);
    add_database(*sub, o);
    add_json(*sub, o);
    if (name == "export")
      sub->add_flag("--best", o.best, "only the best of each problem, one a line: what Rondo ships");
    if (name == "export" || name == "lock") add_output(*sub, o, "write there, whole or not at all");
    if (name == "merge")
      sub->add_flag("--with-kernels", o.with_kernels,
                    "its kernels too: they are programs of whoever made that file");
    if (name == "prune")
      sub->add_option("--before", o.before, "remove trials and kernels older than this, except the best")
          ->capture_default_str();
  }
}

void calibrate_options(CLI::App& app, Options& o) {
  app.add_option("--arch", o.arch, "auto (the GPU here), or cpu (this machine's CPUs)")
      ->capture_default_str();
  add_database(app, o);
  add_output(app, o, "also write the profile there");
  add_json(app, o);
}

void doctor_options(CLI::App& app, Options& o) {
  add_database(app, o);
  add_json(app, o);
}

struct Command {
  const char* name;
  const char* what;
  void (*add)(CLI::App&, Options&);
};
constexpr Command kCommands[] = {
    {"check", "parse a cell and say what its structure allows", check_options},
    {"emit", "print a stage on the way from cell to CUDA; needs no GPU", emit_options},
    {"tune", "search the fastest correct kernel and remember it", tune_options},
    {"run", "run a cell over .npy arrays", run_options},
    {"data", "write random .npy arrays to run a cell over", data_options},
    {"verify", "compare a kernel with the reference", verify_options},
    {"bench", "time a kernel beside the copy bandwidth", bench_options},
    {"why", "say what limits a kernel, and what would change it", why_options},
    {"report", "write a page with pictures of what is tuned, or of one problem", report_options},
    {"package", "kernels ahead of time: build, list, show, verify, merge, extract", package_options},
    {"db", "list, show, export, import, merge, prune, check, lock", database_options},
    {"calibrate", "measure the profile of this GPU, or of these CPUs", calibrate_options},
    {"doctor", "say what was found on this machine and what is missing", doctor_options},
};

}  // namespace

void add_commands(CLI::App& app, Options& o) {
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.what);
    command.add(*sub, o);
    const char* name = command.name;
    sub->parse_complete_callback([&o, sub, name] {
      o.command = name;
      o.shape_given = sub->get_option_no_throw("--shape") != nullptr && sub->count("--shape") > 0;
      o.dtype_given = sub->get_option_no_throw("--dtype") != nullptr && sub->count("--dtype") > 0;
    });
  }
}

}  // namespace rondo::tools
