#include <algorithm>
#include <utility>

#include "compiler/schedule/analysis/carried.h"
#include "compiler/schedule/persistent/body.h"
#include "compiler/schedule/persistent/early_vectors.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/schedule/sweep/input_vectors.h"

namespace rondo::schedule {

// A state, or a state after a possible reset, to zero or to what a companion of it holds.
bool sent_early(const Task& task, const step::StepGraph& step, const ProductGroup& group) {
  const auto node_at = [&](step::NodeId id) -> const step::Node& { return step.graph.at(id); };
  const auto carried = [&](const step::Node& node) {
    return node.kind == step::NodeKind::Leaf && is_carried(task, node);
  };
  const step::Node& vector = node_at(group.vector);
  if (group.level != 0 || vector.kind != step::NodeKind::Scalar || vector.op != scalar::Op::Select)
    return group.level == 0 && carried(vector);
  const step::Node &flag = node_at(vector.operands[0]), &instead = node_at(vector.operands[1]);
  return flag.kind == step::NodeKind::Leaf && task.cell.tensor(flag.tensor).kind == TensorKind::Reset &&
         (instead.kind == step::NodeKind::Constant || carried(instead)) &&
         carried(node_at(vector.operands[2]));
}

// A backward sweep has none: its vectors are made of gradients that the step itself multiplies for.
bool sends_ahead(const Task& task) {
  if (task.problem.pass == Pass::Backward) return false;
  const step::StepGraph step = spread_sweep(task).step;
  return std::ranges::any_of(product_groups(step.graph, step.roots),
                             [&](const ProductGroup& group) { return sent_early(task, step, group); });
}

namespace {

// What a lane loads of an input in one go is 16 bytes, and a warp's k-tiles are all the head's.
bool may_read_inputs(const PersistentGeometry& geometry) {
  return geometry.p.gather_fragments && geometry.exact() && geometry.p.vector * geometry.element_bytes == 16;
}

// All vectors are inputs: the blocks send them like others, for then nothing else orders their steps.
std::vector<bool> unless_all(std::vector<bool> reads) {
  if (std::ranges::find(reads, false) == reads.end()) reads.assign(reads.size(), false);
  return reads;
}

}  // namespace

std::vector<bool> read_inputs(const step::Cell& cell, const step::Graph& graph,
                              const std::vector<ProductGroup>& groups, const PersistentGeometry& geometry) {
  std::vector<bool> reads;
  for (const ProductGroup& group : groups)
    reads.push_back(may_read_inputs(geometry) && input_of(cell, graph, group) != nullptr);
  return unless_all(std::move(reads));
}

std::vector<bool> read_inputs(const SweepShape& shape, const PersistentGeometry& geometry) {
  return may_read_inputs(geometry) ? unless_all(shape.of_input)
                                   : std::vector<bool>(shape.of_input.size(), false);
}

std::size_t groups_sent(const SweepShape& shape, const PersistentGeometry& geometry) {
  return static_cast<std::size_t>(std::ranges::count(read_inputs(shape, geometry), false));
}

int group_tiles(const SweepShape& shape, const PersistentGeometry& geometry, std::size_t group) {
  const int products = shape.products[group], rows = shape.rows[group];
  return geometry.p.gather_fragments
             ? std::min(geometry.row_tiles(rows), products * geometry.multiplied_unit_blocks())
             : geometry.row_tiles(products);
}

// By group, what is sent for the step of `count`; nothing of groups that wait for the step itself. `next`:
// the states before that step, whose resets are those of the step ahead.
std::vector<std::vector<Value>> PersistentBody::early_vectors(
    Value count, const std::function<Value(std::size_t, int)>& next) {
  std::vector<std::vector<Value>> vectors(groups_.size());
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (!sent_early(groups_[group])) continue;
    const step::NodeId id = groups_[group].vector;
    const bool as_it_is = step_.graph.at(id).kind == step::NodeKind::Leaf;
    const PersistentKernel::Step ahead = as_it_is ? PersistentKernel::Step{} : kernel_.step_at(count, true);
    for (int c = 0; c < channels(); ++c) {
      const auto leaf = [&](const step::Node& node) {
        return is_carried(task_, node) ? next(carried_row(task_.cell, node.tensor, node.row), c)
                                       : ahead.flag(node.tensor, c);
      };
      GraphLowering::Values values = lowering_.start(c);
      vectors[group].push_back(as_it_is ? leaf(step_.graph.at(id))
                                        : lowering_.emit_roots(values, {id}, leaf)[0]);
    }
  }
  return vectors;
}

void PersistentBody::send_early(Value tile_step, const std::vector<std::vector<Value>>& vectors) {
  for (std::size_t group = 0; group < vectors.size(); ++group)
    if (!vectors[group].empty()) products_->publish(group, tile_step, vectors[group]);
}

// Nobody waits for what the last step sends: in a cluster it might come after its receiver has left. A block
// alone may send it. It does where a reset is to be looked at: ptxas makes a branch of that and the store.
void PersistentBody::send_next(const PersistentKernel::Step& now,
                               const std::vector<std::vector<Value>>& next) {
  const auto sent = [&](const ProductGroup& group) { return sent_early(group); };
  if (std::ranges::none_of(groups_, sent)) return;
  const Value count = now.count + 1, tile_step = now.tile_step + kernel_.geometry().p.tiles_in_turn;
  const auto vectors =
      early_vectors(count, [&](std::size_t k, int c) { return next[k][static_cast<std::size_t>(c)]; });
  const bool masked = std::ranges::any_of(groups_, [&](const ProductGroup& group) {
    return sent(group) && step_.graph.at(group.vector).kind != step::NodeKind::Leaf;
  });
  if (masked && kernel_.geometry().p.blocks == 1) return send_early(tile_step, vectors);
  kernel_.builder().if_(count < kernel_.threads().walked().steps(), [&] { send_early(tile_step, vectors); });
}

}  // namespace rondo::schedule
