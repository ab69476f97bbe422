#include "tuner/queue/shard.h"

#include <gtest/gtest.h>

#include <map>

namespace rondo::tuner {
namespace {

TEST(Shard, IsEveryNthOfAList) {
  const auto shard = parse_shard("2/3");
  ASSERT_TRUE(shard);
  std::vector<std::size_t> items;
  for (std::size_t item = 0; item < 8; ++item)
    if (shard->has(item)) items.push_back(item);
  EXPECT_EQ(items, (std::vector<std::size_t>{1, 4, 7}));
  EXPECT_EQ(shard->file("folder.d/tuning.db"), "folder.d/tuning.2-of-3.db");
  EXPECT_EQ(shard->file("folder.d/tuning"), "folder.d/tuning.2-of-3");
  EXPECT_EQ(parse_shard("1/1")->file("tuning.db"), "tuning.db");
}

TEST(Shard, PartsMakeTheWholeOnce) {
  for (int of = 1; of < 7; ++of)
    for (std::size_t item = 0; item < 20; ++item) {
      int owners = 0;
      for (int number = 1; number <= of; ++number) owners += Shard{number, of}.has(item);
      EXPECT_EQ(owners, 1) << item << " of " << of;
    }
}

TEST(Shard, WhatIsNoPartIsRefused) {
  for (const char* text :
       {"", "/", "2", "2/", "/2", "0/2", "3/2", "-1/2", "1/0", "1/2/3", "1/2 ", "a/b", "1/99999999999"}) {
    const auto shard = parse_shard(text);
    ASSERT_FALSE(shard) << text;
    EXPECT_NE(shard.error().message.find(text), std::string::npos);
  }
}

Result<Shard> of(const std::map<std::string, std::string>& variables) {
  return shard_of_environment([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

TEST(Shard, ClustersSayWhichPart) {
  EXPECT_TRUE(of({})->is_whole());
  const auto array =
      of({{"SLURM_ARRAY_TASK_ID", "12"}, {"SLURM_ARRAY_TASK_MIN", "10"}, {"SLURM_ARRAY_TASK_MAX", "17"}});
  EXPECT_EQ(array->text(), "3/8");
  EXPECT_EQ(array->source, "SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}})->text(), "1/4");
  EXPECT_EQ(of({{"RANK", "3"}, {"WORLD_SIZE", "4"}})->text(), "4/4");
  EXPECT_EQ(of({{"JOB_COMPLETION_INDEX", "1"}, {"RONDO_SHARDS", "2"}})->text(), "2/2");
  // Of one process nothing follows: the next kind is asked.
  EXPECT_EQ(of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}})->text(),
            "2/2");
  EXPECT_TRUE(of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}})->is_whole());
}

TEST(Shard, HalfOfWhatAClusterSaysIsRefused) {
  const auto alone = of({{"RANK", "1"}});
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("WORLD_SIZE"), std::string::npos);
  EXPECT_NE(alone.error().hint.find("--shard 2/N"), std::string::npos);
  EXPECT_FALSE(of({{"RANK", "4"}, {"WORLD_SIZE", "4"}}));
  EXPECT_FALSE(
      of({{"SLURM_ARRAY_TASK_ID", "9"}, {"SLURM_ARRAY_TASK_MIN", "10"}, {"SLURM_ARRAY_TASK_MAX", "17"}}));
}

}  // namespace
}  // namespace rondo::tuner
