// Ids and counters are signed; the standard containers count with std::size_t.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo {

// `index` as an index of a container. It is not negative.
constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace rondo
