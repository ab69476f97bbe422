// Lock files pin choices for a fleet: every machine that reads one runs the same strategy with the same
// parameters, whatever its own database holds.
//
//   {"format": "rondo-lock", "version": 1,
//    "choices": [{"cell", "device", "arch", "shape": {"B", "T", "H", "D"}, "dtype", "math", "pass",
//                 "cell_name", "strategy", "parameters", "rondo_version"}]}
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "tuning_db/records.h"

namespace rondo::db {

struct PinnedChoice {
  Problem problem;
  std::string cell_name;
  std::string strategy;
  std::string parameters = "{}";  // canonical JSON object
  std::string rondo_version;      // of the tuner that chose it
};

// Error Input where parameters are no JSON object or a text is not UTF-8.
Result<std::string> to_lock_text(const std::vector<PinnedChoice>& choices);

class PinnedChoices {
 public:
  // Errors Input name `origin` (the file) and the place: not JSON, another format or version, a missing or
  // wrong field, two different choices for one problem.
  static Result<PinnedChoices> parse(const std::string& text, const std::string& origin);
  static Result<PinnedChoices> load(const std::string& path);

  // Both give null where nothing is pinned; pointers live as long as this object does.
  const PinnedChoice* find(const Problem& problem) const;  // all of the key equal
  const PinnedChoice* nearest(
      const Problem& problem) const;  // of the alike ones (records.h), the least distance
  std::size_t size() const { return choices_.size(); }
  const std::string& origin() const { return origin_; }  // the file, for messages

 private:
  std::string origin_;
  std::vector<PinnedChoice> choices_;
};

}  // namespace rondo::db
