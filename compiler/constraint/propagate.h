// Removes values that no solution can have, from the variables of one search state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/constraint/program.h"
#include "compiler/constraint/store.h"

namespace rondo::constraint {

// Holds the compiled constraints of a system and narrows a Store until no constraint can narrow it further:
// interval bounds up and down each expression, divisors and multiples through products and equalities, and
// single values where one variable of a constraint is left open. A constraint that holds for all values left
// is retired until the search goes back.
class Propagator {
 public:
  explicit Propagator(const System& system);
  // An expression that must have a value of at most what most() says last, wherever the search is.
  Propagator(const System& system, const Expr& objective);
  void most(Value value) { constraints_.back().within.hi = value; }

  Store& store() { return store_; }
  const Store& store() const { return store_; }

  // Each: false if some variable has no value left; the caller undoes to its mark.
  bool propagate_all();
  bool decide(std::size_t variable, Interval kept);  // narrows one variable, then whatever follows

  void undo_to(std::size_t mark) { store_.undo_to(mark); }
  // How much deciding the variable can matter: one for each open constraint on it, and one more for each time
  // that constraint has failed so far. 0: nothing depends on it any more.
  std::uint64_t weight(std::size_t variable) const;
  std::uint64_t revisions() const { return revisions_; }
  std::uint64_t work() const { return work_; }  // parts of expressions that were bounded or asked of
  // Whether the constraint ever removed a value or failed: those that never did can go, and the variables
  // would have been narrowed all the same.
  bool mattered(std::size_t constraint) const { return constraints_[constraint].mattered; }

 private:
  // What a constraint asks of one part of its expression.
  struct Need {
    bool required = false;  // the part must have a value, within:
    Interval within;
    std::uint64_t divides = 0;   // the value divides this number (0: nothing asked)
    std::uint64_t multiple = 1;  // the value is a multiple of this number
    std::optional<Value> not_equal;
  };

  // A constraint, and the bounds of its parts as they were when it was last looked at: only parts above a
  // variable whose bounds differ since are bounded anew, wherever the search is by then.
  struct Compiled {
    explicit Compiled(std::shared_ptr<const Program> code);
    std::shared_ptr<const Program> program;
    Interval within{1, 1};       // what the root must come to
    bool objective = false;      // never retired: its bound will be lowered
    std::vector<Interval> seen;  // the bounds of Program::variables then
    std::vector<Bounds> bounds;  // an entry an instruction; none before the first look
    bool mattered = false;
    bool certain(const Bounds& root) const {
      return !root.may_lack_value && within.lo <= root.range.lo && root.range.hi <= within.hi;
    }
  };

  void add(Compiled compiled);
  void enqueue(std::uint32_t constraint);
  bool run();
  bool revise(std::size_t constraint);
  bool narrow(std::size_t constraint);
  Bounds bound_all(Compiled& at, std::optional<std::uint32_t> variable = {}, Value value = 0);
  Bounds bound(const Instruction& instruction, const std::vector<Bounds>& bounds) const;
  void find_multiples(const Program& program);
  bool push_down(const Program& program, Interval within);
  bool meets(std::uint32_t part) const;
  bool push_down(const Instruction& instruction, const Need& need);
  bool push_integers(const Instruction& instruction, const Need& need);
  bool push_product(const Instruction& instruction, const Need& need);
  bool push_comparison(const Instruction& instruction, const Need& need);
  bool push_connective(const Instruction& instruction, const Need& need);
  bool push_when(const Instruction& instruction, const Need& need);
  bool ask(std::uint32_t part, Interval within);
  bool ask_divides(std::uint32_t part, std::uint64_t number);
  bool ask_multiple(std::uint32_t part, std::uint64_t number);
  bool narrow_variable(std::uint32_t variable, const Need& need);
  bool try_each_value(std::size_t constraint, std::uint32_t variable);
  void retire(std::size_t constraint);
  void enqueue_users(std::size_t variable);

  Store store_;
  std::vector<Compiled> constraints_;
  std::vector<std::vector<std::uint32_t>> users_;  // constraints that mention a variable
  std::vector<std::uint64_t> static_multiples_;    // of each variable: what divides all its initial values
  std::vector<std::size_t> open_;                  // store words: 1 while a constraint is not retired
  std::vector<std::uint64_t> failures_;            // of each constraint, never undone, and 1 to begin with
  std::vector<std::uint32_t> queue_;
  std::vector<char> queued_;
  const std::vector<Bounds>* bounds_ = nullptr;  // of the constraint that is being narrowed
  std::vector<Need> needs_;                      // scratch, an entry an instruction
  std::vector<std::uint64_t> multiples_;         // each part's value is a multiple of this; 0: it is 0
  std::uint64_t revisions_ = 0, work_ = 0;
};

}  // namespace rondo::constraint
