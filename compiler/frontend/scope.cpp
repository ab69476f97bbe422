#include "compiler/frontend/scope.h"

#include <fmt/format.h>

#include "compiler/frontend/foreign.h"
#include "compiler/support/enum_text.h"

namespace rondo::frontend {

namespace {

constexpr EnumText<SymbolKind> kSymbolKinds[] = {{SymbolKind::Dimension, "the head dimension"},
                                                 {SymbolKind::Extent, "an extent"},
                                                 {SymbolKind::Input, "an input"},
                                                 {SymbolKind::Param, "a param"},
                                                 {SymbolKind::State, "a state"},
                                                 {SymbolKind::Const, "a const"},
                                                 {SymbolKind::Local, "a local value"}};
static_assert(is_total(kSymbolKinds));

}  // namespace

const char* describe(SymbolKind kind) { return to_text(kSymbolKinds, kind); }

FunctionEntry* Functions::find(const std::string& name) {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return &found->second;
  return outer_ ? outer_->find(name) : nullptr;
}

FunctionEntry* Functions::find_own(const std::string& name) {
  FunctionEntry* const found = find(name);
  return found == nullptr || found->library ? nullptr : found;
}

FunctionEntry& Functions::add(const ast::Function& function, step::Span span) {
  return entries_[function.name] = FunctionEntry{&function, span};
}

const step::Span* Functions::defined_later(const std::string& name) const {
  const auto found = later_.find(name);
  if (found != later_.end()) return &found->second;
  return outer_ ? outer_->defined_later(name) : nullptr;
}

std::vector<std::string> Functions::names() const {
  std::vector<std::string> result = outer_ ? outer_->names() : std::vector<std::string>();
  for (const auto& [name, entry] : entries_) result.push_back(name);
  return result;
}

std::string help_for_unknown(const std::string& function, Functions& functions) {
  const std::string instead = instead_of_function(function);
  if (!instead.empty()) return instead;
  std::vector<std::string> known = builtin_names();
  for (const std::string& name : functions.names()) known.push_back(name);
  if (FunctionEntry* meant = functions.find(closest(function, known))) meant->used = true;
  return did_you_mean(function, known);
}

void Functions::report_unused(const std::set<std::string>& excused, Diagnostics& diagnostics) const {
  for (const auto& [name, entry] : entries_) {
    if (entry.used || excused.contains(name)) continue;
    diagnostics.error(entry.span, fmt::format("function '{}' is never called", name), "call it or remove it");
  }
}

Symbol* Scope::find(const std::string& name) {
  const auto found = symbols.find(name);
  return found == symbols.end() ? nullptr : &found->second;
}

std::vector<std::string> Scope::names() const {
  std::vector<std::string> result;
  for (const auto& [name, symbol] : symbols) result.push_back(name);
  return result;
}

std::vector<std::string> Scope::names(SymbolKind kind) const {
  std::vector<std::string> result;
  for (const auto& [name, symbol] : symbols) {
    if (symbol.kind == kind) result.push_back(name);
  }
  return result;
}

bool check_argument_count(const ast::Call& call, step::Span span, int min, int max,
                          Diagnostics& diagnostics) {
  const auto given = static_cast<int>(call.arguments.size());
  if (given >= min && given <= max) return true;
  const bool many = max == kManyArguments && given < min;
  const std::string takes = min == max ? std::to_string(min)
                            : many     ? fmt::format("{} or more", min)
                                       : fmt::format("{} to {}", min, max);
  diagnostics.error(span, fmt::format("'{}' takes {} argument{}, but {} {} given", call.function, takes,
                                      max == 1 ? "" : "s", given, given == 1 ? "is" : "are"));
  return false;
}

}  // namespace rondo::frontend
