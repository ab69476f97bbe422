#include "tuner/trial/message.h"

#include <nlohmann/json.hpp>

namespace rondo::tuner {

using nlohmann::json;

namespace {

json node_to_message(const step::Node& node) {
  return {static_cast<int>(node.kind),
          static_cast<int>(node.op),
          static_cast<int>(node.extent),
          node.operands,
          node.value,
          node.const_index,
          node.tensor,
          node.row,
          static_cast<int>(node.gradient.of),
          node.gradient.tensor,
          node.gradient.row,
          node.label};
}

step::Node node_from_message(const json& m) {
  step::Node node;
  node.kind = static_cast<step::NodeKind>(m.at(0).get<int>());
  node.op = static_cast<scalar::Op>(m.at(1).get<int>());
  node.extent = static_cast<step::Extent>(m.at(2).get<int>());
  node.operands = m.at(3).get<std::vector<step::NodeId>>();
  node.value = m.at(4).get<double>();
  node.const_index = m.at(5).get<int>();
  node.tensor = m.at(6).get<step::TensorId>();
  node.row = m.at(7).get<int>();
  node.gradient = {static_cast<step::GradientRef::Of>(m.at(8).get<int>()), m.at(9).get<step::TensorId>(),
                   m.at(10).get<int>()};
  node.label = m.at(11).get<std::string>();
  return node;
}

json rows_to_message(const std::vector<step::Row>& rows) {
  json list = json::array();
  for (const step::Row& row : rows) list.push_back({row.tensor, row.row, row.value});
  return list;
}

std::vector<step::Row> rows_from_message(const json& list) {
  std::vector<step::Row> rows;
  for (const json& row : list)
    rows.push_back({row.at(0).get<step::TensorId>(), row.at(1).get<int>(), row.at(2).get<step::NodeId>()});
  return rows;
}

json bound_to_message(const std::optional<double>& bound) { return bound ? json(*bound) : json(); }

std::optional<double> bound_from_message(const json& m) {
  return m.is_null() ? std::nullopt : std::optional(m.get<double>());
}

json problem_to_message(const schedule::Problem& problem) {
  const step::Sizes& sizes = problem.sizes;
  return {{"sizes", {sizes.batch, sizes.time, sizes.heads, sizes.dim}},
          {"storage", static_cast<int>(problem.storage)},
          {"pass", static_cast<int>(problem.pass)},
          {"math", static_cast<int>(problem.math)},
          {"constants", problem.constants},
          {"arch", problem.arch},
          {"save_products", problem.save_products}};
}

schedule::Problem problem_from_message(const json& m) {
  schedule::Problem problem;
  const json& sizes = m.at("sizes");
  problem.sizes = {sizes.at(0).get<std::int64_t>(), sizes.at(1).get<std::int64_t>(),
                   sizes.at(2).get<std::int64_t>(), sizes.at(3).get<std::int64_t>()};
  problem.storage = static_cast<kernel::Storage>(m.at("storage").get<int>());
  problem.pass = static_cast<schedule::Pass>(m.at("pass").get<int>());
  problem.math = static_cast<kernel::Math>(m.at("math").get<int>());
  problem.constants = m.at("constants").get<std::map<std::string, double>>();
  problem.arch = m.at("arch").get<std::string>();
  problem.save_products = m.at("save_products").get<bool>();
  return problem;
}

}  // namespace

json cell_to_message(const step::Cell& cell) {
  json tensors = json::array(), constants = json::array(), nodes = json::array();
  for (const step::Tensor& tensor : cell.tensors)
    tensors.push_back({static_cast<int>(tensor.kind), tensor.name, static_cast<int>(tensor.tail), tensor.lead,
                       tensor.rows});
  for (const step::NamedConstant& constant : cell.constants)
    constants.push_back({constant.name, constant.value});
  for (const step::Node& node : cell.graph.nodes) nodes.push_back(node_to_message(node));
  return {{"name", cell.name},
          {"dimension", cell.dimension},
          {"tensors", tensors},
          {"constants", constants},
          {"nodes", nodes},
          {"next", rows_to_message(cell.next)},
          {"outputs", rows_to_message(cell.outputs)},
          {"clip", {bound_to_message(cell.clip.forward), bound_to_message(cell.clip.gradient)}}};
}

step::Cell cell_from_message(const json& m) {
  step::Cell cell;
  cell.name = m.at("name").get<std::string>();
  cell.dimension = m.at("dimension").get<std::string>();
  for (const json& tensor : m.at("tensors"))
    cell.tensors.push_back({static_cast<step::TensorKind>(tensor.at(0).get<int>()),
                            tensor.at(1).get<std::string>(),
                            static_cast<step::Tail>(tensor.at(2).get<int>()),
                            tensor.at(3).get<std::vector<int>>(),
                            tensor.at(4).get<int>(),
                            {}});
  for (const json& constant : m.at("constants"))
    cell.constants.push_back({constant.at(0).get<std::string>(), constant.at(1).get<double>(), {}});
  for (const json& node : m.at("nodes")) cell.graph.nodes.push_back(node_from_message(node));
  cell.next = rows_from_message(m.at("next"));
  cell.outputs = rows_from_message(m.at("outputs"));
  cell.clip = {bound_from_message(m.at("clip").at(0)), bound_from_message(m.at("clip").at(1))};
  return cell;
}

json setup_to_message(const TrialSetup& setup) {
  return {{"cell", cell_to_message(setup.cell)},
          {"problem", problem_to_message(setup.problem)},
          {"profile", target::to_json(setup.profile)},
          {"seed", setup.seed}};
}

TrialSetup setup_from_message(const json& m) {
  return {cell_from_message(m.at("cell")), problem_from_message(m.at("problem")),
          target::profile_from_json(m.at("profile").get<std::string>()).value(),
          m.at("seed").get<std::uint64_t>()};
}

json plan_to_message(const TrialPlan& plan, bool with_cubin) {
  json message = {
      {"candidate", plan.candidate}, {"strategy", plan.strategy}, {"parameters", plan.parameters}};
  if (with_cubin) message["cubin"] = json::binary({plan.cubin.begin(), plan.cubin.end()});
  return message;
}

json error_to_message(const Error& error) {
  return {static_cast<int>(error.kind), error.message, error.hint};
}

Error error_from_message(const json& m) {
  return {static_cast<ErrorKind>(m.at(0).get<int>()), m.at(1).get<std::string>(), m.at(2).get<std::string>()};
}

}  // namespace rondo::tuner
