// Times the constraint solver on the tiling space of FlashRNN's fused LSTM, the one that takes FlashRNN's own
// solver 6 to 31 seconds. Prints a table; no GPU needed.
#include <fmt/format.h>

#include <chrono>

#include "compiler/constraint/explain.h"
#include "compiler/constraint/solver.h"
#include "tests/constraint/fused_lstm.h"

namespace {

using namespace rondo::constraint;

// The least of a few runs, in milliseconds.
template <class Work>
double milliseconds(const Work& work) {
  double least = 1e300;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count());
  }
  return least;
}

void row(const std::string& name, const System& system, bool all) {
  SearchStats first{}, every{};
  const double first_ms = milliseconds([&] { first = find_first(system).value().stats; });
  fmt::print("{:<26} first {:8.3f} ms {:>7} nodes", name, first_ms, first.nodes);
  if (all) {
    const double all_ms = milliseconds([&] { every = find_all(system).value().stats; });
    SearchStats counted{};
    const double count_ms = milliseconds([&] { counted = count(system).value(); });
    fmt::print("   all {:8.1f} ms {:>8} solutions {:>8} nodes   count {:8.1f} ms", all_ms, every.solutions,
               every.nodes, count_ms);
  }
  fmt::print("\n");
}

}  // namespace

int main() {
  for (const Value head_dim : {64, 256, 512, 768, 1024}) {
    example::FusedShape shape;
    shape.head_dim = head_dim;
    row(fmt::format("forward D={}", head_dim), example::fused_forward(shape), true);
    row(fmt::format("backward D={}", head_dim), example::fused_backward(shape), true);
    row(fmt::format("both D={}", head_dim), example::fused_both(shape), false);
  }
  example::FusedShape large;
  large.head_dim = 4096;
  const System empty = example::fused_forward(large);
  const double explain_ms = milliseconds([&] { (void)explain(empty); });
  fmt::print("explain D=4096 {:.1f} ms\n{}\n", explain_ms, explain(empty).value().text);
}
