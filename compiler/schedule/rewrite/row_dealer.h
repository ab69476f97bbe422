// From the unrolled graph of a step to that of one lane of several that share its rows (deal_rows.h).
#pragma once

#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "compiler/step/rewriter.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// What a node of the unrolled step is to the lanes: the same value in all of them; the value of one lane's
// row, of which the others have the like; or a sum of these over rows that is not made yet.
struct Alike {
  step::NodeId id = step::kNoNode;
};
struct OfLane {
  int lane = 0;
  step::NodeId id = step::kNoNode;
};
struct OverRows {
  step::NodeId alike = step::kNoNode;                 // a summand that all lanes have
  std::map<step::NodeId, std::vector<int>> summands;  // how many times, by lane
};
using Dealt = std::variant<Alike, OfLane, OverRows>;

class RowDealer {
 public:
  // Whether a lane may multiply its rows by matrices, as the rows of a batch may (flatten/).
  enum class Products { None, OfARow };
  RowDealer(const step::Cell& cell, const std::vector<bool>& dealt, int lanes, const step::Graph& from,
            Products products = Products::None)
      : cell_(cell),
        dealt_(dealt),
        lanes_(lanes),
        from_(from),
        products_(products),
        values_(from.nodes.size()) {}

  // The rows of a lane, whose values are nodes of graph(); nothing where the step cannot be dealt.
  std::optional<std::vector<step::Row>> run(const std::vector<step::Row>& rows);
  const step::Graph& graph() { return made_.graph(); }

 private:
  int each(step::TensorId tensor) const { return cell_.tensor(tensor).rows / lanes_; }
  std::optional<Dealt> deal(step::NodeId id);
  Dealt like(step::Node node, const std::vector<Dealt>& operands);
  bool add_parts(OverRows& sum, const step::Node& node, int sign);
  void add(OverRows& sum, step::NodeId id, int sign);
  void add(OverRows& sum, const Dealt& term, int sign);
  void add_alike(OverRows& sum, step::NodeId term, int sign);
  std::optional<Dealt> settled(const Dealt& value);
  step::NodeId own_share(const OverRows& sum, int sign);
  step::NodeId scalar(scalar::Op op, std::vector<step::NodeId> operands);
  std::optional<step::NodeId> result(const step::Row& row);

  const step::Cell& cell_;
  const std::vector<bool>& dealt_;
  const int lanes_;
  const step::Graph& from_;
  const Products products_;
  step::Rewriter made_{false};
  std::vector<std::optional<Dealt>> values_;  // by node of from_
  std::vector<int> uses_;
};

}  // namespace rondo::schedule
