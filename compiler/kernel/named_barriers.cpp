#include "compiler/kernel/named_barriers.h"

#include <algorithm>
#include <iterator>

namespace rondo::kernel {

namespace {

// Where threads that run the body may wait; those of both branches of an `if` go to `in_two`.
std::set<int> awaited(const Body& body, std::set<int>& in_two) {
  std::set<int> result;
  for (const Stmt& stmt : body) {
    if (const auto* barrier = std::get_if<Barrier>(&stmt.node);
        barrier != nullptr && barrier->threads > 0 && barrier->waits)
      result.insert(barrier->id);
    if (const auto* loop = std::get_if<For>(&stmt.node)) result.merge(awaited(loop->body, in_two));
    if (const auto* branch = std::get_if<If>(&stmt.node)) {
      std::set<int> one = awaited(branch->then_body, in_two), other = awaited(branch->else_body, in_two);
      std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                            std::inserter(in_two, in_two.end()));
      result.merge(one);
      result.merge(other);
    }
  }
  return result;
}

}  // namespace

std::set<int> awaited_in_two_roles(const Kernel& kernel) {
  std::set<int> result;
  awaited(kernel.body, result);
  return result;
}

}  // namespace rondo::kernel
