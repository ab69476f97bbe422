// Whatever the cell and its weights, a run is right to tolerance and says how it came there.
#include "tests/schedule/shoot/study.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

// As the peer has it: so many sweeps, nothing finished in order.
void without_finishing(kernel::Kernel& kernel, int rounds = 3) {
  int changed = 0;
  each<kernel::Variable>(kernel, [&](kernel::Variable& variable) {
    const std::string& name = kernel.registers[static_cast<std::size_t>(variable.reg)].name;
    const bool side_by_side = name == "side_by_side";
    if (name != "end_round" && name != "last_round" && !side_by_side) return;
    kernel::Expr sweeps = kernel.expr(variable.initial);
    sweeps.node = kernel::IntConst{side_by_side ? 1000 : rounds};
    kernel.expressions.push_back(sweeps);
    variable.initial = static_cast<ExprId>(kernel.expressions.size()) - 1;
    ++changed;
  });
  ASSERT_GE(changed, 1);
}

std::string told(const Study& s, const Outcome& o) {
  return s.cell.name + ", weights of " + std::to_string(s.weights) + ", bias " + std::to_string(s.gate_bias) +
         ": " + executable::describe(o.convergence) + "; worst error " + std::to_string(o.worst()) + ", " +
         std::to_string(o.chaotic()) + " chaotic channels";
}

struct Strength {
  double weights, bias;
};

std::vector<Strength> strengths() {
  std::vector<Strength> all;
  for (const double weights : {0.02, 0.5, 1.0, 1.5, 2.0, 5.0})
    for (const double bias : {0.0, -4.0}) all.push_back({weights, bias});
  return all;
}

Study of(const Strength& strength, const std::string& cell = "paragru") {
  Study s{cell_named(cell)};
  s.weights = strength.weights;
  s.gate_bias = strength.bias;
  return s;
}

TEST(ShootConverges, WithWeightsOfAnyStrength) {
  std::int64_t finished = 0, converged = 0;
  for (const Strength& strength : strengths())
    for (const char* cell : {"paragru", "paralstm"}) {
      Study s = of(strength, cell);
      const ShootTeam teams[] = {{8, 2, 0}, {16, 1, 0}, {8, 2, 2}};
      s.team = teams[(finished + converged) % 3];
      s.keep_inputs = static_cast<int>((finished + converged) / 3 % 2);
      const Outcome o = study(s);
      EXPECT_TRUE(o.faults.empty()) << told(s, o) << o.faults.front();
      EXPECT_TRUE(o.right()) << told(s, o);
      EXPECT_LE(o.convergence.worst_jump, kShootMostJump) << told(s, o);
      (o.convergence.segments_in_order > 0 ? finished : converged) += 1;
      std::printf("%s\n", told(s, o).c_str());
    }
  // The study covers both ends.
  EXPECT_GT(converged, 0);
  EXPECT_GT(finished, 0);
}

// A mask with one value a head leaves the states as they are: they are remembered over all steps that it
// covers.
TEST(ShootConverges, WithAMask) {
  std::int64_t finished = 0, converged = 0;
  for (const double weights : {0.02, 1.0, 5.0})
    for (const double bias : {0.0, -4.0})
      for (const ShootTeam team : {ShootTeam{16, 1, 0}, {8, 2, 0}}) {
        Study s{
            cell_of("cell masked(D) {\n input x[3, D], m\n param w[3, D]\n state h[D]\n"
                    " z = sigmoid(x[0] + w[0] * h)\n r = sigmoid(x[1] + w[1] * h)\n"
                    " c = tanh(x[2] + w[2] * r * h)\n"
                    " next h = select(m > 0, (1 - z) * h + z * c, h)\n output h\n}\n")};
        s.weights = weights;
        s.gate_bias = bias;
        s.team = team;
        const Outcome o = study(s);
        EXPECT_TRUE(o.faults.empty()) << told(s, o) << o.faults.front();
        EXPECT_TRUE(o.right()) << told(s, o);
        (o.convergence.segments_in_order > 0 ? finished : converged) += 1;
        std::printf("%s\n", told(s, o).c_str());
      }
  EXPECT_GT(converged, 0);
  EXPECT_GT(finished, 0);
}

// As if no further sweep side by side ever paid.
void without_more(kernel::Kernel& kernel) {
  int changed = 0;
  each<kernel::If>(kernel, [&](kernel::If& branch) {
    std::erase_if(branch.then_body, [&](const kernel::Stmt& stmt) {
      const auto* assign = std::get_if<kernel::Assign>(&stmt.node);
      if (assign == nullptr) return false;
      const std::string& name = kernel.registers[static_cast<std::size_t>(assign->reg)].name;
      const bool extends = name == "side_by_side";
      changed += extends;
      return extends;
    });
  });
  ASSERT_GE(changed, 1);
}

// What converges nowhere gets no further sweep: the walk in order begins as early as without them.
TEST(ShootConverges, ChaosGetsNoMoreSweeps) {
  Study s = of({5, 0});
  const Outcome o = study(s);
  s.damage = without_more;
  const Outcome before = study(s);
  EXPECT_GT(o.convergence.segments_in_order, 0) << told(s, o);
  EXPECT_EQ(o.convergence.sweeps, before.convergence.sweeps) << told(s, o) << told(s, before);
  EXPECT_EQ(o.convergence.segments_in_order, before.convergence.segments_in_order);
}

TEST(ShootConverges, NotByThreeSweepsAlone) {
  int wrong = 0;
  for (const Strength& strength : strengths()) {
    Study s = of(strength);
    s.damage = [](kernel::Kernel& kernel) { without_finishing(kernel); };
    const Outcome o = study(s);
    wrong += !o.right();
    // It says so itself.
    if (!o.right()) {
      EXPECT_GT(o.convergence.worst_jump, std::exp2(-20)) << told(s, o);
    }
    std::printf("%s: %s\n", o.right() ? "right" : "WRONG", told(s, o).c_str());
  }
  EXPECT_GE(wrong, 3);
}

// The algorithm itself: the kernel's arithmetic in fp64, held to a tolerance that fp32 could not reach.
Study exactly(const Strength& strength, const std::string& cell = "paragru") {
  Study s = of(strength, cell);
  s.fp64 = true;
  s.tolerance = std::exp2(-40);
  return s;
}

TEST(ShootConvergesInFp64, WithWeightsOfAnyStrength) {
  std::int64_t finished = 0, converged = 0;
  int turn = 0;
  for (const Strength& strength : strengths())
    for (const char* cell : {"paragru", "paralstm"}) {
      Study s = exactly(strength, cell);
      // In a block, in a cluster, through global memory, by launches; by Jacobians, and by ends after a
      // warm-up.
      const ShootTeam teams[] = {{16, 1, 0}, {8, 2, 0}, {4, 4, 1}, {4, 4, 2}, {16, 1, 2}};
      s.team = teams[turn % 5];
      s.newton = turn % 4 != 3;
      s.warmup = s.newton ? 0 : 64;
      ++turn;
      const Outcome o = study(s);
      EXPECT_TRUE(o.faults.empty()) << told(s, o) << o.faults.front();
      EXPECT_TRUE(o.right()) << told(s, o);
      EXPECT_LE(o.convergence.worst_jump, std::exp2(-32)) << told(s, o);
      (o.convergence.segments_in_order > 0 ? finished : converged) += 1;
      std::printf("%s\n", told(s, o).c_str());
    }
  EXPECT_GT(converged, 0);
  EXPECT_GT(finished, 0);
}

TEST(ShootConvergesInFp64, NotByThreeSweepsAlone) {
  int wrong = 0;
  for (const Strength& strength : strengths()) {
    Study s = exactly(strength);
    s.damage = [](kernel::Kernel& kernel) { without_finishing(kernel); };
    const Outcome o = study(s);
    wrong += !o.right();
    if (!o.right()) {
      EXPECT_GT(o.convergence.worst_jump, std::exp2(-40)) << told(s, o);
    }
  }
  EXPECT_GE(wrong, 3);
}

// Newton's error is squared from sweep to sweep.
TEST(ShootConvergesInFp64, Quadratically) {
  Study s = exactly({1, -4});
  std::vector<double> jumps;
  for (int sweeps = 2; sweeps <= 4; ++sweeps) {
    s.sweeps = sweeps;
    s.damage = [sweeps](kernel::Kernel& kernel) { without_finishing(kernel, sweeps); };
    jumps.push_back(study(s).convergence.worst_jump);
  }
  EXPECT_GT(jumps[0], 0.01);
  EXPECT_LT(jumps[1], jumps[0] * jumps[0]);
  EXPECT_LT(jumps[2], jumps[1] * jumps[1]);
}

// The ring holds the segment and the warm-up before it, which later sweeps leave out.
TEST(ShootKeepsInputs, ForSweepsThatHaveNoWarmUp) {
  Study s = of({1, -4});
  s.time = 1024;
  s.warmup = 16;
  s.keep_inputs = 1;
  const Outcome o = study(s);
  EXPECT_TRUE(o.faults.empty()) << told(s, o) << o.faults.front();
  EXPECT_TRUE(o.right()) << told(s, o);
  EXPECT_GT(o.convergence.sweeps, 1) << told(s, o);
}

// In the ring and in registers, whose segments fit, do not, or fit but for a few steps: what is swept again
// is what was read first.
TEST(ShootKeepsInputs, OfSegmentsThatFitAndOfThoseThatDoNot) {
  for (const int keep : {1, 2})
    for (const bool newton : {true, false})
      for (const std::int64_t more : {-1, 0, 1, 2, 7}) {
        Study s = of({1.5, 0});
        s.newton = newton;
        s.keep_inputs = keep;
        s.time = 16 * ((keep == 1 ? 24 : 8) + more);
        const Outcome o = study(s);
        EXPECT_TRUE(o.faults.empty()) << told(s, o) << o.faults.front();
        EXPECT_TRUE(o.right()) << told(s, o);
        EXPECT_GT(o.convergence.sweeps, 1) << told(s, o);
      }
}

// Three teams of channels, which do not end in the same round.
Study by_launch(const Strength& strength) {
  Study s = of(strength);
  s.dim = 96;
  s.team = {8, 2, 2};
  return s;
}

TEST(ShootByLaunch, EndsWhenAllHaveConverged) {
  Study s = by_launch({0.1, 0});
  s.warmup = 96;
  s.newton = false;
  const Outcome mild = study(s);
  EXPECT_TRUE(mild.right()) << told(s, mild);
  EXPECT_EQ(mild.convergence.sweeps, 1);
  // One sweeps, one finds that no segment must sweep again, one learns it of all warps of its team, and one
  // of all teams.
  EXPECT_EQ(mild.launches, 4);
  s = by_launch({1.5, 0});
  s.dim = 32;
  const Outcome first = study(s);
  s.dim = 96;
  const Outcome o = study(s);
  EXPECT_TRUE(o.faults.empty()) << told(s, o) << o.faults.front();
  EXPECT_TRUE(o.right()) << told(s, o);
  // The first team ends before the others.
  EXPECT_GT(o.launches, first.launches);
  std::printf("%s, %d launches\n", told(s, o).c_str(), static_cast<int>(o.launches));
}

TEST(ShootByLaunch, WhatConvergesNowhereEndsInItsLastLaunch) {
  Study s = by_launch({5, 0});
  s.newton = false;
  const Outcome o = study(s);
  EXPECT_TRUE(o.right()) << told(s, o);
  EXPECT_GT(o.convergence.segments_in_order, 0);
  EXPECT_EQ(o.convergence.segments, 3 * 16);
  // Three rounds side by side, one for each of two blocks that go in order, and one that scans what they
  // leave.
  EXPECT_EQ(o.launches, 3 + 2 + 1);
  std::printf("%s, %d launches\n", told(s, o).c_str(), static_cast<int>(o.launches));
}

// One team converges last, wherever among 40 blocks it lies: no launch is left out.
TEST(ShootByLaunch, AnyBlockIsAskedWhetherItIsDone) {
  std::int64_t launches = 0;
  for (const std::int64_t last : {0, 3, 4, 7, 8, 15, 16, 19}) {
    Study s{
        cell_of("cell map(D) {\n input x[D]\n param r[D]\n state h[D]\n"
                " next h = 1 - r * h * h + 0.0001 * x\n output h\n}\n")};
    s.time = 64;
    s.dim = 20 * 32;
    s.team = {4, 2, 2};
    s.param = [last](std::int64_t channel) { return channel == 32 * last ? 1.9 : 0.2; };
    const Outcome o = study(s);
    EXPECT_TRUE(o.faults.empty()) << o.faults.front();
    EXPECT_LE(o.convergence.worst_jump, kShootMostJump) << "team " << last << ": " << told(s, o);
    EXPECT_GT(o.convergence.sweeps, 2) << "team " << last << ": " << told(s, o);
    if (launches == 0) launches = o.launches;
    EXPECT_EQ(o.launches, launches) << "team " << last;
  }
}

// h = 1 - a h^2: chaotic for most a above 1.4 (Feigenbaum 1978).
constexpr const char* kChaotic = R"(
cell logistic(D) {
  input x[D]
  param a[D]
  state h[D]
  next h = 1 - (1.5 + 0.3 * sigmoid(a)) * h * h + 0.0001 * x
  output h
}
)";
// A rotation by an angle that the state itself changes; nothing is forgotten.
constexpr const char* kOscillator = R"(
cell oscillator(D) {
  input x[D]
  param a[D]
  state p[D], q[D]
  angle = 0.3 + 0.05 * tanh(a * p)
  next p = cos(angle) * p - sin(angle) * q + 0.01 * x
  next q = sin(angle) * p + cos(angle) * q
  output p
}
)";
constexpr const char* kFive = R"(
cell five(D) {
  input x[D]
  param a[5, D]
  state s[5, D]
  s0 = tanh(a[0] * s[4] + x)
  s1 = 0.5 * s[1] + 0.5 * tanh(a[1] * s[0])
  s2 = 0.7 * s[2] + 0.3 * tanh(a[2] * s[1] - s[3])
  s3 = sigmoid(a[3] * s[2] + s[3])
  s4 = 0.9 * s[4] + 0.1 * s[2] * s[3] + 0.1 * tanh(a[4] * s[0])
  next s = [s0, s1, s2, s3, s4]
  output y = s0 + s4
}
)";

TEST(ShootConverges, ChaoticOscillatingAndCoupledCells) {
  for (const char* text : {kChaotic, kOscillator, kFive})
    for (const ShootTeam team :
         {ShootTeam{16, 1, 0}, ShootTeam{4, 4, 0}, ShootTeam{4, 2, 1}, ShootTeam{4, 4, 2}}) {
      Study s{cell_of(text)};
      s.time = 600;
      s.team = team;
      const Outcome o = study(s);
      EXPECT_TRUE(o.faults.empty()) << told(s, o) << o.faults.front();
      EXPECT_TRUE(o.right()) << told(s, o);
      std::printf("%s\n", told(s, o).c_str());
    }
}

// One channel that converges nowhere among others that do at once, in each lane of a warp and in each warp of
// a team: whatever is counted or reduced over lanes must not lose it.
TEST(ShootReport, OneChannelIsSeenInWhateverLaneItLies) {
  constexpr const char* kMap = R"(
cell map(D) {
  input x[D]
  param r[D]
  state h[D]
  next h = 1 - r * h * h + 0.0001 * x
  output h
}
)";
  int turn = 0;
  for (const ShootTeam team :
       {ShootTeam{8, 1, 0}, ShootTeam{4, 2, 1}, ShootTeam{4, 2, 0}, ShootTeam{4, 2, 2}})
    for (const bool newton : {true, false})
      for (std::int64_t lane = 0; lane < 32; ++lane) {
        // A short run has the ends of the warp's halves and quarters, and the others in turns.
        const bool edge = turn / 32 % 4 == lane % 4 && (lane % 8 == 0 || lane % 8 == 7);
        if (++turn; !edge && !rondo::testing::has_turn(turn, 13)) continue;
        Study s{cell_of(kMap)};
        s.time = 128;
        s.team = team;
        s.newton = newton;
        s.param = [lane](std::int64_t channel) { return channel == lane ? 1.9 : 0.2; };
        const Outcome o = study(s);
        EXPECT_TRUE(o.faults.empty()) << o.faults.front();
        EXPECT_TRUE(o.right()) << "lane " << lane << ": " << told(s, o);
        EXPECT_GT(o.convergence.sweeps + o.convergence.segments_in_order, 2)
            << "lane " << lane << ": " << told(s, o);
        EXPECT_LE(o.convergence.worst_jump, kShootMostJump) << "lane " << lane << ": " << told(s, o);
        s.damage = [](kernel::Kernel& kernel) { without_finishing(kernel, 2); };
        const Outcome ended = study(s);
        EXPECT_GT(ended.convergence.worst_jump, 1e-2) << "lane " << lane << ": " << told(s, ended);
        s.damage = {};
        s.param = [](std::int64_t) { return 0.2; };
        EXPECT_LT(study(s).convergence.worst_jump, 1e-4) << "without such a channel there is none";
        if (HasFailure()) return;
      }
}

// A state that overflows and is set anew later, so that many segments begin at infinity: numbers, and what is
// none, are where the plain loop has them, in the segments and blocks that follow too.
TEST(ShootConverges, FromStartsThatAreInfinite) {
  for (const char* cell :
       {"next h = select(x > 1, x, 1e20 * h + r)", "next h = select(x > 1, x, h * h * 1e20 + r)"})
    for (const ShootTeam team :
         {ShootTeam{8, 1, 0}, ShootTeam{4, 2, 0}, ShootTeam{4, 2, 1}, ShootTeam{4, 2, 2}})
      for (const bool newton : {true, false}) {
        Study s{cell_of("cell set(D) {\n input x[D]\n param r[D]\n state h[D]\n " + std::string(cell) +
                        "\n output h\n}\n")};
        s.time = 256;
        s.team = team;
        s.newton = newton;
        const Outcome o = study(s);
        EXPECT_TRUE(o.faults.empty()) << o.faults.front();
        EXPECT_TRUE(o.same_places) << told(s, o);
      }
}

// What is no number appears where the plain loop has it, and stays.
TEST(ShootConverges, ToNothingBehindANaN) {
  for (const double spoiled : {std::nan(""), 1e38 * 10})
    for (const ShootTeam team :
         {ShootTeam{7, 1, 0}, ShootTeam{3, 4, 0}, ShootTeam{3, 2, 1}, ShootTeam{3, 2, 2}})
      for (const std::int64_t step : {0, 150, 299}) {
        Study s{cell_named("paragru")};
        s.time = 300;
        s.team = team;
        s.spoiled_step = step;
        s.spoiled = spoiled;
        const Outcome o = study(s);
        EXPECT_TRUE(o.faults.empty()) << o.faults.front();
        EXPECT_TRUE(o.same_places) << step << " " << told(s, o);
      }
}

// A damped rotation: the Jacobians of its segments are no approximation.
TEST(ShootConverges, AnAffineCellAtOnce) {
  Study s{cell_of(R"(
cell spiral(D) {
  input x[D]
  state p[D], q[D]
  next p = 0.9 * p - 0.3 * q + 0.1 * x
  next q = 0.3 * p + 0.88 * q
  output q
}
)")};
  s.time = 512;
  const Outcome o = study(s);
  EXPECT_TRUE(o.right()) << told(s, o);
  // One correction is exact but for rounding, which a second one takes away.
  EXPECT_LE(o.convergence.sweeps, 3) << told(s, o);
  EXPECT_EQ(o.convergence.segments_in_order, 0) << told(s, o);
}

TEST(ShootConverges, InOneSweepAfterAWarmUpThatIsLongEnough) {
  Study s = of({0.1, 0});
  s.warmup = 96;
  s.newton = false;
  const Outcome o = study(s);
  EXPECT_TRUE(o.right()) << told(s, o);
  EXPECT_EQ(o.convergence.sweeps, 1);
  EXPECT_EQ(o.convergence.segments, 16);
}

}  // namespace
}  // namespace rondo::schedule
