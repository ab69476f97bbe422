// The collector of errors that lexer, parser and checker share.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/frontend/frontend.h"

namespace rondo::frontend {

// Errors of one file. An error repeated at the same place (a function expanded twice) is kept once; beyond
// kMaxErrors the rest is dropped with a closing note, so that a file of garbage does not produce a report of
// its own size.
class Diagnostics {
 public:
  static constexpr std::size_t kMaxErrors = 200;

  void error(step::Span span, std::string message, std::string help = "");
  // What is no error and may not be what was meant.
  void remark(step::Span span, std::string message, std::string help) {
    remarks_.push_back({span, std::move(message), std::move(help)});
  }
  std::size_t count() const { return list_.size(); }
  // Is the rest dropped? Then nobody needs to look for help.
  bool full() const { return list_.size() > kMaxErrors; }
  // Is there an error at this place already?
  bool any_at(step::Span span) const { return places_.contains({span.line, span.column}); }
  // Everything reported, in source order.
  std::vector<Diagnostic> take();
  std::vector<Diagnostic> take_remarks() { return std::exchange(remarks_, {}); }

 private:
  std::vector<Diagnostic> list_, remarks_;
  std::set<std::tuple<int, int, std::string>> seen_;
  std::set<std::pair<int, int>> places_;
};

// 'a' for 'A'; any other character is itself. ASCII only, whatever the locale.
char small_letter(char c);

// The name in `candidates` closest to `name` by edit distance (Damerau 1964: insert, delete, replace, swap of
// neighbours cost 1; another case costs nothing), or "" if none is close enough to be a plausible slip.
std::string closest(const std::string& name, const std::vector<std::string>& candidates);

// "did you mean 'tanh'?", or `otherwise` if nothing is close.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& candidates,
                         const std::string& otherwise = "");

}  // namespace rondo::frontend
