// Names of a cell and of the functions it can call.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/ast.h"
#include "compiler/frontend/builtins.h"
#include "compiler/frontend/diagnostics.h"
#include "compiler/frontend/value.h"

namespace rondo::frontend {

enum class SymbolKind { Dimension, Extent, Input, Param, State, Const, Local };

// "an input", "a local value" ... for messages.
const char* describe(SymbolKind kind);

struct Symbol {
  SymbolKind kind = SymbolKind::Local;
  Value value;
  step::Span span;  // where it is defined
  bool used = false;
};

struct FunctionEntry {
  const ast::Function* function = nullptr;
  step::Span span;
  bool valid = true;  // false: its body has an error that has been reported; calls are worth Unknown
  bool used = false;
  bool library = false;  // of function_library.h: its name is free, and its text is not the user's
};

// The functions of a file, or of a cell with the file's behind them. A function may call those defined above
// it.
class Functions {
 public:
  explicit Functions(Functions* outer = nullptr) : outer_(outer) {}

  FunctionEntry* find(const std::string& name);
  // The same but for those of the library.
  FunctionEntry* find_own(const std::string& name);
  // Adds and returns an entry. The name must be new.
  FunctionEntry& add(const ast::Function& function, step::Span span);
  // Functions that the text defines further down, for the message.
  void announce(const std::string& name, step::Span span) { later_.emplace(name, span); }
  const step::Span* defined_later(const std::string& name) const;
  std::vector<std::string> names() const;
  // "function 'f' is never called", for those of this table and not of the outer one.
  void report_unused(const std::set<std::string>& excused, Diagnostics& diagnostics) const;

 private:
  Functions* outer_;
  std::map<std::string, FunctionEntry> entries_;
  std::map<std::string, step::Span> later_;
};

struct Scope {
  std::map<std::string, Symbol> symbols;
  std::map<std::string, Value> next;  // states advanced so far
  std::map<std::string, step::Span> next_spans;
  std::map<std::string, step::Span> later;  // names the cell defines somewhere
  std::set<std::string> poisoned;           // names in statements with syntax errors: never reported again
  std::set<std::string> excused;            // names used above their definition: used, if wrongly

  Symbol* find(const std::string& name);
  std::vector<std::string> names() const;
  std::vector<std::string> names(SymbolKind kind) const;
};

// What to write instead of a function that does not exist: that of another language said in this one, or the
// name that was meant, which counts as used then.
std::string help_for_unknown(const std::string& function, Functions& functions);

// How many arguments a function takes, against how many it got. False and a report if they differ.
bool check_argument_count(const ast::Call& call, step::Span span, int min, int max, Diagnostics& diagnostics);

}  // namespace rondo::frontend
