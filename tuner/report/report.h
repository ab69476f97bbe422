// What a report tells, as plain values: `rondo report`. page.h makes a page of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/plan/strategy.h"
#include "compiler/step/derive.h"
#include "compiler/step/step_ir.h"
#include "compiler/target/profile.h"
#include "tuner/report/peers.h"
#include "tuner/why/why.h"
#include "tuning_db/exchange.h"

namespace rondo::tuner {

struct ReportedTrial {
  db::Trial trial;
  schedule::Parameters parameters;  // under the names of this version; none where they cannot be read
  std::optional<double> model_ms;
  bool best = false;
};

struct ReportedProblem {
  db::Problem problem;
  std::string cell;     // its name
  std::string machine;  // key of one of Report::machines; "" where nothing is known of its device
  std::string strategy, parameters;  // of the fastest kernel; "" where none is known
  std::optional<double> seconds;     // of it
  bool measured = false;             // these seconds; false: they are the model's
  std::optional<double> model_s;
  std::vector<Floor> floors;                  // the one that binds first
  std::vector<schedule::EstimatePart> parts;  // by model, in the order of the strategy
  std::vector<PartTime> without;              // of one problem that was measured
  std::vector<Change> changes;                // of one problem
  std::vector<ReportedTrial> trials;          // in order of recording
  std::string remark;                         // why something of this is missing; "" where nothing is
};

struct ReportedMachine {
  std::string key, name;
  double copy_bytes_per_s = 0;
  bool measured = false;  // its speeds; false: they are public figures
};

struct ReportedCell {
  step::Cell cell;  // simplified
  std::optional<step::BackwardStep> backward;
};

struct Report {
  std::string title;   // "lstm B=16,T=1024,H=1,D=768 bf16 forward"
  std::string source;  // where the problems come from, a whole sentence
  std::vector<ReportedMachine> machines;
  std::vector<ReportedProblem> problems;
  std::vector<Comparison> comparisons;
  std::vector<ReportedCell> cells;
  std::vector<std::string> remarks;  // whole sentences

  std::size_t trials() const;
};

// "", or " accurate": the kind of math where it is not the default of the type.
std::string unusual_math(const db::Problem& problem);
// "lstm B=16,T=1024,H=1,D=768 bf16 forward"
std::string problem_name(const std::string& cell, const db::Problem& problem);

// Of all that a database or an export holds. A cell, profile or choice that this version cannot make again of
// what is recorded is told in a remark. `profiles`, by key, come before those that the records or this
// version have of a device.
Report report_of(const db::Contents& contents, const std::string& source,
                 const std::vector<PeerRow>& peers = {},
                 const std::map<std::string, target::Profile>& profiles = {});

// Of one problem that was explained, with the trials that `contents` has of it.
Report report_of(const schedule::Task& task, const Explanation& why, const db::Contents& contents,
                 const std::string& source, const std::vector<PeerRow>& peers = {});

}  // namespace rondo::tuner
