// Results as JSON text, for --json. Every text ends with a line break.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/pipeline/record.h"
#include "compiler/schedule/problem/task.h"
#include "engine/check/verify_simulated.h"
#include "engine/choice/choose.h"
#include "engine/choice/crossover.h"
#include "engine/choice/fits.h"
#include "engine/doctor/doctor.h"
#include "engine/plan/memory.h"
#include "engine/request/load_cell.h"
#include "engine/service/run_training.h"
#include "engine/service/service.h"
#include "tuner/bench/bench.h"
#include "tuner/bench/parts.h"
#include "tuner/bench/step.h"
#include "tuner/tune/tune.h"

namespace rondo::tools {

std::string diagnostics_json(const engine::CellFile& file);

// A strategy's verdict, for `check`.
struct StrategyVerdict {
  std::string name;
  schedule::Legality legality;
  std::optional<engine::Choice> choice;  // by model; none where it is not legal
  engine::PlanMemory memory;
};
struct CheckedTensor {
  std::string kind, name, axes;
  std::int64_t elements = 0, bytes = 0;
  std::string declared{};  // " in (0, inf) = 1", of its numbers
};
struct CheckedMemory {
  std::int64_t tensors = 0;  // bytes; of a backward pass with their gradients
  std::int64_t board = 0;    // 0: not known
};
std::string check_json(const std::vector<frontend::Diagnostic>& remarks, const schedule::Task& task,
                       const std::vector<StrategyVerdict>& verdicts,
                       const std::vector<CheckedTensor>& tensors, const CheckedMemory& memory,
                       const engine::FitTable& fits, const std::optional<engine::Crossover>& crossover);

// `passes` and `times` of --print-after and --time-passes; null where they were not asked for.
std::string emit_json(const step::Cell& cell, const std::string& stage, const std::string& text,
                      const std::vector<pipeline::PassRecord::Text>* passes,
                      const std::vector<pipeline::PassRecord::Row>* times);

struct TunedPass {
  schedule::Problem problem;
  tuner::TuneResult result;
};
std::string tune_json(const step::Cell& cell, const target::Profile& profile,
                      const std::vector<TunedPass>& passes,
                      const std::optional<engine::SaveComparison>& saving = std::nullopt);

// Of a command whose result is in files: {"written": [...]}.
std::string written_json(const std::vector<std::string>& files);

std::string run_json(const schedule::Task& task, const engine::TrainingRun& results,
                     const std::vector<std::string>& files);

struct VerifiedPass {
  schedule::Problem problem;
  engine::Choice choice;
  engine::SimulatedVerification result;
  std::int64_t every = 0;  // of both passes in parts of so many steps; `problem` is the backward one
};
std::string verify_json(const step::Cell& cell, const std::string& where, const target::Profile& profile,
                        const std::vector<VerifiedPass>& passes);

// The rows of benchmarks/results/*.json. Targets and peers are not known here: null.
std::string bench_json(const std::string& device, const std::vector<tuner::BenchRow>& rows);

// A training step as a whole, in one piece or in parts of time.
struct TimedStep {
  engine::TrainingAnswer training;  // of kernels
  tuner::StepRow row;

  struct Pass {
    std::string key, title;  // "fws", "forward (training)"
    const engine::Answer* answer;
  };
  std::vector<Pass> passes() const;  // in the order in which they first run
};
std::string step_json(const std::string& device, const step::Cell& cell, const TimedStep& step);

// Nanoseconds a step, whole and without each part.
struct PartedPass {
  schedule::Problem problem;
  tuner::PartTimes times;
};
std::string parts_json(const step::Cell& cell, const std::string& device,
                       const std::vector<PartedPass>& passes);

std::string doctor_json(const std::vector<engine::Finding>& findings);
std::string list_json(const std::vector<db::ProblemSummary>& problems);
// `rondo db show`.
struct TrialsOfProblem {
  db::Problem problem;
  std::vector<db::Trial> trials;
  std::vector<std::optional<double>> models_ms;  // of each trial, by the model of this version
};
std::string trials_json(const std::vector<TrialsOfProblem>& problems);
std::string merge_json(const db::MergeReport& report);
std::string prune_json(const db::PruneReport& report);
std::string findings_json(const std::vector<std::string>& findings);

}  // namespace rondo::tools
