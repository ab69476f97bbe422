// Rules of packed pairs, tensor cores, mbarriers, clusters and grid flags: one malformed
// kernel a rule.
#include <stdexcept>

#include "tests/kernel/findings.h"
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

// A kernel in which every unit may be used, and what its statements need.
struct Units {
  Units(int cluster = 4, bool cooperative = true) {
    b.set_cluster(cluster);
    if (cooperative) b.set_cooperative();
  }
  Builder b{"k", 64};
  Memory half_in = b.input("half_in", Storage::BF16), half_out = b.output("half_out", Storage::F16);
  Memory real_in = b.input("real_in", Storage::F32), real_out = b.output("real_out", Storage::F32);
  Memory flags = b.output("flags", Storage::I32), constants = b.input("constants", Storage::I32);
  Memory tile = b.shared("tile", Storage::BF16, 256), reals = b.shared("reals", Storage::F32, 256);
  Mbarrier bar = b.mbarrier("bar", 2, 1);
  Array acc = b.array("acc", Type::F32, 8), pairs = b.array("pairs", Type::I32, 6);
  Value zero = b.constant(0), one = b.constant(1), t = b.thread(), pair = b.let("pair", zero),
        n = b.let("n", t);

  ArraySlice slice(Array array, int first) { return {array.id, b.constant(first).id()}; }
  MbarrierRef at(int index) { return {bar.id, b.constant(index).id()}; }
  Kernel with(Stmt stmt) {
    Kernel kernel = raw(b);
    kernel.body.push_back(std::move(stmt));
    return kernel;
  }
};

TEST(VerifyUnits, Tables) {
  Units u;
  const Kernel kernel = raw(u.b);
  const auto changed = [&](auto change) {
    Kernel copy = kernel;
    change(copy);
    return copy;
  };
  for (const int cluster : {1, 2, 8, 16}) expect_sound(changed([&](Kernel& k) { k.cluster = cluster; }));
  for (const int cluster : {0, 3, 32, -1})
    expect_finding(changed([&](Kernel& k) { k.cluster = cluster; }), "1, 2, 4, 8 and 16 are legal");
  expect_finding(changed([](Kernel& k) { k.mbarriers[0].count = 0; }), "bar: 0 of them");
  expect_sound(changed([&](Kernel& k) { k.status = u.flags.id(); }));
  for (const Memory& memory : {u.constants, u.real_out})
    expect_finding(changed([&](Kernel& k) { k.status = memory.id(); }), "a written buffer of int32");
  expect_finding(changed([](Kernel& k) { k.status = 99; }), "there is no param 99");
  expect_finding(changed([](Kernel& k) { k.mbarriers[0].arrivals = 0; }), "bar: 0 arrivals");
  expect_finding(changed([](Kernel& k) { k.mbarriers[0].arrivals = 1 << 20; }), "1 to 1048575 are legal");
}

TEST(VerifyUnits, PackedPairs) {
  Units u;
  for (const int count : {1, 2, 4})
    expect_sound(u.with({Store{std::vector<ExprId>(static_cast<std::size_t>(count), u.pair.id()),
                               u.half_out[u.t * 8].ref, CacheHint::Streaming, true}}));
  const auto store = [&](std::size_t count, Place to, Value value) {
    return u.with({Store{std::vector<ExprId>(count, value.id()), to.ref, CacheHint::Default, true}});
  };
  expect_finding(store(3, u.half_out[u.zero], u.pair), "3 packed pairs; 1, 2 or 4 are legal");
  expect_finding(store(8, u.half_out[u.zero], u.pair), "8 packed pairs");
  expect_finding(store(1, u.real_out[u.zero], u.pair), "packed pairs of fp32");
  expect_finding(store(1, u.half_out[u.zero], u.b.real(1)), "a fp16 pair stored from f32");
  expect_finding(store(2, u.half_out[u.b.constant(2)], u.pair), "half_out[2] is not aligned");
  expect_sound(store(2, u.half_out[u.b.constant(4)], u.pair));
  expect_finding(store(1, u.half_in[u.zero], u.pair), "half_in is read-only");
  Units l;
  l.b.load_packed("p", l.half_in[l.b.constant(3)], 1);
  expect_finding(raw(l.b), "half_in[3] is not aligned to the access's 4 bytes");
  Units f;
  f.b.load_packed("p", f.constants[f.zero], 1);
  expect_finding(raw(f.b), "packed pairs of int32");
}

TEST(VerifyUnits, PackingExpressions) {
  const auto let = [](Type type, auto node) {
    Units u;
    u.b.let("broken", Value{&u.b, u.b.add({type, node(u)})});
    return raw(u.b);
  };
  const auto real = [](Units& u) { return u.b.real(1).id(); };
  expect_sound(let(Type::I32, [&](Units& u) { return PackExpr{Storage::F16, real(u), real(u)}; }));
  expect_sound(let(Type::F32, [&](Units& u) { return UnpackExpr{Storage::BF16, u.pair.id(), true}; }));
  expect_finding(let(Type::I32,
                     [&](Units& u) {
                       return PackExpr{Storage::F32, real(u), real(u)};
                     }),
                 "a pair of fp32");
  expect_finding(let(Type::I32,
                     [&](Units& u) {
                       return PackExpr{Storage::F16, real(u), u.n.id()};
                     }),
                 "packed of other than f32");
  expect_finding(let(Type::F32,
                     [&](Units& u) {
                       return PackExpr{Storage::F16, real(u), real(u)};
                     }),
                 "a packed pair is i32, not f32");
  expect_finding(let(Type::F32,
                     [&](Units& u) {
                       return UnpackExpr{Storage::I32, u.pair.id(), true};
                     }),
                 "a pair of int32");
  expect_finding(let(Type::F32,
                     [&](Units& u) {
                       return UnpackExpr{Storage::F16, real(u), true};
                     }),
                 "a packed pair is i32");
}

TEST(VerifyUnits, Products) {
  Units u;
  const auto mma = [&](Storage storage, ArraySlice acc, ArraySlice a, ArraySlice b) {
    return u.with({Mma{storage, acc, a, b}});
  };
  const auto acc = u.slice(u.acc, 4), a = u.slice(u.pairs, 0), b = u.slice(u.pairs, 4);
  expect_sound(mma(Storage::BF16, acc, a, b));
  expect_sound(mma(Storage::F16, acc, u.slice(u.pairs, 2), b));
  expect_finding(mma(Storage::I32, acc, a, b), "a product of int32");
  expect_finding(mma(Storage::F32, acc, a, b), "pairs is i32, not f32");
  expect_finding(mma(Storage::F16, a, a, b), "pairs is i32, not f32");
  expect_finding(mma(Storage::F16, acc, acc, b), "acc is f32, not i32");
  expect_finding(mma(Storage::F16, u.slice(u.acc, 5), a, b), "elements 5 to 8 reach outside acc[8]");
  expect_finding(mma(Storage::F16, acc, u.slice(u.pairs, 3), b), "elements 3 to 6 reach outside pairs[6]");
  expect_finding(mma(Storage::F16, acc, a, u.slice(u.pairs, 5)), "elements 5 to 6 reach outside pairs[6]");
  expect_finding(mma(Storage::F16, acc, a, u.slice(u.pairs, -1)), "= -1 is outside pairs[6]");
  expect_finding(mma(Storage::F16, acc, a, {u.pairs.id, u.n.id()}), "not known at compile time");
  expect_finding(mma(Storage::F16, acc, a, {7, u.zero.id()}), "no register array 7");
}

// Operands of fp32 are twice as long.
TEST(VerifyUnits, ProductsOfFp32) {
  Units u;
  const Array reals = u.b.array("elements", Type::F32, 12);
  const auto mma = [&](Storage storage, int a, int b, bool tf32x3) {
    return u.with({Mma{storage, u.slice(u.acc, 0), u.slice(storage == Storage::F32 ? reals : u.pairs, a),
                       u.slice(storage == Storage::F32 ? reals : u.pairs, b), tf32x3}});
  };
  for (const bool tf32x3 : {false, true}) expect_sound(mma(Storage::F32, 0, 8, tf32x3));
  expect_finding(mma(Storage::BF16, 0, 4, true),
                 "a product of bf16 by tf32x3; only products of fp32 are split");
  expect_finding(mma(Storage::F32, 5, 8, false), "elements 5 to 12 reach outside elements[12]");
  expect_finding(mma(Storage::F32, 0, 9, true), "elements 9 to 12 reach outside elements[12]");
  expect_finding(u.with({Mma{Storage::F32, u.slice(u.acc, 0), u.slice(u.pairs, 0), u.slice(reals, 8), true}}),
                 "pairs is i32, not f32");
  expect_finding(mma(Storage::F16, 0, 8, false), "outside pairs[6]");
}

TEST(VerifyUnits, ProductsOfWarpgroups) {
  Builder b("k", 256);
  const Memory first = b.shared("first", Storage::BF16, 8192);
  b.shared("odd", Storage::BF16, 8);
  const Memory later = b.shared("later", Storage::BF16, 8192), reals = b.shared("reals", Storage::F32, 4096);
  const Memory global = b.input("global", Storage::BF16);
  const Array acc = b.array("acc", Type::F32, 64), pairs = b.array("pairs", Type::I32, 64);
  const auto panels = [&](const Memory& memory, int index, bool mn_major = false, int panel = 0) {
    return PanelOperand{memory[b.constant(index)].ref, mn_major, panel};
  };
  const auto with = [&](Stmt stmt) {
    Kernel kernel = raw(b);
    kernel.body.push_back(std::move(stmt));
    return kernel;
  };
  const auto mma = [&](int columns, int steps, const PanelOperand& left, const PanelOperand& right,
                       Storage storage = Storage::BF16) {
    return with({WarpgroupMma{storage, columns, steps, {acc.id, b.constant(0).id()}, left, right}});
  };
  const PanelOperand sound = panels(first, 0);
  expect_sound(mma(128, 4, sound, sound));
  expect_sound(mma(16, 1, panels(first, 512 + 48), panels(first, 1024, true)));
  expect_sound(mma(128, 8, panels(first, 512, true), panels(first, 0, true, 4096)));
  expect_sound(with({WgmmaWait{1}}));
  expect_sound(with({ProxyFence{}}));
  expect_finding(with({WgmmaWait{-1}}), "a negative number of products");
  for (const int columns : {0, 8, 24, 272})
    expect_finding(mma(columns, 4, sound, sound), "columns; multiples of 16 up to 256 are legal");
  expect_finding(mma(256, 4, sound, sound), "elements 0 to 127 reach outside acc[64]");
  expect_finding(mma(128, 0, sound, sound), "0 steps");
  expect_finding(mma(128, 5, sound, sound), "5 steps of 16; a row has 64 elements");
  expect_finding(mma(128, 4, panels(first, 8), sound), "an operand from element 8 on");
  expect_finding(mma(128, 4, panels(first, 64), sound), "an operand from element 64 on");
  expect_finding(mma(128, 4, sound, panels(first, 16, true, 4096)), "not the start of eight rows");
  expect_finding(mma(128, 4, sound, panels(first, 0, true)), "panels 0 elements apart");
  expect_finding(mma(128, 4, sound, panels(first, 0, true, 500)), "multiples of 512 are legal");
  expect_finding(mma(128, 4, sound, panels(later, 0)), "later begins at byte 16400 of shared memory");
  expect_finding(mma(128, 4, sound, panels(reals, 0)), "operands are shared arrays of bf16");
  expect_finding(mma(128, 4, sound, panels(global, 0)), "operands are shared arrays of bf16");
  expect_finding(mma(128, 4, sound, sound, Storage::F32), "bf16 and fp16 are legal");
  expect_finding(with({WarpgroupMma{Storage::BF16, 128, 4, {pairs.id, b.constant(0).id()}, sound, sound}}),
                 "pairs is i32, not f32");
  Kernel uneven = mma(128, 4, sound, sound);
  uneven.threads = 192;
  expect_finding(uneven, "192 threads are no whole number of warpgroups");
  // Under a condition that threads do not share.
  for (const Stmt& stmt :
       {Stmt{WarpgroupMma{Storage::BF16, 128, 4, {acc.id, b.constant(0).id()}, sound, sound}},
        Stmt{WgmmaWait{0}}})
    expect_finding(with({If{(b.thread() < 128).id(), {stmt}, {}}}),
                   "may differ between threads of the block");
}

TEST(VerifyUnits, ProductsOfMatrixTiles) {
  Builder b("k", 16);
  const Memory sums = b.shared("sums", Storage::F32, 4096), left = b.shared("left", Storage::BF16, 4096);
  const Memory right = b.input("right", Storage::BF16), written = b.output("written", Storage::BF16);
  const Value zero = b.constant(0);
  const auto with = [&](Stmt stmt) {
    Kernel kernel = raw(b);
    kernel.body.push_back(std::move(stmt));
    return kernel;
  };
  const TileMma sound{16, 32, zero.id(), false, sums[zero].ref, 32, left[zero].ref, 32, right[zero].ref};
  const auto changed = [&](auto&& change) {
    TileMma mma = sound;
    change(mma);
    return with({mma});
  };
  expect_sound(with({sound}));
  expect_sound(changed([](TileMma& s) { s.rows = 32; }));
  for (const int rows : {0, 17, 48})
    expect_finding(changed([&](TileMma& s) { s.rows = rows; }), "1 to 16 and 32 are legal");
  expect_finding(changed([](TileMma& s) { s.columns = 24; }), "multiples of 16 are legal");
  expect_finding(changed([](TileMma& s) { s.sum_pitch = 31; }), "rows of the sum are 31 elements apart");
  expect_finding(changed([](TileMma& s) { s.a_pitch = 16; }), "rows of a are 16 elements apart and have 32");
  expect_finding(changed([&](TileMma& s) { s.sums = left[zero].ref; }),
                 "the sum of a tile's product is of bf16");
  expect_finding(changed([&](TileMma& s) { s.a = sums[zero].ref; }), "a of a tile's product is of fp32");
  expect_finding(changed([&](TileMma& s) { s.a = right[zero].ref; }),
                 "the sum and a of a tile's product are shared");
  expect_finding(changed([&](TileMma& s) { s.b = written[zero].ref; }), "b of a tile's product is written");
  expect_finding(changed([&](TileMma& s) { s.steps = b.real(1).id(); }),
                 "the number of steps is of type f32");
  Kernel wide = with({sound});
  wide.threads = 64;
  expect_finding(wide, "by the threads of several warps");
  const auto pack = [&](const Memory& to, int to_pitch, const Memory& from, int from_pitch) {
    return with({PackTile{to[zero].ref, to_pitch, from[zero].ref, from_pitch, false}});
  };
  expect_sound(pack(left, 32, right, 16));
  expect_sound(pack(written, 32, right, 16));
  expect_finding(pack(sums, 32, right, 16), "tiles are packed of bf16 or fp16");
  expect_finding(pack(right, 32, left, 16), "packed into a buffer that is not written");
  expect_finding(pack(left, 31, right, 16), "rows of a packed tile are 31 elements apart");
  expect_finding(pack(left, 32, right, 15), "rows of what is packed are 15 elements apart");
  // Under a condition that lanes do not share.
  for (const Stmt& stmt : {Stmt{sound}, Stmt{PackTile{left[zero].ref, 32, right[zero].ref, 16, true}}})
    expect_finding(with({If{(b.thread() < 8).id(), {stmt}, {}}}), "may differ between threads of the block");
}

TEST(VerifyUnits, RoundedToTf32) {
  Units u;
  const auto rounded = [&](Value value, Type type) {
    const ExprId id = u.b.add({type, RoundExpr{value.id()}});
    return u.with({ArrayWrite{u.acc.id, u.zero.id(), id}});
  };
  expect_sound(rounded(u.b.real(1), Type::F32));
  expect_finding(rounded(u.zero, Type::F32), "i32 rounded to tf32");
  expect_finding(rounded(u.b.real(1), Type::I32), "a number of tf32");
}

TEST(VerifyUnits, Matrices) {
  Units u;
  const auto load = [&](int first, int count, Place row) {
    return u.with({LoadMatrix{u.slice(u.pairs, first), count, false, row.ref}});
  };
  for (const int count : {1, 2, 4}) expect_sound(load(2, count, u.tile[u.t * 8]));
  expect_finding(load(0, 3, u.tile[u.zero]), "3 matrices; 1, 2 or 4");
  expect_finding(load(3, 4, u.tile[u.zero]), "elements 3 to 6 reach outside pairs[6]");
  expect_finding(load(0, 1, u.tile[u.b.constant(12)]), "tile[12] is not aligned to the access's 16 bytes");
  expect_finding(load(0, 1, u.reals[u.zero]), "shared arrays of bf16 or fp16");
  expect_finding(load(0, 1, u.half_in[u.zero]), "shared arrays of bf16 or fp16");
  expect_finding(u.with({LoadMatrix{u.slice(u.acc, 0), 1, false, u.tile[u.zero].ref}}),
                 "acc is f32, not i32");
}

TEST(VerifyUnits, Mbarriers) {
  Units u;
  const ExprId zero = u.zero.id(), n = u.n.id();
  expect_sound(u.with({MbarrierArrive{u.at(1), -1}}));
  expect_sound(u.with({MbarrierArrive{u.at(1), n}}));
  expect_sound(u.with({MbarrierExpect{u.at(1), n}}));
  expect_sound(u.with({MbarrierWait{{u.bar.id, n}, n}}));
  expect_finding(u.with({MbarrierArrive{{5, zero}, -1}}), "no mbarrier 5");
  expect_finding(u.with({MbarrierArrive{u.at(2), -1}}), "mbarrier 2; 0 to 1 are legal");
  expect_finding(u.with({MbarrierArrive{{u.bar.id, u.b.wide(u.n).id()}, -1}}),
                 "the mbarrier's index is of type i64");
  expect_finding(u.with({MbarrierArrive{u.at(0), u.b.constant(4).id()}}), "rank 4; 0 to 3 are legal");
  expect_finding(u.with({MbarrierArrive{u.at(0), u.b.real(0).id()}}), "the rank is of type f32");
  expect_finding(u.with({MbarrierExpect{u.at(0), u.b.constant(1 << 20).id()}}), "bytes 1048576");
  expect_finding(u.with({MbarrierExpect{u.at(0), u.b.real(0).id()}}), "the number of bytes is of type f32");
  expect_finding(u.with({MbarrierWait{u.at(0), u.b.constant(2).id()}}), "parity 2; 0 to 1 are legal");
  expect_finding(u.with({MbarrierWait{u.at(0), u.b.wide(u.n).id()}}), "the parity is of type i64");
  expect_finding(u.with({MbarrierWait{u.at(0), 4711}}), "no expression 4711");
  Units alone(1);
  expect_sound(alone.with({MbarrierArrive{alone.at(0), -1}}));
  expect_finding(alone.with({MbarrierArrive{alone.at(0), alone.zero.id()}}), "the kernel has no clusters");
}

TEST(VerifyUnits, AsynchronousStores) {
  Units u;
  const auto store = [&](std::size_t words, Place to, Value value, Value rank) {
    return u.with({StoreAsync{std::vector<ExprId>(words, value.id()), to.ref, rank.id(), u.at(0)}});
  };
  for (const std::size_t words : {1, 2, 4}) expect_sound(store(words, u.tile[u.t * 8], u.pair, u.n));
  expect_sound(store(4, u.reals[u.t * 4], u.b.real(1), u.one));
  expect_finding(store(3, u.tile[u.zero], u.pair, u.one), "3 words; 1, 2 or 4");
  expect_finding(store(1, u.tile[u.zero], u.b.real(1), u.one), "a word of bf16 memory stored from f32");
  expect_finding(store(1, u.reals[u.zero], u.pair, u.one), "a word of fp32 memory stored from i32");
  expect_finding(store(4, u.tile[u.b.constant(4)], u.pair, u.one),
                 "tile[4] is not aligned to the access's 16 bytes");
  expect_finding(store(1, u.half_out[u.zero], u.pair, u.one), "goes to shared memory");
  expect_finding(store(1, u.tile[u.zero], u.pair, u.b.constant(-1)), "rank -1; 0 to 3 are legal");
  Units alone(1);
  expect_finding(
      alone.with({StoreAsync{{alone.pair.id()}, alone.tile[alone.zero].ref, alone.zero.id(), alone.at(0)}}),
      "the kernel has no clusters");
}

TEST(VerifyUnits, RegistersChangeHandsBetweenGroupsOfFourWarps) {
  const auto of = [](int threads, int count) {
    Builder b{"k", threads};
    b.set_max_nreg(count, true);
    return raw(b);
  };
  expect_sound(of(256, 232));
  expect_finding(of(256, 20), "20 registers; multiples of 8 from 24 to 256 are legal");
  expect_finding(of(256, 100), "100 registers; multiples of 8 from 24 to 256 are legal");
  expect_finding(of(192, 232), "in a block of 192 threads, which is no multiple of 128");
}

TEST(VerifyUnits, ClusterBarriers) {
  Units u;
  expect_sound(u.with({ClusterBarrier{}}));
  expect_finding(Units(1).with({ClusterBarrier{}}), "the kernel has no clusters");
  const auto under = [](auto condition) {
    Units inner;
    inner.b.if_(condition(inner.b), [&] { inner.b.cluster_barrier(); });
    return raw(inner.b);
  };
  const std::string found = "which may differ between threads of the cluster";
  expect_finding(under([](Builder& b) { return b.thread() < 32; }), found);
  expect_finding(under([](Builder& b) { return b.cluster_rank() == 0; }), found);
  expect_finding(under([](Builder& b) { return b.block() < 9; }), found);
  expect_finding(under([](Builder& b) { return b.block() / 2 < 9; }), found);
  expect_sound(under([](Builder& b) { return b.block() / 4 < 9; }));
  expect_sound(under([](Builder& b) { return b.block() / 8 < 9; }));
  expect_sound(under([](Builder& b) { return b.builtin(Builtin::GridX) < 9; }));
  // Of a block it is uniform: a barrier of the block may stand there.
  Units ranked;
  ranked.b.if_(ranked.b.cluster_rank() == 0, [&] { ranked.b.barrier(); });
  expect_sound(raw(ranked.b));
  // Through a variable.
  Units late;
  const Value v = late.b.variable("v", late.zero);
  late.b.for_("i", 0, 3, 1, [&](Value) {
    late.b.if_(v == 1, [&] { late.b.cluster_barrier(); });
    late.b.assign(v, late.b.cluster_rank());
  });
  expect_finding(raw(late.b), found);
}

TEST(VerifyUnits, WarpsMayPartBeforeNamedBarriersAndUnits) {
  Units u;
  u.b.if_(u.b.thread() < 32, [&] {
    u.b.named_barrier(1, 32);
    u.b.load_matrix(u.pairs, u.zero, 4, true, u.tile[u.t * 8]);
    u.b.mma(Storage::BF16, u.acc, u.zero, u.pairs, u.zero, u.pairs, u.zero);
    u.b.expect(u.bar, u.zero, u.one);
    u.b.wait(u.bar, u.zero, u.zero);
    u.b.warp_sync();
  });
  expect_sound(raw(u.b));
  u.b.if_(u.b.thread() < 32, [&] { u.b.barrier(); });
  expect_finding(raw(u.b), "which may differ between threads of the block");
}

// Each lane holds another part of a matrix: conditions on it differ between threads.
TEST(VerifyUnits, FragmentsDiffer) {
  for (const bool loaded : {true, false}) {
    Units u;
    u.b.write(u.pairs, u.zero, u.zero), u.b.write(u.acc, u.zero, u.b.real(0));
    if (loaded)
      u.b.load_matrix(u.pairs, u.zero, 1, false, u.tile[u.zero]);
    else
      u.b.mma(Storage::F16, u.acc, u.zero, u.pairs, u.zero, u.pairs, u.zero);
    const Value condition = loaded ? u.b.read(u.pairs, u.zero) == 0 : u.b.read(u.acc, u.zero) < u.b.real(1);
    u.b.if_(condition, [&] { u.b.barrier(); });
    expect_finding(raw(u.b), "which may differ between threads of the block");
  }
}

TEST(VerifyUnits, GridFlags) {
  Units u;
  expect_sound(u.with({GridArrive{u.flags[u.n].ref}}));
  expect_sound(u.with({GridWait{u.flags[u.zero].ref, u.n.id()}}));
  for (const Place place : {u.constants[u.zero], u.real_out[u.zero], u.reals[u.zero]})
    expect_finding(u.with({GridArrive{place.ref}}), "a counter is an int32 element of a written buffer");
  expect_finding(u.with({GridWait{u.flags[u.zero].ref, u.b.real(1).id()}}), "the target is of type f32");
  Units apart(4, false);
  expect_finding(apart.with({GridWait{apart.flags[apart.zero].ref, apart.n.id()}}), "not cooperative");
}

// In cycles: none, or some.
TEST(VerifyUnits, ALoadRestsForNoNegativeTime) {
  Units u;
  const auto load = [&](int rest) {
    return u.with(
        {LoadSelfFlagged{u.slice(u.acc, 0), 1, u.flags[u.zero].ref, u.zero.id(), false, true, rest}});
  };
  for (const int rest : {0, 256}) expect_sound(load(rest));
  expect_finding(load(-1), "a load that waits -1 cycles");
}

TEST(VerifyUnits, TheBuilderRefusesOtherTypes) {
  Units u;
  const Value real = u.b.real(1);
  EXPECT_THROW(u.b.pack(Storage::F32, real, real), std::logic_error);
  EXPECT_THROW(u.b.pack(Storage::F16, real, u.n), std::logic_error);
  EXPECT_THROW(u.b.unpack(Storage::F16, real, true), std::logic_error);
  EXPECT_THROW(u.b.store_packed(u.half_out[u.zero], {real}), std::logic_error);
  EXPECT_THROW(u.b.mma(Storage::I32, u.acc, u.zero, u.pairs, u.zero, u.pairs, u.zero), std::logic_error);
  EXPECT_THROW(u.b.mma(Storage::F16, u.pairs, u.zero, u.pairs, u.zero, u.pairs, u.zero), std::logic_error);
  EXPECT_THROW(u.b.mma(Storage::F16, u.acc, u.zero, u.acc, u.zero, u.pairs, u.zero), std::logic_error);
  EXPECT_THROW(u.b.load_matrix(u.acc, u.zero, 1, false, u.tile[u.zero]), std::logic_error);
  EXPECT_THROW(u.b.wait(u.bar, u.zero, u.b.wide(u.n)), std::logic_error);
  EXPECT_THROW(u.b.arrive(u.bar, u.zero, real), std::logic_error);
  EXPECT_THROW(u.b.store_async(u.tile[u.zero], {u.pair}, Value(), u.bar, u.zero), std::logic_error);
  EXPECT_THROW(u.b.grid_wait(u.flags[u.zero], real), std::logic_error);
}

}  // namespace
}  // namespace rondo::kernel::test
