// host, forward and backward, in the simulator against the fp64 reference: what a machine without LLVM can
// say of it.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "compiler/constraint/solver.h"
#include "compiler/schedule/host/affine_sweep.h"
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/strategies_for.h"
#include "compiler/step/clip.h"
#include "compiler/step/simplify.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/over_head_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const Strategy* const kHost = find_strategy("host");

Case host_case(const step::Cell& cell, const step::Sizes& sizes, Storage storage,
               const Parameters& parameters) {
  Case c{kHost, cell, {}, {}, {}, false};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.parameters = parameters;
  return c;
}

TEST(HostSimulated, DiagonalCells) {
  int turn = 0;
  for (const step::Cell& cell : diagonal_cells()) {
    const Storage storage = ++turn % 2 == 0 ? Storage::BF16 : Storage::F32;
    Comparison(
        host_case(cell, {2, 5, 2, turn % 3 == 0 ? 1 : 33}, storage,
                  {{"lanes", 16}, {"vectors", 1 << turn % 3}, {"rows", 1}, {"together", 1}, {"tile", 1}}))
        .run();
  }
}

TEST(HostSimulated, MatrixStates) {
  int turn = 0;
  for (const step::Cell& cell : matrix_state_cells())
    for (const Storage storage : {Storage::BF16, Storage::F32}) {
      if (!rondo::testing::has_turn(++turn, 4)) continue;
      Comparison(host_case(cell, {2, 5, 2, turn % 3 == 0 ? 1 : 17}, storage,
                           {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}}))
          .run();
      ASSERT_FALSE(HasFailure()) << cell.name;
    }
}

// Rolled loops over the vectors of a block: a head that is a part of the block, several blocks, and tails.
TEST(HostSimulated, RolledLoops) {
  int turn = 0;
  for (const step::Cell& cell : diagonal_cells()) {
    const Storage storage = ++turn % 2 == 0 ? Storage::BF16 : Storage::F32;
    constexpr std::int64_t kDims[] = {33, 48, 530, 1};
    Comparison(host_case(cell, {2, 4, 2, kDims[turn % 4]}, storage,
                         {{"lanes", 16},
                          {"vectors", 32},
                          {"rows", 1},
                          {"together", 1},
                          {"tile", 1},
                          {"ahead", turn % 3},
                          {"stream_stores", turn % 2}}))
        .run();
    ASSERT_FALSE(HasFailure()) << cell.name;
  }
}

// Whether a sweep of the cell can be cut into segments of time.
bool affine(const step::Cell& cell, const Problem& problem) {
  const step::Cell simple = step::simplify(cell);
  return affine_sweep({simple, problem, {}},
                      problem.pass == Pass::Backward
                          ? backward_sweep({simple, problem, {}}, backward_split({simple, problem, {}}))
                          : forward_sweep({simple, problem, {}}))
      .has_value();
}

// Segments of time in each pass that is affine: as many steps as segments, fewer and more, a tail that is
// shorter than the others, and tails without a step.
TEST(HostSimulated, SegmentsOfTime) {
  int turn = 0, forward = 0, backward = 0;
  for (const step::Cell& cell : diagonal_cells())
    for (const std::int64_t time : {1, 7, 65}) {
      const Storage storage = ++turn % 2 == 0 ? Storage::BF16 : Storage::F32;
      Case c =
          host_case(cell, {2, time, 2, turn % 3 == 0 ? 1 : 33}, storage,
                    {{"lanes", 16}, {"vectors", 1 << turn % 3}, {"rows", 1}, {"together", 1}, {"tile", 1}});
      const std::int64_t segments = 3 + turn % 4 * 2;
      c.backward = c.parameters;
      c.backward["segments"] = 1;
      if (affine(cell, c.problem)) c.parameters["segments"] = segments, ++forward;
      c.problem.pass = Pass::Backward;
      if (affine(cell, c.problem)) c.backward["segments"] = segments, ++backward;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " " << time;
    }
  EXPECT_GE(forward, 15);
  EXPECT_EQ(backward, turn);
}

// A state that something is added to before it is multiplied: by another number, by the same one, beside a
// state that nothing is added to, and beside one that is what is added.
TEST(HostSimulated, SegmentsOfStatesThatAreShifted) {
  for (const char* step :
       {"next h = sigmoid(w) * (h + a)", "next h = a * (h + a)", "next h = a * (h + a) + a",
        "next h = a * (h + a)\n next g = 0.5 * g + h", "next g = 0.5 * g + a\n next h = a * (h + a)",
        "next h = h + 1\n next g = 0.5 * g + a", "next h = a\n next g = sigmoid(w) * (g + a)"}) {
    const std::string two = std::string(step).find("next g") == std::string::npos ? "" : ", g[D]";
    const step::Cell cell = cells_of_text("cell shifted(D) {\n input x[D]\n param w[D]\n state h[D]" + two +
                                          "\n a = tanh(x + w)\n " + step + "\n output h\n}\n")
                                .front();
    for (const std::int64_t segments : {3, 9}) {
      Case c = host_case(cell, {2, 65, 2, 33}, Storage::F32,
                         {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}});
      ASSERT_TRUE(affine(cell, c.problem)) << step;
      c.backward = c.parameters;
      c.parameters["segments"] = c.backward["segments"] = segments;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << step;
    }
  }
}

// A machine whose caches hold next to nothing: it is offered all that pays where memory is far.
target::Profile without_caches() {
  target::Profile profile = target::host_profile({target::Target::Kind::X86_64, 3});
  profile.cpu.l2_bytes = profile.cpu.l3_bytes = 1 << 10;
  return profile;
}

// A point of the space of a pass, each with the same probability.
Parameters random_point(const step::Cell& cell, Problem problem, Pass pass, std::mt19937& random) {
  problem.pass = pass;
  std::vector<Parameters> points;
  (void)constraint::enumerate(kHost->space({cell, problem, without_caches()}),
                              [&](const constraint::Assignment& point) {
                                Parameters& parameters = points.emplace_back();
                                for (const auto& [name, value] : point.items()) parameters[name] = value;
                                return true;
                              });
  return points[random() % points.size()];
}

TEST(HostSimulated, RandomPointsOfTheSpace) {
  std::mt19937 random(11);
  std::set<std::int64_t> segments, vectors;
  for (const step::Cell& cell : diagonal_cells())
    for (const std::int64_t time : {37, 130}) {
      Case c = host_case(cell, {2, time, 1, time == 37 ? 530 : 70},
                         random() % 2 == 0 ? Storage::F16 : Storage::F32, {});
      c.parameters = random_point(cell, c.problem, Pass::ForwardSave, random);
      c.backward = random_point(cell, c.problem, Pass::Backward, random);
      segments.insert({c.parameters.at("segments"), c.backward.at("segments")});
      vectors.insert({c.parameters.at("vectors"), c.backward.at("vectors")});
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " " << time;
    }
  EXPECT_EQ(segments, (std::set<std::int64_t>{1, 3, 5, 9}));
  EXPECT_EQ(vectors, (std::set<std::int64_t>{1, 2, 4, 8, 16, 32, 64}));
}

// Two cores of 1 MiB each, with a last cache of 32 MiB.
target::Profile two_cores() {
  target::Profile profile = target::host_profile({target::Target::Kind::X86_64, 3});
  profile.cpu.threads = 2;
  profile.cpu.l2_bytes = 1 << 20, profile.cpu.l3_bytes = 32 << 20;
  profile.speeds.copy_bytes_per_s = 2e10;
  return profile;
}

// What a parameter may be there.
std::set<std::int64_t> offered(const char* cell, const step::Sizes& sizes, const char* name,
                               Pass pass = Pass::Forward, Storage storage = Storage::F32) {
  Problem problem;
  problem.sizes = sizes, problem.storage = storage, problem.pass = pass;
  std::set<std::int64_t> values;
  (void)constraint::enumerate(kHost->space({cell_named(cell), problem, two_cores()}),
                              [&](const constraint::Assignment& point) {
                                values.insert(point[name]);
                                return true;
                              });
  return values;
}

// Rolled loops and requests ahead are offered where a pass moves as much as the cores' own caches hold.
TEST(HostSpace, WholeRowsOfWhatIsFarFromTheCores) {
  EXPECT_EQ(offered("mingru", {8, 512, 1, 1024}, "ahead"), (std::set<std::int64_t>{0, 2, 4}));
  EXPECT_EQ(offered("mingru", {8, 32, 1, 1024}, "ahead"), (std::set<std::int64_t>{0, 2, 4})) << "3 MiB";
  EXPECT_EQ(offered("mingru", {8, 16, 1, 1024}, "ahead"), (std::set<std::int64_t>{0})) << "1.5 MiB";
  EXPECT_EQ(offered("mingru", {8, 512, 1, 1024}, "vectors").size(), 7u) << "as many as the head has";
  EXPECT_EQ(*offered("mingru", {8, 512, 1, 1024}, "vectors").rbegin(), 64);
  EXPECT_EQ(*offered("mingru", {8, 32, 1, 1024}, "vectors").rbegin(), 64) << "3 MiB";
  EXPECT_EQ(*offered("mingru", {8, 16, 1, 1024}, "vectors").rbegin(), 16) << "1.5 MiB";
}

// Results go past the caches where the last one does not hold a pass and as much again; and whole vectors do.
TEST(HostSpace, StreamsWhatNoCacheHolds) {
  const std::set<std::int64_t> none = {0}, both = {0, 1};
  EXPECT_EQ(offered("mingru", {8, 512, 1, 1024}, "stream_stores"), both);
  EXPECT_EQ(offered("mingru", {8, 256, 1, 1024}, "stream_stores"), both) << "24 MiB";
  EXPECT_EQ(offered("mingru", {8, 160, 1, 1024}, "stream_stores"), none) << "15 MiB";
  EXPECT_EQ(offered("indrnn", {8, 512, 1, 1024}, "stream_stores", Pass::Forward, Storage::BF16), both)
      << "16 MiB";
  EXPECT_EQ(offered("mingru", {8, 512, 1, 1030}, "stream_stores"), none) << "rows end within a vector";
  EXPECT_EQ(offered("lstm", {64, 512, 1, 1024}, "stream_stores"), none) << "a matrix";
}

TEST(HostSimulated, CellsWithMatrices) {
  int turn = 0;
  for (const step::Cell& cell : dense_cells()) {
    const Storage storage = ++turn % 2 == 0 ? Storage::F16 : Storage::F32;
    Comparison(
        host_case(
            cell, {3, 4, 2, 20}, storage,
            {{"lanes", 16}, {"vectors", 1 + turn % 2}, {"rows", 2}, {"together", 2}, {"tile", 1 + turn % 2}}))
        .run();
  }
}

// Rows in tiles of each size, also where tiles of one block differ by a row: sums of all rows are right, of
// whole chunks of products and of what is left of them.
TEST(HostSimulated, RowsInTilesOfEverySize) {
  int turn = 0;
  for (const char* cell : {"elman", "lstm", "gru"})
    for (const std::int64_t tile : {1, 2, 3, 4, 6})
      for (const std::int64_t rows : {4, 8, 16}) {
        if (tile > rows || !rondo::testing::has_turn(++turn, tile == 3 ? 1 : 3)) continue;
        Comparison(host_case(cell_named(cell), {rows + 3, 3, 1, 20}, Storage::F32,
                             {{"lanes", 16},
                              {"vectors", 1},
                              {"rows", rows},
                              {"together", std::int64_t{1} << turn % 3},
                              {"tile", tile}}))
            .run();
        ASSERT_FALSE(HasFailure()) << cell << ", " << rows << " rows in tiles of " << tile;
      }
}

// Matrices that are multiplied by rows of one state: each product, and each gradient of a matrix, begins with
// its own row of the first state.
TEST(HostSimulated, MatricesOfRowsOfAState) {
  for (const char* next : {"[tanh(R @ s[1] + x), tanh(S @ s[2] + x), 0.5 * s[0] + x]",
                           "[0.5 * s[1] + x, tanh(R @ s[0] + x), tanh(S @ s[1] + x)]"}) {
    const step::Cell cell = cells_of_text(
                                "cell rows(D) {\n input x[D]\n param R[D, D], S[D, D]\n state s[3, D]\n"
                                " next s = " +
                                std::string(next) + "\n output s\n}\n")
                                .front();
    for (const std::int64_t time : {1, 3})
      Comparison(host_case(cell, {3, time, 2, 20}, Storage::F32,
                           {{"lanes", 16}, {"vectors", 1}, {"rows", 2}, {"together", 1}, {"tile", 2}}))
          .run();
    ASSERT_FALSE(HasFailure()) << next;
  }
}

TEST(HostSimulated, ReductionsAndHeadValuesWithoutMatrices) {
  int turn = 0;
  for (const step::Cell& cell : reducing_cells())
    for (const std::int64_t dim : {1, 33, 130}) {
      const Storage storage = ++turn % 2 == 0 ? Storage::BF16 : Storage::F32;
      Comparison(host_case(cell, {3, turn % 3 == 0 ? 1 : 5, 2, dim}, storage,
                           {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}}))
          .run();
      ASSERT_FALSE(HasFailure()) << cell.name;
    }
}

// Mean and variance of one, two and three vectors together, whose mean is far from zero.
TEST(HostSimulated, NormsOverSeveralVectors) {
  for (const auto& [rows, sum, squares] :
       {std::tuple{"1", "v[0]", "square(c[0])"},
        {"2", "v[0] + v[1]", "square(c[0]) + square(c[1])"},
        {"3", "v[0] + v[1] + v[2]", "square(c[0]) + square(c[1]) + square(c[2])"}})
    for (const std::int64_t dim : {5, 33}) {
      const std::string n = rows;
      const step::Cell cell =
          cells_of_text("cell together(D) {\n input x[" + n + ", D]\n param g[" + n + ", D]\n state h[" + n +
                        ", D]\n v = 0.5 * h + x + 3\n c = v - mean(" + sum + ") / " + n +
                        "\n next h = tanh(g * c * rsqrt(mean(" + squares + ") / " + n +
                        " + 0.1))\n output h\n}\n")
              .front();
      Comparison(host_case(cell, {2, 4, 2, dim}, Storage::F32,
                           {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}}))
          .run();
      ASSERT_FALSE(HasFailure()) << n << " vectors of " << dim;
    }
}

TEST(HostSimulated, ReductionsAndHeadValuesWithMatrices) {
  int turn = 0;
  std::vector<step::Cell> cells = reducing_cells_with_matrices();
  for (const char* name : {"lngru", "lnlstm", "rmslstm"}) cells.push_back(cell_named(name));
  for (const step::Cell& cell : cells)
    for (const std::int64_t dim : {1, 15, 70}) {
      const Storage storage = ++turn % 2 == 0 ? Storage::F16 : Storage::F32;
      Case c = host_case(
          cell, {3, turn % 4 == 0 ? 1 : 4, 2, dim}, storage,
          {{"lanes", 16}, {"vectors", 1 + turn % 2}, {"rows", 2}, {"together", 2}, {"tile", 1 + turn % 2}});
      c.problem.save_products = turn % 3 == 0;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name;
    }
}

TEST(HostSimulated, Maxima) {
  for (const std::int64_t dim : {1, 70})
    Comparison(host_case(cell_of_maxima(), {3, 5, 2, dim}, Storage::F32,
                         {{"lanes", 16}, {"vectors", 2}, {"rows", 2}, {"together", 1}, {"tile", 1}}))
        .run();
}

// The point that the model takes for a cell.
Parameters model_choice(const std::string& cell, const Problem& problem, const target::Profile& profile) {
  const constraint::System space = kHost->space({cell_named(cell), problem, profile});
  const CostModel model = kHost->cost_model({cell_named(cell), problem, profile});
  double least = 0;
  Parameters best;
  (void)constraint::enumerate(space, [&](const constraint::Assignment& point) {
    Parameters parameters;
    for (const auto& [name, value] : point.items()) parameters[name] = value;
    const double seconds = model(parameters).seconds;
    if (best.empty() || seconds < least) least = seconds, best = parameters;
    return true;
  });
  return best;
}
// In fp32, on so many cores.
Parameters model_choice(const std::string& cell, const step::Sizes& sizes, Pass pass, int cores) {
  target::Profile profile = target::host_profile({target::Target::Kind::X86_64, 3});
  profile.cpu.threads = cores;
  profile.speeds.copy_bytes_per_s = 1e10 * std::min(cores, 8);
  Problem problem;
  problem.sizes = sizes;
  problem.storage = Storage::F32;
  problem.math = default_math(problem.storage);
  problem.pass = pass;
  return model_choice(cell, problem, profile);
}
std::int64_t segments_of(const std::string& cell, const step::Sizes& sizes, Pass pass, int cores) {
  return model_choice(cell, sizes, pass, cores).at("segments");
}

// Where no cache holds a pass, all channels of a row; but no fewer blocks than cores.
TEST(HostOffered, WholeRowsOfWhatNoCacheHolds) {
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
    for (const char* cell : {"mingru", "hgrn"}) {
      const Parameters choice = model_choice(cell, {64, 2048, 1, 1024}, pass, 2);
      EXPECT_EQ(choice.at("vectors"), 64) << cell << " " << pass_name(pass);
      EXPECT_EQ(choice.at("ahead"), 2) << cell << " " << pass_name(pass);
      EXPECT_EQ(choice.at("stream_stores"), 1) << cell << " " << pass_name(pass);
      EXPECT_LE(model_choice(cell, {1, 131072, 1, 1024}, pass, 4).at("vectors"), 16);
    }
}

// Small numbers are no reason to go without: 16 MiB and more in bf16, and 4 MiB that stay in the last cache.
TEST(HostOffered, WholeRowsOfFewBytes) {
  for (const Pass pass : {Pass::Forward, Pass::Backward})
    for (const char* cell : {"affine", "indrnn"})
      for (const std::int64_t time : {128, 512}) {
        Problem problem;
        problem.sizes = {8, time, 1, 1024}, problem.storage = Storage::BF16;
        problem.math = default_math(problem.storage), problem.pass = pass;
        const Parameters choice = model_choice(cell, problem, two_cores());
        EXPECT_EQ(choice.at("vectors"), 64) << cell << " " << pass_name(pass) << " " << time;
        EXPECT_EQ(choice.at("ahead"), 2) << cell << " " << pass_name(pass) << " " << time;
        EXPECT_EQ(choice.at("stream_stores"), time == 512 ? 1 : 0) << cell << " " << pass_name(pass);
      }
}

TEST(HostOffered, SegmentsWhereCoresOutnumberRows) {
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
    const step::Sizes few = {1, 65536, 1, 64}, many = {64, 512, 1, 1024}, brief = {1, 8, 1, 64};
    EXPECT_GE(segments_of("mingru", few, pass, 16), 9) << pass_name(pass);
    EXPECT_EQ(segments_of("mingru", few, pass, 1), 1) << pass_name(pass);
    EXPECT_EQ(segments_of("mingru", many, pass, 16), 1) << pass_name(pass);
    EXPECT_EQ(segments_of("mingru", brief, pass, 16), 1) << pass_name(pass);
    // Whose state goes through tanh: forward no step is affine, backward each is.
    EXPECT_EQ(segments_of("indrnn", few, pass, 16) > 1, pass == Pass::Backward) << pass_name(pass);
  }
}

TEST(HostOffered, NoSegmentsOfWhatIsNotAffine) {
  Problem problem;
  problem.sizes = {1, 4096, 1, 64};
  problem.pass = Pass::Backward;
  const step::Cell clipped = step::clipped(cell_named("mingru"), {{}, 0.5}).value();
  for (const step::Cell& cell : {clipped, cell_named("lstm"), cell_named("rmslstm")}) {
    const auto built = kHost->build(
        {cell, problem, target::host_profile({target::Target::Kind::X86_64, 3})},
        {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}, {"segments", 3}});
    ASSERT_FALSE(built.ok()) << cell.name;
    EXPECT_EQ(built.error().kind, ErrorKind::Input);
    EXPECT_NE(built.error().message.find("segments"), std::string::npos) << built.error().message;
  }
  // A record of an earlier version has none.
  EXPECT_TRUE(
      kHost
          ->build({cell_named("mingru"), problem, target::host_profile({target::Target::Kind::X86_64, 3})},
                  {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}})
          .ok());
}

TEST(HostOffered, ByTheKindOfMachine) {
  const target::Profile cpu = target::host_profile({target::Target::Kind::X86_64, 3});
  EXPECT_EQ(cpu.arch(), "x86-64-v3");
  const auto for_cpus = strategies_for(cpu);
  ASSERT_EQ(for_cpus.size(), 1u);
  EXPECT_EQ(for_cpus[0], kHost);
  const auto for_gpus = strategies_for(target::board());
  EXPECT_EQ(for_gpus.size() + 1, strategies().size());
  EXPECT_EQ(std::count(for_gpus.begin(), for_gpus.end(), kHost), 0);
  const Problem problem;
  for (const step::Cell& cell : all_cells())
    EXPECT_FALSE(kHost->legal({cell, problem, target::board()}).legal) << cell.name;
  const auto built = find_strategy("stream")->build({cell_named("mingru"), problem, cpu}, {});
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::Unsupported);
}

}  // namespace
}  // namespace rondo::schedule
