// Evaluates helper functions of the LLVM prelude on the CPU: what scalar functions are made of.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::backend::nvptx::testing {

// Reads the text of functions of numbers (no memory, no loops of phi nodes) and runs them. Throws
// std::runtime_error for what it does not know. Nothing is contracted.
class Evaluator {
 public:
  using Hardware = std::function<float(float)>;

  // Functions in the order in which they call each other: a callee first.
  void add(std::string_view text);
  // Stands in for an intrinsic, inline assembly (by its first word, "tanh.approx.f32"), or a helper.
  void replace(const std::string& name, Hardware function) { hardware_[name] = std::move(function); }

  float operator()(const std::string& function, float x) const;
  // Of any number of arguments, all as bits.
  std::uint64_t operator()(const std::string& function, const std::vector<std::uint64_t>& arguments) const;

 private:
  // A value or a constant: values have numbers, constants their bits.
  struct Operand {
    int value = -1;
    std::uint64_t bits = 0;
  };
  enum class Kind { Binary, Compare, Select, Cast, Negate, Call, Branch, Return };
  struct Instruction {
    Kind kind;
    std::string op, type, to;  // type of the operands, and of the result where it is another
    int result = -1;
    std::vector<Operand> operands;
    std::vector<std::size_t> targets;  // instructions that a branch goes to
    const Hardware* hardware = nullptr;
    int callee = -1;
  };
  struct Function {
    int parameters = 0, values = 0;
    std::vector<Instruction> body;
  };
  class Reader;

  std::uint64_t run(const Function& function, const std::vector<std::uint64_t>& arguments) const;

  std::map<std::string, Hardware> hardware_;
  std::map<std::string, int, std::less<>> names_;
  std::vector<Function> functions_;
};

}  // namespace rondo::backend::nvptx::testing
