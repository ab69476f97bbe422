#include "tuner/calibrate/floor_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/backend/backends.h"
#include "compiler/backend/cuda/math_table.h"
#include "compiler/backend/cuda/prelude.h"
#include "compiler/scalar/ops.h"
#include "compiler/support/embedded_text.h"

namespace rondo::tuner {

const std::vector<EmbeddedText>& embedded_probes();

namespace {

using backend::cuda::Form;
using backend::cuda::WarpgroupProduct;

constexpr int kChainsOfRate = 4, kWarpsOfRate = 8;    // of mma.sync, in products.cuh
constexpr int kStepsOfLatency = 1, kStepsOfRate = 4;  // of warpgroups: 16 columns of A each
constexpr int kWarpgroupsOfRate = 2, kWarpgroupThreads = 128;

bool has_warpgroups(const target::Target& target) { return target == target::Target::gpu(90); }

std::vector<WarpgroupProduct> warpgroup_products(const target::Target& target) {
  std::vector<WarpgroupProduct> products;
  if (has_warpgroups(target))
    for (const int columns : {16, 32, 64, 128, 256}) products.push_back({kernel::Storage::BF16, columns});
  return products;
}

// Products of a warp, as products.cuh has them of `sum`, `a` and `b`.
struct MmaProbe {
  kernel::Storage storage;
  const char *name, *by;
  double operations;
  const char *helper, *arguments;
};
constexpr const char* kPairs = "sum, reinterpret_cast<const int*>(a), reinterpret_cast<const int*>(b)";
constexpr MmaProbe kMma[] = {
    {kernel::Storage::BF16, "mma_m16n8k16_bf16", "mma.m16n8k16.bf16", 2.0 * 16 * 8 * 16, "mma_bf16", kPairs},
    {kernel::Storage::F16, "mma_m16n8k16_fp16", "mma.m16n8k16.fp16", 2.0 * 16 * 8 * 16, "mma_fp16", kPairs},
    {kernel::Storage::F32, "mma_m16n8k8_tf32", "mma.m16n8k8.tf32", 2.0 * 16 * 8 * 8, "mma_tf32_k8",
     "sum, a, b"}};

// Those that the tensor cores have.
std::vector<MmaProbe> mma_probes(const target::Target& target) {
  std::vector<MmaProbe> probes;
  for (const MmaProbe& probe : kMma)
    if (!target.before_ampere() || probe.storage == kernel::Storage::F16) probes.push_back(probe);
  return probes;
}

// Operands of all ones lie in shared memory, in rows of 128 bytes; where they are is all that matters here.
constexpr std::string_view kWarpgroup = R"(
template <int steps>
__device__ __forceinline__ void {name}_probe(u64* out, int rounds) {{
  __shared__ __align__(1024) bf16 a[64 * 64], b[{columns} * 64];
  for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) a[i] = bf16(0x3f80);
  for (int i = threadIdx.x; i < {columns} * 64; i += blockDim.x) b[i] = bf16(0x3f80);
  publish_operands();
  __syncthreads();
  float acc[{registers}] = {{}};
  const u64 begin = clock64();
  for (int i = 0; i < rounds; ++i) {{
    {product}<steps, false, false, 8, 8>(acc, a, b);
    wait_products<0>();
    settle<{registers}>(acc);
  }}
  __syncthreads();
  const u64 cycles = clock64() - begin;
  float sum = 0;
  for (int i = 0; i < {registers}; ++i) sum += acc[i];
  keep(out, sum);
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = cycles;
}}
extern "C" __global__ void __launch_bounds__(256, 1) {name}_latency(u64* out, int rounds) {{
  {name}_probe<{steps_of_latency}>(out, rounds);
}}
extern "C" __global__ void __launch_bounds__(256, 1) {name}_rate(u64* out, int rounds) {{
  {name}_probe<{steps_of_rate}>(out, rounds);
}}
)";

std::string probe_name(const WarpgroupProduct& product) {
  return fmt::format("wgmma_m64n{}k16_{}", product.columns, kernel::storage_name(product.storage));
}

std::string probe_of(const WarpgroupProduct& product) {
  return fmt::format(fmt::runtime(kWarpgroup), fmt::arg("name", probe_name(product)),
                     fmt::arg("columns", product.columns), fmt::arg("registers", product.columns / 2),
                     fmt::arg("product", backend::cuda::name(product)),
                     fmt::arg("steps_of_latency", kStepsOfLatency), fmt::arg("steps_of_rate", kStepsOfRate));
}

std::string of_x(const Form& form) {
  switch (form.kind) {
    case Form::Kind::Call: return fmt::format("{}(x)", form.text);
    case Form::Kind::Recip: return "1.0f / x";
    default: break;
  }
  throw std::logic_error("a special function of one argument is no call");
}

// Each function with a loop of its own; a multiply-add brings its value back to where it is a number.
std::string function_kernel() {
  std::string text = R"(
template <class Function>
__device__ __forceinline__ void apply_again(u64* out, int rounds, float seed, const Function& function) {
  float x = seed;
  const u64 begin = clock64();
  #pragma unroll 4
  for (int i = 0; i < rounds; ++i) x = fmaf(function(x), 0.25f, seed);
  out[0] = clock64() - begin;
  keep(out, x);
}
extern "C" __global__ void functions(u64* out, int which, int rounds, float seed) {
  switch (which) {
)";
  int which = 0;
  for (const FunctionProbe& probe : function_probes())
    text += fmt::format("    case {}: return apply_again(out, rounds, seed, [](float x) {{ return {}; }});\n",
                        which++, probe.text);
  return text + "  }\n}\n";
}

std::string floor_text(const target::Target& target) {
  backend::cuda::Prelude prelude(target);
  for (const char* helper :
       {"store_flagged_4", "load_flagged_together", "mbarrier_init", "publish_mbarriers", "mbarrier_expect",
        "mbarrier_wait_cluster", "store_async_4", "cluster_barrier", "named_barrier", "shared_address",
        "bf16", "publish_operands", "wait_products", "settle"})
    prelude.require(helper);
  std::string products;
  for (const MmaProbe& probe : mma_probes(target)) {
    prelude.require(probe.helper);
    products += fmt::format("MMA_PROBE({}, {}({}))\n", probe.name, probe.helper, probe.arguments);
  }
  for (int i = 0; i < scalar::kKernelOpCount; ++i) {
    const backend::cuda::MathText& text = backend::cuda::math_text(static_cast<scalar::Op>(i));
    for (const Form* form : {&text.fast, &text.accurate})
      if (form->kind == Form::Kind::Call) prelude.require(form->text);
  }
  for (const WarpgroupProduct& product : warpgroup_products(target)) {
    prelude.require(product);
    products += probe_of(product);
  }
  std::string text = prelude.text() + R"(
typedef unsigned long long u64;
constexpr int kWarmUp = 8;  // exchanges that are not counted
// A result that nobody stores is never computed.
__device__ __forceinline__ void keep(u64* out, unsigned value) { reinterpret_cast<unsigned*>(out + 64)[threadIdx.x] = value; }
__device__ __forceinline__ void keep(u64* out, float value) { keep(out, __float_as_uint(value)); }

)";
  for (const EmbeddedText& probes : embedded_probes()) text += probes.text + "\n";
  return text + products + function_kernel();
}

}  // namespace

GridExchangeProbe grid_exchange(int blocks, int bytes) {
  const int most = std::min(bytes / kExchangeVector, kMostExchangeLoads * kExchangeThreads);
  int part = std::max(1, most / blocks);
  while (part > 1 && part * blocks > kExchangeThreads && part * blocks % kExchangeThreads != 0) --part;
  return {blocks, part, std::max(1, part * blocks / kExchangeThreads)};
}

std::vector<ProductProbe> product_probes(const target::Target& target) {
  std::vector<ProductProbe> probes;
  for (const MmaProbe& probe : mma_probes(target))
    probes.push_back({probe.name, probe.by, probe.operations, probe.operations * kChainsOfRate * kWarpsOfRate,
                      32, 32 * kWarpsOfRate});
  for (const WarpgroupProduct& product : warpgroup_products(target)) {
    const double step = 2.0 * 64 * product.columns * 16;
    probes.push_back(
        {probe_name(product),
         fmt::format("wgmma.m64n{}k16.{}", product.columns, kernel::storage_name(product.storage)),
         step * kStepsOfLatency, step * kStepsOfRate * kWarpgroupsOfRate, kWarpgroupThreads,
         kWarpgroupThreads * kWarpgroupsOfRate});
  }
  return probes;
}

std::vector<FunctionProbe> function_probes() {
  std::vector<FunctionProbe> probes = {
      {"fma", "x"}, {"div fast", "fast_div(0.7f, x)"}, {"div accurate", "0.7f / x"}};
  for (int i = 0; i < scalar::kKernelOpCount; ++i) {
    const scalar::OpInfo& op = scalar::info(static_cast<scalar::Op>(i));
    const bool special = op.fast.special > 0 || op.accurate.special > 0;
    if (op.arity != 1 || !special) continue;
    const backend::cuda::MathText& text = backend::cuda::math_text(op.op);
    probes.push_back({fmt::format("{} fast", op.name), of_x(text.fast)});
    probes.push_back({fmt::format("{} accurate", op.name), of_x(text.accurate)});
  }
  return probes;
}

backend::Request floor_request(const target::Target& target) {
  const backend::Backend& backend = backend::backend_for(backend::Language::CudaCxx);
  target::Target own = target;
  own.specific = has_warpgroups(target);
  return {backend.name(), floor_text(target), "floors.cu", own, {}};
}

}  // namespace rondo::tuner
