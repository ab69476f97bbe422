// Draws of the CUDA prelude: the text that is emitted, compiled for the CPU, and the sample kernel in the
// simulator.
#include <bit>
#include <cstdint>

#include "compiler/scalar/philox.h"
#include "tests/backend/cuda/kernels.h"
#include "tests/kernel/harness.h"

namespace rondo::backend::cuda::testing {
namespace device_text {

inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * std::uint64_t{b} >> 32);
}

#define __device__
#define __forceinline__ inline
#include "compiler/backend/cuda/prelude/random.cuh"
#undef __device__
#undef __forceinline__

}  // namespace device_text

namespace {

TEST(CudaRandom, TenThousandPlacesGiveTheBitsOfTheReference) {
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const float seed = static_cast<float>(i % 7) - 2.5f;
    const std::uint32_t stream = scalar::philox_stream(i % 2 == 0 ? "drop" : "keep");
    const std::uint32_t row = i / 100, step = i * 31 % 4099, head = i % 11, channel = i * 7919;
    const float draw = device_text::philox_uniform(seed, stream, row, step, head, channel);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(draw),
              std::bit_cast<std::uint32_t>(scalar::philox_uniform(seed, stream, row, step, head, channel)))
        << "place " << i;
  }
}

TEST(CudaRandom, TheSimulatorDrawsTheSame) {
  constexpr std::uint32_t kStep = 17;
  std::vector<kernel::GlobalBuffer> buffers{kernel::input_buffer(kernel::Storage::F32, {5}),
                                            kernel::output_buffer(kernel::Storage::F32, 96)};
  const kernel::SimulationResult result =
      kernel::simulate(draws(), 1, {{.buffer = 0}, {.buffer = 1}, {.integer = kStep}}, buffers);
  kernel::test::expect_clean(result);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const auto expected = [&](const char* name, std::uint32_t channel) {
      return scalar::philox_uniform(5, scalar::philox_stream(name), 0, kStep, 3, channel);
    };
    EXPECT_EQ(buffers[1].values[i], expected("drop", i));
    EXPECT_EQ(buffers[1].values[32 + i], expected("keep", i));
    EXPECT_EQ(buffers[1].values[64 + i], expected("drop", i + 1));
  }
}

}  // namespace
}  // namespace rondo::backend::cuda::testing
