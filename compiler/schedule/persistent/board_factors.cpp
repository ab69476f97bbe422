#include "compiler/schedule/persistent/board_factors.h"

#include <optional>
#include <string>

namespace rondo::schedule {

using Of = target::MeasuredFloor::Of;

namespace {

// What `rondo calibrate` measures on an H200, on which the trials ran that the figures were fitted to
// (benchmarks/results/h200-calibrate.json).
constexpr int kBlocks = 48, kBytes = 12288;
constexpr double kGridOfH200 = 730e-9;   // seconds, of so many blocks and bytes
constexpr double kProductOfH200 = 24.2;  // cycles, mma.m16n8k16 of 16-bit types and mma.m16n8k8.tf32

double factor(const std::optional<double>& measured, double of_h200) {
  return measured ? *measured / of_h200 : 1;
}

}  // namespace

BoardFactors board_factors(const target::Floors& floors, double clock_hz, kernel::Storage storage) {
  const std::string product = storage == kernel::Storage::F32
                                  ? "mma.m16n8k8.tf32"
                                  : std::string("mma.m16n8k16.") + kernel::storage_name(storage);
  return {factor(floors.exchange(Of::GridExchange, kBlocks, kBytes), kGridOfH200),
          factor(floors.seconds(Of::Product, product), kProductOfH200 / clock_hz)};
}

}  // namespace rondo::schedule
