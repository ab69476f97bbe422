// Where the tensors of one part of a training step lie (parts_of_time.h): what has a time axis in the
// caller's memory from a step on, states and their gradients between parts, and what a part saves, in memory
// that the parts share. Only addresses: whoever launches owns the memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/executable/bindings.h"
#include "compiler/schedule/rewrite/known_outputs.h"

namespace rondo::engine {

struct TimePart {
  std::int64_t begin = 0, steps = 0;
  friend bool operator==(const TimePart&, const TimePart&) = default;
};

// Steps cut into parts of `every` steps, but for the last one, in the order in which the recurrence walks
// them.
struct TimeParts {
  std::int64_t time = 0, every = 1;
  bool reversed = false;

  std::int64_t count() const;  // 1 for no steps
  TimePart part(std::int64_t number) const;
  bool is_last(std::int64_t number) const { return number + 1 == count(); }
};

// What launches of a part do: walk on and keep nothing but states, save what the backward pass reads, make
// the same again by a pass that is given the outputs (schedule/rewrite/known_outputs.h), or go back.
enum class PartLaunch { Walk, Save, Again, Back };

class PartBindings {
 public:
  using Tensors = std::vector<executable::Tensor>;
  // Memory that parts need beside the caller's tensors.
  struct Piece {
    // Between: a state behind each part but the last. Gradient: the gradient of one, twice, which parts use
    // in turns. Saved: what the part at hand saves.
    enum class Kind { Between, Gradient, Saved } kind = Kind::Saved;
    executable::TensorRef ref;
    std::int64_t count = 1, tensor_bytes = 0;
    executable::Address address = 0;

    std::int64_t stride() const;  // bytes from one to the next
    std::int64_t bytes() const;   // of all; what would be more than any memory counts as 2^50
  };

  // Of plans' tensors, for `batch` rows. `walking` may be those of `saving`. `again`: what the tensors of the
  // pass that is given the outputs stand for; empty where there is none.
  PartBindings(TimeParts parts, std::int64_t batch, const Tensors& walking, const Tensors& saving,
               const Tensors& backward, std::vector<schedule::KnownOutputs::Of> again = {});

  const TimeParts& parts() const { return parts_; }
  std::vector<Piece>& pieces() { return pieces_; }

  // What makes the saved tensors of a part that the backward pass goes back through. Nothing where no part
  // saves any: outputs hold all of it. A part that walked first has no outputs before it, and the one that
  // walked last saved them as it walked.
  std::optional<PartLaunch> saving(std::int64_t number) const;

  // Where all pieces lie one behind the other, aligned to 256 bytes, and how much memory that is.
  std::int64_t region_bytes() const;
  void place_in_region(executable::Address address);

  // The tensors of a launch of part `number`, of which `whole` has those of all steps that are given; a dense
  // one of them is so over all steps. Lengths are those of the part. No workspace.
  void bind(const Tensors& tensors, std::int64_t number, PartLaunch launch, const executable::Bindings& whole,
            executable::Bindings& into) const;

 private:
  std::optional<executable::Binding> piece(Piece::Kind kind, std::int64_t number,
                                           executable::TensorRef stored, executable::TensorRef as) const;
  std::optional<executable::Binding> binding(const executable::Tensor& tensor, std::int64_t number,
                                             PartLaunch launch, const executable::Bindings& whole) const;
  std::optional<executable::Binding> binding_again(executable::Tensor tensor, std::int64_t number,
                                                   const executable::Bindings& whole) const;

  TimeParts parts_;
  std::vector<Piece> pieces_;
  std::vector<schedule::KnownOutputs::Of> again_;
};

}  // namespace rondo::engine
