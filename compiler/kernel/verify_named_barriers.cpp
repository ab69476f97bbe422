// Who meets at which named barrier, and from how many places of the text. A meeting of two sides takes two of
// the block's barriers (ir.h), and each instruction of the aligned form belongs to all who synchronise there
// (PTX ISA, 9.7.13.1 barrier, .aligned): warps of two roles must not come to one side of it from two places.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "compiler/kernel/verify_parts.h"

namespace rondo::kernel {

namespace {

using Place = std::pair<int, BarrierSide>;  // id and side
using Places = std::set<Place>;

class Meetings {
 public:
  explicit Meetings(Findings& findings) : findings_(findings) {}

  // Where threads that run the body may meet.
  Places body(const Body& statements) {
    Places result;
    for (const Stmt& stmt : statements) {
      if (const auto* barrier = std::get_if<Barrier>(&stmt.node); barrier != nullptr && barrier->threads > 0)
        result.insert({barrier->id, barrier->side});
      if (const auto* loop = std::get_if<For>(&stmt.node)) result.merge(body(loop->body));
      if (const auto* branch = std::get_if<If>(&stmt.node)) result.merge(branches(*branch));
    }
    return result;
  }

  void numbers(const Places& all) {
    std::map<int, std::set<BarrierSide>> sides;
    for (const auto& [id, side] : all) sides[id].insert(side);
    for (const auto& [id, of_id] : sides) {
      if (of_id.size() == 1 && !is_sided(*of_id.begin())) continue;
      if (!is_sided(*of_id.begin()))
        findings_.add(
            fmt::format("barrier {} is met both with sides and without, or both at one place and "
                        "at any",
                        id));
      else if (of_id.size() == 1)
        findings_.add(fmt::format("nobody comes to the {} side of barrier {}",
                                  *of_id.begin() == BarrierSide::First ? "second" : "first", id));
      if (sides.count(id + 1) != 0)
        findings_.add(
            fmt::format("barrier {} is the second number of barrier {}, which has sides", id + 1, id));
    }
  }

 private:
  Places branches(const If& s) {
    Places result = body(s.then_body);
    Places others = body(s.else_body);
    Places both;
    std::set_intersection(result.begin(), result.end(), others.begin(), others.end(),
                          std::inserter(both, both.end()));
    for (const auto& place : both)
      if (place.second != BarrierSide::Any)
        findings_.add(fmt::format("warps of two roles meet at barrier {} from two places: give each a side",
                                  place.first));
    result.merge(others);
    return result;
  }

  Findings& findings_;
};

}  // namespace

void verify_named_barriers(const Kernel& kernel, Findings& findings) {
  Meetings meetings(findings);
  meetings.numbers(meetings.body(kernel.body));
}

}  // namespace rondo::kernel
