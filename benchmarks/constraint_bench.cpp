// Times the constraint solver on the tiling space of FlashRNN's fused LSTM, the one that takes FlashRNN's own
// solver 6 to 31 seconds. Needs no GPU.
#include <benchmark/benchmark.h>

#include "compiler/constraint/explain.h"
#include "compiler/constraint/solver.h"
#include "tests/constraint/fused_lstm.h"

namespace {

using namespace rondo::constraint;

example::FusedShape shape_of(const benchmark::State& state) {
  example::FusedShape shape;
  shape.head_dim = state.range(0);
  return shape;
}

void show(benchmark::State& state, const SearchStats& stats) {
  state.counters["solutions"] = static_cast<double>(stats.solutions);
  state.counters["nodes"] = static_cast<double>(stats.nodes);
}

using MakeSystem = System (*)(const example::FusedShape&);

void first(benchmark::State& state, MakeSystem make) {
  const System system = make(shape_of(state));
  SearchStats stats{};
  for (auto _ : state) stats = find_first(system).value().stats;
  show(state, stats);
}

void all(benchmark::State& state, MakeSystem make) {
  const System system = make(shape_of(state));
  SearchStats stats{};
  for (auto _ : state) stats = enumerate(system, [](const Assignment&) { return true; });
  show(state, stats);
}

// A space without a point: which rules contradict each other.
void explained(benchmark::State& state) {
  const System empty = example::fused_forward(shape_of(state));
  std::size_t rules = 0;
  for (auto _ : state) rules = explain(empty).value().conflict.size();
  state.counters["rules"] = static_cast<double>(rules);
}

void head_dims(benchmark::internal::Benchmark* bench) {
  for (const Value head_dim : {64, 256, 512, 768, 1024}) bench->Arg(head_dim);
  bench->ArgName("D")->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(first, forward, &example::fused_forward)->Apply(head_dims);
BENCHMARK_CAPTURE(first, backward, &example::fused_backward)->Apply(head_dims);
BENCHMARK_CAPTURE(first, both, &example::fused_both)->Apply(head_dims);
BENCHMARK_CAPTURE(all, forward, &example::fused_forward)->Apply(head_dims);
BENCHMARK_CAPTURE(all, backward, &example::fused_backward)->Apply(head_dims);
BENCHMARK(explained)->ArgName("D")->Arg(4096)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
