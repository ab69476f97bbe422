#include "compiler/schedule/rewrite/known_outputs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/step/without.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

using step::Row;
using step::TensorId;
using step::TensorKind;

std::vector<step::NodeId> values_of(const std::vector<Row>& rows, TensorId tensor) {
  std::vector<step::NodeId> values;
  for (const Row& row : rows)
    if (row.tensor == tensor) values.push_back(row.value);
  return values;
}

// Whether the state may have the output's name: an input that is given out has it, too.
bool may_be_called(const step::Cell& cell, TensorId state, TensorId output) {
  return std::ranges::none_of(cell.tensors, [&](const step::Tensor& tensor) {
    return tensor.kind != TensorKind::Output && &tensor != &cell.tensor(state) &&
           tensor.name == cell.tensor(output).name;
  });
}

// The output whose rows are those of the state after the step.
std::optional<TensorId> output_of(const step::Cell& cell, TensorId state) {
  for (const TensorId output : cell.of_kind(TensorKind::Output))
    if (cell.tensor(output).tail == cell.tensor(state).tail && may_be_called(cell, state, output) &&
        values_of(cell.outputs, output) == values_of(cell.next, state))
      return output;
  return std::nullopt;
}

// Of two states that are the same, one is known by their output.
bool is_taken(const KnownOutputs& known, TensorId output) {
  return std::ranges::any_of(known.tensors,
                             [&](const KnownOutputs::Of& of) { return of.before && of.tensor == output; });
}

bool steps_follow_each_other(const step::Cell& cell) {
  return cell.direction != step::Direction::Halves &&
         std::ranges::none_of(cell.tensors,
                              [](const step::Tensor& tensor) { return step::is_flag(tensor.kind); });
}

}  // namespace

std::optional<KnownOutputs> with_known_outputs(const step::Cell& cell) {
  if (!steps_follow_each_other(cell)) return std::nullopt;
  KnownOutputs known{cell, {}};
  step::Cell& left = known.cell;
  bool any_left = false;
  std::set<TensorId> states;  // that are known
  for (TensorId id = 0; id < static_cast<TensorId>(cell.tensors.size()); ++id) {
    step::Tensor& tensor = left.tensors[at(id)];
    if (tensor.kind == TensorKind::Output) continue;
    const bool is_state = tensor.kind == TensorKind::State;
    std::optional<TensorId> output = is_state ? output_of(cell, id) : std::nullopt;
    if (output && is_taken(known, *output)) output.reset();
    if (output) {
      tensor.kind = TensorKind::Input;
      tensor.name = cell.tensor(*output).name;
      states.insert(id);
    }
    any_left = any_left || (is_state && !output);
    known.tensors.push_back({output.value_or(id), output.has_value()});
  }
  if (states.empty() || !any_left) return std::nullopt;
  std::erase_if(left.next, [&](const Row& row) { return states.contains(row.tensor); });
  step::keep_tensors(left, [&](TensorId id) { return cell.tensor(id).kind != TensorKind::Output; });
  return known;
}

}  // namespace rondo::schedule
