// What a package is to hold, as people write it: on the command line, or in a JSON file.
//
//   {"format": "rondo-package-list", "version": 1, "arch": ["sm_80", "sm_90"],
//    "problems": [{"cell": "lstm", "shape": ["B=1,T=1,D=512", "B=16,T=1024,D=512"], "dtype": ["bf16"],
//                  "pass": "fw,fws,bw", "math": "fast", "save": "states", "const": ["alpha=0.1"],
//                  "cell_name": "", "clip_forward": "", "clip_gradient": "",
//                  "forms": ""}]}
//
// "arch" may be missing, and of a problem everything but "cell" and "shape". Lists of one may be texts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/schedule/problem/problem.h"
#include "compiler/step/step_ir.h"
#include "compiler/support/result.h"

namespace rondo::tuner {

// Problems of one cell: every shape in every type and pass.
struct PackageLine {
  std::string cell;  // path or shipped name
  std::string cell_name = {};
  std::vector<std::string> shapes = {};
  std::vector<std::string> dtypes = {"bf16"};
  std::string passes = "fw";
  std::string math = {};
  std::string save = "states";
  std::vector<std::string> constants = {};  // "name=value"
  std::string clip_forward = {}, clip_gradient = {};
  std::string forms = {};  // "resets,lengths,reversed"
  std::string place =
      {};  // where it is written, for messages: "kernels.json: problems[2]"; "" on the command line
  bool operator==(const PackageLine&) const = default;
};
struct PackageList {
  std::vector<PackageLine> lines;
  std::vector<std::string> archs;
};

// A cell that is no shipped one is a path from the folder of `origin`, the file. Errors: Input with all that
// is wrong, a line each; the first begins with `origin`, the file.
Result<PackageList> parse_package_list(const std::string& text, const std::string& origin);

// A problem to be packaged; its architecture is not yet known.
struct PackagedProblem {
  std::shared_ptr<const step::Cell> cell;  // clipped and with the forms that the line says
  schedule::Problem problem;
};
// Errors: those of loading cells and reading problems, and of a cell that does not parse its diagnostics; one
// of each line that has any, with its place. Kind and hint are those of the first.
Result<std::vector<PackagedProblem>> packaged_problems(const std::vector<PackageLine>& lines);

}  // namespace rondo::tuner
