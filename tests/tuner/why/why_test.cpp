// Floors, parts and changes: what `rondo why` tells, without a device.
#include "tuner/why/why.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/strategies.h"
#include "compiler/support/text_file.h"
#include "engine/choice/candidates.h"
#include "engine/choice/choose.h"
#include "tests/engine/plan/cells.h"

namespace rondo::tuner {
namespace {

using schedule::EstimatePart;
using schedule::Pass;
using schedule::Task;

Task task_of(const std::string& cell, Pass pass, bool products = false, const std::string& board = "h200") {
  schedule::Problem problem;
  problem.sizes = {16, 1024, 1, 768};
  problem.pass = pass;
  problem.save_products = products;
  return {rondo::testing::library_cell(cell), problem, target::find_profile(board).value()};
}

// An LSTM multiplies four matrices forward; backward their transposes, four outer products and, where
// products are not saved, the four of the forward step again.
TEST(Floors, ProductsOfAStepAreCounted) {
  EXPECT_EQ(products_of_step(task_of("lstm", Pass::Forward)), 4);
  EXPECT_EQ(products_of_step(task_of("lstm", Pass::Backward)), 12);
  EXPECT_EQ(products_of_step(task_of("lstm", Pass::Backward, true)), 8);
  EXPECT_EQ(products_of_step(task_of("elman", Pass::Forward)), 1);
  EXPECT_EQ(products_of_step(task_of("mingru", Pass::Backward)), 0);
}

TEST(Floors, ProductsTakeTheirOperationsOverTheRate) {
  const Task task = task_of("lstm", Pass::Forward);
  const double operations = 2.0 * 4 * 768 * 768 * 16 * 1024;
  const double rate = 2048.0 * task.profile.limits.sm_count * task.profile.speeds.clock_hz;
  EXPECT_DOUBLE_EQ(products_floor(task).seconds, operations / rate);
  Task reals = task;
  reals.problem.storage = kernel::Storage::F32;
  reals.problem.math = kernel::Math::Tf32;
  EXPECT_DOUBLE_EQ(products_floor(reals).seconds, 2 * operations / rate);
  reals.problem.math = kernel::Math::Accurate;
  EXPECT_DOUBLE_EQ(products_floor(reals).seconds, 6 * operations / rate);
}

TEST(Floors, ProductsOfCpusAreMultiplyAddsOfTwoVectors) {
  Task task = task_of("lstm", Pass::Forward);
  task.profile.target = {target::Target::Kind::X86_64, 3};
  task.profile.cpu = {2, 32};
  EXPECT_DOUBLE_EQ(products_floor(task).rate(), 2 * 2 * 8 * 2 * task.profile.speeds.clock_hz);
  EXPECT_EQ(products_floor(task).by, "multiply-adds");
  EXPECT_DOUBLE_EQ(products_floor(task, {"tdpbf16ps"}).rate(), 2 * 1024 * task.profile.speeds.clock_hz);
  EXPECT_EQ(products_floor(task, {"tdpbf16ps"}).by, "tdpbf16ps");
}

TEST(Floors, BytesAreEachMovedOnce) {
  const Task task = task_of("mingru", Pass::Forward);
  EXPECT_DOUBLE_EQ(bytes_floor(task, 4e12).seconds,
                   static_cast<double>(schedule::compulsory_bytes(task)) / 4e12);
  EXPECT_DOUBLE_EQ(bytes_floor(task, 4e12).rate(), 4e12);
}

TEST(Floors, TheOneThatBindsComesFirstAndOthersOfNoTimeAreLeftOut) {
  const std::vector<EstimatePart> parts = {{EstimatePart::Of::Chain, "exchange", 2e-3},
                                           {EstimatePart::Of::Work, "rings", 9e-3},
                                           {EstimatePart::Of::Chain, "products", 1e-3}};
  const std::vector<Floor> dense = floors(task_of("lstm", Pass::Forward), parts, 4e12);
  ASSERT_EQ(dense.size(), 3U);
  EXPECT_EQ(dense[0].name, "chain");
  EXPECT_DOUBLE_EQ(dense[0].seconds, 3e-3);  // what is work waits for nothing
  EXPECT_TRUE(std::ranges::is_sorted(dense, std::greater{}, &Floor::seconds));
  const std::vector<Floor> diagonal = floors(task_of("mingru", Pass::Forward), {}, 4e12);
  ASSERT_EQ(diagonal.size(), 1U);
  EXPECT_EQ(diagonal[0].name, "bytes");
}

// A board on which each kind of time was measured, in figures that tell them apart.
target::Floors some_floors() {
  using Of = target::MeasuredFloor::Of;
  target::Floors floors;
  floors.all = {
      {Of::GridExchange, "", 48, 12288, 5e-7, 0},     {Of::ClusterExchange, "", 8, 12288, 2e-7, 0},
      {Of::BlockExchange, "", 1, 0, 3e-8, 0},         {Of::LaneSum, "", 1, 0, 1.5e-8, 0},
      {Of::SharedLoad, "", 1, 0, 1.6e-8, 0},          {Of::Product, "mma.m16n8k16.bf16", 1, 0, 2e-8, 4096},
      {Of::Function, "fma", 1, 0, 2e-9, 0},           {Of::Function, "tanh fast", 1, 0, 1e-8, 0},
      {Of::Function, "sigmoid fast", 1, 0, 1.4e-8, 0}};
  return floors;
}

const schedule::Parameters kGrid = {{"accumulators", 2},
                                    {"batch_tiles", 1},
                                    {"batch_tiles_in_flight", 2},
                                    {"blocks", 48},
                                    {"cluster_k_split", 1},
                                    {"exchange", 1},
                                    {"poll_delay", 0},
                                    {"producer_warps", 1},
                                    {"reduce_scatter", 0},
                                    {"register_k_tiles", 12},
                                    {"setmaxnreg", 1},
                                    {"split_k", 4},
                                    {"stages", 3},
                                    {"steps", 8},
                                    {"store_warps", 1},
                                    {"tiles_in_turn", 1},
                                    {"gather_fragments", 0},
                                    {"unit_blocks", 1},
                                    {"vector", 8}};

// A step of 768 channels in 48 blocks: one exchange; 12 k-tiles a warp in two accumulators, and their sums;
// from the products to the next state a sum, a sigmoid, a product and a sum, a tanh, and a product.
TEST(Chain, IsMadeOfWhatCalibrationMeasured) {
  Task task = task_of("lstm", Pass::Forward);
  const schedule::Strategy& persistent = *schedule::find_strategy("persistent");
  EXPECT_TRUE(persistent.measured_chain(task, kGrid).empty()) << "nothing was measured on a shipped board";
  task.profile.floors = some_floors();
  const std::vector<EstimatePart> chain = persistent.measured_chain(task, kGrid);
  ASSERT_EQ(chain.size(), 3U);
  const auto step_ns = [&](std::size_t i) { return chain[i].seconds / 1024 * 1e9; };
  EXPECT_EQ(chain[0].name, "exchange");
  EXPECT_NEAR(step_ns(0), 500, 1e-6);
  EXPECT_EQ(chain[1].name, "products");
  EXPECT_NEAR(step_ns(1), 6 * 20 + 30, 1e-6);
  EXPECT_EQ(chain[2].name, "functions");
  EXPECT_NEAR(step_ns(2), 2 * 2 + 14 + 2 + 2 + 10 + 2, 1e-6);
  // Of tensor cores that are slower the rate binds: 192 products of 4096 operations a block.
  for (target::MeasuredFloor& floor : task.profile.floors.all)
    if (floor.of == target::MeasuredFloor::Of::Product) floor.per_cycle_sm = 512;
  EXPECT_NEAR(persistent.measured_chain(task, kGrid)[1].seconds / 1024,
              192 * 4096 / 512 / task.profile.speeds.clock_hz + 3e-8, 1e-15);
  std::erase_if(task.profile.floors.all,
                [](const target::MeasuredFloor& floor) { return floor.by == "mma.m16n8k16.bf16"; });
  EXPECT_TRUE(persistent.measured_chain(task, kGrid).empty()) << "a chain without its products is no floor";
}

// What was measured on an H200: the chain of a step of 768 channels, of which 1.17 ms were measured with the
// same parameters (h200-why-account.json), is most of it and no more.
TEST(Chain, OfARecordedBoardIsAFloorOfRecordedTimes) {
  const Result<std::string> text =
      read_text_file(std::string(RONDO_SOURCE_DIR) + "/benchmarks/results/h200-calibrate.json");
  ASSERT_TRUE(text);
  const nlohmann::json record = nlohmann::json::parse(*text);
  for (const nlohmann::json& profile : record["profiles"]) {
    Task task = task_of("lstm", Pass::Forward);
    task.profile = target::profile_from_json(profile.dump()).value();
    double seconds = 0;
    for (const EstimatePart& part : schedule::find_strategy("persistent")->measured_chain(task, kGrid))
      seconds += part.seconds;
    EXPECT_GT(seconds, 0.75 * 1.1728e-3);
    EXPECT_LT(seconds, 1.1728e-3);
    EXPECT_NEAR(products_floor(task, {"mma.m16n8k16.bf16"}).rate() / 1e12, 711, 5);
  }
}

TEST(Chain, OfAClusterHasItsOwnExchange) {
  Task task = task_of("lstm", Pass::Forward);
  task.profile.floors = some_floors();
  schedule::Parameters cluster = kGrid;
  cluster["exchange"] = 0;
  cluster["blocks"] = 8;
  const auto chain = schedule::find_strategy("persistent")->measured_chain(task, cluster);
  ASSERT_FALSE(chain.empty());
  EXPECT_NEAR(chain[0].seconds / 1024 * 1e9, 200 + 16, 1e-6);
}

TEST(Floors, ProductsTakeTheMeasuredRateOfTheirInstruction) {
  Task task = task_of("lstm", Pass::Forward);
  task.profile.floors = some_floors();
  task.profile.floors.all.push_back(
      {target::MeasuredFloor::Of::Product, "wgmma.m64n128k16.bf16", 1, 0, 8e-8, 8000});
  const double cycle = task.profile.limits.sm_count * task.profile.speeds.clock_hz;
  const Floor mma = products_floor(task, {"mma.m16n8k16.bf16"});
  EXPECT_DOUBLE_EQ(mma.rate(), 4096 * cycle);
  EXPECT_EQ(mma.by, "mma.m16n8k16.bf16");
  EXPECT_TRUE(mma.calibrated);
  EXPECT_DOUBLE_EQ(products_floor(task, {"mma.m16n8k16.bf16", "wgmma.m64n128k16.bf16"}).rate(), 8000 * cycle);
  EXPECT_FALSE(products_floor(task, {"mma.m16n8k16.fp16"}).calibrated);
  EXPECT_NE(made_of(mma).find("of mma.m16n8k16.bf16 (measured by calibrate)"), std::string::npos)
      << made_of(mma);
}

double seconds_of(const std::vector<EstimatePart>& parts, const std::vector<std::string>& names) {
  double sum = 0;
  for (const EstimatePart& part : parts)
    if (std::ranges::find(names, part.name) != names.end()) sum += part.seconds;
  return sum;
}

// What follows each other adds up; what other warps and the memory do meanwhile shows where it takes longer.
TEST(Parts, OfAPersistentPointMakeItsTime) {
  int compared = 0;
  for (const char* cell : {"lstm", "gru", "rmslstm"})
    for (const Pass pass : {Pass::Forward, Pass::Backward}) {
      const Task task = task_of(cell, pass);
      const schedule::Strategy& strategy = *schedule::find_strategy("persistent");
      const auto candidates = engine::ranked_candidates(task, engine::kFullAlignment, "persistent");
      ASSERT_TRUE(candidates);
      for (std::size_t i = 0; i < candidates->size(); i += 1 + candidates->size() / 40) {
        const std::vector<EstimatePart> parts = strategy.parts(task, (*candidates)[i].parameters);
        const double chain =
            seconds_of(parts, {"exchange", "products", "reductions", "functions",
                               "functions of a thread's other channels", "rings", "hidden behind each other",
                               "hidden beside the chain", "turns of other tiles"});
        const double walk = std::max({chain, seconds_of(parts, {"staging of inputs"}),
                                      seconds_of(parts, {"storing of results"})}) +
                            seconds_of(parts, {"other warps"});
        const double beside =
            seconds_of(parts, {"launches and first loads", "products of all steps before the sweep"});
        EXPECT_NEAR((*candidates)[i].estimate.seconds, std::max(walk, seconds_of(parts, {"memory"})) + beside,
                    1e-9)
            << cell << " " << schedule::print((*candidates)[i].parameters);
        ++compared;
      }
    }
  EXPECT_GT(compared, 100);
}

TEST(Changes, NoOtherStrategyIsFasterThanTheBest) {
  const std::vector<Change> all = changes(task_of("lstm", Pass::ForwardSave), "persistent");
  const auto of = [&](const std::string& what) {
    const auto found = std::ranges::find(all, what, &Change::what);
    return found == all.end() ? Change{"", 0, 0} : *found;
  };
  EXPECT_GE(of("--strategy alternating").times, 1);
  EXPECT_GT(of("B=32").times, 1);
  EXPECT_DOUBLE_EQ(of("B=32").times_a_row, of("B=32").times / 2);
  EXPECT_LT(of("B=32").times_a_row, 1);  // a step waits as long for twice the rows
  EXPECT_DOUBLE_EQ(of("B=8").times_a_row, of("B=8").times * 2);
  EXPECT_GT(of("H=2,D=384").times, 0);
  EXPECT_GT(of("--save products").times, 0);
  EXPECT_EQ(of("strategy persistent").times, 0) << "that is what there is";
}

TEST(Why, AnOutlineIsExplainedByModel) {
  const Task task = task_of("lstm", Pass::Forward);
  engine::Machine machine;
  machine.profile = task.profile;
  const auto choice = engine::choose(task);
  ASSERT_TRUE(choice);
  const auto outline = engine::outline_of(task, *choice);
  ASSERT_TRUE(outline);
  const auto why = explain(task, machine, *outline, 5);
  ASSERT_TRUE(why);
  EXPECT_FALSE(why->measured);
  EXPECT_EQ(why->seconds(), why->model_s);
  EXPECT_EQ(why->floors.front().name, "chain");
  EXPECT_GT(why->share_of_floor(), 0.5);
  EXPECT_LE(why->share_of_floor(), 1);
  EXPECT_TRUE(std::ranges::is_sorted(why->parts, std::greater{}, &EstimatePart::seconds));
  EXPECT_TRUE(why->without.empty());
  EXPECT_FALSE(why->changes.empty());
  EXPECT_FALSE(why->floors.front().calibrated);
  EXPECT_NE(made_of(why->floors.front()).find("(the model's, not calibrated)"), std::string::npos);
  double sum = why->account.not_explained_s - why->account.overlapped_s;
  for (const AccountPart& part : why->account.parts) sum += part.seconds;
  EXPECT_NEAR(sum, why->model_s, 1e-12);
  Task calibrated = task;
  calibrated.profile.floors = some_floors();
  const auto better = explain(calibrated, machine, *outline, 5);
  ASSERT_TRUE(better);
  EXPECT_TRUE(better->floors.front().calibrated);
  EXPECT_NE(made_of(better->floors.front()).find("measured by calibrate"), std::string::npos);
  EXPECT_LT(better->model_s, why->model_s);  // its exchange and products are faster than an H200's
}

// What parts of a step hide of each other is no more of the chain than the chain is of the step: the floor of
// small heads, whose other channels take as long, is not below what one of its parts takes.
TEST(Chain, HidesItsShareOfWhatTheStepHides) {
  Task task = task_of("lstm", Pass::Forward);
  task.problem.sizes = {16, 1024, 12, 64};
  const auto ranked = engine::ranked_candidates(task, engine::kFullAlignment, "persistent");
  ASSERT_TRUE(ranked);
  const std::vector<EstimatePart> parts =
      schedule::find_strategy("persistent")->parts(task, ranked->front().parameters);
  double step = 0, chain = 0;
  for (const EstimatePart& part : parts) {
    const bool of_chain = part.of == EstimatePart::Of::Chain && part.seconds > 0;
    if (of_chain) chain += part.seconds;
    if (of_chain || part.name == "functions of a thread's other channels" || part.name == "rings")
      step += part.seconds;
  }
  const double hidden = seconds_of(parts, {"hidden behind each other"});
  const double of_step = hidden + seconds_of(parts, {"hidden beside the chain"});
  ASSERT_LT(hidden, 0);
  EXPECT_NEAR(hidden / of_step, chain / step, 1e-9);
  EXPECT_NEAR(chain_floor(task, parts).seconds, chain + hidden, 1e-12);
}

// On a board that is calibrated, too, the chain of a strategy of which nothing is measured is the model's.
TEST(Why, AChainThatNobodyMeasuredSaysSo) {
  Task task = task_of("mingru", Pass::Forward);
  task.profile.floors = some_floors();
  engine::Machine machine;
  machine.profile = task.profile;
  const auto outline = engine::outline_of(task, engine::choose(task).value());
  ASSERT_TRUE(outline);
  const auto why = explain(task, machine, *outline, 5);
  ASSERT_TRUE(why) << why.error().message;
  const auto chain = std::ranges::find(why->floors, "chain", &Floor::name);
  ASSERT_NE(chain, why->floors.end());
  EXPECT_FALSE(chain->calibrated);
  EXPECT_NE(made_of(*chain).find("(the model's: calibrate measures no chain of stream)"), std::string::npos)
      << made_of(*chain);
}

}  // namespace
}  // namespace rondo::tuner
