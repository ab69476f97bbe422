// The emitted text of the sample kernels, character for character. RONDO_UPDATE_GOLDEN=1 writes the files
// anew.
#include <gtest/gtest.h>

#include "compiler/backend/cuda/emit.h"
#include "tests/backend/cuda/kernels.h"
#include "tests/backend/golden_text.h"

namespace rondo::backend::cuda {
namespace {

class Golden : public ::testing::TestWithParam<testing::Sample> {};

TEST_P(Golden, TextIsAsRecorded) {
  compare_golden("cuda/" + GetParam().name + ".cu", emit({&GetParam().kernel}));
}

INSTANTIATE_TEST_SUITE_P(Cuda, Golden, ::testing::ValuesIn(testing::samples()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rondo::backend::cuda
