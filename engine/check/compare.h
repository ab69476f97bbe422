// The pass mark (docs/tuning.md, Verifying): how far a result may be from the exact one.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/check/spread.h"

namespace rondo::engine {

// What a comparison says of a result, or of a pass.
enum class Said : std::uint8_t {
  Agrees,
  Wrong,
  CannotTell,  // the limit is so large that a wrong result might pass too
};
const char* said_name(Said said);  // "agrees", "wrong", "cannot tell"

// One tensor of one run. A tensor is checked as a whole, in slices (one batch row, one time step, one channel
// ...) and element by element, so that a norm over many elements hides nothing.
struct TensorCheck {
  std::string name;   // "h_out", "grad_x"
  std::string where;  // sizes and layout of the run
  // Of the whole tensor, relative to the norm of the exact one (to 1 where that is zero).
  double error = 0;
  double spread = 0;  // the largest error of the reference with random rounding
  double limit = 0;
  // The largest quotient of an error and its limit, over the whole, all slices and all elements; and where.
  double ratio = 0;
  std::string worst;           // "all of it", "T=12", "element B=0 T=3 H=0 row=0 D=5"
  std::int64_t unwritten = 0;  // elements still poisoned
  std::int64_t not_finite = 0;
  std::int64_t gap_writes = 0;   // elements written between the tensor's rows
  std::int64_t steps = 0;        // of the run; 0: that is not said
  bool ill_conditioned = false;  // the limit is above a tenth of its values: nothing can be said of it
  bool shortened = false;  // stored in fp32, but every value is one of the problem's 16-bit storage type
  bool passed = false;     // not wrong

  Said said() const { return !passed ? Said::Wrong : ill_conditioned ? Said::CannotTell : Said::Agrees; }
  std::string text() const;  // one line; says what failed
};

// What an output may differ by.
struct Tolerance {
  const Spread* spread = nullptr;
  bool decisions = false;                          // has_decisions()
  kernel::Storage stored = kernel::Storage::F32;   // of this tensor
  kernel::Storage problem = kernel::Storage::F32;  // of the problem
  // What is compared with was stored itself: where both sides of a rounding are near, the two may lie an ulp
  // apart.
  bool with_stored = false;
};

// What an element of a correct result, and the norm of all its errors, may at most be off.
double element_limit(const Tolerance& tolerance, std::size_t element, std::span<const double> exact);
double norm_limit(const Tolerance& tolerance, std::span<const double> exact);

// Both of the tensor's number of elements; `exact` is finite.
TensorCheck compare(std::string name, const Tolerance& tolerance, std::span<const double> out,
                    std::span<const double> exact);

}  // namespace rondo::engine
