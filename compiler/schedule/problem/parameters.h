// Values of a strategy's tuning parameters: the words that some values have, and names of earlier versions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rondo::schedule {

// By name. Records and JSON hold the numbers.
using Parameters = std::map<std::string, std::int64_t>;

// Value of the parameter `exchange`: how blocks that work on the same channels reach each other, within a
// thread block cluster (distributed shared memory), through global memory while they run, or from one launch
// to the next.
enum class Exchange { Cluster, Global, Launch };

// For people: "channels=96 exchange=global steps=32 ...". A value that has a word is printed as that word.
std::string print(const Parameters& parameters);

// The number that a word stands for: ("exchange", "global") gives 1. None where the parameter has no such
// word.
std::optional<std::int64_t> value_of_word(const std::string& parameter, std::string_view word);
// "cluster, global"; empty where the parameter's values have no words.
std::string words_of(const std::string& parameter);

// A parameter's name in earlier versions. Its value now is the recorded one plus `shift`.
struct RenamedParameter {
  std::string_view was, now;
  std::int64_t shift = 0;
};
// With every old name replaced. A name that stands beside its new one is left as it is: such a record
// contradicts itself, and no tuning space accepts it.
Parameters renamed(Parameters recorded, std::span<const RenamedParameter> table);

}  // namespace rondo::schedule
