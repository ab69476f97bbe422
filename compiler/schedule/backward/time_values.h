// What elementwise launches over all steps read: inputs, previous states, products, gradients of outputs and
// flags of a step, each from where a backward pass has it, and parameters.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/schedule/lower/flags.h"
#include "compiler/schedule/lower/graph.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/sweep/backward_split.h"

namespace rondo::schedule {

class TimeValues {
 public:
  // A step some constant number of steps after t, whose place is then a sum.
  struct When {
    kernel::Value t;
    std::int64_t later = 0;
    kernel::Value step() const { return later == 0 ? t : t + later; }
  };
  // Where a thread stands; I32.
  struct Place {
    kernel::Value row, head, channel;  // batch row; the first of its channels
  };
  // What a step gives to the thread's channels.
  struct Step {
    When when;
    bool known_later;                                             // t is known to be after step 0
    std::map<step::NodeId, std::vector<kernel::Value>> values{};  // by channel, or one for all of them
  };

  // `products`: where the products lie that nodes of the graph without operands stand for.
  TimeValues(kernel::Builder& builder, Signature& signature, const Task& task, const BackwardSplit& split,
             const step::Graph& graph, std::map<step::NodeId, RowRef> products);

  // Declares all that the roots read, for threads with `vector` neighbouring channels. set_time() comes after
  // it.
  void declare(const std::vector<step::NodeId>& roots, int vector);
  void set_time(kernel::Value time) { flags_.set_time(time); }
  void set_place(const Place& place) { at_ = place; }
  const Place& at() const { return at_; }

  // What `nodes`, of loaded_by(), need of a step. Its states are those of the step before; of step 0, any,
  // until take_first_states() has put the initial ones there.
  Step load(const std::vector<step::NodeId>& nodes, const When& when, bool known_later);
  void take_first_states(Step& step);
  // All but the parameters that the roots need; `given`: values that the caller has.
  std::vector<step::NodeId> loaded_by(const std::vector<step::NodeId>& roots,
                                      const std::vector<step::NodeId>& given) const;
  kernel::Value leaf(const GraphLowering& lowering, const step::Node& node, const Step& step, int c);
  kernel::Value param(const step::Node& node, int c);
  // Element of a row of a tensor with a time axis.
  kernel::Value place(const KernelTensor& tensor, int row, const When& when);
  step::NodeId id_of(const step::Node& node) const {
    return static_cast<step::NodeId>(&node - graph_.nodes.data());
  }

 private:
  const step::Tensor& tensor(step::TensorId id) const { return task_.cell.tensor(id); }
  bool is_state(step::NodeId id) const;
  const KernelTensor& product_tensor(const TensorRef& ref) const;
  std::vector<kernel::Value> load_channels(const std::string& name, const KernelTensor& from, int row,
                                           const When& when);
  kernel::Value first_state(const step::Node& node, int c);

  kernel::Builder& builder_;
  Signature& signature_;
  const Task& task_;
  const BackwardSplit& split_;
  const step::Graph& graph_;
  std::map<step::NodeId, RowRef> where_;  // of products
  int vector_ = 1;
  FlagReader flags_;
  std::map<step::TensorId, KernelTensor> given_, first_, gradients_;
  std::map<step::TensorId, KernelTensor> before_;  // by the history's or output's tensor
  std::vector<KernelTensor> products_;
  Place at_;
};

}  // namespace rondo::schedule
