#include "tests/points/random_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::points {

int pick(Random& random, int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }
bool chance(Random& random, double probability) { return std::bernoulli_distribution(probability)(random); }

namespace {

// Rows of a declared tensor as a cell writes them: "x" of x[D], "x[0]" and "x[1]" of x[2, D].
std::vector<std::string> rows_of(const std::string& name, int rows) {
  if (rows == 0) return {name};
  std::vector<std::string> result;
  for (int row = 0; row < rows; ++row) result.push_back(fmt::format("{}[{}]", name, row));
  return result;
}

class RandomText {
 public:
  RandomText(Random& random, const TextOptions& options) : random_(random), options_(options) {}

  std::string run() {
    declare();
    if (dense()) make_products();
    const int values = pick(random_, 0, 3);
    for (int i = 0; i < values; ++i) name_value(options_.exact ? exact_term(fixed_) : smooth_term(fixed_));
    advance_states();
    add_outputs();
    std::shuffle(declarations_.begin(), declarations_.end(), random_);
    return fmt::format("cell random(D) {{\n{}{}}}\n", fmt::join(declarations_, ""), body_);
  }

 private:
  bool dense() const { return options_.coupling == Coupling::Dense; }
  bool affine() const { return options_.coupling == Coupling::Affine; }
  static std::string line(const std::string& statement) { return "  " + statement + "\n"; }
  void say(const std::string& statement) { body_ += line(statement); }

  // Whether the body reads a row: "a" is no part of "abs(x)", and is not read where it is given a value.
  bool is_used(const std::string& row) const {
    const auto in_name = [&](std::size_t at) {
      return at < body_.size() &&
             (std::isalnum(static_cast<unsigned char>(body_[at])) != 0 || body_[at] == '_');
    };
    for (std::size_t at = body_.find(row); at != std::string::npos; at = body_.find(row, at + 1)) {
      if (in_name(at + row.size()) || (at > 0 && in_name(at - 1))) continue;
      if (std::string_view(body_).substr(0, at).ends_with("next ")) continue;
      if (std::string_view(body_).substr(at + row.size()).starts_with(" = ")) continue;
      return true;
    }
    return false;
  }

  // Declares a tensor of 1 to `most` rows, without a row axis now and then, and gives its rows.
  std::vector<std::string> tensor(const char* kind, const std::string& name, int most, const char* tail) {
    const int rows = pick(random_, 0, most);
    const std::string extents = rows == 0 ? tail : fmt::format("{}{}{}", rows, *tail == 0 ? "" : ", ", tail);
    declarations_.push_back(
        line(fmt::format("{} {}{}", kind, name, extents.empty() ? "" : "[" + extents + "]")));
    return rows_of(name, rows);
  }
  static void add(std::vector<std::string>& to, const std::vector<std::string>& rows) {
    to.insert(to.end(), rows.begin(), rows.end());
  }

  // Scalar parameters only where results are exact: a sum over all channels of rounded products has no error
  // that a plain loop's would bound.
  void declare() {
    add(inputs_, tensor("input", "x", 3, "D"));
    if (chance(random_, 0.3)) add(inputs_, tensor("input", "u", 2, "D"));
    add(fixed_, inputs_);
    if (chance(random_, 0.6)) add(fixed_, tensor("param", "a", 3, "D"));
    if (options_.exact && chance(random_, 0.5)) add(fixed_, tensor("param", "s", 3, ""));
    if (dense()) {
      const int matrices = pick(random_, 1, 2);
      for (int i = 0; i < matrices; ++i)
        for (const std::string& row : tensor("param", i == 0 ? "R" : "S", 4, "D, D"))
          matrices_.push_back(row);
    }
    const int states = pick(random_, 1, 3);
    for (int i = 0; i < states; ++i) {
      const std::string name(1, "hkm"[i]);
      states_.push_back({name, tensor("state", name, i == 0 ? 3 : 2, "D")});
      previous_.insert(previous_.end(), states_.back().rows.begin(), states_.back().rows.end());
    }
  }

  // A row of something, of two the one that nothing has used yet.
  std::string any(const std::vector<std::string>& rows) {
    const std::string first = one_of(random_, rows), second = one_of(random_, rows);
    return is_used(first) ? second : first;
  }
  // Where there is another one.
  std::string other_than(const std::string& row, const std::vector<std::string>& rows) {
    const std::string other = any(rows);
    return other == row ? one_of(random_, rows) : other;
  }
  std::string old() { return one_of(random_, previous_); }
  std::string name_value(const std::string& expression) {
    const std::string name = fmt::format("v{}", values_++);
    say(name + " = " + expression);
    fixed_.push_back(name);
    return name;
  }

  // What a row of a matrix multiplies: a state or an input, what is made of them, or a product before it;
  // often what another row multiplies.
  std::string some_vector(const std::vector<std::string>& products) {
    if (!vectors_.empty() && chance(random_, 0.6)) return one_of(random_, vectors_);
    vectors_.push_back(old());
    if (!products.empty() && chance(random_, 0.25)) return bounded(one_of(random_, products));
    if (chance(random_, 0.2)) return fmt::format("({} {} {})", old(), one_of(random_, kSigns), old());
    return chance(random_, 0.15) ? any(inputs_) : vectors_.back();
  }

  // A product of every row of every matrix; of all with one vector, now and then.
  void make_products() {
    const std::string common = chance(random_, 0.4) ? old() : "";
    for (const std::string& matrix : matrices_) {
      const std::string vector = common.empty() ? some_vector(products_) : common;
      const std::string name = fmt::format("p{}", products_.size());
      say(fmt::format("{} = {} @ {}", name, matrix, vector));
      products_.push_back(name);
    }
  }

  // Exact: of integers, an integer. Of `rows`, which affine steps keep free of the state.
  std::string exact_term(const std::vector<std::string>& rows) {
    const std::string a = any(rows), b = other_than(a, rows);
    switch (pick(random_, 0, 9)) {
      case 0: return fmt::format("{} * {}", a, b);
      case 1: return fmt::format("max({}, {})", a, b);
      case 2: return fmt::format("min({}, -{})", a, b);
      case 3: return fmt::format("select({} >= {}, {}, {})", a, b, a, one_of(random_, rows));
      case 4: return fmt::format("abs({}) - {}", a, b);
      case 5: return fmt::format("relu({}) * {}", a, b);
      case 6: return fmt::format("clamp({} + {}, -1, 1)", a, b);
      case 7: return fmt::format("select(not ({} < {}) or {} == 0, {}, -{})", a, b, a, b, a);
      case 8: return fmt::format("sign({}) + {}", a, b);
      default: return fmt::format("{} - {}", a, b);
    }
  }
  // -1, 0 or 1, and its gradient no larger.
  std::string factor() {
    switch (pick(random_, 0, 4)) {
      case 0: return "1";
      case 1: return "-1";
      case 2: return fmt::format("sign({})", any(fixed_));
      case 3: return fmt::format("clamp({}, -1, 1)", any(fixed_));
      default: return fmt::format("({} <= {})", any(fixed_), one_of(random_, fixed_));
    }
  }
  std::string smooth_term(const std::vector<std::string>& rows) {
    const std::string a = any(rows), b = other_than(a, rows);
    switch (pick(random_, 0, 6)) {
      case 0: return fmt::format("tanh({}) * {}", a, b);
      case 1: return fmt::format("silu({} - {})", a, b);
      case 2: return fmt::format("softplus({}) - 0.5 * {}", a, b);
      case 3: return fmt::format("exp(-softplus({})) * {}", a, b);
      case 4: return fmt::format("0.7 * {} + {}", a, b);
      case 5: return fmt::format("gelu({}) + {}", a, b);
      default: return fmt::format("{} * sigmoid({})", a, b);
    }
  }
  std::string bounded(const std::string& value) {
    return options_.exact ? fmt::format("clamp({}, -2, 2)", value) : fmt::format("tanh({})", value);
  }

  std::string gate() {
    std::string argument = any(fixed_);
    if (chance(random_, 0.5)) argument += " + " + any(fixed_);
    if (!affine() && chance(random_, 0.5)) argument += fmt::format(" - 0.5 * {}", old());
    return fmt::format("sigmoid({})", argument);
  }

  // The next value of one row: of its own previous value or of another row's, with a coefficient of -1, 0 or
  // 1, or a residual one, 1 + x.
  std::string exact_next(const std::string& own) {
    const std::string other = chance(random_, 0.3) ? old() : own;
    std::string next = fmt::format("{} * {}", factor(), other);
    if (chance(random_, 0.35)) next = fmt::format("{0} + {1} * {0}", other, any(inputs_));
    next += fmt::format(" + {}", any(fixed_));
    if (affine()) return next;
    switch (pick(random_, 0, 3)) {
      case 0: return fmt::format("max(min({}, 3), -{})", next, old());
      case 1: return fmt::format("select({} > {}, clamp({}, -2, 2), {})", own, any(fixed_), next, factor());
      default: return fmt::format("clamp({}, -3, 3)", next);
    }
  }
  std::string smooth_next(const std::string& own) {
    const std::string z = name_value(gate());
    const std::string other = chance(random_, 0.3) ? old() : own;
    std::string candidate = smooth_term(fixed_);
    if (!affine()) candidate = fmt::format("tanh({} + 0.5 * {})", candidate, other);
    switch (pick(random_, 0, 4)) {
      case 0: return fmt::format("{0} * {1} + (1 - {0}) * ({2})", z, other, candidate);
      case 1: return fmt::format("(1 - {0}) * {1} + {0} * ({2})", z, other, candidate);
      case 2:
        return affine() ? fmt::format("{0} - 0.5 * {1} * {0} + ({2})", own, z, candidate)
                        : fmt::format("tanh({0} + {1} * {0} + ({2}))", own, any(fixed_), candidate);
      case 3: return fmt::format("0.9 * {} * {} - ({})", z, other, candidate);
      default: return fmt::format("{} * ({} + {})", z, other, candidate);
    }
  }

  void advance_states() {
    for (const State& state : states_) {
      std::vector<std::string> nexts;
      for (const std::string& own : state.rows) {
        std::string next = options_.exact ? exact_next(own) : smooth_next(own);
        if (!products_.empty()) {
          std::string product = any(products_);
          if (chance(random_, 0.4)) product += " - " + any(products_);
          next = options_.exact ? fmt::format("clamp({} + {}, -2, 2)", next, product)
                                : fmt::format("0.7 * tanh({}) + 0.3 * ({})", product, next);
        }
        nexts.push_back(next);
      }
      const bool stacked = state.rows.front().find('[') != std::string::npos;
      say(fmt::format("next {} = {}", state.name,
                      stacked ? fmt::format("[{}]", fmt::join(nexts, ", ")) : nexts.front()));
    }
  }

  // What nothing has used yet; and states, whose histories then are outputs.
  void add_outputs() {
    std::string sum = chance(random_, 0.5) ? old() : "next " + one_of(random_, states_).rows.front();
    for (const auto* rows : {&fixed_, &products_, &previous_})
      for (const std::string& row : *rows)
        if (!is_used(row)) sum += " + " + row;
    std::vector<std::string> outputs = {
        fmt::format("y = {}", options_.exact ? sum : fmt::format("tanh({})", sum))};
    for (const State& state : states_)
      if (chance(random_, 0.5)) outputs.push_back(state.name);
    say(fmt::format("output {}", fmt::join(outputs, ", ")));
  }

  struct State {
    std::string name;
    std::vector<std::string> rows;
  };
  static constexpr const char* kSigns[] = {"+", "-"};

  Random& random_;
  TextOptions options_;
  std::vector<std::string> declarations_;  // lines, in any order
  std::string body_;
  std::vector<std::string> inputs_;  // rows
  std::vector<std::string> fixed_;   // these, parameters and values; no state reaches them in an affine step
  std::vector<std::string> matrices_;  // rows
  std::vector<std::string> vectors_;   // that products have in common
  std::vector<std::string> products_;
  std::vector<std::string> previous_;  // rows of states before the step
  std::vector<State> states_;
  int values_ = 0;
};

}  // namespace

std::string random_text(Random& random, const TextOptions& options) {
  return RandomText(random, options).run();
}

}  // namespace rondo::points
