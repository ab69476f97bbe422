// Accesses and copies of several elements: each of their elements counts, not the first alone.
#include <functional>

#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

using Kind = Fault::Kind;

constexpr int kElements = 8;
constexpr int kWidths[] = {1, 2, 4};

std::vector<Value> reals(Builder& b, int count) {
  std::vector<Value> values;
  for (int i = 0; i < count; ++i) values.push_back(b.real(i));
  return values;
}

// Calls `body` with each width, each place of it, and each element.
void each_element(const std::function<void(int width, int place, int element)>& body) {
  for (const int width : kWidths)
    for (int place = 0; place < kElements; place += width)
      for (int element = 0; element < kElements; ++element) {
        SCOPED_TRACE("width " + std::to_string(width) + ", from " + std::to_string(place) + ", element " +
                     std::to_string(element));
        body(width, place, element);
        if (::testing::Test::HasFailure()) return;
      }
}

bool holds(int width, int place, int element) { return element >= place && element < place + width; }

TEST(SimulateElements, EveryElementOfACopysSourceMayChangeInFlight) {
  each_element([](int width, int place, int element) {
    Builder b("source", 1);
    auto x = b.output("x", Storage::F32);
    auto tile = b.shared("tile", Storage::F32, kElements);
    b.copy_async(tile[b.constant(place)], x[b.constant(place)], width);
    b.commit_copies();
    b.store(x[b.constant(element)], b.real(9));
    b.wait_copies(0);
    std::vector<GlobalBuffer> buffers{counting(Storage::F32, kElements)};
    const SimulationResult result = run(b.finish(), 1, buffers);
    if (holds(width, place, element))
      expect_fault(result, Kind::Race, {"source x[" + std::to_string(element) + "]", "in flight"});
    else
      expect_clean(result);
  });
}

TEST(SimulateElements, EveryElementOfACopysTargetIsInFlight) {
  for (const bool writes : {true, false})
    each_element([&](int width, int place, int element) {
      Builder b("target", 1);
      auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
      auto tile = b.shared("tile", Storage::F32, kElements);
      for (int i = 0; i < kElements; ++i) b.store(tile[b.constant(i)], b.real(i));
      b.copy_async(tile[b.constant(place)], x[b.constant(place)], width);
      b.commit_copies();
      if (writes)
        b.store(tile[b.constant(element)], b.real(9));
      else
        b.store(y[b.constant(0)], b.load("v", tile[b.constant(element)]));
      b.wait_copies(0);
      std::vector<GlobalBuffer> buffers{counting(Storage::F32, kElements), output_buffer(Storage::F32, 1)};
      const SimulationResult result = run(b.finish(), 1, buffers);
      if (holds(width, place, element))
        expect_fault(result, writes ? Kind::Race : Kind::Unwritten, {"asynchronous copy"});
      else
        expect_clean(result);
    });
}

// A thread reads or writes several elements at once, and one of another warp a single one, with no barrier
// between.
TEST(SimulateElements, EveryElementOfAVectorRaces) {
  for (const bool vector_writes : {true, false})
    for (const bool vector_first : {true, false})
      each_element([&](int width, int place, int element) {
        Builder b("vector", 64);
        auto y = b.output("y", Storage::F32);
        auto tile = b.shared("tile", Storage::F32, kElements);
        b.if_(b.thread() < kElements, [&] { b.store(tile[b.thread()], b.real(1)); });
        b.barrier();
        const auto vector = [&] {
          b.if_(b.thread() == 0, [&] {
            if (vector_writes) return b.store_vector(tile[b.constant(place)], reals(b, width));
            const std::vector<Value> loaded = b.load_vector("v", tile[b.constant(place)], width);
            for (const Value value : loaded) b.store(y[b.constant(0)], value);
          });
        };
        const auto scalar = [&] {
          b.if_(b.thread() == 32, [&] {
            if (!vector_writes) return b.store(tile[b.constant(element)], b.real(9));
            b.store(y[b.constant(1)], b.load("w", tile[b.constant(element)]));
          });
        };
        vector_first ? vector() : scalar();
        vector_first ? scalar() : vector();
        std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 2)};
        const SimulationResult result = run(b.finish(), 1, buffers);
        if (holds(width, place, element))
          expect_fault(result, Kind::Race, {"tile[" + std::to_string(element) + "]"});
        else
          expect_clean(result);
      });
}

// Places that are no multiple of the width, and those from which the last element lies behind the buffer.
TEST(SimulateElements, EveryPlaceOfAVectorIsChecked) {
  for (const int width : kWidths)
    for (int elements = 1; elements <= 2 * width; ++elements)
      for (int place = -width; place <= 2 * width; ++place) {
        SCOPED_TRACE(std::to_string(width) + " from " + std::to_string(place) + " of " +
                     std::to_string(elements));
        Builder b("places", 1);
        auto tile = b.shared("tile", Storage::F32, elements);
        b.store_vector(tile[b.constant(place)], reals(b, width));
        std::vector<GlobalBuffer> none;
        const SimulationResult result = run(b.finish(), 1, none);
        if (place < 0 || place + width > elements)
          expect_fault(result, Kind::OutOfRange, {"tile[" + std::to_string(place) + "]"});
        else if (place % width != 0)
          expect_fault(result, Kind::Misaligned, {"multiple of " + std::to_string(width)});
        else
          expect_clean(result);
        if (HasFailure()) return;
      }
}

}  // namespace
}  // namespace rondo::kernel::test
