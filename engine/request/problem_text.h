// Problems as people write them: "B=8,T=4096,H=1,D=1536", "bf16", "fw,bw", "60s".
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/problem/problem.h"
#include "compiler/step/forms.h"
#include "compiler/support/result.h"

namespace rondo::engine {

// All errors are Input and name the text, what was expected, and the known values.

// What an extent may be to choose for: sizes are 32-bit in kernels.
inline constexpr std::int64_t kMostExtent = (std::int64_t{1} << 31) - 1;

// Any order; extents left out are those of `defaults`.
Result<step::Sizes> parse_shape(const std::string& text, const step::Sizes& defaults = {});
std::string shape_text(const step::Sizes& sizes);  // "B=8,T=4096,H=1,D=1536"

Result<kernel::Storage> parse_dtype(const std::string& text);  // bf16, fp16, fp32
Result<kernel::Math> parse_math(const std::string& text);      // fast, accurate, tf32
using kernel::math_name;
// "fw", "fws", "bw" and lists of them; each once.
Result<std::vector<schedule::Pass>> parse_passes(const std::string& text);
// Seconds of "500ms", "60s", "2m", "1h", "30d"; a plain number counts seconds. At least 0.
Result<double> parse_duration(const std::string& text);
// Bytes of "4GB" (10^9 each), "512MiB" (2^20 each); a plain number counts bytes. At least 1.
Result<std::int64_t> parse_memory(const std::string& text);
// "name=value", both not empty; `what` is the option, for messages.
Result<std::pair<std::string, std::string>> parse_assignment(const std::string& text,
                                                             const std::string& what);

// A problem as the options of a command line name it.
struct ProblemText {
  std::string shape = "B=8,T=4096,H=1,D=1536";
  std::string dtype = "bf16";
  std::string math;                    // empty: the dtype's default
  std::vector<std::string> constants;  // "name=value"
  std::string save = "states";         // what a forward pass saves for the backward pass: states or products
};
// K of "every=K", as a training step in parts of time has it (engine/plan/parts_of_time.h); 0: `save` says
// something else.
Result<std::int64_t> parse_every(const std::string& save);
// Of `pass`. Errors too for a constant that the cell does not have, and for products to save where
// the backward pass of the cell reads none.
Result<schedule::Problem> parse_problem(const step::Cell& cell, const ProblemText& text, schedule::Pass pass);

// Bounds of the recurrent path (compiler/step/clip.h), as `--clip-forward` and `--clip-gradient` give them;
// "" is no bound.
Result<step::Clip> parse_clip(const std::string& forward, const std::string& gradient);

// Forms of the sequence (compiler/step/forms.h), as `--forms` gives them: "resets", "reset_states",
// "lengths", "reversed", "directions", or several with commas; "" is none.
Result<step::Forms> parse_forms(const std::string& text);

// Whether the backward step of a cell, as it is written, reads products of its matrices
// (schedule::saved_products).
bool can_save_products(const step::Cell& written);

// "name=value" overrides of tuning parameters; values are integers.
Result<schedule::Parameters> parse_parameters(const std::vector<std::string>& texts);
// "name=value" overrides of the cell's constants.
Result<std::map<std::string, double>> parse_constants(const step::Cell& cell,
                                                      const std::vector<std::string>& texts);

}  // namespace rondo::engine
