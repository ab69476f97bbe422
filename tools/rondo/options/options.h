// The command line as values. What the texts mean is the library's business
// (engine/request/problem_text.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rondo::tools {

struct Options {
  std::string command;  // "tune"
  bool json = false;    // results on standard output for machines

  // what is computed
  std::string cell;       // path or shipped name
  std::string cell_name;  // of a file with several
  std::string shape = "B=8,T=4096,H=1,D=1536";
  bool shape_given = false;
  std::string dtype = "bf16";
  bool dtype_given = false;
  std::string pass = "fw";
  std::string math;
  std::vector<std::string> constants;
  std::string clip_forward, clip_gradient;
  std::string forms;  // "resets,lengths"
  // states or products; run, verify, tune, bench: or auto; run, verify, bench: or every=K
  std::string save = "states";
  std::string memory;  // with auto: most bytes of a training step, "4GB"; "": any
  std::string arch = "auto";
  bool no_gpu = false;

  // which kernel
  std::string backend = "auto";
  std::string strategy;
  std::vector<std::string> parameters;

  // the database
  std::string database;
  bool no_database = false;
  std::string lock;  // a lock file, from which every choice comes; "": none

  std::string stage = "cuda";  // emit
  std::string print_after;     // emit: a pass's name, or all
  bool time_passes = false;    // emit
  std::string output = "-";    // emit, calibrate, db export and lock

  std::string budget = "60s";  // tune
  std::string shard, gpus;     // tune --list: "2/8", "all"; "": as the environment says, and the first
  int side = 1;                // tune --list: problems at a time on each GPU
  int workers = 0;
  std::string trial_limit = "30s";
  bool exhaustive = false;
  bool again = false;

  std::vector<std::string> inputs, param_files, states;  // run, verify, tune, bench, why
  std::vector<std::string> outs, lasts;                  // run
  std::vector<std::string> grads, losses, last_losses;   // run: NAME=FILE
  std::vector<std::string> reset_states;                 // run: NAME=FILE
  std::string resets, lengths;                           // run: files; "": the form is not used
  bool reversed = false, directions = false;             // run
  bool tangents = false;                                 // run
  bool reference = false;
  std::optional<std::int64_t> draw_seed;  // run
  bool strict = false;                    // run, bench, why

  std::string folder = ".";  // data
  bool force = false;        // data

  bool simulate = false, no_full_shape = false, arbitrary_states = false, verbose = false;  // verify
  unsigned seed = 0;
  int samples = 21;                      // bench
  double weights = 0.28867513459481287;  // bench: standard deviation of the parameters
  bool ablate = false;
  bool by_model = false;  // why, report
  std::string counters;   // why: a file of ncu's; "": none

  bool shipped = false;  // report: of what is shipped, not of the database
  std::string peers;     // report: a file with times of peers; "": none
  std::string record;    // report: a record of benchmarks/results in place of the database; "": none
  std::string picture;   // report: one picture in place of the page; "": the page

  std::string action;  // db, package
  std::string argument;
  std::string before = "30d";
  bool best = false;          // db export
  bool with_kernels = false;  // db merge

  std::vector<std::string> cells;   // package build
  std::vector<std::string> shapes;  // package build; shape where there is none
  std::vector<std::string> archs;
  std::string list;                 // tune, package build: a JSON file with problems
  std::optional<std::string> base;  // of the PTX, or "none"; not given: base_of() in package.cpp
  bool self_tests = true;
  std::vector<std::string> files;  // package merge
  std::string embed;               // C source that holds the package; "": none
  std::string depfile;             // what it was made from, for Make and Ninja; "": none
};

// What came of reading the command line: a command to run, or a text to print and an exit status.
struct ParsedOptions {
  Options options;
  bool done = false;  // --help, --version or a mistake: print and leave
  int status = 0;
  std::string text;  // to standard output if status is 0
  std::string hint;  // what to do about a mistake
};
ParsedOptions parse_options(int argc, char** argv);

}  // namespace rondo::tools
