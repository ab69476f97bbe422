#include "tuner/queue/queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>

#include "tuner/queue/child.h"

namespace rondo::tuner {
namespace {

using Jobs = std::vector<std::vector<std::string>>;

std::vector<std::string> script(const std::string& text) { return {"-c", text}; }

TEST(Queue, EveryJobRunsOnceOnAGpuOfItsSlot) {
  Jobs jobs;
  for (int i = 0; i < 12; ++i)
    jobs.push_back(script("echo " + std::to_string(i) + " on $CUDA_VISIBLE_DEVICES; exit 3"));
  const std::atomic<bool> cancel = false;
  int told = 0;
  const auto ends = run_jobs(
      "/bin/sh", jobs, {{"4"}, {"7"}}, [&](const JobEnd&) { ++told; }, cancel);
  ASSERT_EQ(ends.size(), jobs.size());
  EXPECT_EQ(told, 12);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(ends[i].out, std::to_string(i) + " on " + (ends[i].slot == 0 ? "4" : "7") + "\n");
    EXPECT_EQ(ends[i].status, 3);
  }
}

TEST(Queue, WhatJobsPrintIsTakenWhole) {
  const std::atomic<bool> cancel = false;
  const auto ends = run_jobs(
      "/bin/sh", {script("head -c 300000 /dev/zero | tr '\\0' x; echo wrong >&2")}, {{""}},
      [](const JobEnd&) {}, cancel);
  EXPECT_EQ(ends[0].out.size(), 300000U);
  EXPECT_EQ(ends[0].err, "wrong\n");
}

TEST(Queue, AJobThatDiesIsToldOfAndTheOthersRun) {
  const std::atomic<bool> cancel = false;
  const auto ends = run_jobs(
      "/bin/sh", {script("kill -9 $$"), script("echo fine")}, {{""}}, [](const JobEnd&) {}, cancel);
  EXPECT_EQ(ends[0].status, 128 + 9);
  EXPECT_EQ(ends[1].out, "fine\n");
  const auto none = run_jobs(
      "/no/such/program", {{}}, {{""}}, [](const JobEnd&) {}, cancel);
  EXPECT_EQ(none[0].status, 127);
  EXPECT_NE(none[0].err.find("/no/such/program"), std::string::npos);
}

// Both run when a third one ends, which stops the queue.
TEST(Queue, AStopAsksJobsAndKillsThoseThatDoNotListen) {
  std::atomic<bool> cancel = false;
  const Jobs jobs = {script("trap 'echo asked; exit 130' INT; while :; do sleep 0.05; done"),
                     script("trap '' INT; while :; do sleep 0.05; done"), script("sleep 0.5"),
                     script("echo never")};
  const auto stop = [&](const JobEnd& end) {
    if (end.job == 2) cancel = true;
  };
  const auto ends = run_jobs("/bin/sh", jobs, {{""}, {""}, {""}}, stop, cancel, 0.5);
  EXPECT_EQ(ends[0].out, "asked\n");
  EXPECT_EQ(ends[0].status, 130);
  EXPECT_EQ(ends[1].status, 128 + 9);
  EXPECT_FALSE(ends[3].begun);
}

TEST(Queue, AChildThatLeavesAProcessBehindHasEnded) {
  auto child = Child::start("/bin/sh", script("sleep 30 & echo $!"), {});
  ASSERT_TRUE(child);
  while (child->wait(50)) {
  }
  EXPECT_EQ(child->status(), 0);
  EXPECT_FALSE(child->out().empty());
  ::kill(std::stoi(child->out()), SIGKILL);
}

TEST(Queue, GpusAreNamedAsTheDriverShowsThem) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(*gpus_of("all", 3, ""), (Names{"0", "1", "2"}));
  EXPECT_EQ(*gpus_of("all", 2, "5,GPU-8d1f"), (Names{"5", "GPU-8d1f"}));
  EXPECT_EQ(*gpus_of("0,2,0", 3, ""), (Names{"0", "2"}));
  EXPECT_EQ(*gpus_of("1", 2, "5,3"), (Names{"3"}));
  for (const char* text : {"", "2", "0,", "-1", "x", "0 1", "99999999999"}) {
    const auto gpus = gpus_of(text, 2, "");
    ASSERT_FALSE(gpus) << text;
    EXPECT_NE(gpus.error().message.find("2 GPUs"), std::string::npos);
  }
}

}  // namespace
}  // namespace rondo::tuner
