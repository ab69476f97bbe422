// Sample kernels for packed pairs, tensor cores, mbarriers, clusters and grid flags. Each gives the same bits
// on the simulator and on a GPU.
#include "tests/backend/cuda/kernels.h"

namespace rondo::backend::cuda::testing {

using namespace kernel;

namespace {

constexpr Storage kHalves[] = {Storage::BF16, Storage::F16};

Value op(Builder& b, IntOp which, Value x, std::int64_t y) {
  return {&b, b.add({Type::I32, IntExpr{which, x.id(), b.constant(y).id()}})};
}

}  // namespace

Kernel packed_pairs() {
  Builder b("packed_pairs", 32, Math::Fast, "Pairs of 16-bit values, moved and computed with.");
  const Value place = b.let("place", b.thread() * 8);
  for (Storage storage : kHalves) {
    const std::string name = storage_name(storage);
    const Memory in = b.input(name + "_in", storage, "[256]"),
                 out = b.output(name + "_out", storage, "[4, 256]");
    const Memory stage = b.shared(name + "_stage", storage, 256);
    int row = 0;
    for (int count : {1, 2, 4})
      for (CacheHint hint : {CacheHint::Default, CacheHint::Streaming}) {
        const auto pairs = b.load_packed("pair", in[place], count, hint);
        b.store_packed(stage[place], pairs);
        b.store_packed(out[place + row * 256], b.load_packed("staged", stage[place], count), hint);
        row = (row + 1) % 3;
      }
    const Value pair = b.load_packed("mixed", in[place], 1)[0];
    const Value low = b.unpack(storage, pair, false), high = b.unpack(storage, pair, true);
    const Value swapped = b.let("swapped", b.pack(storage, high * b.real(1.0 / 3), low));
    b.store_packed(out[place + 768],
                   {swapped, b.pack(storage, b.unpack(storage, swapped, true), high + low)});
    b.store_vector(out[place + 772],
                   {b.unpack(storage, pair, true), b.unpack(storage, pair, false), b.real(0), b.real(1)});
  }
  return b.finish();
}

// c = a * b with the rows of a from ldmatrix and b both as stored by columns and, transposed, by rows.
Kernel matrix_product(Storage storage) {
  constexpr int kPitch = 24;  // 16 elements and 8 of padding: rows on different banks, 16-byte aligned
  Builder b(std::string("matrix_product_") + storage_name(storage), 64, Math::Fast,
            "c = a * b, 16 x 16 x 16; each of two warps has eight columns of c.");
  const Memory a = b.input("a", storage, "[16, 16]"), w = b.input("b", storage, "[16, 16], rows of k");
  const Memory c = b.output("c", Storage::F32, "[3, 16, 16]: by columns of b, by rows of b, both");
  const Memory a_tile = b.shared("a_tile", storage, std::int64_t{16} * kPitch);
  const Memory rows = b.shared("rows", storage, std::int64_t{16} * kPitch, "b as it is");
  const Memory columns = b.shared("columns", storage, std::int64_t{16} * kPitch, "b transposed");
  const Value warp = b.let("warp", b.thread() / 32), lane = b.let("lane", b.thread() % 32);
  const Value row = b.let("row", b.thread() / 4), column = b.let("column", b.thread() % 4 * 4);
  const auto pairs = b.load_packed("pair", a[row * 16 + column], 2);
  b.store_packed(a_tile[row * kPitch + column], pairs);
  const auto values = b.load_vector("v", w[row * 16 + column], 4);
  b.store_vector(rows[row * kPitch + column], values);
  for (int i = 0; i < 4; ++i)
    b.store(columns[(column + i) * kPitch + row], values[static_cast<std::size_t>(i)]);
  b.barrier();
  const Array left = b.array("left", Type::I32, 4), right = b.array("right", Type::I32, 6);
  const Array sum = b.array("sum", Type::F32, 12);
  b.for_("i", 0, 12, kFullUnroll, [&](Value i) { b.write(sum, i, b.real(0)); });
  const Value zero = b.constant(0);
  // Lanes 0-7 give the rows of the first matrix, 8-15 of the second and so on.
  b.load_matrix(left, zero, 4, false, a_tile[lane % 16 * kPitch + lane / 16 * 8]);
  const Value mine = b.let("mine", (warp * 8 + lane % 8) * kPitch + lane / 8 % 2 * 8);
  b.load_matrix(right, zero, 2, false, columns[mine]);
  b.load_matrix(right, b.constant(2), 2, true, rows[lane % 16 * kPitch + warp * 8]);
  b.load_matrix(right, b.constant(4), 1, false, columns[mine]);
  b.load_matrix(right, b.constant(5), 1, true, rows[(lane % 8 + 8) * kPitch + warp * 8]);
  b.for_("p", 0, 3, kFullUnroll, [&](Value p) { b.mma(storage, sum, p * 4, left, zero, right, p * 2); });
  // Fragment of c: two neighbours of row g, two of row g + 8 (PTX ISA, mma.m16n8k16).
  const Value to = b.let("to", lane / 4 * 16 + warp * 8 + lane % 4 * 2);
  for (int p = 0; p < 3; ++p)
    for (int half = 0; half < 2; ++half)
      b.store_vector(c[to + (p * 256 + half * 128)], {b.read(sum, b.constant(p * 4 + half * 2)),
                                                      b.read(sum, b.constant(p * 4 + half * 2 + 1))});
  return b.finish();
}

// Two stages of 64 elements of the sum, both products under way at once.
Kernel warpgroup_product(Storage storage, bool mn_major) {
  constexpr int kSide = 128, kRow = 64, kStage = kSide * kRow, kStages = 2, kVector = 8;
  Builder b(std::string("warpgroup_product_") + storage_name(storage) + (mn_major ? "_along_result" : ""),
            256, Math::Fast, "c = a * b, 128 x 128 x 128; each of two warpgroups has 64 rows of c.");
  const char* shape = mn_major ? "[k 128, 128]" : "[128, k 128]";
  const Memory in[] = {b.input("a", storage, shape), b.input("b", storage, shape)};
  const Memory c = b.output("c", Storage::F32, "[128, 128]");
  const Memory staged[] = {b.shared("a_staged", storage, kStages * kStage, "in panels"),
                           b.shared("b_staged", storage, kStages * kStage, "in panels")};
  const int columns = mn_major ? kSide : kRow, per_row = columns / kVector;
  for (int side = 0; side < 2; ++side)
    b.for_("stage", 0, kStages, 1, [&](Value stage) {
      b.for_("turn", 0, kStage / kVector / 256, 1, [&](Value turn) {
        const Value vector = b.let("vector", b.thread() + turn * 256);
        const Value row = b.let("row", vector / per_row),
                    column = b.let("column", vector % per_row * kVector);
        const Value from =
            mn_major ? (stage * kRow + row) * kSide + column : row * kSide + stage * kRow + column;
        const Value to = column / kRow * (kRow * kRow) + row * kRow + ((column % kRow) ^ (row % 8 * kVector));
        b.store_packed(staged[side][stage * kStage + to], b.load_packed("pair", in[side][from], kVector / 2));
      });
    });
  const Array sum = b.array("sum", Type::F32, kSide / 2);
  b.for_("i", 0, kSide / 2, kFullUnroll, [&](Value i) { b.write(sum, i, b.real(0)); });
  b.proxy_fence();
  b.barrier();
  const Value group = b.let("group", b.thread() / 128);
  for (int stage = 0; stage < kStages; ++stage)
    b.warpgroup_mma(storage, kSide, kRow / 16, sum,
                    {staged[0][group * (kRow * kRow) + stage * kStage], mn_major, kRow * kRow},
                    {staged[1][b.constant(stage * kStage)], mn_major, kRow * kRow});
  b.wgmma_wait(1);
  b.wgmma_wait(0);
  const Value lane = b.let("lane", b.thread() % 32);
  const Value to = b.let("to", (b.thread() / 32 * 16 + lane / 4) * kSide + lane % 4 * 2);
  b.for_("j", 0, kSide / 8, kFullUnroll, [&](Value j) {
    for (int half = 0; half < 2; ++half)
      b.store_vector(c[to + j * 8 + half * 8 * kSide],
                     {b.read(sum, j * 4 + 2 * half), b.read(sum, j * 4 + (2 * half + 1))});
  });
  return b.finish();
}

// The layouts of two mma.m16n8k8 one after the other (PTX ISA).
Kernel real_product() {
  Builder b("real_product", 32, Math::Tf32, "c = a * b, 16 x 8 x 16; and a, rounded.");
  const Memory a = b.input("a", Storage::F32, "[16, 16]"), w = b.input("b", Storage::F32, "[16, 8]");
  const Memory c = b.output("c", Storage::F32, "[2, 16, 8]: in three terms, in tf32");
  const Memory rounded = b.output("rounded", Storage::F32, "[16, 16]");
  const Value group = b.let("group", b.thread() / 4), quarter = b.let("quarter", b.thread() % 4);
  const Array left = b.array("left", Type::F32, 16), right = b.array("right", Type::F32, 8);
  for (int i = 0; i < 8; ++i) {
    const Value place = b.let("place", (group + i % 2 * 8) * 16 + (quarter + i / 2 * 4));
    const Value x = b.load("x", a[place]);
    b.write(left, b.constant(i), x);
    b.write(left, b.constant(8 + i), b.round_tf32(x));
    b.store(rounded[place], b.read(left, b.constant(8 + i)));
  }
  for (int i = 0; i < 4; ++i) {
    const Value x = b.load("x", w[(quarter + i * 4) * 8 + group]);
    b.write(right, b.constant(i), x);
    b.write(right, b.constant(4 + i), b.round_tf32(x));
  }
  const Array sum = b.array("sum", Type::F32, 8);
  b.for_("i", 0, 8, kFullUnroll, [&](Value i) { b.write(sum, i, b.real(0)); });
  for (int way = 0; way < 2; ++way) {
    b.mma(Storage::F32, sum, b.constant(way * 4), left, b.constant(way * 8), right, b.constant(way * 4),
          way == 0);
    for (int half = 0; half < 2; ++half)
      b.store_vector(
          c[(group + half * 8) * 8 + quarter * 2 + way * 128],
          {b.read(sum, b.constant(way * 4 + half * 2)), b.read(sum, b.constant(way * 4 + half * 2 + 1))});
  }
  return b.finish();
}

// Each block sends its values to the other of two, also what looks as if nothing had come.
Kernel flagged_reals() {
  Builder b("flagged_reals", 32, Math::Accurate, "y = x of the other block.");
  const Memory x = b.input("x", Storage::F32, "[2, 256]"), y = b.output("y", Storage::F32, "as x");
  const Memory sent = b.output("sent", Storage::I32, "[2, 256], all ones");
  b.set_cooperative();
  const Value place = b.let("place", b.block() * 256 + b.thread() * 4);
  const Value other = b.let("other", (b.constant(1) - b.block()) * 256 + b.thread() * 4);
  const auto low = b.load_vector("v", x[place], 4), high = b.load_vector("v", x[place + 128], 4);
  b.store_self_flagged(sent[place], low);
  for (int i = 0; i < 4; i += 2)
    b.store_self_flagged(sent[place + (128 + i)],
                         {high[static_cast<std::size_t>(i)], high[static_cast<std::size_t>(i) + 1]});
  const Array got = b.array("got", Type::F32, 8);
  b.load_self_flagged(got, b.constant(0), 2, sent[other], b.constant(128), false, 100);
  for (int half = 0; half < 2; ++half) {
    std::vector<Value> values;
    for (int i = 0; i < 4; ++i) values.push_back(b.read(got, b.constant(half * 4 + i)));
    b.store_vector(y[place + half * 128], values);
  }
  return b.finish();
}

// Half of the warps fill a ring of two tiles, half empty it.
Kernel warp_roles() {
  constexpr int kTurns = 7;
  Builder b("warp_roles", 128, Math::Fast,
            "y = 3 x: two warps hand rows to two others through shared memory.");
  const Memory x = b.input("x", Storage::F32, "[blocks, 7, 64]"), y = b.output("y", Storage::F32, "as x");
  const Memory ring = b.shared("ring", Storage::F32, 128, "[2, 64]");
  const Memory mirror = b.shared("mirror", Storage::F32, 64);
  const Mbarrier full = b.mbarrier("full", 2, 64, "the tile is filled");
  const Mbarrier empty = b.mbarrier("empty", 2, 64, "the tile may be filled");
  const Mbarrier done = b.mbarrier("done", 1, 128);
  const Value me = b.let("me", b.thread() % 64), first = b.let("first", b.block() * (kTurns * 64));
  const Value zero = b.constant(0);
  const auto turns = [&](const std::function<void(Value, Value, Value)>& body) {
    b.for_("t", zero, b.constant(kTurns), b.constant(1), 1, [&](Value t) {
      const Value slot = b.let("slot", t % 2);
      body(t, slot, op(b, IntOp::And, t / 2, 1));
    });
  };
  b.if_(
      b.thread() < 64,
      [&] {
        turns([&](Value t, Value slot, Value parity) {
          // A fresh mbarrier has "completed" the phase before the first: its parity is 1.
          b.wait(empty, slot, op(b, IntOp::Xor, parity, 1));
          b.store(ring[slot * 64 + me], b.load("v", x[first + t * 64 + me]));
          b.arrive(full, slot);
        });
      },
      [&] {
        turns([&](Value t, Value slot, Value parity) {
          b.wait(full, slot, parity);
          b.store(mirror[b.constant(63) - me], b.load("w", ring[slot * 64 + me]) * b.real(3));
          b.arrive(empty, slot);
          b.named_barrier(1, 64);
          b.store(y[first + t * 64 + (b.constant(63) - me)], b.load("m", mirror[me]));
          b.named_barrier(1, 64);
        });
      });
  b.arrive(done, zero);
  b.wait(done, zero, zero);
  return b.finish();
}

// Two warps ask and four answer, turn by turn, each turn of what the turn before gave. Both meet twice a
// turn, by a signal each way, once one side first and once the other, after work that takes each warp its own
// time. Whoever passes too early reads what is not there yet, or overwrites what others still read.
Kernel meeting_roles() {
  Builder b("meeting_roles", 192, Math::Fast,
            "y = what two warps have heard after each turn from four others, whom they asked.");
  const Memory y = b.output("y", Storage::I32, "[blocks, turns, 64]");
  const Value turns = b.argument("turns", Type::I32);
  const Memory asked = b.shared("asked", Storage::I32, 64), answers = b.shared("answers", Storage::I32, 128);
  const Value zero = b.constant(0), one = b.constant(1), warp = b.let("warp", b.thread() / 32);
  const auto work = [&](Value value, Value t) {
    b.for_("i", zero, b.let("pieces", (t * 7 + warp * 5) % 11), one, 1,
           [&](Value) { b.assign(value, op(b, IntOp::And, value * 5 + 1, 4095)); });
  };
  const auto meet = [&](int id, bool waits) {
    b.named_barrier(id, 192, waits);
    b.named_barrier(id + 1, 192, !waits);
  };
  b.if_(
      b.thread() < 64,
      [&] {
        const Value me = b.thread(), heard = b.variable("heard", b.block() + me);
        b.for_("t", zero, turns, one, 1, [&](Value t) {
          work(heard, t);
          b.store(asked[me], heard);
          meet(1, false);
          meet(3, true);
          const Value left = b.load("left", answers[b.constant(63) - me]);
          b.assign(heard, op(b, IntOp::And, left + b.load("right", answers[b.constant(127) - me]), 4095));
          b.store(y[(b.block() * turns + t) * 64 + me], heard);
        });
      },
      [&] {
        const Value me = b.let("me", b.thread() - 64);
        b.for_("t", zero, turns, one, 1, [&](Value t) {
          meet(1, true);
          const Value answer = b.variable("answer", b.load("question", asked[(me + t) % 64]));
          work(answer, t);
          b.store(answers[me], answer + me);
          meet(3, false);
        });
      });
  return b.finish();
}

std::vector<int> heard_in_turns(int block, int turns) {
  std::vector<int> result, asked, answers(128);
  for (int me = 0; me < 64; ++me) asked.push_back(block + me);
  for (int t = 0; t < turns; ++t) {
    const auto work = [&](int& value, int warp) {
      for (int i = 0; i < (t * 7 + warp * 5) % 11; ++i) value = (value * 5 + 1) & 4095;
    };
    for (int me = 0; me < 64; ++me) work(asked[static_cast<std::size_t>(me)], me / 32);
    for (int me = 0; me < 128; ++me) {
      int answer = asked[static_cast<std::size_t>((me + t) % 64)];
      work(answer, 2 + me / 32);
      answers[static_cast<std::size_t>(me)] = answer + me;
    }
    for (std::size_t me = 0; me < 64; ++me)
      result.push_back(asked[me] = (answers[63 - me] + answers[127 - me]) & 4095);
  }
  return result;
}

// Every block of a cluster sends its row to all others, which add them up.
Kernel cluster_sum() {
  Builder b("cluster_sum", 32, Math::Fast,
            "y of each block = the sum of the rows of x of its cluster, turn by turn.");
  b.set_cluster(4);
  const Memory x = b.input("x", Storage::BF16, "[turns, blocks, 64]");
  const Memory words = b.input("words", Storage::I32, "[blocks, 32]");
  const Memory y = b.output("y", Storage::F32, "[turns, blocks, 64]");
  const Memory others =
      b.output("others", Storage::I32, "[blocks, 32]: of the block before it in the cluster");
  const Value turns = b.argument("turns", Type::I32);
  const Memory rows = b.shared("rows", Storage::BF16, 4 * 64, "[rank, 64]");
  const Memory reals = b.shared("reals", Storage::F32, 4 * 64, "[rank, 64], thirds");
  const Memory ints = b.shared("ints", Storage::I32, 32);
  const Mbarrier full = b.mbarrier("full", 1, 1, "all rows of a turn are here");
  const Mbarrier free_rows = b.mbarrier("free", 1, 4 * 32, "all blocks read what was sent");
  const Mbarrier sent = b.mbarrier("sent", 1, 1);
  const Value zero = b.constant(0), rank = b.let("rank", b.cluster_rank());
  const Value lane = b.let("lane", b.thread());
  b.if_(lane == 0, [&] { b.expect(sent, zero, b.constant(32 * 4)); });
  const Value next = b.let("next", (rank + 1) % 4);
  const Value word = b.load("word", words[b.block() * 32 + lane]);
  b.store_async(ints[lane], {word}, next, sent, zero);
  b.wait(sent, zero, zero);
  b.store(others[b.block() * 32 + lane], b.load("got", ints[lane]));
  b.for_("t", zero, turns, b.constant(1), 1, [&](Value t) {
    const Value parity = b.let("parity", t % 2);
    b.wait(free_rows, zero, op(b, IntOp::Xor, parity, 1));
    b.if_(lane == 0, [&] { b.expect(full, zero, b.constant(4 * 64 * 2 + 4 * 64 * 4)); });
    const Value from = b.let("from", (t * b.builtin(Builtin::GridX) + b.block()) * 64);
    b.for_("to", 0, 4, kFullUnroll, [&](Value to) {
      b.if_(lane < 16, [&] {
        const auto pairs = b.load_packed("pair", x[from + lane * 4], 2);
        b.store_async(rows[rank * 64 + lane * 4], pairs, to, full, zero);
        auto thirds = b.load_vector("third", x[from + lane * 4], 4);
        for (Value& third : thirds) third = third * b.real(1.0 / 3);
        b.store_async(reals[rank * 64 + lane * 4], thirds, to, full, zero);
      });
    });
    b.wait(full, zero, parity);
    b.for_("c", 0, 2, kFullUnroll, [&](Value c) {
      const Value at = b.let("at", lane * 2 + c);
      const Value sum = b.variable("sum", b.real(0));
      b.for_("r", 0, 4, kFullUnroll, [&](Value r) {
        b.assign(sum, sum + b.load("v", rows[r * 64 + at]) + b.load("w", reals[r * 64 + at]));
      });
      b.store(y[from + at], sum);
    });
    b.for_("to", 0, 4, kFullUnroll, [&](Value to) { b.arrive(free_rows, zero, to); });
  });
  b.comment("no block leaves while others may still write to it");
  b.cluster_barrier();
  return b.finish();
}

// Each block reads, every turn, what its neighbour wrote the turn before.
Kernel grid_ring() {
  Builder b("grid_ring", 64, Math::Fast,
            "A row that wanders around the blocks: y[t, i] = y[t - 1, i - 1] + 1.");
  b.set_cooperative();
  const Memory y = b.output("y", Storage::F32, "[turns, blocks, 64]");
  const Memory counter = b.output("counter", Storage::I32, "[1], zero at the start");
  const Value turns = b.argument("turns", Type::I32);
  const Value blocks = b.let("blocks", b.builtin(Builtin::GridX));
  const Value me = b.let("me", b.block() * 64 + b.thread());
  b.store(y[me], b.to_real(me));
  b.for_("t", b.constant(1), turns, b.constant(1), 1, [&](Value t) {
    b.barrier();
    b.if_(b.thread() == 0, [&] {
      b.grid_arrive(counter[b.constant(0)]);
      b.grid_wait(counter[b.constant(0)], t * blocks);
    });
    b.barrier();
    const Value left = b.let("left", (b.block() + blocks - 1) % blocks * 64 + b.thread());
    const Value row = b.let("row", blocks * 64);
    b.store(y[t * row + me], b.load("v", y[(t - 1) * row + left]) + b.real(1));
  });
  return b.finish();
}

}  // namespace rondo::backend::cuda::testing
