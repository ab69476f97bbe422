#include "compiler/schedule/rewrite/deal_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/schedule/rewrite/row_dealer.h"
#include "compiler/step/declared.h"
#include "compiler/step/simplify.h"
#include "compiler/step/verify.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

using step::Row;

std::vector<bool> tensors_dealt(const step::Cell& cell, int rows) {
  std::vector<bool> dealt;
  for (const step::Tensor& tensor : cell.tensors)
    dealt.push_back(!tensor.lead.empty() && tensor.lead.front() == rows && tensor.tail != step::Tail::Matrix);
  return dealt;
}

// Rows whose values the step has, without declared derivatives.
std::vector<Row> values_of(const step::Cell& cell, std::vector<Row> rows) {
  for (Row& row : rows) row.value = step::value_of(cell.graph, row.value);
  return rows;
}

std::vector<Row> joined(std::initializer_list<const std::vector<Row>*> parts) {
  std::vector<Row> all;
  for (const std::vector<Row>* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

// The rows of tensors of one kind.
std::vector<Row> of_kind(const step::Cell& cell, const std::vector<Row>& rows, step::TensorKind kind) {
  std::vector<Row> some;
  for (const Row& row : rows)
    if (cell.tensor(row.tensor).kind == kind) some.push_back(row);
  return some;
}

step::StepGraph step_of(const step::Graph& graph, const std::vector<Row>& rows) {
  step::StepGraph step{graph, {}};
  for (const Row& row : rows) step.roots.push_back(row.value);
  return step;
}

// Without what nobody reads. The rows get their nodes there.
step::StepGraph simplified(const step::Graph& graph, std::vector<Row>& rows) {
  step::StepGraph step = step::simplified(step_of(graph, rows));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].value = step.roots[i];
  return step;
}

// Its tensors, next states and outputs as a lane has them.
std::optional<step::Cell> lane_cell(const step::Cell& cell, const std::vector<bool>& dealt, int lanes) {
  const step::Graph values = step::values_only(cell.graph);
  RowDealer dealer(cell, dealt, lanes, values);
  const std::vector<Row> next = values_of(cell, cell.next), outputs = values_of(cell, cell.outputs);
  auto own = dealer.run(joined({&next, &outputs}));
  if (!own) return std::nullopt;
  step::Cell result = cell;
  result.graph = simplified(dealer.graph(), *own).graph;
  result.next = of_kind(cell, *own, step::TensorKind::State);
  result.outputs = of_kind(cell, *own, step::TensorKind::Output);
  for (std::size_t id = 0; id < dealt.size(); ++id) {
    if (!dealt[id]) continue;
    result.tensors[id].rows /= lanes;
    result.tensors[id].lead.front() /= lanes;
  }
  return result;
}

// Where the rows of a lane were before the step; nothing where the lanes have them at places that are not
// alike.
std::optional<std::map<std::pair<step::TensorId, int>, RowRef>> lane_history(const step::Cell& cell,
                                                                             const std::vector<bool>& dealt,
                                                                             int lanes,
                                                                             const BackwardNeeds& needs) {
  std::map<std::pair<step::TensorId, int>, RowRef> own;
  for (const auto& [state, where] : needs.history) {
    const auto each = [&](step::TensorId id) { return cell.tensor(id).rows / lanes; };
    const step::TensorId kept = where.tensor.tensor;
    auto [id, row] = state;
    RowRef place = where;
    if (dealt[at(id)] != dealt[at(kept)]) return std::nullopt;
    if (dealt[at(id)]) {
      if (row / each(id) != place.row / each(kept)) return std::nullopt;
      row %= each(id);
      place.row %= each(kept);
    }
    const auto known = own.emplace(std::pair{id, row}, place).first;
    if (known->second.row != place.row || known->second.tensor.tensor != kept) return std::nullopt;
  }
  return own;
}

// To one lane: the pass as it is.
DealtPass whole_pass(const Task& task) {
  DealtPass pass{task, std::vector<bool>(task.cell.tensors.size(), false), {}, {}};
  if (task.problem.pass != Pass::Backward) {
    pass.step = forward_step(task.cell);
    return pass;
  }
  pass.needs = backward_needs(task);
  pass.step = {pass.needs.step.graph, roots_of(pass.needs.step)};
  return pass;
}

// The gradients of a lane's rows, and where what they need is found.
bool deal_backward(const step::Cell& cell, int lanes, DealtPass& pass) {
  step::BackwardStep& step = pass.needs.step;
  RowDealer dealer(cell, pass.dealt, lanes, step.graph);
  auto own = dealer.run(joined({&step.previous_states, &step.inputs, &step.params}));
  auto history = lane_history(cell, pass.dealt, lanes, pass.needs);
  if (!own || !history) return false;
  pass.needs.history = std::move(*history);
  pass.step = simplified(dealer.graph(), *own);
  step.graph = pass.step.graph;
  step.forward_nodes = 0;
  step.previous_states = of_kind(cell, *own, step::TensorKind::State);
  step.inputs = of_kind(cell, *own, step::TensorKind::Input);
  step.params = of_kind(cell, *own, step::TensorKind::Param);
  return true;
}

std::optional<DealtPass> deal(const Task& task, int lanes) {
  const int rows = outer_rows(task.cell);
  if (rows < kLeastRowsDealt || rows % lanes != 0) return std::nullopt;
  const std::vector<bool> dealt = tensors_dealt(task.cell, rows);
  std::optional<step::Cell> cell = lane_cell(task.cell, dealt, lanes);
  if (!cell) return std::nullopt;
  DealtPass pass{task.of(std::move(*cell)), dealt, {}, {}};
  if (task.problem.pass == Pass::Backward) {
    pass.needs = backward_needs(task);
    if (!deal_backward(task.cell, lanes, pass)) return std::nullopt;
    return pass;
  }
  pass.step = step_of(pass.task.cell.graph, joined({&pass.task.cell.next, &pass.task.cell.outputs}));
  return pass;
}

pipeline::Made made(const std::optional<DealtPass>& pass) {
  if (pass) return step::made(pass->task.cell, pass->step);
  return {[] { return std::string("the rows stay with one thread\n"); },
          [] { return std::vector<std::string>(); }};
}

}  // namespace

int outer_rows(const step::Cell& cell) {
  int rows = 1;
  for (const step::Tensor& tensor : cell.tensors)
    if (tensor.kind == step::TensorKind::State && !tensor.lead.empty())
      rows = std::max(rows, tensor.lead.front());
  return rows;
}

std::shared_ptr<const std::optional<DealtPass>> dealt_pass(const Task& task, int lanes) {
  return task.fact<std::optional<DealtPass>>(
      fmt::format("{} dealt to {} lanes", pass_key(task.problem), lanes), [&]() -> std::optional<DealtPass> {
        if (lanes == 1) return whole_pass(task);
        return pipeline::watched(
            task.watcher, pipeline::Pass::DealRows, [&] { return deal(task, lanes); }, made);
      });
}

}  // namespace rondo::schedule
