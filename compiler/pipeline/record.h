// What the passes of a compilation took and made: a watcher for people.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "compiler/pipeline/watch.h"

namespace rondo::pipeline {

class PassRecord final : public PassWatcher {
 public:
  // Keeps the text of what `kept` passes made, and verifies it if there are any.
  explicit PassRecord(std::vector<Pass> kept = {}) : kept_(std::move(kept)) {}

  struct Row {
    Pass pass = Pass::Parse;
    int runs = 0;
    double ms = 0;           // of the pass without those that it holds
    double verifier_ms = 0;  // where the verifier ran
  };
  struct Text {
    Pass pass = Pass::Parse;
    std::string text;
  };
  std::vector<Row> rows() const;  // of the passes that ran, in the order of the list
  // Of the kept passes, in the order in which they ended; what a pass made again just as before is left out.
  // Error Input: none of them ran; it names those that did.
  Result<std::vector<Text>> texts() const;

  bool verifies() const override { return !kept_.empty(); }
  void begins(Pass pass) override;
  void ends(Pass pass, const Made& made) override;
  void verified(Pass pass) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Open {
    Clock::time_point begin;
    double inner_ms = 0;  // of what it holds
  };
  Row& row(Pass pass) { return rows_[static_cast<std::size_t>(pass)]; }
  void take_from_outer(double ms);

  std::vector<Pass> kept_;
  std::array<Row, std::size(kPasses)> rows_{};
  std::vector<Text> texts_;
  std::vector<Open> open_;
  Clock::time_point ended_;  // of the last pass, before its verifier
};

// The passes that `rondo emit --print-after` names: one, all for "all", none for "". Error Input names them
// all.
Result<std::vector<Pass>> passes_named(const std::string& text);

// Each under a line that names its pass and level.
std::string print_texts(const std::vector<PassRecord::Text>& texts);
// A table for people: pass, level, runs, milliseconds, those of the verifier; then the sums, and what
// `all_ms` has beyond them.
std::string print_times(const std::vector<PassRecord::Row>& rows, double all_ms);

}  // namespace rondo::pipeline
