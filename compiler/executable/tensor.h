// The tensors of a launchable artifact: in which role each one is, where it lies and how large it is.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/scalar/storage.h"

namespace rondo::executable {

enum class Role : std::uint8_t {
  Input,
  Param,
  InitialState,  // given
  Output,
  History,    // History[t] is the state after step t
  LastState,  // these three are results of a forward pass
  Products,   // products of the matrix TensorRef::tensor made at each step, one row each, which a forward
              // pass leaves for the backward pass
  OutputGradient,
  LastStateGradient,  // these two are given to the backward pass
  InputGradient,
  ParamGradient,
  InitialStateGradient,  // these three are results of a backward pass
  Workspace,             // scratch of one launch, fp32
  Exchange,              // words that blocks of one launch send each other, int32
  Status,                // one word, int32: a kernel sets it when it has waited in vain
  Scratch,               // values that a launch leaves for the next, [B, T, H, rows, D]
  // What launches leave for each other without a time axis:
  Packed,   // matrices in the order in which they are multiplied, storage type
  Vectors,  // vectors that are multiplied, rounded to the storage type
  Carries,  // carried and kept values of a step, fp32
  Report,   // what a launch says of its iteration, fp32 (convergence.h)
  // Forms of the sequence, the same for all heads (compiler/step/forms.h):
  Resets,   // [B, T], bytes: not 0 where the states before a step are zero
  Lengths,  // [B], int32: steps that a row has
};
inline constexpr int kRoles = static_cast<int>(Role::Lengths) + 1;

// Whether a caller must bind a tensor of a role.
enum class Need : std::uint8_t {
  Required,  // inputs, parameters, outputs, and what one pass saves for the other
  Zero,      // read; zero (Tensor::first) if not bound: initial states, gradients of outputs and last states
  Discard,   // written; thrown away if not bound: last states, gradients that nobody wants
};

// All that is known of a role, in one table.
struct RoleInfo {
  Role role;
  const char* text;  // "input", "last_state": in manifests and messages
  const char* name;  // of a tensor in emitted text: {} is the cell's name for it ("grad_{}_out")
  bool timed;        // has a time axis: the caller chooses strides in B and T
  bool per_batch;    // has a batch axis
  bool internal;     // lies in the workspace (Status: at the loader); no caller binds it by itself
  Need need;         // of those that a caller may bind
};
const RoleInfo& role_info(Role role);

inline bool has_time_axis(Role role) { return role_info(role).timed; }
inline bool is_internal(Role role) { return role_info(role).internal; }
inline bool is_kept(Role role) {
  return role == Role::Packed || role == Role::Vectors || role == Role::Carries;
}
// What a forward pass leaves for the backward pass alone.
inline bool is_saved(Role role) { return role == Role::History || role == Role::Products; }

struct TensorRef {
  Role role = Role::Input;
  // Which tensor of the cell, in the order of its declarations; of Scratch, which one; -1 for other internal
  // ones.
  std::int32_t tensor = -1;
  friend bool operator==(const TensorRef&, const TensorRef&) = default;
};

// Of `tile` that cover `extent`. Adding to the extent would overflow for the largest ones.
inline std::int64_t tiles_of(std::int64_t extent, std::int64_t tile) {
  return extent / tile + (extent % tile != 0 ? 1 : 0);
}

// A size that follows the call: fixed + each * ceil(B * batch_rows / batch_tile) * (time_tile > 0 ?
// ceil(T / time_tile) : 1). What would be larger than kMost counts as kMost.
struct SizeRule {
  static constexpr std::int64_t kMost = std::int64_t{1} << 50;
  std::int64_t fixed = 0;
  std::int64_t each = 0;
  std::int64_t batch_tile = 1;
  std::int64_t time_tile = 0;
  std::int64_t batch_rows = 1;  // rows that are counted for each batch row of the call; at most kMostRows
  static constexpr std::int64_t kMostRows = 256;
  std::int64_t at(std::int64_t batch, std::int64_t time) const { return of_tiles(tiles(batch), time); }
  std::int64_t tiles(std::int64_t batch) const { return tiles_of(rows(batch), batch_tile); }  // of the batch
  std::int64_t rows(std::int64_t batch) const;
  std::int64_t of_tiles(std::int64_t tiles, std::int64_t time) const;
  friend bool operator==(const SizeRule&, const SizeRule&) = default;
};

// A tensor that kernels read or write.
struct Tensor {
  TensorRef ref;
  std::string name;   // as in emitted text and in messages: "x", "grad_x", "h_first"
  std::string shape;  // for people: "[B, T, H, 4, D]"; "" of internal ones
  scalar::Storage storage = scalar::Storage::F32;
  Need need = Need::Required;
  bool written = false;
  int alignment = 1;      // bytes: of the base pointer and, with a time axis, of both strides
  std::int64_t unit = 0;  // elements of one (batch row, time step), of one batch row, or of all of it
  SizeRule size;          // elements of the whole, laid out densely
  // Of Role::InitialState: what each element is where it is not bound. Of Role::LastState: of its initial
  // state, which a call of no steps leaves.
  float first = 0;
  // Of an internal tensor with a time axis: the place in Executable::tensors of a result in whose memory it
  // lies, step for step of the walk, until kernels write the result over it. -1: it has a region of its own.
  std::int32_t lies_in = -1;
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

}  // namespace rondo::executable
