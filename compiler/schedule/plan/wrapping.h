// A strategy around another one, which walks another cell in the place of the one it is asked for, or that
// cell itself: what does not depend on the cell is the other one's.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/schedule/plan/strategy.h"

namespace rondo::schedule {

class Wrapping : public Strategy {
 public:
  explicit Wrapping(const Strategy& walk) : walk_(walk) {}  // which outlives this

  std::string name() const override { return walk_.name(); }
  std::vector<Variant> variants() const override { return walk_.variants(); }
  Legality serves(const target::Profile& profile) const override { return walk_.serves(profile); }
  double model_error() const override { return walk_.model_error(); }
  int alignment(const Problem& problem, const Parameters& parameters) const override {
    return walk_.alignment(problem, parameters);
  }
  std::span<const ParameterRow> parameters() const override { return walk_.parameters(); }
  std::int64_t turn(const Parameters& parameters) const override { return walk_.turn(parameters); }

 protected:
  const Strategy& walk_;
};

}  // namespace rondo::schedule
