// How the threads of a block differ in a value. On a CPU the threads of a block are the lanes of vectors, so
// this decides which values are scalars, which places are those of one wide access, and which branches need
// masks.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::backend::host {

struct Spread {
  enum class Kind : std::uint8_t {
    None,     // of a register that nobody has assigned yet
    Strided,  // an integer that grows by `stride` from lane to lane; 0: one value for all lanes
    Varying,
  };
  Kind kind = Kind::None;
  std::int64_t stride = 0;

  static Spread uniform() { return {Kind::Strided, 0}; }
  static Spread strided(std::int64_t stride) { return {Kind::Strided, stride}; }
  static Spread varying() { return {Kind::Varying, 0}; }
  bool is_uniform() const { return kind == Kind::Strided && stride == 0; }
  bool is_varying() const { return kind == Kind::Varying; }
  bool operator==(const Spread&) const = default;
};

// The spreads of a kernel's registers and expressions: the least ones that agree with all assignments.
class Spreads {
 public:
  explicit Spreads(const kernel::Kernel& kernel);

  Spread of(kernel::ExprId id) const;
  Spread of_register(kernel::RegId reg) const { return registers_[static_cast<std::size_t>(reg)]; }
  // Regions are bodies that only some lanes may execute, null for what all do. Whether lanes that do not take
  // part in an assignment to the variable must keep its value.
  using Region = const kernel::Body*;
  bool is_blended(kernel::RegId reg, Region region) const {
    return declared_in_[static_cast<std::size_t>(reg)] != region;
  }

 private:
  void visit(const kernel::Body& body, Region region);
  void visit(const kernel::For& loop, Region region);
  void join(kernel::RegId reg, Spread spread);

  const kernel::Kernel& kernel_;
  std::vector<Spread> registers_;
  std::vector<Region> declared_in_;  // by register: the region of its declaration
  bool changed_ = false;
};

}  // namespace rondo::backend::host
