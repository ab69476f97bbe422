// Which variants of the strategies fit which GPU, and what is short where they do not: `rondo check`.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/target/profile.h"

namespace rondo::engine {

struct Fit {
  enum class Kind {
    Fits,
    Short,     // a resource or rule leaves no configuration
    NotLegal,  // the strategy cannot compute the cell at all
  } kind = Kind::Fits;
  std::string missed;     // what is short, in a few words: "shared memory"
  std::string detail;     // the same with numbers and where that is, or why it is not legal
  std::string told = {};  // the same without where; empty: as the detail
};

// A variant on every GPU of the table, in the order of FitTable::profiles.
struct FitRow {
  std::string strategy, variant;  // variant: "" where the strategy has one only
  schedule::Pass pass;
  std::vector<Fit> fits;
};

struct FitTable {
  std::vector<std::string> profiles;  // keys of the boards, as --arch takes them
  std::vector<FitRow> rows;           // forward, then backward; strategies in order of preference
};

// Of the task's cell, sizes and types: its pass and profile do not matter.
FitTable fit_table(const schedule::Task& task, const std::vector<target::Profile>& profiles);

// A paragraph a pass, aligned; "fits", what is short (by how much, where there is one GPU), or "-" where the
// strategy is not legal.
std::string print(const FitTable& table);

}  // namespace rondo::engine
