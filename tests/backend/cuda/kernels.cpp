#include "tests/backend/cuda/kernels.h"

#include <limits>

#include "compiler/scalar/philox.h"

namespace rondo::backend::cuda::testing {

using namespace kernel;

Kernel axpy() {
  Builder b("axpy", 128, Math::Fast, "y = 2 x, one element a thread.");
  const Memory x = b.input("x", Storage::BF16, "[n]");
  const Memory y = b.output("y", Storage::BF16, "[n]");
  const Value n = b.argument("n", Type::I32, "elements");
  const Value i = b.let("i", b.block() * 128 + b.thread());
  b.if_(i < n, [&] { b.store(y[i], b.load("v", x[i]) * b.real(2)); });
  return b.finish();
}

Kernel staged_sum() {
  Builder b("staged_sum", 32, Math::Fast,
            "Sums over time of 2 channels a thread; x is staged in shared memory.");
  b.set_min_blocks(4);
  const Memory x = b.input("x", Storage::F16, "[time, 64]");
  const Memory sum = b.output("sum", Storage::F16, "[64]");
  const Value time = b.argument("time", Type::I32, "steps, a multiple of kStages");
  const Value stages = b.named("kStages", 4, "steps in flight");
  const Value channels = b.named("kChannels", 64, "channels a block");
  const Memory ring = b.shared("ring", Storage::F16, 4 * 64, "[kStages, kChannels]");
  const Memory unused = b.shared("tail", Storage::F32, 8, "[8]");
  const Value mine = b.let("mine", b.thread() * 2);
  const Array total = b.array("total", Type::F32, 2);
  b.for_("c", 0, 2, kFullUnroll, [&](Value c) { b.write(total, c, b.real(0)); });
  const auto fetch = [&](Value step) {
    b.if_(step < time,
          [&] { b.copy_async(ring[step % stages * channels + mine], x[b.wide(step) * channels + mine], 2); });
    b.commit_copies();
  };
  b.comment("fill the ring");
  b.for_("ahead", 0, 3, kFullUnroll, fetch);
  b.for_("t", b.constant(0), time, b.constant(1), 4, [&](Value t) {
    b.wait_copies(2);
    b.barrier();
    fetch(t + 3);
    const auto values = b.load_vector("v", ring[t % stages * channels + mine], 2);
    for (int c = 0; c < 2; ++c)
      b.write(total, b.constant(c), b.read(total, b.constant(c)) + values[static_cast<std::size_t>(c)]);
  });
  b.store(unused[b.constant(0)], b.real(1));
  b.store_vector(sum[mine], {b.read(total, b.constant(0)), b.read(total, b.constant(1))},
                 CacheHint::Streaming);
  return b.finish();
}

Kernel asked_ahead() {
  Builder b("asked_ahead", 64, Math::Fast);
  const Memory x = b.input("x", Storage::F32, "[steps, 64]");
  const Memory y = b.output("y", Storage::F32, "[64]");
  const Value steps = b.argument("steps", Type::I32, "steps");
  const Value sum = b.variable("sum", b.real(0));
  b.for_("step", b.constant(0), steps, b.constant(1), 1, [&](Value step) {
    b.prefetch(x[(step + 1) * 64 + b.thread()]);
    b.prefetch(x[(step + 2) * 64 + b.thread()], 2);
    b.assign(sum, sum + b.load("v", x[step * 64 + b.thread()]));
  });
  b.store(y[b.thread()], sum);
  return b.finish();
}

Kernel block_total() {
  Builder b("block_total", 128, Math::Accurate,
            "The total of a row of x, in a fixed order.\nOne block a row.");
  const Memory x = b.input("x", Storage::F32, "[rows, length]");
  const Memory y = b.output("y", Storage::F32, "[rows]");
  const Value length = b.argument("length", Type::I64);
  const Memory parts = b.shared("parts", Storage::F32, 4, "one partial sum a warp");
  const Value first = b.let("first", b.wide(b.block()) * length);
  const Value total = b.variable("total", b.real(0));
  b.for_("i", b.thread(), b.constant(1024), b.constant(128), 2, [&](Value i) {
    b.if_(b.wide(i) < length,
          [&] { b.assign(total, total + b.load("v", x[first + b.wide(i)], CacheHint::Streaming)); });
  });
  for (int lanes : {16, 8}) {
    const Value other =
        b.shuffle("other", total, lanes == 16 ? ShuffleMode::Down : ShuffleMode::Xor, b.constant(lanes));
    b.assign(total, total + other);
  }
  const Value up = b.shuffle("up", total, ShuffleMode::Up, b.constant(1));
  b.assign(total, total + b.shuffle("zeroth", up, ShuffleMode::Index, b.constant(0)));
  b.if_(b.thread() % 32 == 0, [&] { b.store(parts[b.thread() / 32], total); });
  b.warp_sync();
  b.barrier();
  const Value role = b.let("role", b.thread());
  b.if_(
      role == 0, [&] { b.store(y[b.block()], b.load("p", parts[b.constant(0)]) + total); },
      [&] {
        b.if_(
            role == 1, [&] { b.store(parts[b.constant(1)], b.real(0)); },
            [&] { b.if_(role == 2, [&] { b.store(parts[b.constant(2)], b.real(1)); }); });
      });
  return b.finish();
}

Kernel votes() {
  Builder b("votes", 32);
  const Memory x = b.input("x", Storage::I32, "[32]");
  const Memory y = b.output("y", Storage::I32, "[32]");
  const Value votes = b.ballot("negative", b.load("v", x[b.thread()]) < 0);
  b.store(y[b.thread()], votes >> b.thread() & 1);
  return b.finish();
}

Kernel cold_branch() {
  Builder b("cold_branch", 32);
  const Memory x = b.input("x", Storage::F32, "[blocks, 32]");
  const Memory y = b.output("y", Storage::F32, "[blocks, 32]");
  const Value v = b.load("v", x[b.block() * 32 + b.thread()]);
  b.if_cold(v < b.real(0), [&] {
    const Value place = b.let("place", b.block() * 32 + b.thread());
    b.store(y[place], b.load("v", x[place]) * b.to_real(b.builtin(Builtin::GridX)));
    b.if_(v < b.real(-1), [&] { b.store(y[place], b.real(1)); });
  });
  b.if_(v >= b.real(0), [&] { b.store(y[b.block() * 32 + b.thread()], v); });
  return b.finish();
}

Kernel bytes_and_lengths() {
  Builder b("bytes_and_lengths", 32);
  const Memory bytes = b.input("resets", Storage::U8, "[32]");
  const Memory lengths = b.input("lengths", Storage::I32, "[1]");
  const Memory x = b.input("x", Storage::F32, "[32]");
  const Memory out = b.output("out", Storage::F32, "[32]");
  const Value t = b.thread();
  const Value reset = b.let("reset", b.select(b.load("byte", bytes[t]) == 0, b.real(0), b.real(1)));
  const Value valid =
      b.let("valid", b.select(t < b.load("length", lengths[b.constant(0)]), b.real(1), b.real(0)));
  const Value kept = b.math(scalar::Op::Select, {reset, b.real(0), b.load("v", x[t])});
  b.store(out[t], b.math(scalar::Op::Select, {valid, kept, b.real(-1)}));
  return b.finish();
}

Kernel every_access() {
  Builder b("every_access", 32);
  const Value place = b.let("place", b.thread() * 8);
  for (Storage storage : {Storage::F32, Storage::BF16, Storage::F16, Storage::I32}) {
    const std::string name = storage_name(storage);
    const Memory in = b.input(name + "_in", storage);
    const Memory out = b.output(name + "_out", storage);
    const Memory stage = b.shared(name + "_stage", storage, 256);
    for (int count = 1; count * storage_bytes(storage) <= 16 && count <= 8; count *= 2)
      for (CacheHint hint : {CacheHint::Default, CacheHint::Streaming}) {
        const auto values = b.load_vector("v", in[place], count, hint);
        b.store_vector(out[place], values, hint);
        b.store_vector(stage[place], values);
        b.store_vector(out[place], b.load_vector("s", stage[place], count), hint);
        b.store_vector(out[place], b.load_vector("own", out[place], count, hint));
      }
    for (const int bytes : {4, 8, 16}) b.copy_async(stage[place], in[place], bytes / storage_bytes(storage));
    b.commit_copies();
    b.wait_copies(0);
  }
  return b.finish();
}

namespace {

// Kept from being folded away: every value is stored.
class Sink {
 public:
  Sink(Builder& b, Memory integers, Memory reals) : b_(b), integers_(integers), reals_(reals) {}
  void integer(Value value) { b_.store(integers_[b_.constant(next_++)], value); }
  void real(Value value) { b_.store(reals_[b_.constant(next_++)], value); }
  void wide(Value value) { integer({&b_, b_.add({Type::I32, CastExpr{value.id()}})}); }
  void truth(Value value) { real(b_.to_real(value)); }

 private:
  Builder& b_;
  Memory integers_, reals_;
  int next_ = 0;
};

void integers(Builder& b, Sink& sink, Value n, Value wide) {
  const Value m = b.let("m", b.thread() + 3);
  const Value size = b.named("kSize", 40, "a size");
  for (int op = 0; op <= static_cast<int>(IntOp::Xor); ++op) {
    const auto kind = static_cast<IntOp>(op);
    sink.integer({&b, b.add({Type::I32, IntExpr{kind, n.id(), m.id()}})});
    sink.wide({&b, b.add({Type::I64, IntExpr{kind, wide.id(), b.wide(m).id()}})});
    sink.wide({&b, b.add({Type::I64, IntExpr{kind, b.wide(m).id(), wide.id()}})});
    sink.wide({&b, b.add({Type::I64, IntExpr{kind, wide.id(), b.constant(5, Type::I64).id()}})});
  }
  sink.integer(n - (m - n) * (n + m) % m);
  sink.integer((n - m) - (n - 2) + -7);
  sink.integer(n * size + (m * n) * m);
  sink.integer(n * (m * n) / (m / n));
  sink.wide(b.wide(n) * b.wide(m) + b.wide(n + m) * b.wide(size));
  sink.wide(wide + (std::int64_t{1} << 40));
  sink.wide(b.constant(7, Type::I64) * b.wide(size) + wide);
  sink.integer(n * std::numeric_limits<std::int32_t>::min() - std::numeric_limits<std::int32_t>::min());
  sink.integer(b.builtin(Builtin::GridX) * 2);
}

void conditions(Builder& b, Sink& sink, Value n, Value wide, Value x) {
  const Value m = b.let("limit", b.thread() + 3);
  for (int op = 0; op <= static_cast<int>(Compare::NotEqual); ++op) {
    const auto kind = static_cast<Compare>(op);
    sink.truth({&b, b.add({Type::Pred, CompareExpr{kind, n.id(), m.id()}})});
    sink.truth({&b, b.add({Type::Pred, CompareExpr{kind, b.wide(n).id(), wide.id()}})});
    sink.truth({&b, b.add({Type::Pred, CompareExpr{kind, x.id(), b.real(0.5).id()}})});
  }
  const Value inside = b.let("inside", n < m && (wide < b.wide(n) || n == 0));
  const auto negate = [&](Value a) {
    return Value{&b, b.add({Type::Pred, LogicExpr{Logic::Not, a.id(), -1}})};
  };
  sink.truth(negate(inside));
  sink.truth(negate(n < m || inside) && inside);
  sink.integer(b.select(inside, b.select(n < 2, n, m), b.select(m < 3, m, n)) + 1);
  sink.wide(b.select(inside, b.constant(9, Type::I64), b.wide(n)));
  sink.real(b.to_real(n) * x + b.select(inside, x, b.real(0)));
  const Value sent = b.shuffle("sent", wide, ShuffleMode::Xor, b.constant(1));
  sink.wide(sent);
}

void reals(Builder& b, Sink& sink, Value x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (double value : {0.1, -0.0, 1.0, -2.5, 1e-45, 3.4028234663852886e38, 1e10, kInfinity, -kInfinity,
                       std::numeric_limits<double>::quiet_NaN()})
    sink.real(b.real(value));
  const auto math = [&](scalar::Op op, const std::vector<Value>& args) { return b.math(op, args); };
  const Value less = math(scalar::Op::Less, {x, b.real(1)});
  const Value both = math(scalar::Op::And, {less, math(scalar::Op::Not, {x})});
  sink.real(x - (x - x) * x / (x * x));
  sink.real(math(scalar::Op::Neg, {math(scalar::Op::Neg, {x})}) - math(scalar::Op::Neg, {b.real(-3)}));
  sink.real(math(scalar::Op::Select, {both, x, math(scalar::Op::Select, {x, less, b.real(-1)})}) * x);
  sink.real(math(scalar::Op::Or, {both, math(scalar::Op::Equal, {math(scalar::Op::Less, {x, less}), x})}) +
            x);
}

}  // namespace

Kernel every_expression() {
  Builder b("every_expression", 64);
  const Memory int_out = b.output("int", Storage::I32, "named like a keyword");
  const Memory real_out = b.output("min", Storage::F32, "named like a built-in");
  const Value n = b.argument("n", Type::I32);
  const Value wide = b.argument("wide", Type::I64);
  const Value x = b.argument("x", Type::F32);
  Sink sink(b, int_out, real_out);
  integers(b, sink, n, wide);
  conditions(b, sink, n, wide, x);
  reals(b, sink, x);
  return b.finish();
}

namespace {

void use_op(Builder& b, scalar::Op op, const std::vector<Value>& inputs, Place to) {
  const int arity = scalar::info(op).arity;
  b.store(to,
          b.let(std::string(scalar::info(op).name), b.math(op, {inputs.begin(), inputs.begin() + arity})));
}

}  // namespace

Kernel every_op(Math math) {
  Builder b(math == Math::Fast ? "every_op_fast" : "every_op_accurate", 32, math);
  const Memory in = b.input("in", Storage::F32, "[3]");
  const Memory out = b.output("out", Storage::F32, "[ops]");
  std::vector<Value> inputs;
  for (const char* name : {"x", "y", "z"})
    inputs.push_back(b.load(name, in[b.constant(static_cast<int>(inputs.size()))]));
  for (int op = 0; op < scalar::kKernelOpCount; ++op)
    use_op(b, static_cast<scalar::Op>(op), inputs, out[b.constant(op)]);
  return b.finish();
}

Kernel one_op(scalar::Op op, Math math) {
  Builder b("one_op", 32, math);
  const Memory in = b.input("in", Storage::F32, "[3, 32]");
  const Memory out = b.output("out", Storage::F32, "[32]");
  std::vector<Value> inputs;
  for (int i = 0; i < scalar::info(op).arity; ++i) inputs.push_back(b.load("x", in[b.thread() + i * 32]));
  use_op(b, op, inputs, out[b.thread()]);
  return b.finish();
}

// Two draws of one place, and one of its neighbour.
Kernel draws() {
  Builder b("draws", 32);
  const Memory seed = b.input("seed", Storage::F32, "[1]");
  const Memory out = b.output("out", Storage::F32, "[3, 32]");
  const Value step = b.argument("step", Type::I32);
  const Value key = b.load("seed_0", seed[b.constant(0)]);
  const auto draw = [&](const char* name, Value channel) {
    return b.uniform(scalar::philox_stream(name), key, b.block(), step, b.constant(3), channel);
  };
  b.store(out[b.thread()], b.let("drop", draw("drop", b.thread())));
  b.store(out[b.thread() + 32], b.let("keep", draw("keep", b.thread())));
  b.store(out[b.thread() + 64], b.let("next_drop", draw("drop", b.thread() + 1)));
  return b.finish();
}

std::vector<Sample> samples() {
  return {{"axpy", axpy()},
          {"staged_sum", staged_sum()},
          {"asked_ahead", asked_ahead()},
          {"block_total", block_total()},
          {"votes", votes()},
          {"cold_branch", cold_branch()},
          {"bytes_and_lengths", bytes_and_lengths()},
          {"every_access", every_access()},
          {"every_expression", every_expression()},
          {"packed_pairs", packed_pairs()},
          {"matrix_product_bf16", matrix_product(Storage::BF16)},
          {"matrix_product_fp16", matrix_product(Storage::F16)},
          {"warpgroup_product_bf16", warpgroup_product(Storage::BF16, false), 80},
          {"warpgroup_product_fp16", warpgroup_product(Storage::F16, true), 80},
          {"real_product", real_product(), 80},
          {"flagged_reals", flagged_reals()},
          {"warp_roles", warp_roles()},
          {"meeting_roles", meeting_roles()},
          {"cluster_sum", cluster_sum(), 90},
          {"grid_ring", grid_ring()},
          {"math_fast", every_op(Math::Fast)},
          {"math_accurate", every_op(Math::Accurate)},
          {"draws", draws()}};
}

}  // namespace rondo::backend::cuda::testing
