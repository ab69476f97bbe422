// The strategy host, compiled for this machine, on the integers of exact_case.h: to the bit, in all types.
#ifdef RONDO_BUILT_LLVM
#include "tests/schedule/exact_case.h"

#include "tests/runtime/host/native_run.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

constexpr kernel::Storage kAllStorages[] = {kernel::Storage::F32, kernel::Storage::BF16,
                                            kernel::Storage::F16};

// No matrix: each channel on its own.
constexpr const char* kChannels = R"(
cell counted(D) {
  input x[2, D]
  param w[D]
  state h[D], k[D]

  next h = x[0] - k
  next k = h + x[1]
  output h, y = k * w
}
)";

// Compiling takes seconds a type, so they have turns.
void run_exact(const ExactCell& cell, const Parameters& parameters, const step::Clip& clip = {}) {
  static int turn = 0;
  for (const kernel::Storage storage : kAllStorages) {
    if (!rondo::testing::has_turn(++turn, 2)) continue;
    SCOPED_TRACE(std::string(kernel::storage_name(storage)) + " " + print(parameters));
    ExactCase("host", parameters, storage, clip, cell, default_math(storage))
        .on_cpus([](const Task& task, const KernelPlan& plan, const TensorValues& given, int pad) {
          return runtime::run_natively(task, plan, given, pad);
        })
        .run();
  }
}

TEST(HostExact, CellsWithMatrices) {
  const ExactCell plain, saved{kLinear, true};
  run_exact(plain, {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}});
  run_exact(saved, {{"lanes", 16}, {"vectors", 2}, {"rows", 4}, {"together", 2}, {"tile", 3}});
}

TEST(HostExact, DiagonalCells) {
  const ExactCell cell{kChannels};
  run_exact(cell, {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}});
  run_exact(cell, {{"lanes", 16}, {"vectors", 4}, {"rows", 1}, {"together", 1}, {"tile", 1}});
}

// More than there is: no block runs then, again and again, and others' kernels are none the worse for it.
TEST(HostExact, BlocksWithoutSharedMemoryAreAnError) {
  ExactCase("host", {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}},
            kernel::Storage::F32, {}, {}, default_math(kernel::Storage::F32))
      .on_cpus([](const Task& task, const KernelPlan& plan, const TensorValues& given, int pad) {
        executable::Executable greedy = runtime::native_executable(task, plan);
        for (executable::Kernel& kernel : greedy.kernels) kernel.shared_bytes = std::int64_t{1} << 60;
        const auto loaded = runtime::HostKernels::load(greedy);
        EXPECT_TRUE(loaded.ok());
        for (int i = 0; loaded && i < 3; ++i) {
          const Status launched = (*loaded)->launch(0, 5, {});
          EXPECT_FALSE(launched.ok());
          EXPECT_EQ(launched.error().kind, ErrorKind::Memory);
        }
        return runtime::run_natively(task, plan, given, pad);
      })
      .run();
}

// Bounds that these numbers reach, alone and together: of the carried states, and of the gradient.
TEST(HostExact, ClippedRecurrences) {
  const Parameters parameters = {{"lanes", 16}, {"vectors", 1}, {"rows", 2}, {"together", 2}, {"tile", 2}};
  for (const step::Clip& clip : {step::Clip{2.0, {}}, step::Clip{{}, 2.0}, step::Clip{3.0, 1.0}}) {
    run_exact({}, parameters, clip);
    run_exact({kChannels}, {{"lanes", 16}, {"vectors", 2}, {"rows", 1}, {"together", 1}, {"tile", 1}}, clip);
  }
}

}  // namespace
}  // namespace rondo::schedule
#endif
