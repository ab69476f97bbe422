// Types and operands of expressions; used by verify_statements.
#pragma once

#include <string>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// What is wrong with the node itself given its operands' declared types, or nothing ("").
std::string expression_defect(const Kernel& kernel, const Expr& expr);

inline bool is_integer(Type type) { return type == Type::I32 || type == Type::I64; }
// Storages that packed pairs and tensor-core operands have.
using scalar::is_half;

template <class Table>
bool has_entry(const Table& table, int id) {
  return id >= 0 && static_cast<std::size_t>(id) < table.size();
}

}  // namespace rondo::kernel
