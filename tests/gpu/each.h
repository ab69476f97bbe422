// Values of parameters that several tests of heads take.
#pragma once

#include <gtest/gtest.h>

#include "compiler/scalar/storage.h"
#include "compiler/schedule/problem/problem.h"

namespace rondo::testing {

inline const auto kEachStorage =
    ::testing::Values(scalar::Storage::BF16, scalar::Storage::F16, scalar::Storage::F32);
inline const auto kBothPasses = ::testing::Values(schedule::Pass::ForwardSave, schedule::Pass::Backward);

}  // namespace rondo::testing
