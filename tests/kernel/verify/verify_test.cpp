// One malformed kernel a rule; the finding must name the statement and the reason.
#include "compiler/kernel/verify/verify.h"

#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

void expect_finding(const Kernel& kernel, const std::vector<std::string>& words) {
  const std::vector<std::string> findings = verify(kernel);
  ASSERT_FALSE(findings.empty()) << "nothing found";
  for (const std::string& word : words)
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(),
                            [&](const std::string& f) { return f.find(word) != std::string::npos; }))
        << word << " is not in: " << findings.front();
}

Kernel built(const std::function<void(Builder&)>& build) {
  Builder b("k", 64);
  build(b);
  return raw(b);
}

// A sound kernel to be damaged: one expression of each kind the tests below touch.
struct Sound {
  Builder b{"k", 64};
  Memory x = b.input("x", Storage::F32), y = b.output("y", Storage::F32), i = b.output("i", Storage::I32);
  Value n = b.argument("n", Type::I32);
  Memory tile = b.shared("tile", Storage::BF16, 64);
  Kernel with(Stmt stmt) {
    Kernel kernel = raw(b);
    kernel.body.push_back(std::move(stmt));
    return kernel;
  }
  RegId reg(Type type) {
    Value v = b.let("r", type == Type::F32 ? b.real(0) : b.constant(0));
    return std::get<RegRead>(b.kernel().expr(v.id()).node).reg;
  }
  Value expr(Type type, decltype(Expr::node) node) { return {&b, b.add({type, std::move(node)})}; }
  // A kernel that uses the expression in a Let of its own type.
  Kernel using_expr(Type type, decltype(Expr::node) node) {
    b.let("broken", expr(type, std::move(node)));
    return raw(b);
  }
};

TEST(Verify, SoundKernelHasNoFindings) {
  Sound s;
  s.b.store(s.y[s.b.thread()], s.b.load("v", s.x[s.b.thread()]));
  s.b.barrier();
  EXPECT_TRUE(verify(raw(s.b)).empty());
}

TEST(Verify, Sizes) {
  Kernel kernel = built([](Builder& b) {
    b.shared("tile", Storage::F32, 4);
    b.array("a", Type::F32, 2);
  });
  EXPECT_TRUE(verify(kernel).empty());
  const auto broken = [&](auto change, const char* words) {
    Kernel copy = kernel;
    change(copy);
    expect_finding(copy, {words});
  };
  broken([](Kernel& k) { k.threads = 0; }, "0 threads");
  broken([](Kernel& k) { k.threads = 1025; }, "1025 threads");
  broken([](Kernel& k) { k.min_blocks = 0; }, "min_blocks 0");
  broken([](Kernel& k) { k.shared[0].elements = 0; }, "tile: 0 elements");
  broken([](Kernel& k) { k.arrays[0].size = 0; }, "a: size 0");
  broken([](Kernel& k) { k.name.clear(); }, "no name");
}

TEST(Verify, TablesAndIds) {
  Sound s;
  Kernel kernel = raw(s.b);
  kernel.expressions.push_back(
      {Type::I32, IntExpr{IntOp::Add, 0, static_cast<ExprId>(kernel.expressions.size())}});
  expect_finding(kernel, {"does not come before it"});
  expect_finding(Sound().using_expr(Type::I32, RegRead{99}), {"no register 99"});
  expect_finding(Sound().using_expr(Type::I32, ParamRead{99}), {"no param 99"});
  expect_finding(Sound().with({Let{99, 0}}), {"no register 99"});
  Kernel named = built([](Builder& b) { b.let("x", b.named("FOUR", 4)); });
  EXPECT_TRUE(verify(named).empty());
  named.named[0].value = 5;
  expect_finding(named, {"no integer constant of that value"});
}

TEST(Verify, UnknownIdsInStatements) {
  Sound s;
  expect_finding(s.with({Let{0, 4711}}), {"no expression 4711"});
  expect_finding(s.with({DeclareArray{3}}), {"no register array 3"});
  expect_finding(s.with({ArrayWrite{3, s.n.id(), s.n.id()}}), {"no register array 3"});
  expect_finding(s.with({Load{{0}, {Space::Shared, 7, s.n.id()}}}), {"no shared array 7"});
  expect_finding(s.with({Load{{0}, {Space::Global, 77, s.n.id()}}}), {"no param 77"});
  expect_finding(s.with({Load{{0}, {Space::Global, 3, s.n.id()}}}), {"n is a scalar"});
  expect_finding(s.with({Assign{77, s.n.id()}}), {"no register 77"});
}

TEST(Verify, NoKernelComputesADeclaredDerivative) {
  Sound s;
  const MathExpr declared{scalar::Op::WithGradient, {s.b.real(0).id(), s.b.real(1).id()}};
  expect_finding(s.using_expr(Type::F32, declared), {"with_gradient is an operation of steps"});
}

TEST(Verify, ExpressionTypes) {
  const auto broken = [](Type type, auto node, const char* words) {
    Sound s;
    expect_finding(s.using_expr(type, node(s)), {words, "statement `let broken"});
  };
  broken(
      Type::F32, [](Sound&) { return IntConst{1}; }, "an integer constant");
  broken(
      Type::I32, [](Sound&) { return IntConst{std::int64_t{1} << 40}; }, "does not fit i32");
  broken(
      Type::I32, [](Sound&) { return FloatConst{1}; }, "a float constant");
  broken(
      Type::I64, [](Sound& s) { return RegRead{s.reg(Type::I32)}; }, "the register is i32");
  broken(
      Type::F32, [](Sound&) { return ParamRead{3}; }, "the param is i32");
  broken(
      Type::F32, [](Sound&) { return ParamRead{0}; }, "a buffer read as a scalar");
  broken(
      Type::I64, [](Sound&) { return BuiltinRead{Builtin::ThreadX}; }, "a builtin");
  broken(
      Type::I32,
      [](Sound& s) {
        return IntExpr{IntOp::Add, s.n.id(), s.b.wide(s.n).id()};
      },
      "types i32 and i64");
  broken(
      Type::I64,
      [](Sound& s) {
        return IntExpr{IntOp::Add, s.n.id(), s.n.id()};
      },
      "the operation is i32");
  broken(
      Type::F32,
      [](Sound& s) {
        return IntExpr{IntOp::Add, s.n.id(), s.n.id()};
      },
      "an integer operation");
  broken(
      Type::I32,
      [](Sound& s) {
        return CompareExpr{Compare::Less, s.n.id(), s.n.id()};
      },
      "a comparison is pred");
  broken(
      Type::Pred,
      [](Sound& s) {
        return CompareExpr{Compare::Less, s.n.id(), s.b.real(0).id()};
      },
      "types i32 and f32");
  broken(
      Type::Pred,
      [](Sound& s) {
        return LogicExpr{Logic::And, s.n.id(), s.n.id()};
      },
      "logic of other than");
  broken(
      Type::F32,
      [](Sound& s) {
        return MathExpr{scalar::Op::Add, {s.b.real(0).id()}};
      },
      "takes 2 operands, not 1");
  broken(
      Type::F32,
      [](Sound& s) {
        return MathExpr{scalar::Op::Neg, {s.n.id()}};
      },
      "operand of type i32");
  broken(
      Type::I32, [](Sound& s) { return CastExpr{s.b.real(0).id()}; }, "no cast from f32 to i32");
  broken(
      Type::I32,
      [](Sound& s) {
        return SelectExpr{s.n.id(), s.n.id(), s.n.id()};
      },
      "condition is a predicate");
}

TEST(Verify, Scopes) {
  expect_finding(built([](Builder& b) {
                   Value inner;
                   b.if_(b.thread() < 3, [&] { inner = b.let("inner", b.thread()); });
                   b.let("outer", inner);
                 }),
                 {"`let outer: i32 = inner`", "inner is read where it is not declared"});
  expect_finding(built([](Builder& b) {
                   Value i;
                   b.for_("i", 0, 3, 1, [&](Value v) {
                     i = v;
                     b.comment("turn");
                   });
                   b.let("after", i);
                 }),
                 {"i is read where"});
  expect_finding(built([](Builder& b) {
                   Array a;
                   b.if_(b.thread() < 3, [&] { a = b.array("a", Type::F32, 1); });
                   b.write(a, b.constant(0), b.real(1));
                 }),
                 {"a is used where it is not declared"});
  Kernel twice = built([](Builder& b) { b.let("x", b.constant(1)); });
  twice.body.push_back(twice.body[0]);
  expect_finding(twice, {"x is declared a second time"});
  Kernel array_twice = built([](Builder& b) { b.array("a", Type::F32, 1); });
  array_twice.body.push_back(array_twice.body[0]);
  expect_finding(array_twice, {"a is declared a second time"});
}

TEST(Verify, Assignments) {
  expect_finding(built([](Builder& b) { b.assign(b.let("x", b.constant(1)), b.constant(2)); }),
                 {"x is no variable"});
  expect_finding(built([](Builder& b) { b.for_("i", 0, 3, 1, [&](Value i) { b.assign(i, i + 1); }); }),
                 {"i is no variable"});
  expect_finding(built([](Builder& b) { b.assign(b.variable("x", b.constant(1)), b.real(2)); }),
                 {"x is i32, its value f32"});
}

TEST(Verify, ArrayIndices) {
  const auto indexed = [](auto index) {
    return built([&](Builder& b) {
      auto a = b.array("a", Type::F32, 4);
      index(b, a);
    });
  };
  expect_finding(indexed([](Builder& b, Array a) { b.write(a, b.thread(), b.real(0)); }),
                 {"not known at compile time"});
  expect_finding(indexed([](Builder& b, Array a) { b.write(a, b.constant(4), b.real(0)); }),
                 {"= 4 is outside a[4]"});
  expect_finding(indexed([](Builder& b, Array a) { b.let("v", b.read(a, b.constant(-1))); }),
                 {"= -1 is outside a[4]"});
  expect_finding(
      indexed([](Builder& b, Array a) { b.for_("i", 0, 4, 1, [&](Value i) { b.write(a, i, b.real(0)); }); }),
      {"not known at compile time"});
  expect_finding(indexed([](Builder& b, Array a) {
                   b.for_("i", 0, 4, kFullUnroll, [&](Value i) { b.write(a, i + 1, b.real(0)); });
                 }),
                 {"= 4 is outside a[4]"});
  EXPECT_TRUE(verify(indexed([](Builder& b, Array a) {
                b.for_("i", 0, 4, kFullUnroll, [&](Value i) {
                  const Value next = b.let("next", (i + 1) % 4);
                  b.write(a, next, b.real(0));
                  b.if_(i + 1 < b.constant(4), [&] { b.write(a, i + 1, b.real(0)); });
                });
              })).empty());
}

TEST(Verify, MemoryAccess) {
  Sound s;
  const auto store = [&](std::size_t count, Memory to, Value value) {
    return s.with({Store{std::vector<ExprId>(count, value.id()), to[s.n].ref, CacheHint::Default}});
  };
  const Value real = s.b.real(1);
  EXPECT_TRUE(verify(store(4, s.y, real)).empty());
  EXPECT_TRUE(verify(store(8, s.tile, real)).empty());
  expect_finding(store(3, s.y, real), {"3 elements; 1, 2, 4 or 8"});
  expect_finding(store(0, s.y, real), {"0 elements"});
  expect_finding(store(8, s.y, real), {"32 bytes; at most 16"});
  expect_finding(store(1, s.x, real), {"x is read-only"});
  expect_finding(store(1, s.y, s.n), {"fp32 element stored from i32"});
  expect_finding(store(1, s.i, real), {"int32 element stored from f32"});
  expect_finding(s.with({Store{{real.id()}, {Space::Global, 1, real.id()}, CacheHint::Default}}),
                 {"the index is of type f32"});
  expect_finding(s.with({Store{{real.id()}, s.tile[s.n].ref, CacheHint::Streaming}}),
                 {"a cache hint on shared memory"});
}

TEST(Verify, AsynchronousCopies) {
  Sound s;
  auto half = s.b.input("half", Storage::BF16);
  const auto copy = [&](Memory to, Memory from, int n) {
    return s.with({CopyAsync{to[s.n].ref, from[s.n].ref, n}});
  };
  for (const int elements : {2, 4, 8}) EXPECT_TRUE(verify(copy(s.tile, half, elements)).empty());
  for (const int elements : {0, 1, 3, 16})
    expect_finding(copy(s.tile, half, elements), {"4, 8 or 16 are legal"});
  expect_finding(copy(s.tile, s.x, 1), {"copies fp32 to bf16"});
  expect_finding(copy(s.y, half, 2), {"from global to shared"});
  expect_finding(copy(s.tile, s.tile, 2), {"from global to shared"});
  expect_finding(s.with({WaitCopies{-1}}), {"negative number of groups"});
}

TEST(Verify, LoopsAndBranches) {
  expect_finding(built([](Builder& b) {
                   b.for_("i", b.constant(0), b.argument("n", Type::I32), b.constant(1), kFullUnroll,
                          [](Value) {});
                 }),
                 {"its bounds are no constants"});
  expect_finding(
      built([](Builder& b) { b.for_("i", b.constant(0), b.constant(4), b.constant(0), 1, [](Value) {}); }),
      {"a step of 0"});
  expect_finding(built([](Builder& b) { b.for_("i", 0, 4, -2, [](Value) {}); }), {"unrolled -2 times"});
  expect_finding(built([](Builder& b) {
                   b.for_("i", b.constant(0), b.constant(4, Type::I64), b.constant(1), 1, [](Value) {});
                 }),
                 {"begin, end and step are i32"});
  expect_finding(built([](Builder& b) { b.if_(b.thread(), [] {}); }), {"the condition is no predicate"});
  expect_finding(
      built([](Builder& b) { b.shuffle("v", b.thread(), ShuffleMode::Up, b.constant(1, Type::I64)); }),
      {"a lane is i32"});
  expect_finding(built([](Builder& b) { b.ballot("v", b.thread()); }), {"a vote on i32, not on a predicate"});
}

TEST(Verify, DivergentBarriers) {
  const auto under = [](auto condition) {
    return built([&](Builder& b) {
      auto x = b.input("x", Storage::I32);
      auto y = b.output("y", Storage::I32);
      b.if_(condition(b, x, y), [&] { b.barrier(); });
    });
  };
  const std::string found = "which may differ between threads";
  expect_finding(under([](Builder& b, Memory, Memory) { return b.thread() < 32; }),
                 {found, "`if thread < 32`"});
  expect_finding(under([](Builder& b, Memory x, Memory) { return b.load("v", x[b.thread()]) < 1; }), {found});
  expect_finding(under([](Builder& b, Memory, Memory y) { return b.load("v", y[b.block()]) < 1; }), {found});
  EXPECT_TRUE(
      verify(under([](Builder& b, Memory x, Memory) { return b.load("v", x[b.block()]) < 1; })).empty());
  // The word of a vote is the same in a warp, and in the block only where the predicate is.
  const auto voted = [&](auto predicate) {
    return under([predicate](Builder& b, Memory, Memory) { return b.ballot("v", predicate(b)) == 0; });
  };
  expect_finding(voted([](Builder& b) { return b.thread() < 32; }), {found, "`if v == 0`"});
  EXPECT_TRUE(verify(voted([](Builder& b) { return b.block() < 3; })).empty());
  // Through a variable assigned under a divergent branch, and late in a loop for its next turn.
  expect_finding(under([](Builder& b, Memory, Memory) {
                   auto v = b.variable("v", b.constant(0));
                   b.if_(b.thread() < 3, [&] { b.assign(v, b.constant(1)); });
                   return v == 1;
                 }),
                 {found, "`if v == 1`"});
  expect_finding(built([](Builder& b) {
                   auto v = b.variable("v", b.constant(0));
                   b.for_("i", 0, 3, 1, [&](Value) {
                     b.if_(v == 1, [&] { b.barrier(); });
                     b.assign(v, b.thread());
                   });
                 }),
                 {found});
  expect_finding(built([](Builder& b) {
                   b.for_("i", b.constant(0), b.thread(), b.constant(1), 1, [&](Value) { b.barrier(); });
                 }),
                 {found, "`for i in 0 .. thread step 1`"});
}

TEST(Verify, ReportsAllOfAPartAtOnce) {
  const Kernel kernel = built([](Builder& b) {
    b.assign(b.let("x", b.constant(1)), b.constant(2));
    b.assign(b.let("y", b.constant(1)), b.constant(2));
  });
  EXPECT_EQ(verify(kernel).size(), 2u);
}

}  // namespace
}  // namespace rondo::kernel::test
