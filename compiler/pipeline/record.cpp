#include "compiler/pipeline/record.h"

#include <fmt/format.h>

#include <algorithm>

namespace rondo::pipeline {

namespace {

template <class Clock>
double ms_since(std::chrono::time_point<Clock> begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

}  // namespace

std::vector<PassRecord::Row> PassRecord::rows() const {
  std::vector<Row> result;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].runs > 0) {
      result.push_back(rows_[i]);
      result.back().pass = static_cast<Pass>(i);
    }
  return result;
}

void PassRecord::take_from_outer(double ms) {
  if (!open_.empty()) open_.back().inner_ms += ms;
}

void PassRecord::begins(Pass) { open_.push_back({Clock::now()}); }

void PassRecord::ends(Pass pass, const Made& made) {
  const double all = ms_since(open_.back().begin);
  row(pass).ms += all - open_.back().inner_ms;
  ++row(pass).runs;
  open_.pop_back();
  const Clock::time_point printing = Clock::now();
  if (made.print && std::ranges::find(kept_, pass) != kept_.end()) {
    Text text{pass, made.print()};
    const bool known = std::ranges::any_of(
        texts_, [&](const Text& earlier) { return earlier.pass == pass && earlier.text == text.text; });
    if (!known) texts_.push_back(std::move(text));
  }
  take_from_outer(all + ms_since(printing));
  ended_ = Clock::now();
}

void PassRecord::verified(Pass pass) {
  const double took = ms_since(ended_);
  row(pass).verifier_ms += took;
  take_from_outer(took);
}

Result<std::vector<PassRecord::Text>> PassRecord::texts() const {
  if (!texts_.empty() || kept_.empty()) return texts_;
  std::string ran;
  for (const Row& row : rows()) ran += fmt::format("{}{}", ran.empty() ? "" : ", ", info(row.pass).text);
  return Error{ErrorKind::Input,
               fmt::format("pass {} does not run on the way to this", info(kept_.front()).text),
               "these do: " + ran};
}

Result<std::vector<Pass>> passes_named(const std::string& text) {
  std::vector<Pass> result;
  if (text == "all")
    for (const PassInfo& row : kPasses) result.push_back(row.value);
  if (text.empty() || text == "all") return result;
  const Result<Pass> one = parse_pass(text);
  if (!one) return Error{one.error().kind, one.error().message, one.error().hint + ", all"};
  return std::vector{*one};
}

std::string print_texts(const std::vector<PassRecord::Text>& texts) {
  std::string result;
  for (const PassRecord::Text& text : texts)
    result +=
        fmt::format("# after {}: {}\n{}{}", info(text.pass).text, to_text(kLevels, info(text.pass).level),
                    text.text, text.text.empty() || text.text.back() != '\n' ? "\n" : "");
  return result;
}

std::string print_times(const std::vector<PassRecord::Row>& rows, double all_ms) {
  std::string text =
      fmt::format("{:<16} {:<9} {:>5} {:>10} {:>12}\n", "pass", "level", "runs", "ms", "verifier ms");
  PassRecord::Row sum;
  for (const PassRecord::Row& row : rows) {
    text += fmt::format("{:<16} {:<9} {:>5} {:>10.3f} {:>12.3f}\n", info(row.pass).text,
                        to_text(kLevels, info(row.pass).level), row.runs, row.ms, row.verifier_ms);
    sum.runs += row.runs;
    sum.ms += row.ms;
    sum.verifier_ms += row.verifier_ms;
  }
  const double rest = std::max(0.0, all_ms - sum.ms - sum.verifier_ms);
  text += fmt::format("{:<26} {:>5} {:>10.3f} {:>12.3f}\n", "all passes", sum.runs, sum.ms, sum.verifier_ms);
  return text + fmt::format("{:<32} {:>10.3f}\n", "choice, files, printing", rest);
}

}  // namespace rondo::pipeline
