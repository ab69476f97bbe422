// The walk of a request through the folders: which function calls which, and that it goes down.
#pragma once

#include <string>
#include <vector>

#include "tests/structure/rules.h"

namespace rondo::structure {

// A function on the way. It is called by the last one before it that stands less deep.
struct Stop {
  int depth = 0;
  std::string folder;    // where its body is
  std::string function;  // without namespaces and classes
};
using Walk = std::vector<Stop>;

// Stops without a body in their folder or that their caller does not call, calls that climb to a folder whose
// row in the table stands below the caller's, and folders that the walk returns to more than once.
Findings check_walk(const Walk& walk, const std::vector<SourceFile>& files, const FolderTable& table);

}  // namespace rondo::structure
