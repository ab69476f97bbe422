// Trials in a worker process, with fakes that hang, crash and fail.
#include "tuner/trial/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "compiler/schedule/strategies.h"
#include "compiler/step/clip.h"
#include "compiler/step/simplify.h"
#include "compiler/step/verify.h"
#include "tests/engine/plan/cells.h"
#include "tests/tuner/search/landscape.h"
#include "tests/tuner/trial/fake_trials.h"
#include "tuner/trial/message.h"
#include "tuner/tune/tune.h"

namespace rondo::tuner {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;
using db::TrialStatus;

// One for each kind of code, kept: a plan names its executable.
TrialPlan plan(std::size_t candidate, const std::string& what) {
  static std::map<std::string, executable::Executable> made;
  executable::Executable& executable = made[what];
  executable.images.resize(1);
  executable.images.front().bytes = what;
  executable.images.front().seal();
  return {candidate, &executable};
}

TrialSetup setup_of(std::uint64_t seed = 1) {
  return {{rondo::testing::library_cell("lstm"), rondo::testing::problem_of(schedule::Pass::Forward),
           target::board("h100")},
          seed};
}

bool no_children_left() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

class TrialsInAProcess : public ::testing::Test {
 protected:
  static TrialProcessOptions options() {
    TrialProcessOptions result;
    result.limit = 500ms;
    result.setup_limit = 20s;
    return result;
  }
  double pid_of(std::size_t candidate) {
    const auto seconds = trials_.run(plan(candidate, "good"), 3, 1e-3);
    EXPECT_TRUE(seconds.ok()) << seconds.error().message;
    return seconds ? seconds->at(2) : 0;
  }
  TrialProcess trials_{setup_of(), options()};
};

TEST_F(TrialsInAProcess, OneWorkerServesTheWholeRun) {
  ASSERT_TRUE(trials_.start().ok());
  const double pid = pid_of(1);
  EXPECT_NE(pid, ::getpid());
  EXPECT_EQ(*trials_.copy_bandwidth(), 4e12);
  EXPECT_TRUE(trials_.verify(plan(1, "good"))->passed);
  const auto round = trials_.round({plan(1, "good"), plan(2, "good")});
  ASSERT_TRUE(round.ok()) << round.error().message;
  EXPECT_EQ(*round, (std::vector<double>{pid, pid}));
  EXPECT_EQ(trials_.run(plan(3, "known"), 1, 0)->at(0), 3);
  trials_.drop(2);
  EXPECT_EQ(trials_.run(plan(3, "known"), 1, 0)->at(0), 2);
  EXPECT_EQ(trials_.started(), 1);
}

// The plain kernels travel with the question.
TEST_F(TrialsInAProcess, PlainKernelsComeAlong) {
  engine::PlainCode plain;
  plain.same.identity.strategy = "plain";
  plain.perturbed.identity.strategy = "perturbed";
  const auto alone = trials_.verify_at_shape(plan(1, "good"), plain);
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  EXPECT_TRUE(alone->passed);
  EXPECT_EQ(alone->summary, "plain perturbed");
  plain.forward = plain.same;
  EXPECT_EQ(trials_.verify_at_shape(plan(1, "good"), plain)->summary, "plain perturbed forward");
  const auto wrong = trials_.verify_at_shape(plan(2, "wrong late"), plain);
  ASSERT_TRUE(wrong.ok());
  EXPECT_FALSE(wrong->passed);
  EXPECT_EQ(wrong->tensor, "h_out");
}

TEST_F(TrialsInAProcess, ErrorsLeaveTheWorkerAlone) {
  const double pid = pid_of(1);
  const auto failed = trials_.run(plan(2, "error"), 1, 0);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::Device);
  EXPECT_EQ(failed.error().message, "an illegal memory access was encountered");
  EXPECT_EQ(failed.error().hint, "as planted");
  const Result<engine::Verdict> wrong = trials_.verify(plan(3, "wrong"));
  ASSERT_TRUE(wrong.ok()) << wrong.error().message;
  EXPECT_FALSE(wrong->passed);
  EXPECT_EQ(wrong->tensor, "h_out");
  EXPECT_EQ(wrong->excess, 77.5);
  EXPECT_EQ(wrong->summary, "h_out: error 3.1e-01 (limit 4.0e-03)");
  EXPECT_TRUE(trials_.verify(plan(3, "wrong"), testing::kRightSeed)->passed) << "the seed arrives";
  EXPECT_EQ(pid_of(1), pid);
}

TEST_F(TrialsInAProcess, AHangIsKilledAndTheNextTrialRuns) {
  const double pid = pid_of(1);
  const auto begin = SteadyClock::now();
  const auto hung = trials_.run(plan(2, "hang"), 1, 0);
  EXPECT_LT(SteadyClock::now() - begin, 5s);
  ASSERT_FALSE(hung.ok());
  EXPECT_EQ(hung.error().kind, ErrorKind::Cancelled);
  EXPECT_EQ(hung.error().message.rfind("timeout: ", 0), 0U) << hung.error().message;
  EXPECT_NE(hung.error().message.find("500 ms"), std::string::npos);
  EXPECT_TRUE(trials_.alive());
  EXPECT_TRUE(no_children_left()) << "the killed worker was not reaped";
  EXPECT_NE(pid_of(1), pid) << "the candidate's code must reach the new worker too";
  EXPECT_EQ(trials_.started(), 2);
}

TEST_F(TrialsInAProcess, TheReferenceIsNoPartOfATrialsTime) {
  ASSERT_GT(testing::kSlowReference, 2 * options().limit);
  const Result<engine::Verdict> slow = trials_.verify(plan(1, "slow reference"));
  ASSERT_TRUE(slow.ok()) << slow.error().message;
  EXPECT_TRUE(slow->passed);
  EXPECT_EQ(trials_.started(), 1);
}

TEST_F(TrialsInAProcess, ACrashSaysHowAndTheNextTrialRuns) {
  for (const auto& [what, how] : {std::pair{"segfault", "signal 11"}, std::pair{"exit", "exit status 7"}}) {
    const double pid = pid_of(1);
    const auto crashed = trials_.run(plan(2, what), 1, 0);
    ASSERT_FALSE(crashed.ok());
    EXPECT_EQ(crashed.error().kind, ErrorKind::Device);
    EXPECT_NE(crashed.error().message.find(how), std::string::npos) << crashed.error().message;
    EXPECT_TRUE(trials_.alive());
    EXPECT_NE(pid_of(1), pid);
  }
}

TEST_F(TrialsInAProcess, ABrokenContextGetsANewWorker) {
  const double pid = pid_of(1);
  EXPECT_EQ(trials_.run(plan(2, "lost"), 1, 0).error().kind, ErrorKind::Device);
  EXPECT_TRUE(trials_.alive());
  EXPECT_NE(pid_of(1), pid);
}

TEST_F(TrialsInAProcess, CancellingStopsATrialAtOnce) {
  std::atomic<bool> cancel = false;
  TrialProcessOptions long_trials = options();
  long_trials.limit = 60s;
  long_trials.cancel = &cancel;
  TrialProcess trials(setup_of(), long_trials);
  ASSERT_TRUE(trials.start().ok());
  std::thread user([&] {
    std::this_thread::sleep_for(200ms);
    cancel = true;
  });
  const auto begin = SteadyClock::now();
  const auto stopped = trials.run(plan(1, "hang"), 1, 0);
  user.join();
  EXPECT_LT(SteadyClock::now() - begin, 5s);
  EXPECT_EQ(stopped.error().kind, ErrorKind::Cancelled);
  EXPECT_EQ(stopped.error().message.find("timeout"), std::string::npos);
  EXPECT_TRUE(no_children_left());
  EXPECT_EQ(trials.run(plan(1, "good"), 1, 0).error().kind, ErrorKind::Cancelled)
      << "and the next does not begin";
}

TEST(TrialProcessStart, ErrorsOfTheSetUpAreItsOwn) {
  TrialProcess short_of_memory(setup_of(13), {});
  const Status status = short_of_memory.start();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "out of memory");
  EXPECT_TRUE(short_of_memory.refused());
  TrialProcess crashing(setup_of(14), {});
  EXPECT_NE(crashing.start().error().message.find("exit status 3"), std::string::npos);
  EXPECT_FALSE(crashing.refused()) << "it crashed: not to be tried in this process";
  EXPECT_TRUE(no_children_left());
}

TEST(TrialProcessStart, OtherProgramsDoNotServe) {
  for (const char* program : {"/bin/true", "/nowhere/rondo"}) {
    TrialProcessOptions options;
    options.executable = program;
    TrialProcess trials(setup_of(), options);
    const Status status = trials.start();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().kind, ErrorKind::Missing) << status.error().message;
    EXPECT_NE(status.error().message.find(program), std::string::npos) << status.error().message;
  }
}

// A measurer whose compiler is always right, and whose trials run in the process.
class ProcessMeasurer final : public Measurer {
 public:
  ProcessMeasurer(std::vector<std::string> what, TrialProcessOptions options)
      : what_(std::move(what)), trials_(setup_of(), std::move(options)) {}
  bool can_run() const override { return true; }
  int compile_slots() const override { return 1; }
  void compile(std::size_t candidate) override { queue_.push_back(candidate); }
  std::optional<Compiled> next_compiled(double) override {
    Compiled result;
    result.candidate = queue_.front();
    result.cubin_key = result.code = std::to_string(result.candidate);
    queue_.erase(queue_.begin());
    return result;
  }
  void stop_compiling() override { queue_.clear(); }
  Result<std::vector<double>> run(std::size_t candidate, int samples, double sample_s) override {
    auto seconds = trials_.run(plan(candidate, what_.at(candidate)), samples, sample_s);
    if (!seconds) return seconds;
    return std::vector<double>(seconds->size(), 1e-3 * static_cast<double>(candidate + 1));
  }
  Result<std::vector<std::vector<double>>> run_interleaved(const std::vector<std::size_t>& candidates, int,
                                                           const std::function<bool()>&) override {
    std::vector<std::vector<double>> result;
    for (const std::size_t candidate : candidates) result.push_back(*run(candidate, 1, 0));
    return result;
  }
  Result<engine::Verdict> verify(std::size_t candidate, std::uint64_t seed) override {
    return trials_.verify(plan(candidate, what_.at(candidate)), seed);
  }
  Result<engine::Verdict> verify_at_shape(std::size_t candidate) override {
    return trials_.verify_at_shape(plan(candidate, what_.at(candidate)), {});
  }
  void drop(std::size_t candidate) override { trials_.drop(candidate); }
  bool alive() const override { return trials_.alive(); }
  int started() const { return trials_.started(); }

 private:
  std::vector<std::string> what_;
  std::vector<std::size_t> queue_;
  TrialProcess trials_;
};

TEST(SearchWithTrialProcess, GoesOnAfterHangsAndCrashes) {
  TrialProcessOptions options;
  options.limit = 300ms;
  ProcessMeasurer measurer({"hang", "segfault", "good", "error", "wrong", "lost", "good", "hang"}, options);
  SearchOptions searching;
  searching.exhaustive = true;
  const auto candidates = testing::line(8);
  const SearchResult result = search(candidates, measurer, searching, steady_clock());
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rows[*result.best].candidate.parameters, candidates[2].parameters);
  EXPECT_EQ(result.end, SearchEnd::Exhausted) << "a hang loses no device";
  EXPECT_EQ(result.tried, 8U);
  const std::map<std::int64_t, TrialStatus> wanted = {
      {0, TrialStatus::Timeout},     {1, TrialStatus::LaunchError}, {2, TrialStatus::Ok},
      {3, TrialStatus::LaunchError}, {5, TrialStatus::LaunchError}, {7, TrialStatus::Timeout}};
  std::size_t seen = 0;
  for (const Row& row : result.rows) {
    const auto want = wanted.find(row.candidate.parameters.at("channels"));
    if (want == wanted.end()) continue;
    ++seen;
    EXPECT_EQ(row.status, want->second) << want->first << ": " << row.reason;
    const db::Trial trial = to_trial(row);
    EXPECT_EQ(trial.reason.rfind("timeout", 0) == 0, want->second == TrialStatus::Timeout) << trial.reason;
  }
  EXPECT_EQ(seen, wanted.size());
  EXPECT_EQ(measurer.started(), 5) << "one at first, one after a hang, a crash and a broken context, and one "
                                      "to compare the winner after the "
                                      "last hang";
}

TEST(SearchWithTrialProcess, CtrlCIsNoTimeout) {
  std::atomic<bool> cancel = false;
  TrialProcessOptions options;
  options.limit = 60s;
  options.cancel = &cancel;
  ProcessMeasurer measurer({"good", "hang"}, options);
  SearchOptions searching;
  searching.cancel = &cancel;
  searching.exhaustive = true;
  std::thread user([&] {
    std::this_thread::sleep_for(500ms);
    cancel = true;
  });
  const auto begin = SteadyClock::now();
  const SearchResult result = search(testing::line(2), measurer, searching, steady_clock());
  user.join();
  EXPECT_LT(SteadyClock::now() - begin, 10s);
  EXPECT_EQ(result.end, SearchEnd::Cancelled);
  ASSERT_TRUE(result.best) << "what was measured before stays";
  EXPECT_TRUE(result.rows[*result.best].verified);
  for (const Row& row : result.rows)
    EXPECT_EQ(row.status,
              row.candidate.parameters.at("channels") == 1 ? TrialStatus::Cancelled : TrialStatus::Ok)
        << row.reason;
}

// What the worker gets is the cell: same hash, same kernels.
TEST(TrialMessage, CellsArriveWhole) {
  for (const engine::EmbeddedCell& embedded : engine::embedded_cells())
    for (const step::Clip& clip : {step::Clip{}, step::Clip{0.25, 1e-3}}) {
      TrialSetup setup = setup_of();
      setup.task = {step::clipped(rondo::testing::library_cell(embedded.name), clip).value(),
                    setup.task.problem, setup.task.profile};
      setup.task.problem.save_products = clip.any();
      setup.task.problem.constants["k"] = -std::numeric_limits<double>::infinity();
      ByteWriter writer;
      write_setup(writer, setup);
      ByteReader reader(writer.bytes());
      const TrialSetup got = read_setup(reader);
      ASSERT_TRUE(reader.done());
      EXPECT_EQ(step::canonical_text(got.task.written), step::canonical_text(setup.task.written));
      EXPECT_EQ(step::print(got.task.written), step::print(setup.task.written));
      EXPECT_EQ(got.task.written.clip.forward, clip.forward);
      EXPECT_EQ(got.task.problem.constants, setup.task.problem.constants);
      EXPECT_EQ(got.task.problem.sizes.dim, setup.task.problem.sizes.dim);
      EXPECT_EQ(target::to_json(got.task.profile), target::to_json(setup.task.profile));
      EXPECT_EQ(got.task.problem.save_products, setup.task.problem.save_products);
      for (const schedule::Strategy* strategy : schedule::strategies())
        EXPECT_EQ(strategy->legal(got.task).legal, strategy->legal(setup.task).legal);
    }
}

// The caller's arrays do too, and those that are not of the cell are no message.
TEST(TrialMessage, ArraysArriveWhole) {
  TrialSetup setup = setup_of();
  const step::Sizes& sizes = setup.task.problem.sizes;
  engine::GivenData given;
  given.sizes = {1, 2, sizes.heads, sizes.dim};
  for (const step::Tensor& tensor : setup.task.written.tensors)
    if (tensor.kind == step::TensorKind::Input)
      given.arguments.inputs[tensor.name].assign(
          static_cast<std::size_t>(step::element_count(tensor, given.sizes)), 0.375);
  const auto arrive = [&](const engine::GivenData& sent) -> engine::Given {
    setup.given = std::make_shared<const engine::GivenData>(sent);
    ByteWriter writer;
    write_setup(writer, setup);
    ByteReader reader(writer.bytes());
    TrialSetup got = read_setup(reader);
    return reader.done() ? got.given : nullptr;
  };
  const engine::Given got = arrive(given);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->sizes.time, 2);
  EXPECT_EQ(got->arguments.inputs, given.arguments.inputs);
  given.arguments.inputs.begin()->second.pop_back();
  EXPECT_FALSE(arrive(given)) << "an element is missing";
  given.arguments.inputs = {{"no_such", {1}}};
  EXPECT_FALSE(arrive(given));
}

TEST(TrialMessage, RequestsAndRepliesSurviveTheJourney) {
  using What = TrialRequest::What;
  const std::string code("\x7f\0code", 6);
  TrialRequest sent{What::Round, {}, {{7, 96, code}, {8, 1, {}}}, 3, 0.25, 9, 10};
  const auto got = decode_request(encode_request(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->what, What::Round);
  ASSERT_EQ(got->plans.size(), 2U);
  EXPECT_EQ(got->plans[0].candidate, 7U);
  EXPECT_EQ(got->plans[0].turn, 96);
  EXPECT_EQ(got->plans[0].executable, code);
  EXPECT_FALSE(got->plans[1].executable.has_value());
  EXPECT_EQ(got->samples, 3);
  EXPECT_EQ(got->sample_s, 0.25);
  EXPECT_EQ(got->candidate, 9U);
  EXPECT_EQ(got->seed, 10U);
  sent = {What::AtShape, {}, {{7, 96, code}}, 0, 0, 0, 0, {code, "", "forward"}};
  const auto compared = decode_request(encode_request(sent));
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->plain, sent.plain);
  const auto times = decode_reply(encode_reply({true, TrialAnswer{{1e-300, 2}}}));
  ASSERT_TRUE(times && times->answer);
  EXPECT_TRUE(times->alive);
  EXPECT_EQ(times->answer->values, (std::vector<double>{1e-300, 2}));
  const auto wrong = decode_reply(encode_reply({true, TrialAnswer{{}, {false, "h", 3.5, "s"}}}));
  ASSERT_TRUE(wrong && wrong->answer);
  EXPECT_FALSE(wrong->answer->verdict.passed);
  EXPECT_EQ(wrong->answer->verdict.tensor, "h");
  EXPECT_EQ(wrong->answer->verdict.excess, 3.5);
  EXPECT_EQ(wrong->answer->verdict.summary, "s");
  const auto error = decode_reply(encode_reply({false, Error{ErrorKind::Wrong, "m", "h"}}));
  ASSERT_TRUE(error && !error->answer);
  EXPECT_FALSE(error->alive);
  EXPECT_EQ(error->answer.error().kind, ErrorKind::Wrong);
  EXPECT_EQ(error->answer.error().hint, "h");
}

TEST(TrialMessage, DamagedMessagesAreRefused) {
  using What = TrialRequest::What;
  const std::string set_up = encode_request({What::SetUp, setup_of(), {}, 0, 0, 0});
  const std::string run = encode_request({What::Run, {}, {{7, 1, "code"}}, 3, 0.25, 0});
  const std::string reply = encode_reply({true, TrialAnswer{{1, 2}}});
  ASSERT_TRUE(decode_request(set_up) && decode_request(run) && decode_reply(reply));
  for (const std::string& whole : {set_up, run})
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_FALSE(decode_request(std::string_view(whole).substr(0, size))) << size;
  for (std::size_t size = 0; size < reply.size(); ++size)
    EXPECT_FALSE(decode_reply(std::string_view(reply).substr(0, size))) << size;
  EXPECT_FALSE(decode_request(encode_request({What::Run, {}, {}, 3, 0.25, 0}))) << "a run of nothing";
  EXPECT_FALSE(decode_request(encode_request({What::SetUp, {}, {}, 0, 0, 0}))) << "a set-up of nothing";
  EXPECT_FALSE(decode_request(encode_request({What::AtShape, {}, {{7, 1, "code"}}, 0, 0, 0})))
      << "a comparison with no plain kernel";
  std::mt19937 random(5);
  for (int round = 0; round < 1000; ++round)
    for (const std::string& whole : {set_up, run, reply}) {
      std::string bytes = whole;
      bytes[random() % bytes.size()] = static_cast<char>(random());
      const auto request = decode_request(bytes);
      if (request && request->setup) {
        EXPECT_TRUE(step::verify(request->setup->task.written).empty());
      }
      (void)decode_reply(bytes);
    }
}

}  // namespace
}  // namespace rondo::tuner
