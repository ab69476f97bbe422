// The LLVM IR for CPUs of the sample kernels, character for character, and whether they have every node that
// kernels of CPUs may have. RONDO_UPDATE_GOLDEN=1 writes the files anew.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <type_traits>
#include <variant>

#include "compiler/backend/llvm/host/emit.h"
#include "compiler/kernel/builder/builder.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/features.h"
#include "tests/backend/cuda/kernels.h"
#include "tests/backend/golden_text.h"

namespace rondo::backend::host {
namespace {

using namespace kernel;
using Samples = std::vector<cuda::testing::Sample>;

// What the samples of GPUs do not have together: masks within masks, loops that begin at the lane, strided
// and gathered places, values that some lanes keep, arrays, and what is known while the text is written.
Kernel lanes() {
  Builder b("lanes", 16, Math::Accurate);
  const auto x = b.input("x", Storage::F32), half = b.input("half", Storage::BF16);
  const auto y = b.output("y", Storage::F32), small = b.output("small", Storage::F16);
  const Value n = b.argument("n", Type::I32);
  const auto shared = b.shared("tile", Storage::F32, 16);
  const Value i = b.let("i", b.block() * 16 + b.thread());
  const Value kept = b.variable("kept", b.real(3));
  b.if_(i < n, [&] {
    b.store(shared[b.thread()], b.load("v", x[i]));
    b.if_(
        b.constant(0) < b.thread() % 3, [&] { b.assign(kept, b.load("strided", half[i * 2])); },
        [&] { b.assign(kept, b.real(-1)); });
    b.for_("k", b.thread(), n, b.constant(5), 1,
           [&](Value k) { b.assign(kept, kept + b.load("gathered", x[k * k])); });
  });
  b.barrier();
  b.for_("turn", b.constant(0), n, b.constant(1), 1, [&](Value turn) {
    b.if_(turn < b.constant(3), [&] { b.assign(kept, kept * b.load("same", x[turn])); });
  });
  b.comment("an array of registers, and conditions of every kind");
  const auto parts = b.array("parts", Type::F32, 2);
  b.write(parts, b.constant(0), kept);
  b.write(parts, b.constant(1), b.to_real(i % 5));
  b.warp_sync();
  const Value even = i % 2 == 0;
  const Value chosen = b.let("chosen", b.select((even && i < n) || i >= 400, b.read(parts, b.constant(0)),
                                                b.read(parts, b.constant(1)) + b.to_real(even)));
  const Value far = b.let("far", b.wide(i) * 3);
  b.if_(i < n, [&] {
    b.store(y[i], chosen + b.load("other", shared[b.thread() / 2]));
    b.store(small[far], kept);
  });
  return b.finish();
}

// Vectors that go past the caches where they are aligned, of both sizes; a part of one, and a value that
// lanes share, do not.
Kernel streamed() {
  Builder b("streamed", 16, Math::Accurate);
  const auto x = b.input("x", Storage::F32);
  const auto y = b.output("y", Storage::F32), half = b.output("half", Storage::BF16);
  const Value n = b.argument("n", Type::I32);
  const Value i = b.let("i", b.block() * 16 + b.thread());
  const Value v = b.load("v", x[i]);
  b.store(y[i], v, CacheHint::Streaming);
  b.store(half[i], v, CacheHint::Streaming);
  b.if_(i < n, [&] { b.store(y[i + 16], v, CacheHint::Streaming); });
  b.store(half[b.block()], b.load("one", x[b.block()]), CacheHint::Streaming);
  return b.finish();
}

// Matrix tiles: two of rows by three of columns, in two rounds; a tile of each order; and pairs of 16 bits.
Kernel tiled() {
  Builder b("tiled", 16, Math::Fast);
  const auto x = b.input("x", Storage::BF16), matrix = b.input("matrix", Storage::BF16);
  const auto y = b.output("y", Storage::F32);
  const Value steps = b.argument("steps", Type::I32);
  const auto rows = b.shared("rows", Storage::BF16, 32 * 64), sums = b.shared("sums", Storage::F32, 32 * 48);
  const auto packed = b.shared("packed", Storage::BF16, kTileElements);
  const Value i = b.let("i", b.thread() * 2);
  b.store_packed(rows[i], b.load_packed("v", x[i], 1));
  b.store_packed(rows[i * 3], b.load_packed("far", x[i * 3], 1));
  for (const bool transposed : {false, true})
    b.pack_tile({packed[b.constant(0)], kTileStep}, {x[b.constant(0)], 24}, transposed);
  b.barrier();
  b.tile_mma(32, 48, steps, true, {sums[b.constant(0)], 48}, {rows[b.constant(0)], 64},
             matrix[b.constant(0)]);
  b.barrier();
  b.store(y[b.thread()], b.load("sum", sums[b.thread()]));
  return b.finish();
}

// The text for CPUs with AVX-512, and with matrix tiles where it has some; empty for a kernel with nodes that
// are instructions of GPUs.
std::string text_of(const Kernel& kernel) {
  try {
    const bool tiles = features_of(kernel).contains(Feature::MatrixTiles);
    return emit({&kernel}, {target::Target::Kind::X86_64, tiles ? 5 : 4});
  } catch (const std::logic_error&) {
    return "";
  }
}

Samples samples() {
  Samples all = cuda::testing::samples();
  all.push_back({"lanes", lanes()});
  all.push_back({"streamed", streamed()});
  all.push_back({"tiled", tiled()});
  return all;
}

// An estimate of 12 bits takes a Newton step more.
TEST(HostGolden, LevelsDifferInReciprocalsAlone) {
  const Kernel kernel = streamed();
  const std::string one = "\"vec-divf\"", two = "\"vec-divf:2\"";
  const std::string text = emit({&kernel}, {target::Target::Kind::X86_64, 4});
  std::string coarse = text;
  int places = 0;
  for (std::size_t at = coarse.find(one); at != std::string::npos; at = coarse.find(one, at), ++places)
    coarse.replace(at, one.size(), two);
  EXPECT_EQ(places, 2);
  EXPECT_EQ(emit({&kernel}, {target::Target::Kind::X86_64, 3}), coarse);
  EXPECT_EQ(emit({&kernel}, {target::Target::Kind::X86_64, 2}), coarse);
  EXPECT_EQ(emit({&kernel}, {target::Target::Kind::AArch64, 0}), text);
}

TEST(HostGolden, TextsAreAsRecorded) {
  int compared = 0;
  for (const cuda::testing::Sample& sample : samples()) {
    const std::string text = text_of(sample.kernel);
    if (text.empty()) continue;
    compare_golden("host/" + sample.name + ".ll", text);
    ++compared;
  }
  EXPECT_GE(compared, 6);
}

// Which alternatives of the variants of nodes a kernel has.
struct Nodes {
  std::set<std::size_t> expressions, statements;

  void add(const Kernel& kernel) {
    for (const Expr& expr : kernel.expressions) expressions.insert(expr.node.index());
    for_each_statement(kernel.body, [&](const Stmt& stmt) { statements.insert(stmt.node.index()); });
  }
};

template <class Type, class... Types>
constexpr bool kIsAmong = (std::is_same_v<Type, Types> || ...);

// The alternatives of a variant but these.
template <class... Without, class... All>
std::set<std::size_t> all_but(const std::variant<All...>*) {
  std::set<std::size_t> indices;
  std::size_t index = 0;
  const auto add = [&](bool without) {
    if (!without) indices.insert(index);
    ++index;
  };
  (add(kIsAmong<All, Without...>), ...);
  return indices;
}
template <class... Types, class... All>
std::set<std::size_t> these(const std::variant<All...>* of) {
  std::set<std::size_t> indices = all_but<>(of);
  for (const std::size_t other : all_but<Types...>(of)) indices.erase(other);
  return indices;
}

// Every node but the instructions of GPUs is in a recorded text. Of expressions, those are in a kernel that
// is refused.
TEST(HostGolden, EveryNodeOfCpusIsRecorded) {
  Nodes recorded, refused;
  for (const cuda::testing::Sample& sample : samples())
    (text_of(sample.kernel).empty() ? refused : recorded).add(sample.kernel);
  const decltype(Expr::node)* const expression = nullptr;
  const decltype(Stmt::node)* const statement = nullptr;
  EXPECT_EQ(recorded.expressions, (all_but<PackExpr, UnpackExpr, RoundExpr>(expression)));
  EXPECT_EQ(recorded.statements, (these<Let, Variable, Assign, DeclareArray, ArrayWrite, Load, Store, Barrier,
                                        Prefetch, WarpSync, TileMma, PackTile, For, If, Comment>(statement)));
  for (const std::size_t of_gpus : these<PackExpr, UnpackExpr, RoundExpr>(expression))
    EXPECT_TRUE(refused.expressions.contains(of_gpus)) << of_gpus;
}

}  // namespace
}  // namespace rondo::backend::host
