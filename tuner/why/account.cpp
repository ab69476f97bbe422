#include "tuner/why/account.h"

#include <algorithm>
#include <array>
#include <set>

namespace rondo::tuner {

using schedule::EstimatePart;

namespace {

// The parts of kernels that make one thing together, and which parts of the chain are its floor.
struct Group {
  const char* name;
  std::set<std::string> parts, chain;
};
const std::array<Group, 5>& groups() {
  static const std::array<Group, 5> all = {
      {{"exchange", {"exchange", "clears", "messages"}, {"exchange", "reductions"}},
       {"products", {"products"}, {"products"}},
       {"functions", {"functions"}, {"functions"}},
       {"memory", {"stores", "inputs"}, {}},
       {"barriers", {"barriers"}, {}}}};
  return all;
}

const std::string kRestOfFloor = "the rest of the floor of ";

double sum_of(const Account& account, const std::set<std::string>& names) {
  double sum = 0;
  for (const AccountPart& part : account.parts)
    if (names.contains(part.name)) sum += part.seconds;
  return sum;
}

std::set<std::string> parts_of(const Floor& floor) {
  if (floor.name == "bytes") return {"stores", "inputs"};
  if (floor.name == "products") return {"products"};
  return {"exchange", "clears", "messages", "barriers", "products", "functions"};
}

double saved_alone(const PartTimes& times) {
  double sum = 0;
  for (const PartTime& part : times.parts)
    if (std::ranges::find(times.in_turn, part.what, &PartTime::what) != times.in_turn.end())
      sum += std::max(0.0, part.difference_s);
  return sum;
}

}  // namespace

const AccountPart* Account::by_floor_alone() const {
  const auto found = std::ranges::find_if(
      parts, [](const AccountPart& part) { return part.name.starts_with(kRestOfFloor); });
  return found == parts.end() ? nullptr : &*found;
}

Account account_of(const PartTimes& times, const std::vector<Floor>& floors, double starting_s) {
  Account account;
  double in_turn = 0;
  for (const PartTime& part : times.in_turn) {
    account.parts.push_back({part.what, part.difference_s});
    in_turn += part.difference_s;
  }
  account.hidden_alone_s = std::max(0.0, in_turn - saved_alone(times));
  double rest = times.rest_s();
  const auto explain = [&](const std::string& name, double seconds) {
    const double taken = std::clamp(seconds, 0.0, rest);
    if (taken > 0) account.parts.push_back({name, taken});
    rest -= taken;
  };
  explain("launches and first loads", starting_s);
  if (!floors.empty()) {
    const Floor& highest = floors.front();
    explain(kRestOfFloor + highest.name, highest.seconds - sum_of(account, parts_of(highest)));
  }
  account.not_explained_s = rest;
  return account;
}

Account account_of(const std::vector<EstimatePart>& parts, double model_s) {
  Account account;
  double sum = 0;
  for (const EstimatePart& part : parts)
    if (part.seconds > 0) {
      account.parts.push_back({part.name, part.seconds});
      sum += part.seconds;
    }
  account.overlapped_s = std::max(0.0, sum - model_s);
  account.not_explained_s = std::max(0.0, model_s - sum);
  return account;
}

std::vector<Excess> excesses(const Account& account, const std::vector<EstimatePart>& chain,
                             const std::vector<Floor>& floors) {
  std::vector<Excess> all;
  for (const Group& group : groups()) {
    Excess excess{group.name, sum_of(account, group.parts), 0};
    for (const EstimatePart& part : chain)
      if (group.chain.contains(part.name)) excess.floor_s += part.seconds;
    if (excess.name == "memory" && !floors.empty() && floors.front().name == "bytes")
      excess.floor_s = floors.front().seconds;
    if (excess.above_s() > 0) all.push_back(std::move(excess));
  }
  std::ranges::stable_sort(
      all, [](const Excess& one, const Excess& other) { return one.above_s() > other.above_s(); });
  return all;
}

}  // namespace rondo::tuner
