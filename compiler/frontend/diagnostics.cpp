#include "compiler/frontend/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

namespace rondo::frontend {
namespace {

// Restricted Damerau-Levenshtein distance of two short names.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  const std::size_t n = a.size(), m = b.size();
  std::vector<std::vector<std::size_t>> d(n + 1, std::vector<std::size_t>(m + 1));
  for (std::size_t i = 0; i <= n; ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= m; ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t j = 1; j <= m; ++j) {
      const std::size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[n][m];
}

bool before(const Diagnostic& a, const Diagnostic& b) {
  return std::tie(a.span.line, a.span.column) < std::tie(b.span.line, b.span.column);
}

}  // namespace

void Diagnostics::error(step::Span span, std::string message, std::string help) {
  if (full()) return;
  if (!seen_.emplace(span.line, span.column, message).second) return;
  if (list_.size() == kMaxErrors) {
    message = "too many errors; the rest is not shown";
    help.clear();
  }
  places_.emplace(span.line, span.column);
  list_.push_back({span, std::move(message), std::move(help)});
}

std::vector<Diagnostic> Diagnostics::take() {
  std::ranges::stable_sort(list_, before);
  seen_.clear();
  places_.clear();
  return std::exchange(list_, {});
}

char small_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string closest(const std::string& name, const std::vector<std::string>& candidates) {
  const auto same = std::ranges::find_if(candidates, [&](const std::string& candidate) {
    return std::equal(name.begin(), name.end(), candidate.begin(), candidate.end(),
                      [](char a, char b) { return small_letter(a) == small_letter(b); });
  });
  if (same != candidates.end()) return *same;
  // One slip in three letters; a name of one or two letters may have one, but must keep a letter.
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > name.size() + best_distance || name.size() > candidate.size() + best_distance)
      continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance && distance < std::max(name.size(), candidate.size())) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& candidates,
                         const std::string& otherwise) {
  const std::string best = closest(name, candidates);
  return best.empty() ? otherwise : fmt::format("did you mean '{}'?", best);
}

}  // namespace rondo::frontend
