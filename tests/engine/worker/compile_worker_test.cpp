#include "engine/worker/compile_worker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <random>
#include <thread>

#include "engine/worker/compile_message.h"
#include "engine/worker/frame.h"
#include "tests/runtime/kernels.h"

namespace rondo::engine {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

CompileJob job(std::uint64_t id, std::string name, std::string source = "") {
  return {
      id,
      {backend::preferred_backend().name(), std::move(source), std::move(name), target::Target::gpu(90), {}}};
}

CompileJob kernel_job(std::uint64_t id) {
  const std::string n = std::to_string(id);
  return job(id, "k" + n + ".cu",
             "extern \"C\" __global__ void k" + n + "(float* y) { y[0] = " + n + ".0f; }");
}

// All outcomes by id; fails on a hang, on an id that comes twice and on jobs that are left.
std::map<std::uint64_t, CompileOutcome> drain(CompilePool& pool) {
  std::map<std::uint64_t, CompileOutcome> outcomes;
  while (auto outcome = pool.next(60s)) {
    const std::uint64_t id = outcome->id;
    EXPECT_TRUE(outcomes.emplace(id, std::move(*outcome)).second) << "job " << id << " came back twice";
  }
  EXPECT_EQ(pool.pending(), 0);
  return outcomes;
}

bool no_children_left() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

TEST(CompilePool, CompilesManySourcesInParallel) {
  {
    CompilePool pool(3, 60s);
    for (std::uint64_t id = 0; id < 12; ++id) pool.submit(kernel_job(id));
    EXPECT_EQ(pool.pending(), 12);
    const auto outcomes = drain(pool);
    ASSERT_EQ(outcomes.size(), 12);
    for (const auto& [id, outcome] : outcomes) {
      ASSERT_EQ(outcome.end, CompileEnd::Compiled) << outcome.result.error().message;
      const auto& kernels = outcome.result->image.resources;
      ASSERT_EQ(kernels.size(), 1);
      EXPECT_EQ(kernels[0].name, "k" + std::to_string(id));
      EXPECT_GT(kernels[0].registers, 0);
    }
  }
  EXPECT_TRUE(no_children_left());
}

TEST(CompilePool, GivesTheSameBytesAsThisProcess) {
  CompilePool pool(1, 60s);
  pool.submit(job(1, "four.cu", runtime::testing::kFourKernels));
  const auto outcome = pool.next(60s);
  auto here = backend::compile(job(1, "four.cu", runtime::testing::kFourKernels).request);
  ASSERT_TRUE(outcome && outcome->result && here);
  EXPECT_EQ(outcome->result->image, here->image);
}

TEST(CompilePool, ARejectionCarriesTheCompilersMessage) {
  CompilePool pool(1, 60s);
  pool.submit(job(5, "bad.cu", "extern \"C\" __global__ void f() { no_such_thing; }"));
  const auto outcome = pool.next(60s);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->end, CompileEnd::Rejected);
  EXPECT_EQ(outcome->result.error().kind, ErrorKind::Compile);
  EXPECT_NE(outcome->result.error().message.find("no_such_thing"), std::string::npos);
}

TEST(CompilePool, LongMessagesPassBothWays) {
  CompilePool pool(2, 60s);
  const std::string text(5'000'000, 'x');
  for (std::uint64_t id = 0; id < 4; ++id) pool.submit(job(id, "echo", text + std::to_string(id)));
  for (const auto& [id, outcome] : drain(pool))
    EXPECT_TRUE(outcome.result.error().message == text + std::to_string(id));
}

TEST(CompilePool, ATimeLimitKillsTheWorkerAndTheNextJobRuns) {
  CompilePool pool(1, 1s);
  pool.submit(job(1, "hang"));
  pool.submit(job(2, "echo", "still here"));
  const auto start = Clock::now();
  const auto outcomes = drain(pool);
  EXPECT_LT(Clock::now() - start, 10s);
  ASSERT_EQ(outcomes.size(), 2);
  EXPECT_EQ(outcomes.at(1).end, CompileEnd::TimedOut);
  EXPECT_EQ(outcomes.at(1).result.error().kind, ErrorKind::Cancelled);
  EXPECT_NE(outcomes.at(1).result.error().message.find("1000 ms"), std::string::npos);
  EXPECT_EQ(outcomes.at(2).result.error().message, "still here");
}

TEST(CompilePool, ACrashIsAResultWithItsReason) {
  CompilePool pool(2, 60s);
  pool.submit(job(1, "abort"));
  pool.submit(job(2, "segfault"));
  pool.submit(job(3, "exit"));
  pool.submit(kernel_job(4));
  const auto outcomes = drain(pool);
  ASSERT_EQ(outcomes.size(), 4);
  const std::map<std::uint64_t, std::string> reasons = {
      {1, "signal 6"}, {2, "signal 11"}, {3, "exit status 7"}};
  for (const auto& [id, reason] : reasons) {
    EXPECT_EQ(outcomes.at(id).end, CompileEnd::Crashed);
    const Error& error = outcomes.at(id).result.error();
    EXPECT_EQ(error.kind, ErrorKind::Compile);
    EXPECT_NE(error.message.find(reason), std::string::npos) << error.message;
  }
  EXPECT_EQ(outcomes.at(4).end, CompileEnd::Compiled);
}

TEST(CompilePool, CancellingStopsAtOnceAndReapsTheWorkers) {
  std::atomic<bool> cancel{false};
  CompilePool pool({2, 60s, "", &cancel});
  for (std::uint64_t id = 0; id < 6; ++id) pool.submit(job(id, "hang"));
  EXPECT_FALSE(pool.next(300ms));
  std::thread canceller([&cancel] {
    std::this_thread::sleep_for(200ms);
    cancel = true;
  });
  const auto start = Clock::now();
  const auto outcomes = drain(pool);
  canceller.join();
  EXPECT_LT(Clock::now() - start, 10s);
  ASSERT_EQ(outcomes.size(), 6);
  for (const auto& [id, outcome] : outcomes) EXPECT_EQ(outcome.end, CompileEnd::Cancelled) << id;
  EXPECT_TRUE(no_children_left());
}

TEST(CompilePool, NextGivesUpAfterItsTimeout) {
  CompilePool pool(1, 60s);
  EXPECT_FALSE(pool.next(60s)) << "nothing was submitted";
  pool.submit(job(1, "hang"));
  const auto start = Clock::now();
  EXPECT_FALSE(pool.next(200ms));
  const auto waited = Clock::now() - start;
  EXPECT_GE(waited, 200ms);
  EXPECT_LT(waited, 5s);
  EXPECT_EQ(pool.pending(), 1);
}

TEST(CompilePool, DestroyingItReapsBusyWorkers) {
  {
    CompilePool pool(2, 60s);
    pool.submit(job(1, "hang"));
    pool.submit(job(2, "hang"));
    EXPECT_FALSE(pool.next(100ms));
  }
  EXPECT_TRUE(no_children_left());
}

TEST(CompilePool, AProgramThatIsNoWorkerIsAnErrorForEachJob) {
  for (const char* executable : {"/no/such/program", "/bin/true", "/bin/false"}) {
    CompilePool pool({2, 60s, executable, nullptr});
    for (std::uint64_t id = 0; id < 3; ++id) pool.submit(job(id, "echo"));
    const auto outcomes = drain(pool);
    ASSERT_EQ(outcomes.size(), 3);
    for (const auto& [id, outcome] : outcomes) {
      EXPECT_EQ(outcome.end, CompileEnd::NoWorker) << executable << ' ' << id;
      EXPECT_EQ(outcome.result.error().kind, ErrorKind::Missing);
      EXPECT_NE(outcome.result.error().message.find(executable), std::string::npos)
          << outcome.result.error().message;
    }
  }
}

backend::Compiled some_code() {
  backend::Compiled code;
  code.image = {"sm_90a",
                executable::ImageKind::Cubin,
                "nvrtc 13.0",
                std::string("\x7f\0bytes", 7),
                {{"one", 1, 2, 3, 4, 5, 6}, {"two", -1, 0, 0, 0, 0, 0}}};
  code.log = "a log";
  code.compile_ms = 12.5;
  return code;
}

TEST(CompileMessage, RequestsAndAnswersSurviveTheJourney) {
  const backend::Request sent{"nvrtc",
                              "source",
                              "name",
                              {target::Target::Kind::Gpu, 90, true},
                              {"-a", "--b=c d"},
                              executable::ImageKind::Ptx,
                              {1, 3},
                              2};
  const auto request = decode_request(encode_request(sent));
  ASSERT_TRUE(request);
  EXPECT_EQ(*request, sent);
  const auto call = decode_call(encode_call({123, "message"}));
  ASSERT_TRUE(call);
  EXPECT_EQ(call->limit_ms, 123);
  EXPECT_EQ(call->message, "message");
  const auto failed = decode_answer(encode_answer(Error{ErrorKind::Missing, "m", "h"}));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->error().kind, ErrorKind::Missing);
  EXPECT_EQ(failed->error().message, "m");
  EXPECT_EQ(failed->error().hint, "h");
  const auto compiled = decode_answer(encode_answer(some_code()));
  ASSERT_TRUE(compiled && *compiled);
  EXPECT_EQ((*compiled)->image, some_code().image);
  EXPECT_EQ((*compiled)->log, "a log");
  EXPECT_EQ((*compiled)->compile_ms, 12.5);
}

TEST(CompileMessage, DamagedMessagesAreRefused) {
  const std::string request = encode_request({"nvrtc", "source", "name", target::Target::gpu(90), {"-a"}});
  const std::string answer = encode_answer(some_code());
  const std::string call = encode_call({123, request});
  for (std::size_t size = 0; size < request.size(); ++size)
    EXPECT_FALSE(decode_request(request.substr(0, size))) << size;
  for (std::size_t size = 0; size < answer.size(); ++size)
    EXPECT_FALSE(decode_answer(answer.substr(0, size))) << size;
  for (std::size_t size = 0; size < call.size(); ++size)
    EXPECT_FALSE(decode_call(call.substr(0, size))) << size;
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round)
    for (const std::string& whole : {request, answer, call}) {
      std::string bytes = whole;
      bytes[random() % bytes.size()] = static_cast<char>(random());
      (void)decode_call(bytes);
      (void)decode_request(bytes);
      (void)decode_answer(bytes);
    }
  bool broken = false;
  std::string stream = "\xff\xff\xff\xff rest";
  EXPECT_FALSE(take_frame(stream, broken));
  EXPECT_TRUE(broken);
}

TEST(Frame, PiecesAreKeptUntilTheFrameIsWhole) {
  const std::string two = frame("first") + frame("");
  std::string stream;
  std::vector<std::string> messages;
  bool broken = false;
  for (const char byte : two) {
    stream += byte;
    while (auto message = take_frame(stream, broken)) messages.push_back(*message);
  }
  EXPECT_FALSE(broken);
  EXPECT_EQ(messages, (std::vector<std::string>{"first", ""}));
  EXPECT_TRUE(stream.empty());
}

}  // namespace
}  // namespace rondo::engine
