// The table of helpers that is read from prelude/*.cuh.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/backend/cuda/prelude.h"

namespace rondo::backend::cuda {
namespace {

// Of the forms for earlier GPUs too.
TEST(CudaHelpers, StandAfterWhatTheyNeed) {
  for (const int capability : {75, 90}) {
    std::vector<std::string_view> seen;
    for (const Helper& helper : helpers(target::Target::gpu(capability))) {
      for (const std::string_view needed : helper.needs)
        EXPECT_TRUE(std::ranges::find(seen, needed) != seen.end()) << helper.name << " needs " << needed;
      EXPECT_TRUE(std::ranges::find(seen, helper.name) == seen.end()) << helper.name << " twice";
      seen.push_back(helper.name);
    }
    EXPECT_GT(seen.size(), 90U);
  }
}

// What a section is named is what its text defines.
TEST(CudaHelpers, DefineWhatTheyAreNamed) {
  for (const int capability : {75, 90})
    for (const Helper& helper : helpers(target::Target::gpu(capability)))
      EXPECT_NE(helper.text.find(helper.name), std::string_view::npos) << helper.name;
}

}  // namespace
}  // namespace rondo::backend::cuda
