// Where a kernel's time goes, as parts that add up to it.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/plan/strategy.h"
#include "tuner/bench/parts.h"
#include "tuner/why/floors.h"

namespace rondo::tuner {

struct AccountPart {
  // What was left out ("exchange", "launch lstm_grad_b"), or what explains a part of the rest: "launches and
  // first loads", "the rest of the floor of bytes".
  std::string name;
  double seconds = 0;  // not negative
};

// seconds of all parts + not_explained_s - overlapped_s is the time; of one that was measured nothing
// overlaps, for each part has what is saved beside those before it.
struct Account {
  std::vector<AccountPart> parts;
  double overlapped_s = 0;  // of the model's parts: what they are more than the time, as they hide each other
  double not_explained_s = 0;  // what no part and no floor explains
  // Measured: how much less is saved by leaving out one part at a time, where another takes its place.
  double hidden_alone_s = 0;

  // The part that no part left out accounts for, and its floor does; null: there is none.
  const AccountPart* by_floor_alone() const;
};

// Of a time that was measured (PartTimes::in_turn). What is left when all is left out is explained by
// `starting_s`, what launches and first loads take, and by what is left of the first floor, the highest one,
// beside the parts that it is made of; the rest is not explained.
Account account_of(const PartTimes& times, const std::vector<Floor>& floors, double starting_s);
// Of the model's time.
Account account_of(const std::vector<schedule::EstimatePart>& parts, double model_s);

// Where a kernel takes more than its floors ask for.
struct Excess {
  std::string name;  // "exchange", "products", "functions", "memory", "barriers"
  double seconds = 0, floor_s = 0;
  double above_s() const { return seconds - floor_s; }
};
// Of a measured account, those above their floors, the most first. An exchange has the messages and what
// makes them ready; memory has a floor only where bytes bind, else the chain hides it; barriers have none,
// since the floors of exchange and products have theirs.
std::vector<Excess> excesses(const Account& account, const std::vector<schedule::EstimatePart>& chain,
                             const std::vector<Floor>& floors);

}  // namespace rondo::tuner
