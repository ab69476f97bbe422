// The flags of one step of a batch row: resets and lengths (forms.h). Internal to the reference executor.
#pragma once

#include <vector>

#include "compiler/step/reference/binding.h"
#include "compiler/step/reference/interpreter.h"

namespace rondo::step::detail {

// Points the leaves of flags at numbers of its own: 1 or 0.
template <class Real>
class Flags {
 public:
  // The step that the walk of a head reaches after `done` others.
  static std::int64_t step_of(const Cell& cell, const Sizes& sizes, std::int64_t head, std::int64_t done) {
    return cell.walks_back(head, sizes.heads) ? sizes.time - 1 - done : done;
  }
  // `bound`: the tensors of flags by TensorId, null for other tensors. It outlives this.
  Flags(const Cell& cell, const Sizes& sizes, const std::vector<const Real*>& bound)
      : sizes_(sizes),
        resets_(cell.first_of_kind(TensorKind::Reset)),
        lengths_(cell.first_of_kind(TensorKind::Length)),
        bound_(bound) {}
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  void locate(std::int64_t batch, std::int64_t t, Sources<Real>& sources) {
    if (resets_) {
      const Real* resets = bound_[static_cast<std::size_t>(*resets_)];
      reset_ = resets[batch * sizes_.time + t] != Real{0} ? Real{1} : Real{0};
      sources.leaf[static_cast<std::size_t>(*resets_)] = &reset_;
    }
    if (lengths_) {
      const Real* lengths = bound_[static_cast<std::size_t>(*lengths_)];
      valid_ = static_cast<Real>(t) < lengths[batch] ? Real{1} : Real{0};
      sources.leaf[static_cast<std::size_t>(*lengths_)] = &valid_;
    }
  }

 private:
  Sizes sizes_;
  std::optional<TensorId> resets_, lengths_;
  const std::vector<const Real*>& bound_;
  Real reset_ = 0, valid_ = 1;
};

// The tensors of flags by TensorId, null for others. Errors are those of bind().
template <class Real>
Result<std::vector<const Real*>> bind_flags(const Cell& cell, const Sizes& sizes,
                                            const TensorMap<Real>& flags) {
  std::vector<const Real*> all(cell.tensors.size(), nullptr);
  std::size_t known = 0;
  for (const auto& [kind, what] : {std::pair(TensorKind::Reset, "tensor of resets"),
                                   std::pair(TensorKind::Length, "tensor of lengths")}) {
    const std::optional<TensorId> id = cell.first_of_kind(kind);
    if (!id) continue;
    const std::string& name = cell.tensor(*id).name;
    const auto found = flags.find(name);
    if (found == flags.end())
      return Error{ErrorKind::Input, "the " + std::string(what) + " of cell " + cell.name + " is missing",
                   "pass it as " + name};
    const std::int64_t wanted = element_count(cell.tensor(*id), sizes);
    if (static_cast<std::int64_t>(found->second.size()) != wanted)
      return Error{ErrorKind::Input,
                   "the " + std::string(what) + " " + name + " has " + std::to_string(found->second.size()) +
                       " elements, " + std::to_string(wanted) + " are needed",
                   kind == TensorKind::Reset ? "its shape is [B, T]" : "its shape is [B]"};
    all[static_cast<std::size_t>(*id)] = found->second.data();
    ++known;
  }
  if (known != flags.size())
    return Error{ErrorKind::Input,
                 "cell " + cell.name + " has fewer tensors of resets and lengths than were passed",
                 "pass those that the cell was given"};
  return all;
}

}  // namespace rondo::step::detail
