#include <fmt/format.h>

#include "compiler/schedule/history.h"
#include "compiler/schedule/persistent.h"
#include "compiler/schedule/persistent_body.h"

namespace rondo::schedule {
namespace {

using kernel::Value;
using step::Row;
using step::TensorId;
using step::TensorKind;

class ForwardBuilder : PersistentBody {
 public:
  ForwardBuilder(const step::Cell& cell, const Problem& problem, const PersistentParameters& parameters)
      : PersistentBody(cell, problem, parameters,
                       fmt::format("{}_persistent_{}", cell.name, pass_name(problem.pass)),
                       fmt::format("{}: persistent forward, {} in memory", cell.name,
                                   kernel::storage_name(problem.storage)),
                       TimeOrder::Forward, {cell.graph, forward_roots(cell)}) {}

  Launch build() {
    declare();
    kernel_.place_threads();
    kernel_.roles([&] { load_start("", first_); },
                  [&](const PersistentKernel::Step& now) {
                    run_step(
                        now,
                        [&](const step::Node& node, const PersistentKernel::Step& step, int channel) {
                          return leaf(node, step, channel);
                        },
                        [&](const Results& results) { consume(now, results); });
                  },
                  [&] { store_carries(last_, "last states"); }, [&] { multiply_only(); });
    return kernel_.finish();
  }

 private:
  void declare() {
    for (const TensorId id : cell_.of_kind(TensorKind::Input)) staged_[id] = kernel_.stage({Role::Input, id});
    declare_params();
    for (const TensorId id : cell_.of_kind(TensorKind::State))
      first_[id] = kernel_.signature().reads({Role::InitialState, id});
    for (const TensorId id : cell_.of_kind(TensorKind::Output))
      outputs_[id] = kernel_.write_each_step({Role::Output, id});
    if (problem_.pass == Pass::ForwardSave)
      for (const TensorId id : stored_histories(cell_))
        histories_[id] = kernel_.write_each_step({Role::History, id});
    for (const TensorId id : cell_.of_kind(TensorKind::State))
      last_[id] = kernel_.signature().writes({Role::LastState, id});
  }

  Value leaf(const step::Node& node, const PersistentKernel::Step& now, int channel) const {
    switch (tensor(node.tensor).kind) {
      case TensorKind::Input: return now.load(staged_.at(node.tensor), node.row, channel);
      case TensorKind::State: return carry(node.tensor, node.row, channel);
      default: return param(node, channel);
    }
  }

  void consume(const PersistentKernel::Step& now, const Results& results) {
    for (std::size_t o = 0; o < cell_.outputs.size(); ++o)
      now.store(outputs_.at(cell_.outputs[o].tensor), cell_.outputs[o].row, results[cell_.next.size() + o]);
    for (std::size_t k = 0; k < cell_.next.size(); ++k)
      if (const auto kept = histories_.find(cell_.next[k].tensor); kept != histories_.end())
        now.store(kept->second, cell_.next[k].row, results[k]);
  }

  std::map<TensorId, int> staged_, outputs_, histories_;
  std::map<TensorId, KernelTensor> first_, last_;
};

}  // namespace

Launch persistent_forward(const step::Cell& cell, const Problem& problem, const Parameters& parameters) {
  return ForwardBuilder(cell, problem, PersistentParameters::from(parameters)).build();
}

}  // namespace rondo::schedule
