#include "compiler/constraint/propagate.h"

#include <algorithm>
#include <numeric>

namespace rondo::constraint {

namespace {

// Below this many values, trying each one of the last open variable costs less than another round of bounds.
constexpr std::uint64_t kFewValues = 64;

std::uint64_t magnitude(Value value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

bool is_multiple(Value value, std::uint64_t of) { return of == 0 ? value == 0 : magnitude(value) % of == 0; }

std::uint64_t common_divisor(std::uint64_t a, std::uint64_t b) {
  return a == 1 || b == 1 ? 1 : std::gcd(a, b);
}

}  // namespace

Propagator::Compiled::Compiled(std::shared_ptr<const Program> code)
    : program(std::move(code)), seen(program->variables.size(), kNothing) {}

Propagator::Propagator(const System& system) : store_(system), users_(system.domains().size()) {
  for (const Constraint& constraint : system.constraints()) add(Compiled(constraint.program));
  for (const Domain& domain : system.domains()) {
    std::uint64_t multiple = 0;
    for (const Value value : domain.values()) multiple = std::gcd(multiple, magnitude(value));
    static_multiples_.push_back(multiple);
  }
}

Propagator::Propagator(const System& system, const Expr& objective) : Propagator(system) {
  Compiled compiled(std::make_shared<const Program>(compile(*objective.node())));
  compiled.within = {};
  compiled.objective = true;
  add(std::move(compiled));
}

void Propagator::add(Compiled compiled) {
  const auto index = static_cast<std::uint32_t>(constraints_.size());
  for (const std::uint32_t variable : compiled.program->variables) users_[variable].push_back(index);
  needs_.resize(std::max(needs_.size(), compiled.program->code.size()));
  multiples_.resize(needs_.size());
  constraints_.push_back(std::move(compiled));
  open_.push_back(store_.add_word(1));
  failures_.push_back(1);
  queued_.push_back(0);
}

bool Propagator::propagate_all() {
  for (std::size_t v = 0; v < store_.size(); ++v) {
    if (store_.empty(v)) return false;
  }
  for (std::uint32_t i = 0; i < constraints_.size(); ++i) enqueue(i);
  return run();
}

bool Propagator::decide(std::size_t variable, Interval kept) {
  if (!store_.restrict(variable, kept)) return true;
  if (store_.empty(variable)) return false;
  enqueue_users(variable);
  if (!constraints_.empty() && constraints_.back().objective)  // its bound may be lower by now
    enqueue(static_cast<std::uint32_t>(constraints_.size() - 1));
  return run();
}

void Propagator::enqueue(std::uint32_t constraint) {
  if (queued_[constraint] != 0 || store_.word(open_[constraint]) == 0) return;
  queued_[constraint] = 1;
  queue_.push_back(constraint);
}

void Propagator::enqueue_users(std::size_t variable) {
  for (const std::uint32_t constraint : users_[variable]) enqueue(constraint);
}

bool Propagator::run() {
  bool alive = true;
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    const std::uint32_t constraint = queue_[next];
    queued_[constraint] = 0;
    if (!alive || store_.word(open_[constraint]) == 0) continue;
    alive = revise(constraint);
    if (!alive) ++failures_[constraint];
  }
  queue_.clear();
  return alive;
}

void Propagator::retire(std::size_t constraint) {
  if (constraints_[constraint].objective) return;
  store_.set(open_[constraint], 0);
}

std::uint64_t Propagator::weight(std::size_t variable) const {
  std::uint64_t sum = 0;
  for (const std::uint32_t constraint : users_[variable]) {
    if (store_.word(open_[constraint]) != 0) sum += failures_[constraint];
  }
  return sum;
}

bool Propagator::revise(std::size_t constraint) {
  ++revisions_;
  Compiled& at = constraints_[constraint];
  const Bounds whole = bound_all(at);
  const std::size_t before = store_.mark();
  if (at.certain(whole)) {
    retire(constraint);
    return true;
  }
  const bool possible = !intersect(whole.range, at.within).empty() && narrow(constraint);
  at.mattered |= !possible || store_.mark() != before;
  return possible;
}

bool Propagator::narrow(std::size_t constraint) {
  Compiled& at = constraints_[constraint];
  bounds_ = &at.bounds;
  if (!push_down(*at.program, at.within)) return false;
  std::optional<std::uint32_t> last_open;
  for (const std::uint32_t variable : at.program->variables) {
    if (store_.fixed(variable)) continue;
    if (last_open) return true;
    last_open = variable;
  }
  if (!last_open || store_.count(*last_open) > kFewValues) return true;
  return try_each_value(constraint, *last_open);
}

bool Propagator::try_each_value(std::size_t constraint, std::uint32_t variable) {
  Compiled& at = constraints_[constraint];
  const Interval before = store_.bounds(variable);
  store_.filter(variable, [&](Value value) { return at.certain(bound_all(at, variable, value)); });
  if (store_.empty(variable)) return false;
  retire(constraint);
  const Interval after = store_.bounds(variable);
  if (after.lo != before.lo || after.hi != before.hi) enqueue_users(variable);
  return true;
}

Bounds Propagator::bound(const Instruction& at, const std::vector<Bounds>& bounds) const {
  switch (at.op) {
    case Op::Constant: return {{at.constant, at.constant}, false};
    case Op::Variable: return {store_.bounds(at.variable), false};
    case Op::Not: {
      const Bounds& a = bounds[at.a];
      if (a.range.empty()) return a;
      return {{1 - a.range.hi, 1 - a.range.lo}, a.may_lack_value};
    }
    case Op::When: {
      const Bounds& condition = bounds[at.a];
      Bounds result{kNothing, condition.may_lack_value};
      for (const auto& [chosen, branch] : {std::pair{1, at.b}, std::pair{0, at.c}}) {
        if (!condition.range.contains(chosen)) continue;
        result.range = hull(result.range, bounds[branch].range);
        result.may_lack_value |= bounds[branch].may_lack_value;
      }
      result.may_lack_value |= result.range.empty();
      return result;
    }
    default: return forward(at.op, bounds[at.a], bounds[at.b]);
  }
}

// Bounds of every part from the operands up; with a variable given, as if it had that value.
Bounds Propagator::bound_all(Compiled& at, std::optional<std::uint32_t> variable, Value value) {
  const Program& program = *at.program;
  const bool first = at.bounds.empty();
  if (first) at.bounds.resize(program.code.size());
  VariableSet changed = 0;
  for (std::size_t i = 0; i < program.variables.size(); ++i) {
    const std::uint32_t v = program.variables[i];
    const Interval now = v == variable ? Interval{value, value} : store_.bounds(v);
    if (now.lo != at.seen[i].lo || now.hi != at.seen[i].hi) changed |= set_of(v);
    at.seen[i] = now;
  }
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    if (!first && (program.depends[i] & changed) == 0) continue;
    ++work_;
    const Instruction& part = program.code[i];
    const bool pinned = part.op == Op::Variable && part.variable == variable;
    at.bounds[i] = pinned ? Bounds{{value, value}, false} : bound(part, at.bounds);
  }
  return at.bounds.back();
}

void Propagator::find_multiples(const Program& program) {
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const Instruction& at = program.code[i];
    std::uint64_t& found = multiples_[i];
    if ((*bounds_)[i].range.fixed()) {
      found = magnitude((*bounds_)[i].range.lo);
      continue;
    }
    found = 1;
    switch (at.op) {
      case Op::Variable: found = static_multiples_[at.variable]; break;
      case Op::Add:
      case Op::Sub:
      case Op::Min:
      case Op::Max: found = common_divisor(multiples_[at.a], multiples_[at.b]); break;
      case Op::When: found = common_divisor(multiples_[at.b], multiples_[at.c]); break;
      case Op::Mul:
        if (__builtin_mul_overflow(multiples_[at.a], multiples_[at.b], &found)) found = multiples_[at.a];
        break;
      default: break;
    }
  }
}

// From the whole constraint, which must come to a value within, down to the variables.
bool Propagator::push_down(const Program& program, Interval within) {
  const std::size_t size = program.code.size();
  std::fill_n(needs_.begin(), size, Need{});
  if (program.divisibility) {
    find_multiples(program);
  } else {
    std::fill_n(multiples_.begin(), size, 1);
  }
  if (!ask(static_cast<std::uint32_t>(size - 1), within)) return false;
  VariableSet open = 0;
  for (const std::uint32_t variable : program.variables)
    if (!store_.fixed(variable)) open |= set_of(variable);
  for (auto i = static_cast<std::uint32_t>(size); i-- > 0;) {
    if (!needs_[i].required) continue;
    ++work_;
    const bool narrows = (program.depends[i] & open) != 0;
    if (!(narrows ? push_down(program.code[i], needs_[i]) : meets(i))) return false;
  }
  return true;
}

// Of a part whose variables are all fixed there is nothing to narrow: it has the value that is asked for.
bool Propagator::meets(std::uint32_t part) const {
  const Interval has = (*bounds_)[part].range;
  const Need& need = needs_[part];
  if (!has.fixed()) return true;
  return (need.divides == 0 || (has.lo != 0 && need.divides % magnitude(has.lo) == 0)) &&
         is_multiple(has.lo, need.multiple) && has.lo != need.not_equal;
}

bool Propagator::push_down(const Instruction& at, const Need& need) {
  switch (at.op) {
    case Op::Constant: return true;
    case Op::Variable: return narrow_variable(at.variable, need);
    case Op::Not: return ask(at.a, {1 - need.within.hi, 1 - need.within.lo});
    case Op::And:
    case Op::Or: return push_connective(at, need);
    case Op::When: return push_when(at, need);
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Divides: return push_comparison(at, need);
    default: return push_integers(at, need);
  }
}

// The part must have a value in the interval.
bool Propagator::ask(std::uint32_t part, Interval within) {
  Need& need = needs_[part];
  need.within =
      intersect(intersect(need.required ? need.within : Interval{}, within), (*bounds_)[part].range);
  need.required = true;
  return !need.within.empty();
}

bool Propagator::ask_divides(std::uint32_t part, std::uint64_t number) {
  Need& need = needs_[part];
  need.divides = std::gcd(need.divides, number);
  if (number > static_cast<std::uint64_t>(kMost)) return true;
  const auto most = static_cast<Value>(number);
  return ask(part, {-most, most});
}

bool Propagator::ask_multiple(std::uint32_t part, std::uint64_t number) {
  if (number <= 1) return number == 1 || ask(part, {0, 0});
  Need& need = needs_[part];
  // The least common multiple; where it would not fit, asking for one of the two is weaker but sound.
  std::uint64_t both = 0;
  const std::uint64_t rest = number / std::gcd(need.multiple, number);
  need.multiple = __builtin_mul_overflow(need.multiple, rest, &both) ? number : both;
  return ask(part, {});
}

bool Propagator::push_integers(const Instruction& at, const Need& need) {
  if (!ask(at.a, {}) || !ask(at.b, {})) return false;
  const Operands found = backward(at.op, need.within, needs_[at.a].within, needs_[at.b].within);
  if (found.a.empty() || found.b.empty() || !ask(at.a, found.a) || !ask(at.b, found.b)) return false;
  switch (at.op) {
    case Op::Mul: return push_product(at, need);
    case Op::Add:
    case Op::Sub: {
      // If the sum and one operand are multiples of a number, so is the other operand.
      const std::uint64_t for_a = common_divisor(need.multiple, multiples_[at.b]);
      const std::uint64_t for_b = common_divisor(need.multiple, multiples_[at.a]);
      return need.multiple == 1 || (ask_multiple(at.a, for_a) && ask_multiple(at.b, for_b));
    }
    case Op::Mod: {
      if (!need.within.fixed() || need.within.lo != 0) return true;
      if (!ask_multiple(at.a, multiples_[at.b])) return false;
      const Interval number = (*bounds_)[at.a].range;
      return !number.fixed() || number.lo == 0 || ask_divides(at.b, magnitude(number.lo));
    }
    default: return true;
  }
}

bool Propagator::push_product(const Instruction& at, const Need& need) {
  const Interval product = need.within;
  std::uint64_t divides = need.divides;
  if (product.fixed() && product.lo != 0) divides = std::gcd(divides, magnitude(product.lo));
  if (divides != 0) {
    // a * b divides the number and b is a multiple of m, so a divides number / m.
    for (const auto& [part, other] : {std::pair{at.a, at.b}, std::pair{at.b, at.a}}) {
      const std::uint64_t m = multiples_[other];
      if (m == 0 || divides % m != 0 || !ask_divides(part, divides / m)) return false;
    }
  }
  const std::uint64_t multiple = product.fixed() ? magnitude(product.lo) : need.multiple;
  if (multiple <= 1) return true;
  for (const auto& [part, other] : {std::pair{at.a, at.b}, std::pair{at.b, at.a}}) {
    const Interval factor = (*bounds_)[other].range;
    if (!factor.fixed() || factor.lo == 0) continue;
    if (!ask_multiple(part, multiple / std::gcd(multiple, magnitude(factor.lo)))) return false;
  }
  return true;
}

bool Propagator::push_comparison(const Instruction& at, const Need& need) {
  if (!ask(at.a, {}) || !ask(at.b, {})) return false;
  if (!need.within.fixed()) return true;
  const bool holds = need.within.lo == 1;
  const Interval a = needs_[at.a].within, b = needs_[at.b].within;
  const Operands found = backward_compare(at.op, holds, a, b);
  if (found.a.empty() || found.b.empty() || !ask(at.a, found.a) || !ask(at.b, found.b)) return false;
  if ((at.op == Op::Eq && !holds) || (at.op == Op::Ne && holds)) {
    if (b.fixed()) needs_[at.a].not_equal = b.lo;
    if (a.fixed()) needs_[at.b].not_equal = a.lo;
    return true;
  }
  if ((at.op == Op::Eq && holds) || (at.op == Op::Ne && !holds)) {
    return ask_multiple(at.a, multiples_[at.b]) && ask_multiple(at.b, multiples_[at.a]);
  }
  if (at.op != Op::Divides || !holds) return true;
  if (!ask_multiple(at.b, multiples_[at.a])) return false;
  return !b.fixed() || b.lo == 0 || ask_divides(at.a, magnitude(b.lo));
}

bool Propagator::push_connective(const Instruction& at, const Need& need) {
  if (!need.within.fixed()) return true;
  const Value deciding = at.op == Op::And ? 0 : 1;
  const Value asked = need.within.lo;
  if (asked != deciding) return ask(at.a, {asked, asked}) && ask(at.b, {asked, asked});
  const bool a_can = (*bounds_)[at.a].range.contains(deciding);
  const bool b_can = (*bounds_)[at.b].range.contains(deciding);
  if (!a_can && !b_can) return false;
  if (!a_can) return ask(at.b, {deciding, deciding});
  if (!b_can) return ask(at.a, {deciding, deciding});
  return true;
}

bool Propagator::push_when(const Instruction& at, const Need& need) {
  const auto can = [&](Value chosen, std::uint32_t branch) {
    return (*bounds_)[at.a].range.contains(chosen) &&
           !intersect((*bounds_)[branch].range, need.within).empty();
  };
  const bool yes = can(1, at.b), no = can(0, at.c);
  if (!yes && !no) return false;
  if (!ask(at.a, {no ? 0 : 1, yes ? 1 : 0})) return false;
  if (yes && no) return true;
  const std::uint32_t branch = yes ? at.b : at.c;
  return ask(branch, need.within) && ask_multiple(branch, need.multiple) &&
         (need.divides == 0 || ask_divides(branch, need.divides));
}

bool Propagator::narrow_variable(std::uint32_t variable, const Need& need) {
  const Interval before = store_.bounds(variable);
  store_.restrict(variable, need.within);
  if (store_.empty(variable)) return false;
  const bool divisor = need.divides != 0;
  const bool multiple = need.multiple > 1 && static_multiples_[variable] % need.multiple != 0;
  if (divisor || multiple || need.not_equal) {
    store_.filter(variable, [&](Value value) {
      if (divisor && (value == 0 || need.divides % magnitude(value) != 0)) return false;
      return is_multiple(value, need.multiple) && value != need.not_equal;
    });
    if (store_.empty(variable)) return false;
  }
  const Interval after = store_.bounds(variable);
  if (after.lo != before.lo || after.hi != before.hi) enqueue_users(variable);
  return true;
}

}  // namespace rondo::constraint
