// A family of algorithm: when it is legal, which parameters it has, what they should cost, and the kernels
// they give.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/constraint/system.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/target/profile.h"

namespace rondo::schedule {

struct Legality {
  bool legal = true;
  std::string reason;  // why not, in the user's terms
};

// Predicted time of one run and its parts, seconds.
struct Estimate {
  double seconds = 0;
  double memory = 0;  // bytes over bandwidth, with what the tiling wastes
  double chain = 0;   // the dependent chain over time
  double issue = 0;   // instruction issue and special functions
  double launch = 0;
  // It may need more registers than there are: who cannot ask the compiler passes it over.
  bool tight = false;
};

// Prices points of one space; what does not depend on the parameters is worked out once, when it is made.
using CostModel = std::function<Estimate(const Parameters&)>;

// A part of a strategy's space that people know by a word, for tables of what fits.
struct Form {
  std::string name;  // "cluster of 4"; "" where the strategy has one form only
  Parameters fixed;  // the values that make it
  int cluster = 1;   // blocks of the clusters it needs
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string name() const = 0;
  virtual std::vector<Form> forms() const { return {Form{}}; }
  // Whether its kernels can run on such a GPU at all, whatever the cell.
  virtual Legality serves(const target::Profile& profile) const = 0;
  virtual Legality legal(const step::Cell& cell, const Problem& problem) const = 0;
  virtual constraint::System space(const step::Cell& cell, const Problem& problem,
                                   const target::Profile& profile) const = 0;
  virtual CostModel cost_model(const step::Cell& cell, const Problem& problem,
                               const target::Profile& profile) const = 0;
  // One point; to price many, make the model once.
  Estimate cost(const step::Cell& cell, const Problem& problem, const Parameters& parameters,
                const target::Profile& profile) const {
    return cost_model(cell, problem, profile)(parameters);
  }
  // Bytes to which tensors with a time axis must be aligned, base pointer and strides.
  virtual int alignment(const Problem& problem, const Parameters& parameters) const = 0;
  // Parameters an earlier version recorded, with those added since at the values that change nothing.
  virtual Parameters completed(Parameters recorded) const { return recorded; }
  // Legal cells, and parameters of space() for the same profile only.
  virtual KernelPlan build(const step::Cell& cell, const Problem& problem, const Parameters& parameters,
                           const target::Profile& profile) const = 0;
};

// Serves GPUs from compute capability 8.0 on: `feature` names what they have since then.
Legality needs_compute_8(const target::Profile& profile, const std::string& feature);

}  // namespace rondo::schedule
