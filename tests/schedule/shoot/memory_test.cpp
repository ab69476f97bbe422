// Cells that remember long: their rounding goes through many segments.
#include "tests/schedule/shoot/study.h"

namespace rondo::schedule {
namespace {

constexpr const char* kResidual = R"(
cell residual(D) {
  input x[2, D]
  param a[D]
  state h[D]
  f = sigmoid(x[0])
  next h = h - f * h + f * tanh(a * h + x[1])
  output h
}
)";
constexpr const char* kRotation = R"(
cell rotation(D) {
  input x[2, D]
  param a[D]
  state p[D], q[D]
  f = sigmoid(x[0])
  angle = 0.3 + 0.05 * tanh(a * p)
  next p = (1 - f) * (cos(angle) * p - sin(angle) * q) + f * x[1]
  next q = (1 - f) * (sin(angle) * p + cos(angle) * q)
  output p
}
)";

// How far a channel is from exact, in the plain fp32 loop's own error, at worst.
double times_plain(const Outcome& o) {
  double worst = 0;
  for (std::size_t c = 0; c < o.plain.size(); ++c)
    worst = std::max(worst, o.error[c] / (o.plain[c] + std::exp2(-24)));
  return worst;
}

// A forget gate that remembers so many steps, and weights that make the recurrence nonlinear.
Study remembering(const std::string& cell, double steps, ShootTeam team = {16, 1, 0}) {
  Study s{cell == "paragru" ? cell_named(cell) : cell_of(cell)};
  s.weights = 0.5;
  s.gate_bias = -std::log(steps - 1);
  s.team = team;
  s.time = std::int64_t{128} * team.segments * team.time_split;
  s.sweeps = 12;  // so that those of Newton's method end by themselves
  return s;
}

std::string said(const Study& s, const Outcome& o) {
  return s.cell.name + ", bias " + std::to_string(s.gate_bias) + ", " + std::to_string(s.team.time_split) +
         " blocks: " + executable::describe(o.convergence) + "; " + std::to_string(times_plain(o)) +
         " times the plain loop's error";
}

// The squared factor that the certificate gives the accumulated rounding.
void with_deviations(kernel::Kernel& kernel, double times) {
  int changed = 0;
  for (kernel::Expr& expression : kernel.expressions)
    if (auto* constant = std::get_if<kernel::FloatConst>(&expression.node);
        constant != nullptr && constant->value == kShootDeviations * kShootDeviations)
      constant->value *= times * times, ++changed;
  ASSERT_GE(changed, 1);
}

// What the rounding may add: four standard deviations of the plain loop's, where that errs by one or two.
constexpr double kMostTimesPlain = 8;
const std::vector<std::string> kCells = {"paragru", kResidual, kRotation};

TEST(ShootRemembers, NoMoreErrorThanThePlainLoopAndNothingInOrder) {
  for (const std::string& cell : kCells)
    for (const double steps : {10., 100., 1000., 10000.})
      for (const ShootTeam team : {ShootTeam{16, 1, 0}, ShootTeam{8, 2, 0}, ShootTeam{4, 4, 1}}) {
        const Study s = remembering(cell, steps, team);
        const Outcome o = study(s);
        EXPECT_TRUE(o.faults.empty()) << said(s, o) << o.faults.front();
        EXPECT_TRUE(o.same_places) << said(s, o);
        EXPECT_LE(times_plain(o), kMostTimesPlain) << said(s, o);
        EXPECT_EQ(o.convergence.segments_in_order, 0) << said(s, o);
        std::printf("%s\n", said(s, o).c_str());
      }
}

// In fp64 the rounding is out of the way, so what is left is Newton's own number of sweeps. These are the
// rows of docs/strategies/shoot.md.
TEST(ShootRemembers, AsManySweepsAsWithoutRounding) {
  std::int64_t saved = 0;
  for (const std::string& cell : kCells)
    for (const double steps : {10., 100., 1000., 10000.}) {
      Study s = remembering(cell, steps);
      const Outcome now = study(s);
      s.damage = [](kernel::Kernel& kernel) { with_deviations(kernel, 0); };
      const Outcome before = study(s);
      s.damage = {};
      s.fp64 = true;
      const Outcome exact = study(s);
      std::printf("| %s | %.0f steps | %d | %d | %d | %.1f |\n", s.cell.name.c_str(), steps,
                  static_cast<int>(before.convergence.sweeps), static_cast<int>(now.convergence.sweeps),
                  static_cast<int>(exact.convergence.sweeps), times_plain(now));
      EXPECT_LE(now.convergence.sweeps, exact.convergence.sweeps + 1) << said(s, now);
      EXPECT_LE(now.convergence.sweeps, before.convergence.sweeps) << said(s, now);
      saved += before.convergence.sweeps - now.convergence.sweeps;
    }
  EXPECT_GE(saved, 8);
}

// What is there for cells that remember long, with the bound on sweeps that the space has: as many more as
// pay.
TEST(ShootRemembers, MoreSweepsLeaveNothingInOrder) {
  for (const std::string& cell : {kCells[0], kCells[1]})
    for (const double steps : {1000., 10000.})
      for (const ShootTeam team : {ShootTeam{16, 1, 0}, ShootTeam{8, 2, 0}, ShootTeam{4, 4, 1}}) {
        Study s = remembering(cell, steps, team);
        s.sweeps = 3;
        const Outcome o = study(s);
        EXPECT_TRUE(o.faults.empty()) << said(s, o) << o.faults.front();
        EXPECT_EQ(o.convergence.segments_in_order, 0) << said(s, o);
        EXPECT_LE(times_plain(o), kMostTimesPlain) << said(s, o);
      }
}

TEST(ShootRemembers, AToleranceEightTimesTooLargeShows) {
  Study s = remembering(kResidual, 10000);
  s.damage = [](kernel::Kernel& kernel) { with_deviations(kernel, 8); };
  const Outcome o = study(s);
  EXPECT_GT(times_plain(o), kMostTimesPlain) << said(s, o);
}

}  // namespace
}  // namespace rondo::schedule
