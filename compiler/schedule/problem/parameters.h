// Tuning parameters by name, as records and searches have them, and the words that some values have. What a
// strategy says of its own stands in parameter_table.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace rondo::schedule {

// By name. Records and JSON hold the numbers.
using Parameters = std::map<std::string, std::int64_t>;

// How blocks that work on the same channels reach each other: within a thread block cluster (distributed
// shared memory), through global memory while they run, or from one launch to the next.
enum class Exchange { Cluster, Global, Launch };

// How a step is rewritten before it is emitted. Latency shortens the dependent chain from carry to carry
// (shorten_chain.h), Throughput saves instructions (fold_parameters.h). Neither is best everywhere. Rounding
// changes: for kernel::Math::Fast.
enum class Rewrite { None, Latency, Throughput };

// Where a warp finds the inputs of its segment when it sweeps again.
enum class KeptInputs {
  Memory,     // or the L2: it reads them again
  Shared,     // in its ring, which holds the whole segment
  Registers,  // in those of its threads
};

// A parameter whose values have words: its name in every strategy, and the words in the order of the values.
struct WordedParameter {
  std::string_view name;
  std::array<std::string_view, 3> words;
};
template <class Enum>
inline constexpr WordedParameter kWorded = {};
template <>
inline constexpr WordedParameter kWorded<Exchange> = {"exchange", {"cluster", "global", "launch"}};
template <>
inline constexpr WordedParameter kWorded<Rewrite> = {"rewrite", {"none", "latency", "throughput"}};
template <>
inline constexpr WordedParameter kWorded<KeptInputs> = {"keep_inputs", {"memory", "shared", "registers"}};

// For people: "channels=96 exchange=global steps=32 ...". A value that has a word is printed as that word.
std::string print(const Parameters& parameters);

// The number that a word stands for: ("exchange", "global") gives 1. None where the parameter has no such
// word.
std::optional<std::int64_t> value_of_word(const std::string& parameter, std::string_view word);
// "cluster, global"; empty where the parameter's values have no words.
std::string words_of(const std::string& parameter);

}  // namespace rondo::schedule
