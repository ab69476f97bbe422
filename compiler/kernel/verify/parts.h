// The parts of verify(), one file each. Every part appends its findings; the later ones run only when the
// earlier found nothing, and so may index tables without looking.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// Findings in the order met, each text once (an unrolled loop meets a defect many times).
class Findings {
 public:
  void add(std::string text) {
    if (known_.insert(text).second) list_.push_back(std::move(text));
  }
  bool empty() const { return list_.empty(); }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::set<std::string> known_;
  std::vector<std::string> list_;
};

// Sizes of the kernel, its params, shared and register arrays; ids and order within the expression table.
void verify_tables(const Kernel& kernel, Findings& findings);
// Types and operands of every expression and statement, widths, spaces, scopes of registers and arrays.
void verify_statements(const Kernel& kernel, Findings& findings);
// What the statements for tensor cores, mbarriers, clusters, grid flags and packed pairs ask of their
// operands beyond types: counts, alignment where constants show it, ids, and of the kernel (cluster,
// cooperative).
void verify_units(const Kernel& kernel, Findings& findings);
// Register arrays: indices known at compile time and in range. Walks unrolled loops value by value.
void verify_arrays(const Kernel& kernel, Findings& findings);
// Barriers: not under control flow that may differ between threads of the block (of the cluster, if it is
// the cluster's).
void verify_barriers(const Kernel& kernel, Findings& findings);
// Named barriers: somebody waits at each.
void verify_named_barriers(const Kernel& kernel, Findings& findings);

}  // namespace rondo::kernel
