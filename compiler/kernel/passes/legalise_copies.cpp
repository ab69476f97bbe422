#include "compiler/kernel/passes/legalise_copies.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/codegen.h"
#include "compiler/kernel/passes/simplify.h"

namespace rondo::kernel {

namespace {

class CopyLegaliser {
 public:
  explicit CopyLegaliser(Kernel& kernel) : kernel_(kernel) {
    for (const Register& reg : kernel.registers) names_.insert(reg.name);
  }

  // False: the kernel copies nothing asynchronously.
  bool run() {
    body(kernel_.body);
    return changed_;
  }

 private:
  // Stores of a body whose loads stand already; they follow before anything but values and other copies.
  struct Waiting {
    Body stores;
    int registers = 0;
  };

  void body(Body& statements) {
    Body kept;
    Waiting waiting;
    for (Stmt& stmt : statements) {
      if (auto* loop = std::get_if<For>(&stmt.node)) body(loop->body);
      if (auto* branch = std::get_if<If>(&stmt.node)) {
        body(branch->then_body);
        body(branch->else_body);
      }
      if (const auto* copy = std::get_if<CopyAsync>(&stmt.node)) {
        load(*copy, kept, waiting);
      } else if (std::holds_alternative<CommitCopies>(stmt.node) ||
                 std::holds_alternative<WaitCopies>(stmt.node)) {
        changed_ = true;
      } else {
        if (!std::holds_alternative<Let>(stmt.node) && !std::holds_alternative<Comment>(stmt.node))
          flush(kept, waiting);
        kept.push_back(std::move(stmt));
      }
    }
    flush(kept, waiting);
    statements = std::move(kept);
  }

  static void flush(Body& kept, Waiting& waiting) {
    for (Stmt& store : waiting.stores) kept.push_back(std::move(store));
    waiting = {};
  }

  void load(const CopyAsync& copy, Body& kept, Waiting& waiting) {
    const Storage storage = storage_of(kernel_, copy.from);
    const bool packed = scalar::is_half(storage);
    const int count = packed ? copy.elements / 2 : copy.elements;
    const Type type = packed ? Type::I32 : element_type(storage);
    if (waiting.registers + count > kMostInFlight) flush(kept, waiting);
    Load load{{}, copy.from, CacheHint::Default, packed};
    Store store{{}, copy.to, CacheHint::Default, packed};
    for (int i = 0; i < count; ++i) {
      kernel_.registers.push_back({unique_name(), type});
      load.into.push_back(static_cast<RegId>(kernel_.registers.size()) - 1);
      kernel_.expressions.push_back({type, RegRead{load.into.back()}});
      store.values.push_back(static_cast<ExprId>(kernel_.expressions.size()) - 1);
    }
    kept.push_back({std::move(load)});
    waiting.stores.push_back({std::move(store)});
    waiting.registers += count;
    changed_ = true;
  }

  std::string unique_name() {
    std::string name;
    do name = fmt::format("copied_{}", number_++);
    while (!names_.insert(name).second);
    return name;
  }

  Kernel& kernel_;
  std::set<std::string> names_;
  int number_ = 0;
  bool changed_ = false;
};

}  // namespace

Kernel legalise_copies(Kernel kernel) {
  const bool changed = CopyLegaliser(kernel).run();
  return changed ? simplify(std::move(kernel)) : kernel;
}

}  // namespace rondo::kernel
