// Packed pairs, tensor cores, mbarriers, clusters and grid flags on a real GPU: the sample kernels of the
// CUDA backend against plain loops, and what happens when blocks do not fit or wait in vain.
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>

#include "compiler/backend/backends.h"
#include "compiler/backend/cuda/emit.h"
#include "compiler/kernel/simulator/simulate.h"
#include "compiler/scalar/storage.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "runtime/launch/loaded_kernel.h"
#include "tests/backend/cuda/kernels.h"
#include "tests/gpu/gpu.h"

namespace rondo::runtime {
namespace {

namespace samples = backend::cuda::testing;
using kernel::Builder;
using kernel::Kernel;
using kernel::Storage;
using kernel::Type;
using kernel::Value;

// An argument: elements of a buffer, or a number.
struct Buffer {
  Storage storage;
  std::vector<double> values;
};

Buffer filled(Storage storage, std::size_t elements, const std::function<double(int)>& value) {
  Buffer buffer{storage, std::vector<double>(elements)};
  for (std::size_t i = 0; i < elements; ++i) buffer.values[i] = value(static_cast<int>(i));
  return buffer;
}
// What no kernel stores.
Buffer untouched(Storage storage, std::size_t elements) {
  return filled(storage, elements, [](int) { return -77; });
}

std::vector<std::byte> encoded(const Buffer& buffer) {
  const auto size = static_cast<std::size_t>(kernel::storage_bytes(buffer.storage));
  std::vector<std::byte> bytes(buffer.values.size() * size);
  for (std::size_t i = 0; i < buffer.values.size(); ++i) {
    const auto integer = static_cast<std::int32_t>(buffer.values[i]);
    if (buffer.storage == Storage::I32)
      std::memcpy(&bytes[i * size], &integer, sizeof integer);
    else
      encode(buffer.storage, buffer.values[i], &bytes[i * size]);
  }
  return bytes;
}

void decode_into(Buffer& buffer, const std::vector<std::byte>& bytes) {
  const auto size = static_cast<std::size_t>(kernel::storage_bytes(buffer.storage));
  for (std::size_t i = 0; i < buffer.values.size(); ++i) {
    std::int32_t integer = 0;
    if (buffer.storage == Storage::I32) {
      std::memcpy(&integer, &bytes[i * size], sizeof integer);
      buffer.values[i] = integer;
    } else {
      buffer.values[i] = decode(buffer.storage, &bytes[i * size]);
    }
  }
}

class Units : public rondo::testing::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (gpu_ != nullptr && gpu_->info.cc() < 90) GTEST_SKIP() << "clusters begin with sm_90";
  }

  Status run(const Kernel& kernel, std::int64_t blocks, std::vector<Buffer>& buffers,
             std::vector<std::int32_t> numbers = {}, const std::string& before = "") const {
    // What stands before is CUDA. RONDO_BACKEND=llvm runs all others by way of LLVM.
    const backend::Backend& backend =
        before.empty() ? backend::preferred_backend() : backend::backend_for(backend::Language::CudaCxx);
    backend::Request request =
        backend::request_for(backend, {&kernel}, target::Target::gpu(gpu_->info.cc()), "units.cu");
    request.text = before + request.text;
    const auto code = backend.compile(request);
    if (!code) return code.error();
    const auto module = Module::load(code->image.bytes);
    if (!module) return module.error();
    const auto loaded = LoadedKernel::load(*module, schedule::launch_needs(kernel), gpu_->info);
    if (!loaded) return loaded.error();
    std::vector<DeviceBuffer> memory;
    std::vector<DeviceAddress> addresses;
    for (const Buffer& buffer : buffers) {
      const std::vector<std::byte> bytes = encoded(buffer);
      memory.push_back(DeviceBuffer::allocate(bytes.size()).value());
      if (Status status = memory.back().upload(bytes, gpu_->stream); !status) return status;
      addresses.push_back(memory.back().address());
    }
    std::vector<void*> arguments;
    for (DeviceAddress& address : addresses) arguments.push_back(&address);
    for (std::int32_t& number : numbers) arguments.push_back(&number);
    if (Status status = loaded->launch(gpu_->stream, blocks, arguments); !status) return status;
    if (Status status = gpu_->device->wait(); !status) return status;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      std::vector<std::byte> bytes = encoded(buffers[i]);
      if (Status status = memory[i].download(bytes, gpu_->stream); !status) return status;
      if (Status status = gpu_->device->wait(); !status) return status;
      decode_into(buffers[i], bytes);
    }
    return success();
  }
};

void expect_values(const Buffer& got, const std::function<double(int)>& expected) {
  int wrong = 0;
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const double value = expected(static_cast<int>(i));
    if (got.values[i] == value) continue;
    if (++wrong <= 3) ADD_FAILURE() << "element " << i << " is " << got.values[i] << ", not " << value;
  }
  EXPECT_EQ(wrong, 0) << "of " << got.values.size();
}

TEST_F(Units, PackedPairs) {
  std::vector<Buffer> buffers;
  for (const Storage storage : {Storage::BF16, Storage::F16}) {
    buffers.push_back(filled(storage, 256, [&](int i) {
      return static_cast<double>(round_to(storage, static_cast<float>(std::sin(i) * 30)));
    }));
    buffers.push_back(untouched(storage, 1024));
  }
  const Status status = run(samples::packed_pairs(), 1, buffers);
  ASSERT_TRUE(status.ok()) << status.error().message;
  for (const std::size_t k : {std::size_t{0}, std::size_t{2}}) {
    const Storage storage = buffers[k].storage;
    const std::vector<double>& in = buffers[k].values;
    const auto rounded = [&](float x) { return static_cast<double>(round_to(storage, x)); };
    expect_values(buffers[k + 1], [&](int i) {
      const int row = i / 256, at = i % 256, lane = at / 8 * 8, place = at % 8;
      // Of the first row only two pairs a lane were written last, and no more before.
      if (row < 3) return row == 0 && place >= 4 ? -77.0 : in[static_cast<std::size_t>(at)];
      const double low = in[static_cast<std::size_t>(lane)], high = in[static_cast<std::size_t>(lane) + 1];
      switch (place) {
        case 0: return rounded(static_cast<float>(high) * static_cast<float>(1.0 / 3));
        case 1:
        case 2:
        case 5: return low;
        case 3: return rounded(static_cast<float>(high) + static_cast<float>(low));
        case 4: return high;
        default: return place == 6 ? 0.0 : 1.0;
      }
    });
  }
}

TEST_F(Units, MatrixProduct) {
  for (const Storage storage : {Storage::BF16, Storage::F16}) {
    std::vector<Buffer> buffers{filled(storage, 256, [](int i) { return i * 7 % 11 - 5; }),
                                filled(storage, 256, [](int i) { return i * 5 % 13 - 6; }),
                                untouched(Storage::F32, 768)};
    const Status status = run(samples::matrix_product(storage), 1, buffers);
    ASSERT_TRUE(status.ok()) << status.error().message;
    expect_values(buffers[2], [&](int i) {
      double sum = 0;  // integers: exact in any order
      for (int k = 0; k < 16; ++k)
        sum += buffers[0].values[static_cast<std::size_t>(i % 256 / 16 * 16 + k)] *
               buffers[1].values[static_cast<std::size_t>(k * 16 + i % 16)];
      return sum;
    });
  }
}

// By the tensor cores themselves, and by each warp where there are none that do.
TEST_F(Units, WarpgroupProduct) {
  constexpr int kSide = 128;
  for (const Storage storage : {Storage::BF16, Storage::F16})
    for (const bool mn_major : {false, true})
      for (const char* before : {"", "#undef __CUDA_ARCH_FEAT_SM90_ALL\n"}) {
        std::vector<Buffer> buffers{filled(storage, kSide * kSide, [](int i) { return i * 7 % 11 - 5; }),
                                    filled(storage, kSide * kSide, [](int i) { return i * 5 % 13 - 6; }),
                                    untouched(Storage::F32, kSide * kSide)};
        const Status status = run(samples::warpgroup_product(storage, mn_major), 1, buffers, {}, before);
        ASSERT_TRUE(status.ok()) << status.error().message;
        const auto at = [&](std::size_t buffer, int extent, int k) {
          return buffers[buffer]
              .values[static_cast<std::size_t>(mn_major ? k * kSide + extent : extent * kSide + k)];
        };
        expect_values(buffers[2], [&](int i) {
          double sum = 0;  // integers: exact in any order
          for (int k = 0; k < kSide; ++k) sum += at(0, i / kSide, k) * at(1, i % kSide, k);
          return sum;
        });
      }
}

// Integers of 13 and 3 bits: three terms lose nothing, tf32 rounds the large ones, ties away from zero.
TEST_F(Units, RealProduct) {
  std::vector<Buffer> buffers{filled(Storage::F32, 256, [](int i) { return i * 1237 % 16381 - 8190; }),
                              filled(Storage::F32, 128, [](int i) { return i * 5 % 15 - 7; }),
                              untouched(Storage::F32, 256), untouched(Storage::F32, 256)};
  const Status status = run(samples::real_product(), 1, buffers);
  ASSERT_TRUE(status.ok()) << status.error().message;
  const auto left = [&](int i) { return buffers[0].values[static_cast<std::size_t>(i)]; };
  const auto rounded = [&](int i) {
    return static_cast<double>(scalar::round_tf32(static_cast<float>(left(i))));
  };
  expect_values(buffers[3], rounded);
  expect_values(buffers[2], [&](int i) {
    double sum = 0;
    for (int k = 0; k < 16; ++k) {
      const int at = i % 128 / 8 * 16 + k;
      sum += (i < 128 ? left(at) : rounded(at)) * buffers[1].values[static_cast<std::size_t>(k * 8 + i % 8)];
    }
    return sum;
  });
}

TEST_F(Units, FlaggedReals) {
  std::vector<Buffer> buffers{filled(Storage::F32, 512, [](int i) { return i * 31 % 127 - 60; }),
                              untouched(Storage::F32, 512),
                              filled(Storage::I32, 512, [](int) { return kernel::kEmpty; })};
  buffers[0].values[77] = std::nan("");
  const Status status = run(samples::flagged_reals(), 2, buffers);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(std::isnan(buffers[1].values[77 + 256]));
  buffers[0].values[77] = buffers[1].values[77 + 256] = 0;
  expect_values(buffers[1],
                [&](int i) { return buffers[0].values[static_cast<std::size_t>((i + 256) % 512)]; });
}

TEST_F(Units, WarpRoles) {
  std::vector<Buffer> buffers{filled(Storage::F32, 5 * 7 * 64, [](int i) { return i; }),
                              untouched(Storage::F32, 5 * 7 * 64)};
  const Status status = run(samples::warp_roles(), 5, buffers);
  ASSERT_TRUE(status.ok()) << status.error().message;
  expect_values(buffers[1], [](int i) { return 3 * i; });
}

TEST_F(Units, MeetingRoles) {
  constexpr int kTurns = 500, kBlocks = 264;
  std::vector<Buffer> buffers{untouched(Storage::I32, std::size_t{kBlocks} * kTurns * 64)};
  const Status status = run(samples::meeting_roles(), kBlocks, buffers, {kTurns});
  ASSERT_TRUE(status.ok()) << status.error().message;
  std::vector<int> wanted;
  for (int block = 0; block < kBlocks; ++block) {
    const std::vector<int> of_block = samples::heard_in_turns(block, kTurns);
    wanted.insert(wanted.end(), of_block.begin(), of_block.end());
  }
  expect_values(buffers[0], [&](int i) { return wanted[static_cast<std::size_t>(i)]; });
}

TEST_F(Units, ClusterSum) {
  constexpr int kTurns = 50, kBlocks = 264;
  std::vector<Buffer> buffers{
      filled(Storage::BF16, std::size_t{kTurns} * kBlocks * 64, [](int i) { return i * 31 % 127 - 60; }),
      filled(Storage::I32, kBlocks * 32, [](int i) { return i * 3; }),
      untouched(Storage::F32, std::size_t{kTurns} * kBlocks * 64), untouched(Storage::I32, kBlocks * 32)};
  const Status status = run(samples::cluster_sum(), kBlocks, buffers, {kTurns});
  ASSERT_TRUE(status.ok()) << status.error().message;
  expect_values(buffers[2], [&](int i) {
    const int row = i / 64;
    float sum = 0;
    for (int rank = 0; rank < 4; ++rank) {
      const auto v =
          static_cast<float>(buffers[0].values[static_cast<std::size_t>((row / 4 * 4 + rank) * 64 + i % 64)]);
      const float third = v * static_cast<float>(1.0 / 3);
      sum = sum + v + third;
    }
    return static_cast<double>(sum);
  });
  expect_values(buffers[3], [&](int i) {
    const int block = i / 32, before = block / 4 * 4 + (block + 3) % 4;
    return (before * 32 + i % 32) * 3;
  });
}

TEST_F(Units, GridRing) {
  constexpr int kTurns = 200;
  const int blocks = gpu_->info.sm_count * 4;
  std::vector<Buffer> buffers{untouched(Storage::F32, static_cast<std::size_t>(kTurns * blocks) * 64),
                              filled(Storage::I32, 1, [](int) { return 0; })};
  const Status status = run(samples::grid_ring(), blocks, buffers, {kTurns});
  ASSERT_TRUE(status.ok()) << status.error().message;
  expect_values(buffers[0], [&](int i) {
    const int t = i / (blocks * 64), block = i / 64 % blocks;
    return ((block - t) % blocks + blocks) % blocks * 64 + i % 64 + t;
  });
}

// Flags across blocks, with and without clusters, up to the largest; each block waits for all.
Kernel meeting(int cluster, int threads) {
  Builder b("meeting", threads);
  b.set_cluster(cluster);
  b.set_cooperative();
  const auto counter = b.output("counter", Storage::I32), seen = b.output("seen", Storage::I32);
  const Value zero = b.constant(0);
  b.if_(b.thread() == 0, [&] {
    b.grid_arrive(counter[zero]);
    b.grid_wait(counter[zero], b.builtin(kernel::Builtin::GridX));
    b.store(seen[b.block()], b.cluster_rank() + 1);
  });
  if (cluster > 1) b.cluster_barrier();
  return b.finish();
}

TEST_F(Units, ClustersMayWaitForTheGridToo) {
  for (const int cluster : {1, 2, 8, 16}) {
    constexpr int kBlocks = 64;
    std::vector<Buffer> buffers{filled(Storage::I32, 1, [](int) { return 0; }),
                                untouched(Storage::I32, kBlocks)};
    const Status status = run(meeting(cluster, 128), kBlocks, buffers);
    ASSERT_TRUE(status.ok()) << cluster << ": " << status.error().message;
    expect_values(buffers[1], [&](int i) { return i % cluster + 1; });
  }
}

TEST_F(Units, BlocksThatDoNotFitAreRefused) {
  std::vector<Buffer> buffers{filled(Storage::I32, 1, [](int) { return 0; }), untouched(Storage::I32, 1)};
  const int fit = gpu_->info.sm_count * (gpu_->info.max_threads_per_sm / 1024);
  const Status refused = run(meeting(1, 1024), fit + 1, buffers);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::Unsupported);
  for (const std::string& part : {"the " + std::to_string(fit + 1) + " blocks", std::to_string(fit) + " fit"})
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  const Status odd = run(meeting(4, 32), 6, buffers);
  ASSERT_FALSE(odd.ok());
  EXPECT_NE(odd.error().message.find("6 blocks are no multiple of its clusters of 4"), std::string::npos);
}

// A wait for what never comes: the kernel ends by itself, says so, and the GPU goes on. 64 threads: all wait,
// and more than once.
Kernel vain(int cluster, bool by_counter) {
  Builder b("vain", 64);
  b.set_cluster(cluster);
  if (by_counter) b.set_cooperative();
  const auto status = b.output("status", Storage::I32), counter = b.output("counter", Storage::I32),
             done = b.output("done", Storage::I32);
  b.set_status(status);
  const Value zero = b.constant(0);
  const auto bar = b.mbarrier("bar", 1, 65);
  b.arrive(bar, zero);
  b.for_("i", 0, 100, 1, [&](Value) {
    if (by_counter)
      b.grid_wait(counter[zero], b.constant(1));
    else
      b.wait(bar, zero, zero);
  });
  if (cluster > 1) b.cluster_barrier();
  b.store(done[b.block() * 64 + b.thread()], b.constant(5));
  return b.finish();
}

class UnitsInVain : public Units {};

TEST_F(UnitsInVain, EndsWithAStatus) {
  for (const bool by_counter : {false, true})
    for (const int cluster : {1, 2}) {
      const auto elements = static_cast<std::size_t>(64 * cluster);
      std::vector<Buffer> buffers{filled(Storage::I32, 1, [](int) { return 0; }),
                                  filled(Storage::I32, 1, [](int) { return 0; }),
                                  untouched(Storage::I32, elements)};
      const auto start = std::chrono::steady_clock::now();
      const Status status = run(vain(cluster, by_counter), cluster, buffers);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      ASSERT_TRUE(status.ok()) << status.error().message;
      EXPECT_EQ(buffers[0].values[0], 1) << "the status";
      expect_values(buffers[2], [](int) { return 5; });
      EXPECT_GT(taken.count(), 3);
      EXPECT_LT(taken.count(), 10) << "the first wait takes 4 s, the others none";
    }
}

}  // namespace
}  // namespace rondo::runtime
