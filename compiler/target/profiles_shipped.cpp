// Public figures: NVIDIA's data sheets and architecture white papers, and the CUDA C++ Programming Guide's
// table of compute capabilities. Copy bandwidth is taken as 90% of the data sheet's memory bandwidth until
// `rondo calibrate` has measured it.
#include "compiler/target/profile.h"

namespace rondo::target {
namespace {

constexpr double kShareOfPeak = 0.9;
constexpr std::int64_t kMiB = 1024 * 1024;

struct Row {
  const char* key;
  const char* name;
  const char* source;
  int major, minor, sms, shared_per_block, shared_per_sm, threads_per_sm, blocks_per_sm, cluster;
  std::int64_t l2;
  double clock_ghz, peak_gb_per_s;
  // Operations of dense 16-bit products with sums in fp32, a cycle and SM: the data sheet's rate over SMs and
  // clock. From Hopper on data sheets count other instructions than mma.sync, which is taken at the default
  // (profile.h), as on an A100: of sm_100, sm_103 and sm_110 that is a guess.
  double mma = Speeds{}.mma_flops_per_cycle_sm;
  double alu = Speeds{}.alu_per_cycle_sm;  // fp32 results a cycle and SM
};

// B300: L2 and clock are a B200's, which has the same rate of products. GB10 and Thor share their memory with
// the CPUs: the data sheet's bandwidth is that of both together. The clock of a GB10 follows from 31 TFLOP/s
// in fp32 (Hot Chips 2025), its rate of products from 1 PFLOP/s of sparse FP4, which is eight times that of
// dense bf16; SMs and L2 of Thor are what its driver reports.
constexpr Row kRows[] = {
    {"t4", "Tesla T4", "T4 data sheet", 7, 5, 40, 65536, 65536, 1024, 16, 1, 4 * kMiB, 1.59, 320, 1024, 64},
    {"rtx2080ti", "NVIDIA GeForce RTX 2080 Ti", "Turing white paper", 7, 5, 68, 65536, 65536, 1024, 16, 1,
     11 * kMiB / 2, 1.545, 616, 512, 64},
    {"a100", "NVIDIA A100-SXM4-80GB", "A100 data sheet", 8, 0, 108, 166912, 167936, 2048, 32, 1, 40 * kMiB,
     1.41, 2039},
    {"a10", "NVIDIA A10", "A10 data sheet", 8, 6, 72, 101376, 102400, 1536, 16, 1, 6 * kMiB, 1.695, 600,
     1024},
    {"l4", "NVIDIA L4", "L4 data sheet", 8, 9, 58, 101376, 102400, 1536, 24, 1, 48 * kMiB, 2.04, 300, 1024},
    {"rtx4090", "NVIDIA GeForce RTX 4090", "Ada white paper", 8, 9, 128, 101376, 102400, 1536, 24, 1,
     72 * kMiB, 2.52, 1008, 512},
    {"h100", "NVIDIA H100 80GB HBM3", "H100 data sheet", 9, 0, 132, 232448, 233472, 2048, 32, 16, 50 * kMiB,
     1.83, 3350},
    {"h200", "NVIDIA H200", "H200 data sheet", 9, 0, 132, 232448, 233472, 2048, 32, 16, 60 * kMiB, 1.83,
     4800},
    {"b200", "NVIDIA B200", "Blackwell data sheet", 10, 0, 148, 232448, 233472, 2048, 32, 16, 126 * kMiB,
     1.85, 8000},
    {"b300", "NVIDIA B300 SXM6 AC", "HGX B300 data sheet", 10, 3, 148, 232448, 233472, 2048, 32, 16,
     126 * kMiB, 1.85, 8000},
    {"thor", "NVIDIA Thor", "Jetson T5000 data sheet", 11, 0, 20, 232448, 233472, 1536, 24, 8, 32 * kMiB,
     1.575, 273},
    {"rtx5090", "NVIDIA GeForce RTX 5090", "Blackwell RTX white paper", 12, 0, 170, 101376, 102400, 1536, 24,
     8, 96 * kMiB, 2.41, 1792, 512},
    {"gb10", "NVIDIA GB10", "DGX Spark data sheet", 12, 1, 48, 101376, 102400, 1536, 24, 8, 24 * kMiB, 2.52,
     273, 1024},
};

Profile make(const Row& row) {
  Profile p;
  p.key = row.key;
  p.name = row.name;
  p.origin = "public";
  p.source = row.source;
  p.target = Target::gpu(10 * row.major + row.minor);
  p.limits.sm_count = row.sms;
  p.limits.shared_per_block = row.shared_per_block;
  p.limits.shared_per_sm = row.shared_per_sm;
  p.limits.threads_per_sm = row.threads_per_sm;
  p.limits.blocks_per_sm = row.blocks_per_sm;
  p.limits.max_cluster = row.cluster;
  p.limits.l2_bytes = row.l2;
  p.speeds.clock_hz = row.clock_ghz * 1e9;
  p.speeds.copy_bytes_per_s = kShareOfPeak * row.peak_gb_per_s * 1e9;
  p.speeds.sm_bytes_per_s = 32 * row.clock_ghz * 1e9;  // half of the 64 bytes a clock an SM's L2 port carries
  p.speeds.l2_bytes_per_s = l2_speed(row.sms, p.speeds.clock_hz);
  p.speeds.mma_flops_per_cycle_sm = row.mma;
  p.speeds.alu_per_cycle_sm = row.alu;
  return p;
}

}  // namespace

const std::vector<Profile>& shipped_profiles() {
  static const std::vector<Profile> profiles = [] {
    std::vector<Profile> all;
    for (const Row& row : kRows) all.push_back(make(row));
    return all;
  }();
  return profiles;
}

}  // namespace rondo::target
