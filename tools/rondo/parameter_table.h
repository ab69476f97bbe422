// Parameters of several configurations side by side: what the rows differ in, and once what they have in
// common.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/problem/problem.h"

namespace rondo::tools {

struct Configuration {
  std::string strategy;
  schedule::Parameters parameters;
};

struct ParameterTable {
  // For each configuration, in order: its strategy and the parameters in which it differs from another one of
  // that strategy ("stream stages=3 steps=64"). A configuration that is the only one of its strategy has all
  // of them.
  std::vector<std::string> rows;
  // A line for each strategy with two or more configurations that have parameters in common: "  all stream:
  // channels=96 unroll=8\n". In the order in which the strategies first appear.
  std::string common;
};

// A parameter that some configurations of a strategy lack is no common one.
ParameterTable parameter_table(const std::vector<Configuration>& configurations);

}  // namespace rondo::tools
