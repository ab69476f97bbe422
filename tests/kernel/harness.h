// What the tests of KernelIR share: running a kernel on buffers in the order of its params, and reading the
// faults.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/kernel/builder/builder.h"
#include "compiler/kernel/simulator/simulate.h"

namespace rondo::kernel::test {

// A kernel as built, neither simplified nor verified: for planted defects.
inline Kernel raw(const Builder& builder) { return builder.kernel(); }

// Runs on `buffers`, which stand for the params in order (buffers only).
inline SimulationResult run(const Kernel& kernel, std::int64_t blocks, std::vector<GlobalBuffer>& buffers,
                            const SimulationOptions& options = {}) {
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < buffers.size(); ++i) arguments.push_back({.buffer = static_cast<int>(i)});
  return simulate(kernel, blocks, arguments, buffers, options);
}

inline std::string text(const SimulationResult& result) {
  std::string out;
  for (const Fault& fault : result.faults) out += fault.message + "\n";
  return out;
}

inline void expect_clean(const SimulationResult& result) {
  EXPECT_TRUE(result.faults.empty()) << text(result);
}

// One fault of this kind, whose message holds each of the words.
inline void expect_fault(const SimulationResult& result, Fault::Kind kind,
                         const std::vector<std::string>& words) {
  ASSERT_EQ(result.faults.size(), 1u) << text(result);
  EXPECT_EQ(result.faults[0].kind, kind) << text(result);
  for (const std::string& word : words)
    EXPECT_NE(result.faults[0].message.find(word), std::string::npos)
        << word << " is not in: " << result.faults[0].message;
}

// Among others there is a fault of this kind whose message holds each of the words.
inline bool reported(const SimulationResult& result, Fault::Kind kind,
                     const std::vector<std::string>& words) {
  return std::any_of(result.faults.begin(), result.faults.end(), [&](const Fault& fault) {
    return fault.kind == kind && std::all_of(words.begin(), words.end(), [&](const std::string& word) {
             return fault.message.find(word) != std::string::npos;
           });
  });
}

// 0, 1, 2, ... as an input of that storage.
inline GlobalBuffer counting(Storage storage, std::int64_t elements) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < elements; ++i) values.push_back(static_cast<double>(i));
  return input_buffer(storage, values);
}

}  // namespace rondo::kernel::test
