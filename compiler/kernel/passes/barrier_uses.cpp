#include "compiler/kernel/passes/barrier_uses.h"

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

void find_signals(const Body& body, std::set<MbarrierId>& found) {
  for (const Stmt& stmt : body) {
    if (const auto* arrive = std::get_if<MbarrierArrive>(&stmt.node); arrive != nullptr && arrive->rank >= 0)
      found.insert(arrive->barrier.id);
    if (const auto* store = std::get_if<StoreAsync>(&stmt.node)) found.insert(store->barrier.id);
    if (const auto* loop = std::get_if<For>(&stmt.node)) find_signals(loop->body, found);
    if (const auto* branch = std::get_if<If>(&stmt.node)) {
      find_signals(branch->then_body, found);
      find_signals(branch->else_body, found);
    }
  }
}

}  // namespace

std::set<int> awaited_in_two_roles(const Kernel& kernel) {
  std::set<int> result;
  awaited(kernel.body, result);
  return result;
}

std::set<MbarrierId> signalled_by_other_blocks(const Kernel& kernel) {
  std::set<MbarrierId> result;
  find_signals(kernel.body, result);
  return result;
}

}  // namespace rondo::kernel
