#include "engine/plan/part_bindings.h"

#include <algorithm>
#include <utility>

#include "compiler/executable/workspace.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::engine {

using executable::Address;
using executable::Binding;
using executable::Bindings;
using executable::kRegionAlignment;
using executable::Role;
using executable::Tensor;
using executable::TensorRef;

namespace {

std::optional<Binding> bound(const Bindings& whole, TensorRef ref) {
  const Binding* binding = whole.find(ref);
  return binding == nullptr ? std::nullopt : std::optional(*binding);
}

// From a step on. What no memory can hold, or lies before what is given, gets no bytes: a launch refuses it.
std::optional<Binding> sliced(const Bindings& whole, const Tensor& tensor, std::int64_t begin,
                              std::int64_t time) {
  std::optional<Binding> binding = bound(whole, tensor.ref);
  if (!binding) return binding;
  if (!binding->strides) binding->strides = executable::Strides{time * tensor.unit, tensor.unit};
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(begin * scalar::storage_bytes(tensor.storage), binding->strides->t, &bytes)) {
    binding->bytes = 0;
    return binding;
  }
  binding->pointer += static_cast<Address>(bytes);
  if (binding->bytes)
    binding->bytes = bytes < 0 ? std::int64_t{0} : std::max(*binding->bytes - bytes, std::int64_t{0});
  return binding;
}

}  // namespace

std::int64_t TimeParts::count() const { return std::max(executable::tiles_of(time, every), std::int64_t{1}); }

TimePart TimeParts::part(std::int64_t number) const {
  const std::int64_t walked = number * every, steps = std::min(every, time - walked);
  return {reversed ? time - walked - steps : walked, steps};
}

std::int64_t PartBindings::Piece::stride() const { return round_up(tensor_bytes, kRegionAlignment); }

std::int64_t PartBindings::Piece::bytes() const {
  std::int64_t before = 0;
  if (__builtin_mul_overflow(count - 1, stride(), &before)) return executable::SizeRule::kMost;
  return std::min(before, executable::SizeRule::kMost) + tensor_bytes;
}

PartBindings::PartBindings(TimeParts parts, std::int64_t batch, const Tensors& walking, const Tensors& saving,
                           const Tensors& backward, std::vector<schedule::KnownOutputs::Of> again)
    : parts_(parts), again_(std::move(again)) {
  const auto add = [&](Piece::Kind kind, const Tensor& tensor, std::int64_t count) {
    const std::int64_t steps = std::min(parts_.every, parts_.time);
    pieces_.push_back(
        {kind, tensor.ref, count, tensor.size.at(batch, steps) * scalar::storage_bytes(tensor.storage)});
  };
  const std::int64_t between = parts_.count() - 1;
  for (const Tensor& tensor : walking)
    if (between > 0 && tensor.ref.role == Role::LastState) add(Piece::Kind::Between, tensor, between);
  for (const Tensor& tensor : backward)
    if (between > 0 && tensor.ref.role == Role::InitialStateGradient) add(Piece::Kind::Gradient, tensor, 2);
  for (const Tensor& tensor : saving)
    if (executable::is_saved(tensor.ref.role)) add(Piece::Kind::Saved, tensor, 1);
}

std::int64_t PartBindings::region_bytes() const {
  std::int64_t bytes = 0;
  for (const Piece& piece : pieces_) bytes = round_up(bytes, kRegionAlignment) + piece.bytes();
  return bytes;
}

void PartBindings::place_in_region(Address address) {
  for (Piece& piece : pieces_) {
    piece.address = address;
    address += static_cast<Address>(round_up(piece.bytes(), kRegionAlignment));
  }
}

std::optional<Binding> PartBindings::piece(Piece::Kind kind, std::int64_t number, TensorRef stored,
                                           TensorRef as) const {
  const auto found = std::ranges::find_if(
      pieces_, [&](const Piece& piece) { return piece.kind == kind && piece.ref == stored; });
  if (found == pieces_.end()) return std::nullopt;
  return Binding{as, found->address + static_cast<Address>(number * found->stride()), std::nullopt,
                 found->tensor_bytes};
}

std::optional<Binding> PartBindings::binding(const Tensor& tensor, std::int64_t number, PartLaunch launch,
                                             const Bindings& whole) const {
  using Kind = Piece::Kind;
  const TensorRef ref = tensor.ref;
  const bool is_first = number == 0, is_last = parts_.is_last(number);
  switch (ref.role) {
    case Role::InitialState:
      if (is_first) return bound(whole, ref);
      return piece(Kind::Between, number - 1, {Role::LastState, ref.tensor}, ref);
    case Role::LastState:
      if (is_last) return bound(whole, ref);
      return launch == PartLaunch::Walk ? piece(Kind::Between, number, ref, ref) : std::nullopt;
    case Role::LastStateGradient:
      if (is_last) return bound(whole, ref);
      return piece(Kind::Gradient, (number + 1) % 2, {Role::InitialStateGradient, ref.tensor}, ref);
    case Role::InitialStateGradient:
      return is_first ? bound(whole, ref) : piece(Kind::Gradient, number % 2, ref, ref);
    case Role::History:
    case Role::Products: return piece(Kind::Saved, 0, ref, ref);
    default:
      return executable::has_time_axis(ref.role)
                 ? sliced(whole, tensor, parts_.part(number).begin, parts_.time)
                 : bound(whole, ref);
  }
}

std::optional<PartLaunch> PartBindings::saving(std::int64_t number) const {
  const auto is_saved = [](const Piece& piece) { return piece.kind == Piece::Kind::Saved; };
  if (!parts_.is_last(number) && std::ranges::none_of(pieces_, is_saved)) return std::nullopt;
  const bool known = !again_.empty() && number > 0 && !parts_.is_last(number);
  return known ? PartLaunch::Again : PartLaunch::Save;
}

// As a pass that saves has the tensor that it stands for.
std::optional<Binding> PartBindings::binding_again(Tensor tensor, std::int64_t number,
                                                   const Bindings& whole) const {
  const TensorRef own = tensor.ref;
  const auto [id, before] = again_[at(own.tensor)];
  tensor.ref.tensor = id;
  std::optional<Binding> found;
  if (before && own.role == Role::Input) {
    tensor.ref.role = Role::Output;
    found = sliced(whole, tensor, parts_.part(number).begin + (parts_.reversed ? 1 : -1), parts_.time);
  } else {
    found = binding(tensor, number, PartLaunch::Again, whole);
  }
  if (found) found->tensor = own;
  return found;
}

void PartBindings::bind(const Tensors& tensors, std::int64_t number, PartLaunch launch, const Bindings& whole,
                        Bindings& into) const {
  for (const Tensor& tensor : tensors)
    if (!executable::is_internal(tensor.ref.role))
      if (const std::optional<Binding> found = launch == PartLaunch::Again
                                                   ? binding_again(tensor, number, whole)
                                                   : binding(tensor, number, launch, whole))
        into.set(*found);
}

}  // namespace rondo::engine
