// A family of algorithm: when it is legal, which parameters it has, what they should cost, and the kernels
// they give.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/constraint/system.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/parameter_table.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/target/profile.h"

namespace rondo::schedule {

class ProductsBeside;
struct BesideWhat;

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
  bool may_spill = false;
};

// A part of a predicted time, in the words of its strategy. Parts may hide each other, so their sum may be
// more than the whole.
struct EstimatePart {
  enum class Of {
    Chain,    // what a step waits for, whatever else goes on
    Work,     // bytes, or instructions to issue: more hardware would do it in less time
    Launches  // beside the steps
  } of = Of::Work;
  std::string name;    // "exchange", "products"
  double seconds = 0;  // of the run
};

// Prices points of one space; what does not depend on the parameters is worked out once, when it is made.
using CostModel = std::function<Estimate(const Parameters&)>;

// A part of a strategy's space that people know by a word, for tables of what fits.
struct Variant {
  std::string name;  // "cluster of 4"; "" where the strategy has one variant only
  Parameters fixed;  // the values that make it
  int cluster = 1;   // blocks of the clusters it needs
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string name() const = 0;
  virtual std::vector<Variant> variants() const { return {Variant{}}; }
  // Whether its kernels can run on such a GPU at all, whatever the cell.
  virtual Legality serves(const target::Profile& profile) const = 0;
  virtual Legality legal(const Task& task) const = 0;
  virtual constraint::System space(const Task& task) const = 0;
  virtual CostModel cost_model(const Task& task) const = 0;
  // One point; to price many, make the model once.
  Estimate cost(const Task& task, const Parameters& parameters) const { return cost_model(task)(parameters); }
  // What the model takes a point's time to be made of; parts of no time are left out.
  virtual std::vector<EstimatePart> parts(const Task& task, const Parameters& parameters) const;
  // What the steps of a point wait for one after the other, in the least times that were measured on the
  // board (target::Floors), all of kind Chain: parts of the same name in parts() may take longer. None where
  // the profile lacks one of those times, or the strategy cannot say.
  virtual std::vector<EstimatePart> measured_chain(const Task&, const Parameters&) const { return {}; }
  // 90th percentile of (time of the model's first choice) / (best time). A choice that was not tuned for the
  // problem may lie so far behind the model's.
  virtual double model_error() const { return 1.25; }
  // Bytes to which tensors with a time axis must be aligned, base pointer and strides.
  virtual int alignment(const Problem& problem, const Parameters& parameters) const = 0;
  // Its table of parameters: space() has a variable for each, save those that are optional. A strategy
  // without a table reads its parameters itself.
  virtual std::span<const ParameterRow> parameters() const { return {}; }
  // Some parameters, as a user or a record names them, under the names of this version.
  Parameters current(Parameters named) const { return renamed(std::move(named), parameters()); }
  // All parameters that an earlier version recorded: under the names of this version, and with those that
  // were added since.
  Parameters completed(Parameters recorded) const {
    return schedule::completed(std::move(recorded), parameters());
  }
  // Neighbouring rows of the batch whose summands (step::Tensor::summed) its kernels add up before they write
  // them, where so many rows of the batch are one to the caller. Of vectors; of per-head values none.
  virtual int rows_added([[maybe_unused]] int batch_rows) const { return 1; }
  // Time steps after which all rings of its kernels have turned once: what a verification must pass twice.
  virtual std::int64_t turn(const Parameters&) const { return 1; }
  // The kernels of one point. Parameters may be those that an earlier version recorded. Throws nothing.
  // Errors: those of check_problem(), Unsupported (the GPU is not served), Input (the cell is not legal, a
  // parameter is missing, unknown or out of its domain, a rule of space() is broken: which one, with its
  // numbers), Internal for a defect of the strategy.
  Result<KernelPlan> build(const Task& task, const Parameters& parameters) const;
  // The same for a point that is known to be legal, as ranked_candidates() and choose() give it: only defects
  // are errors. Checking again takes about as long as building.
  Result<KernelPlan> build_legal(const Task& task, const Parameters& parameters) const;
  // The kernels that build() gives once it has checked the cell and all parameters of space(), as they are
  // written: build_legal() simplifies and verifies them. Of a problem in fp64 they are written in fp32, and
  // build_legal() makes doubles of their numbers (kernel/passes/in_double.h). Rules that only narrow the
  // search are not needed here. What it throws is a defect of the caller or the strategy.
  virtual KernelPlan build_kernels(const Task& task, const Parameters& parameters) const = 0;
  // Who makes products of inputs for all steps beside its kernels (gemm/products_beside.h); null: the tiles
  // of GPUs.
  virtual std::shared_ptr<ProductsBeside> products_beside(const BesideWhat&, const Parameters&) const {
    return nullptr;
  }

 private:
  Error defect(const step::Cell& cell, const Parameters& parameters, const std::string& what) const;
};

// A strategy whose parameters are a P, with a table of its name (kParameters<P>).
template <class P>
class StrategyOf : public Strategy {
 public:
  std::string name() const override { return std::string(kParameters<P>.strategy()); }
  std::span<const ParameterRow> parameters() const override { return kParameters<P>.rows(); }
  // That of one copy, of `vector` elements; of an element where there are none.
  int alignment(const Problem& problem, const Parameters& parameters) const override {
    const P own = read_parameters<P>(parameters);
    int elements = 1;
    if constexpr (requires { own.vector; }) elements = own.vector;
    return elements * kernel::storage_bytes(problem.storage);
  }
  KernelPlan build_kernels(const Task& task, const Parameters& parameters) const override {
    KernelPlan plan;
    plan.strategy = name();
    plan.parameters = parameters;
    plan.alignment = alignment(task.problem, parameters);
    add_launches(task, read_parameters<P>(parameters), plan);
    return plan;
  }

 protected:
  // Adds the launches, and what they need beside them.
  virtual void add_launches(const Task& task, const P& parameters, KernelPlan& plan) const = 0;
};

// Simplifies and verifies the kernels of a plan as they are written, in forms that the GPU of the task has.
// Throws pipeline::BrokenPass.
void simplify_kernels(const Task& task, KernelPlan& plan);

// Whether some kernel of a forward pass writes each output. A tensor that no kernel names is none of the
// plan, and who compares a plan's tensors would not miss it. build_legal() asks; later passes may take stores
// out.
Status writes_outputs(const Task& task, const KernelPlan& plan);

// Serves GPUs from compute capability 7.5 on: `feature` names what they have since then.
Legality needs_turing(const target::Profile& profile, const std::string& feature);

}  // namespace rondo::schedule
