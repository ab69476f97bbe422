// Forms of a sequence that any cell may take without a change of its text.
//
//   resets    a tensor of bytes, [B, T]: where it is not 0, the states before that step are what a sequence
//             begins with: zero, or what their declaration says. No gradient crosses a reset. Sequences
//             packed side by side in one row are resets.
//   reset_states  with resets: the states before such a step are given ones. Each state NAME gets a companion
//             NAME_reset, a state that no step changes: what it begins with is what NAME is reset to, and the
//             gradient of its initial state is the sum of what flows there at all resets.
//   lengths   a tensor of 32-bit integers, [B]: steps at and after the length of their row leave the states
//             as they are, give outputs of zero, and take and give no gradients. The last state is the one
//             after the last step before the length. A length below 0 counts as 0, one above T as T.
//
//   reversed  the walk goes from the last step to the first; tensors with a time axis stay in the order of
//             time, histories too. "Before" a step is what follows it in time. With lengths each row begins
//             at its own last step.
//   directions  the first half of the heads walks as without it, the second half as if reversed: a layer that
//             reads a sequence both ways is one cell. Not together with reversed. H is even.
//   tangents  beside each input, parameter, state and output NAME stands NAME_tangent (tangent.h): the cell's
//             derivative along a direction.
//
// Resets and lengths are rewritings of the step, like clipping (clip.h): a leaf says what the tensor has for
// this row and step, and selects put it into effect. So the reference executor, the backward step and every
// strategy know them through the graph alone. What is affine stays affine, what is diagonal stays diagonal.
// Reversed time is a matter of addresses: kernels get the place of the last step and strides of the other
// sign, or, where only half of the heads walks back, make them where they know their head.
#pragma once

#include <string>
#include <vector>

#include "compiler/step/sizes.h"
#include "compiler/step/step_ir.h"
#include "compiler/support/result.h"

namespace rondo::step {

struct Forms {
  bool resets = false;
  bool lengths = false;
  bool reversed = false;
  bool reset_states = false;
  bool directions = false;
  bool tangents = false;
  bool any() const { return resets || lengths || reversed || reset_states || directions || tangents; }
};

inline constexpr const char* kResetsName = "resets";
inline constexpr const char* kLengthsName = "lengths";
inline constexpr const char* kReversedName = "reversed";
inline constexpr const char* kDirectionsName = "directions";
inline constexpr const char* kResetStatesName = "reset_states";
inline constexpr const char* kTangentsName = "tangents";

// The cell with the tensors of its forms, named as above, and the step rewritten; a cell that is to be
// clipped is clipped first. Errors (Input): the cell has a form already, or a tensor or constant of a name
// that a form needs, states are given without resets, directions are asked for with reversed, or tangents of
// a cell that has none (tangent.h).
Result<Cell> with_forms(const Cell& cell, const Forms& forms);

// The forms that a cell has.
Forms forms_of(const Cell& cell);
// Their names: "resets", "lengths", "reset_states", "reversed", "directions", "tangents".
std::vector<std::string> form_names(const Forms& forms);

// The name of what the state is reset to.
std::string reset_state_name(const std::string& state);
// An error (Input) if the sizes do not suit the cell's forms: two directions need an even number of heads.
Status check_forms(const Cell& cell, const Sizes& sizes);

// Whether the tensor holds what a state is reset to.
bool is_reset_state(const Cell& cell, TensorId tensor);

// What they do, in plain words, for `rondo check`; "" if the cell has none.
std::string describe_forms(const Cell& cell);

}  // namespace rondo::step
