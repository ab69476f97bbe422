// What is to be computed: everything a schedule compiles in, and the sizes it is tuned for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/schedule/problem/names.h"
#include "compiler/schedule/problem/parameters.h"
#include "compiler/step/sizes.h"
#include "compiler/target/target.h"

namespace rondo::schedule {

// Forward: outputs and last states. ForwardSave: also the state histories that Backward needs. Backward:
// gradients of inputs, parameters and initial states from gradients of outputs and last states.
enum class Pass { Forward, ForwardSave, Backward };
const char* pass_name(Pass pass);  // "fw", "fws", "bw"

// Heads, dim, storage, math and constants are compiled in; batch and time are what the choice is tuned for
// and may differ at run time.
struct Problem {
  step::Sizes sizes;
  kernel::Storage storage = kernel::Storage::BF16;  // of inputs, outputs, histories and their gradients
  Pass pass = Pass::Forward;
  // Tf32, with fp32 storage: a strategy may round both operands of a matrix and a vector that a step
  // multiplies to tf32, and nothing else. Where it does not, the product is exact to fp32, as with Accurate.
  kernel::Math math = kernel::Math::Fast;
  std::map<std::string, double> constants;  // overrides of the cell's `const`s
  // ForwardSave also stores the products of matrices that Backward reads, which otherwise multiplies the
  // saved states again (saved_products.h). Forward saves nothing; elsewhere the two passes must agree on it.
  bool save_products = false;
};

// Whether products of the forward step go from ForwardSave to Backward.
bool passes_products(const Problem& problem);
// The pass and what goes between its two parts: "fw", "fws", "bw+products" ...
std::string pass_key(const Problem& problem);
// The problem in every pass, and with every choice of what goes between its two parts: one for each
// pass_key().
std::vector<Problem> in_all_passes(const Problem& problem);
// A pass_key() as people read it: "forward", "forward (training)", "backward, products saved" ... A key that
// this version does not know stays as it is.
std::string pass_title(const std::string& key);
inline std::string pass_title(const Problem& problem) { return pass_title(pass_key(problem)); }

// What the problem sets the cell's named constants to, by const_index.
std::vector<double> constant_values(const step::Cell& cell, const Problem& problem);

// The cell with the problem's overrides of constants as its defaults. Its hash names what is computed: of
// kernels, of what a package holds, of what the database stores.
step::Cell cell_with_constants(const step::Cell& cell, const Problem& problem);
// What makes the problem's cell another one than its text says: values of constants, bounds and forms,
// "p_c=0.1 clip_forward=2 resets"; "" where it is as it is written.
std::string variant_text(const step::Cell& cell, const Problem& problem);

// Whether a GPU multiplies numbers of the type on its tensor cores, with sums in fp32, fp32 as tf32: before
// compute capability 8.0 fp16 alone (PTX ISA, mma).
bool has_mma(const target::Target& target, kernel::Storage storage);

// The default accuracy of a storage type: Fast for 16-bit, Accurate for fp32 and fp64.
kernel::Math default_math(kernel::Storage storage);
// The kind of math that is asked for, or what stands for it: in fp64 functions have no shorter forms.
kernel::Math math_in(kernel::Storage storage, kernel::Math asked);

}  // namespace rondo::schedule
