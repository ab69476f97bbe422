#include "engine/data/given_data.h"

#include <algorithm>

namespace rondo::engine {

using executable::Role;

namespace {

const step::TensorMap<double>* map_of(const GivenData& given, Role role) {
  switch (role) {
    case Role::Input: return &given.arguments.inputs;
    case Role::Param: return &given.arguments.params;
    case Role::InitialState: return &given.arguments.initial_states;
    default: return nullptr;
  }
}

}  // namespace

std::optional<std::vector<double>> given_values(const GivenData* given, Role role, const step::Tensor& tensor,
                                                const step::Sizes& sizes) {
  const step::TensorMap<double>* map = given == nullptr ? nullptr : map_of(*given, role);
  if (map == nullptr || !map->contains(tensor.name)) return std::nullopt;
  const std::vector<double>& from = map->at(tensor.name);
  if (role == Role::Param) return from;
  const bool timed = role == Role::Input;
  const std::int64_t steps = timed ? sizes.time : 1, own_steps = timed ? given->sizes.time : 1;
  const std::int64_t unit =
      static_cast<std::int64_t>(from.size()) / std::max<std::int64_t>(1, given->sizes.batch * own_steps);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(sizes.batch * steps * unit));
  for (std::int64_t b = 0; b < sizes.batch; ++b)
    for (std::int64_t t = 0; t < steps; ++t) {
      const std::int64_t first = (b % given->sizes.batch * own_steps + t % own_steps) * unit;
      values.insert(values.end(), from.begin() + first, from.begin() + first + unit);
    }
  return values;
}

}  // namespace rondo::engine
