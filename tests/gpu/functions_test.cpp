// Every function as code of both backends over all numbers of bf16 and fp16, and over a part of those of
// fp32; over all 2^32 with RONDO_ALL_FLOATS=1 (a minute a function). None errs by more than the table of
// docs/numerics.md says.
#include <array>
#include <thread>

#include "compiler/backend/backends.h"
#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "runtime/launch/loaded_kernel.h"
#include "tests/backend/llvm/functions.h"
#include "tests/gpu/gpu.h"

namespace rondo::runtime {
namespace {

using backend::testing::Worst;
using scalar::Op;

constexpr int kThreads = 256;
constexpr std::size_t kAtOnce = std::size_t{1} << 16;  // numbers, of which a launch has as many as parts
constexpr unsigned kParts = 64;

kernel::Kernel function_of(Op op, kernel::Math math) {
  kernel::Builder b("function", kThreads, math);
  const auto x = b.input("x", kernel::Storage::F32), y = b.output("y", kernel::Storage::F32);
  const kernel::Value i = b.let("i", b.block() * kThreads + b.thread());
  b.store(y[i], b.math(op, {b.load("v", x[i])}));
  return b.finish();
}

// A function on the GPU, in memory for kParts times kAtOnce numbers.
class DeviceFunction {
 public:
  static Result<DeviceFunction> make(const kernel::Kernel& kernel, const backend::Backend& backend,
                                     const rondo::testing::Gpu& gpu) {
    const backend::Request request =
        backend::request_for(backend, {&kernel}, target::Target::gpu(gpu.info.cc()), "function.cu");
    const auto code = backend.compile(request);
    if (!code) return code.error();
    Result<Module> module = Module::load(code->image.bytes);
    if (!module) return module.error();
    DeviceFunction made(gpu, std::move(*module));
    Result<LoadedKernel> loaded = LoadedKernel::load(made.module_, schedule::launch_needs(kernel), gpu.info);
    if (!loaded) return loaded.error();
    made.kernel_.emplace(std::move(*loaded));
    for (DeviceBuffer* buffer : {&made.in_, &made.out_}) {
      Result<DeviceBuffer> memory = DeviceBuffer::allocate(kParts * kAtOnce * sizeof(float));
      if (!memory) return memory.error();
      *buffer = std::move(*memory);
    }
    return made;
  }

  Status run(const std::vector<float>& numbers, std::vector<float>& results) {
    results.resize(numbers.size());
    if (Status status = in_.upload(std::as_bytes(std::span(numbers)), gpu_->stream); !status) return status;
    DeviceAddress in = in_.address(), out = out_.address();
    void* arguments[] = {&in, &out};
    const auto blocks = static_cast<std::int64_t>(numbers.size()) / kThreads;
    if (Status status = kernel_->launch(gpu_->stream, blocks, arguments); !status) return status;
    if (Status status = out_.download(std::as_writable_bytes(std::span(results)), gpu_->stream); !status)
      return status;
    return gpu_->device->wait();
  }

 private:
  DeviceFunction(const rondo::testing::Gpu& gpu, Module module) : gpu_(&gpu), module_(std::move(module)) {}

  const rondo::testing::Gpu* gpu_;
  Module module_;
  std::optional<LoadedKernel> kernel_;
  DeviceBuffer in_, out_;
};

// One function as one backend makes it, and where it erred most.
struct Variant {
  const backend::Backend* backend;
  kernel::Math math;
  DeviceFunction function;
  std::vector<float> results;
  Worst worst;
};

// Each thread compares every so-manyth number. The exact value, which takes most of the time, serves all
// variants.
void compare_all(const std::vector<float>& numbers, Op op, std::vector<Variant>& variants) {
  const unsigned count = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::vector<Worst>> found(count, std::vector<Worst>(variants.size()));
  std::vector<backend::testing::Comparison> comparisons;
  for (const Variant& one : variants) comparisons.emplace_back(op, one.math == kernel::Math::Fast, true);
  std::vector<std::thread> threads;
  for (unsigned k = 0; k < count; ++k)
    threads.emplace_back([&, k] {
      for (std::size_t i = k; i < numbers.size(); i += count) {
        const double exact = scalar::evaluate(op, std::array{static_cast<double>(numbers[i])});
        for (std::size_t v = 0; v < variants.size(); ++v)
          comparisons[v].compare(numbers[i], exact, variants[v].results[i], found[k][v]);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Worst>& of_thread : found)
    for (std::size_t v = 0; v < variants.size(); ++v)
      backend::testing::merge(variants[v].worst, of_thread[v]);
}

class Functions : public rondo::testing::GpuTest, public ::testing::WithParamInterface<Op> {
 protected:
  // Of every backend that is here, accurate and fast; fails the test where one makes no code.
  std::vector<Variant> variants_of(Op op) const {
    std::vector<Variant> variants;
    for (const backend::Backend* backend : backend::backends()) {
      if (!backend->available()) continue;
      for (const kernel::Math math : {kernel::Math::Accurate, kernel::Math::Fast}) {
        Result<DeviceFunction> made = DeviceFunction::make(function_of(op, math), *backend, *gpu_);
        EXPECT_TRUE(made.ok()) << made.error().message;
        if (made) variants.push_back({backend, math, std::move(*made), {}, {}});
      }
    }
    return variants;
  }

  static void try_all(const std::vector<float>& numbers, Op op, std::vector<Variant>& variants) {
    for (Variant& one : variants) {
      const Status status = one.function.run(numbers, one.results);
      ASSERT_TRUE(status.ok()) << status.error().message;
    }
    compare_all(numbers, op, variants);
  }
};

TEST_P(Functions, KeepTheirBoundsOverAllNumbers) {
  const Op op = GetParam();
  std::vector<Variant> variants = variants_of(op);
  ASSERT_FALSE(variants.empty());
  for (const kernel::Storage storage : {kernel::Storage::BF16, kernel::Storage::F16})
    ASSERT_NO_FATAL_FAILURE(try_all(backend::testing::all_numbers(storage), op, variants));
  const std::uint64_t step = backend::testing::all_floats() ? 1 : 1021;
  for (std::uint64_t first = 0; first >> 32 == 0;) {
    std::vector<float> numbers;
    for (unsigned part = 0; part < kParts && first >> 32 == 0; ++part) {
      const std::vector<float> some = backend::testing::some_numbers(first, step);
      numbers.insert(numbers.end(), some.begin(), some.end());
    }
    ASSERT_NO_FATAL_FAILURE(try_all(numbers, op, variants));
  }
  for (const auto& [backend, math, function, results, worst] : variants) {
    const std::string of =
        std::string(scalar::info(op).name) + ", " + kernel::math_name(math) + " math, " + backend->name();
    const auto column = backend->name() == std::string("llvm") ? backend::testing::Column::GpuLlvm
                                                               : backend::testing::Column::GpuNvrtc;
    if (math == kernel::Math::Accurate)
      backend::testing::expect_documented(worst, op, false, column, of);
    else
      EXPECT_LE(worst.of_bound, 1) << of << " at " << worst.bound_at;
    EXPECT_EQ(worst.wrong, "") << of;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Functions, ::testing::ValuesIn(backend::testing::kFunctions),
                         [](const auto& test) { return std::string(scalar::info(test.param).name); });

}  // namespace
}  // namespace rondo::runtime
