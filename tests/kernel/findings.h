// What verify() finds in a kernel.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/kernel/verify/verify.h"

namespace rondo::kernel::test {

inline void expect_sound(const Kernel& kernel) {
  const std::vector<std::string> findings = verify(kernel);
  EXPECT_TRUE(findings.empty()) << findings.front();
}

inline void expect_finding(const Kernel& kernel, const std::string& words) {
  const std::vector<std::string> findings = verify(kernel);
  ASSERT_FALSE(findings.empty()) << "nothing found; expected: " << words;
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(),
                          [&](const std::string& f) { return f.find(words) != std::string::npos; }))
      << words << " is not in: " << findings.front();
}

}  // namespace rondo::kernel::test
