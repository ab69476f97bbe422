#include "tools/rondo/options/groups.h"

#include <fmt/format.h>

namespace rondo::tools {

void add_changes(CLI::App& app, Options& o) {
  app.add_option("--const", o.constants, "override a constant of the cell: name=value")
      ->type_name("NAME=VALUE");
  app.add_option("--clip-forward", o.clip_forward, "clamp what the recurrence carries to [-c, c]")
      ->type_name("C");
  app.add_option("--clip-gradient", o.clip_gradient, "clamp the gradient through the recurrence to [-g, g]")
      ->type_name("G");
}

void add_cell(CLI::App& app, Options& o, bool required) {
  app.add_option("cell", o.cell, "path of a .cell file, or the name of a shipped cell")->required(required);
  app.add_option("--cell", o.cell_name, "which cell of a file with several");
  add_changes(app, o);
}

void add_forms(CLI::App& app, Options& o) {
  app.add_option(
         "--forms", o.forms,
         "forms of the sequence, with commas: resets and lengths, for each of which the cell takes a "
         "tensor more, reset_states, for which it takes one a state, reversed or directions, and tangents, "
         "for which it takes one beside each")
      ->type_name("LIST");
}

void add_problem(CLI::App& app, Options& o, bool several_passes) {
  app.add_option("--shape", o.shape, "batch, time, heads, channels a head")->capture_default_str();
  app.add_option("--dtype", o.dtype, "bf16, fp16 or fp32; on CPUs also fp64")->capture_default_str();
  app.add_option("--math", o.math, "fast or accurate, with fp32 also tf32; default: fast for 16-bit types");
  app.add_option("--pass", o.pass, several_passes ? "fw, fws, bw, or a list: fw,bw" : "fw, fws or bw")
      ->capture_default_str();
}

void add_save(CLI::App& app, Options& o, const char* more) {
  app.add_option("--save", o.save,
                 std::string("what forward (training), fws, leaves for bw: states, or products too, which bw "
                             "then need not multiply "
                             "again (cells with matrices)") +
                     more)
      ->capture_default_str();
}

void add_memory(CLI::App& app, Options& o) {
  app.add_option("--memory", o.memory,
                 "with --save auto: what a training step may need beside its tensors, saved and workspace: "
                 "4GB, 512MiB; of the ways to save that fit, every=K among them, the fastest is taken")
      ->type_name("SIZE");
}

void add_target(CLI::App& app, Options& o) {
  app.add_option("--arch", o.arch,
                 "auto (the GPU here, else sm_90), cpu (this machine's CPUs), sm_80 ..., x86-64-v3 ..., or a "
                 "board: h100")
      ->capture_default_str();
  app.add_flag("--no-gpu", o.no_gpu, "as if there were no GPU");
}

void add_database(CLI::App& app, Options& o) {
  app.add_option("--db", o.database,
                 "tuning database; default: $RONDO_DB, else tuning.db in the user's data folder")
      ->type_name("FILE");
  app.add_flag("--no-db", o.no_database, "use none, nor what is shipped");
}

void add_kernel(CLI::App& app, Options& o) {
  app.add_option("--strategy", o.strategy,
                 "take this strategy; default: the database's or the model's choice");
  app.add_option("--param", o.parameters, "fix a tuning parameter: channels=96, exchange=global")
      ->type_name("NAME=VALUE");
}

void add_backend(CLI::App& app, Options& o) {
  app.add_option("--backend", o.backend,
                 "what compiles kernels: nvrtc, llvm, or auto: what the record of a tuned choice names, else "
                 "the first that is installed")
      ->envname("RONDO_BACKEND")
      ->capture_default_str();
}

void add_strict(CLI::App& app, Options& o) {
  app.add_flag(
      "--strict", o.strict,
      "refuse a kernel that was not verified on this machine with this version and driver; without it, one "
      "that is recorded is verified on first use");
}

void add_lock(CLI::App& app, Options& o) {
  app.add_option("--lock", o.lock, "take every choice from this file, which `rondo db lock` wrote, or fail")
      ->type_name("FILE");
}

void add_json(CLI::App& app, Options& o) {
  app.add_flag("--json", o.json, "results as JSON on standard output");
}

void add_output(CLI::App& app, Options& o, const std::string& what) {
  app.add_option("-o,--output", o.output, what + "; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
}

void add_arrays(CLI::App& app, Options& o, const std::string& state) {
  app.add_option("--input", o.inputs, "input array: x=x.npy, [B, T, H, ..., D]")->type_name("NAME=FILE");
  app.add_option("--param-file", o.param_files, "parameter array: b=b.npy, [H, ..., D]")
      ->type_name("NAME=FILE");
  app.add_option("--state", o.states, "initial state: h=h0.npy, [B, H, ..., D]; " + state)
      ->type_name("NAME=FILE");
}

void add_own_data(CLI::App& app, Options& o) {
  add_arrays(app, o, "what no file gives is random, and B, T, H, D and dtype are those of the files");
}

}  // namespace rondo::tools
