// Which kernels a GPU gets: exact code first, then code of the same major version, then PTX; among these the
// nearest shape.
#include "runtime/package/select.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/runtime/package/packages.h"

namespace rondo::package {
namespace {

using executable::ImageKind;
using rondo::testing::image_for;
using rondo::testing::PackagedKernels;
using schedule::Pass;

class Selection : public ::testing::Test {
 protected:
  explicit Selection(const std::vector<PackagedKernels>& all)
      : bytes_(rondo::testing::package_of(all)), package_(Package::from_memory(bytes_, "a test").value()) {}
  Selection()
      : Selection({{.arch = "sm_80"},
                   {.arch = "sm_86"},
                   {.arch = "sm_90", .images = {image_for("sm_90a", ImageKind::Cubin)}},
                   {.arch = "sm_100"},
                   {.arch = "compute_80", .images = {image_for("sm_80", ImageKind::Ptx, 2048)}}}) {}

  // "sm_90 cubin sm_90a": the entry's architecture, and its code.
  std::string taken(const Wanted& wanted, const Gpu& gpu) const {
    const Result<std::vector<Selected>> selected = select(package_, wanted, gpu);
    if (!selected) return selected.error().message;
    const Entry& entry = package_.index().entries[selected->front().entry];
    const Code& code = entry.codes[selected->front().code];
    return entry.arch + " " + executable::image_kind_name(code.kind) + " " + code.target;
  }
  std::string taken(int capability) const { return taken({}, {capability, 0}); }

  std::string bytes_;
  Package package_;
};

TEST_F(Selection, ExactCodeThenTheSameMajorThenPtx) {
  EXPECT_EQ(taken(80), "sm_80 cubin sm_80");
  EXPECT_EQ(taken(86), "sm_86 cubin sm_86");
  EXPECT_EQ(taken(87), "sm_86 cubin sm_86") << "the latest of the same major version";
  EXPECT_EQ(taken(89), "sm_86 cubin sm_86");
  EXPECT_EQ(taken(90), "sm_90 cubin sm_90a");
  EXPECT_EQ(taken(100), "sm_100 cubin sm_100");
  EXPECT_EQ(taken(103), "sm_100 cubin sm_100");
  EXPECT_EQ(taken(120), "compute_80 ptx sm_80") << "of another major version no cubin runs";
  EXPECT_EQ(taken(91), "compute_80 ptx sm_80") << "sm_90a runs on 9.0 alone";
}

TEST_F(Selection, TheNextBestFollow) {
  const auto all = select(package_, {}, {86, 0});
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ(all->at(0).how, Suits::Exactly);
  EXPECT_EQ(all->at(1).how, Suits::Major);
  EXPECT_EQ(all->at(2).how, Suits::Ptx);
}

TEST_F(Selection, WhereThereIsNoneItSaysWhatThereIs) {
  const Result<std::vector<Selected>> none = select(package_, {}, {75, 0});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::Unsupported);
  for (const char* part : {"sm_75", "cubin for sm_80", "cubin for sm_90a", "ptx for sm_80 and later"})
    EXPECT_NE(none.error().message.find(part), std::string::npos) << none.error().message;
  const Result<std::vector<Selected>> other = select(package_, {.cell = "gru"}, {90, 0});
  EXPECT_EQ(other.error().kind, ErrorKind::Missing);
  EXPECT_NE(other.error().hint.find("paragru"), std::string::npos) << other.error().hint;
}

TEST_F(Selection, WhatNeedsTooMuchSharedMemoryIsPassedOver) {
  EXPECT_EQ(taken({}, {120, 4096}), "compute_80 ptx sm_80");
  const Result<std::vector<Selected>> none = select(package_, {}, {120, 1500});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("more shared memory than the 1500 bytes"), std::string::npos)
      << none.error().message;
  EXPECT_EQ(taken({}, {80, 1500}), "sm_80 cubin sm_80");
}

// An image is loaded whole, so each of its kernels has to fit.
TEST_F(Selection, EveryKernelOfAnImageHasToFit) {
  constexpr int kLess = 1024, kMore = 4096, kKernels = 3;
  for (int large = 0; large <= kKernels; ++large) {
    executable::Image image = image_for("sm_90", ImageKind::Cubin);
    image.resources.clear();
    for (int i = 0; i < kKernels; ++i)
      image.resources.push_back({"k" + std::to_string(i), 40, i == large ? kMore : kLess, 8, 4, 2, 256});
    const std::string bytes = rondo::testing::package_of({{.arch = "sm_90", .images = {image}}});
    const Package package = Package::from_memory(bytes, "a test").value();
    EXPECT_EQ(select(package, {}, {90, (kLess + kMore) / 2}).ok(), large == kKernels) << large;
    EXPECT_TRUE(select(package, {}, {90, kMore}).ok()) << large;
  }
}

TEST_F(Selection, PtxRunsOnItsOwnArchitectureAndLaterOnes) {
  const std::string bytes = rondo::testing::package_of(
      {{.arch = "compute_86", .images = {image_for("sm_86", ImageKind::Ptx)}},
       {.arch = "compute_90", .batch = 64, .images = {image_for("sm_90a", ImageKind::Ptx)}}});
  const Package package = Package::from_memory(bytes, "a test").value();
  for (const int capability : {75, 80, 85, 86, 87, 89, 90, 100, 120}) {
    const auto selected = select(package, {}, {capability, 0});
    EXPECT_EQ(selected.ok(), capability >= 86) << capability;
    if (!selected) continue;
    EXPECT_EQ(selected->size(), 1u) << "text with instructions of one architecture is for none";
  }
}

// Kernels that differ in anything that makes them compute something else are no choice among shapes.
TEST(Kinds, EveryMemberThatDecidesWhatIsComputedMustBeNamed) {
  using executable::Identity;
  const std::pair<const char*, std::function<void(Identity&)>> changes[] = {
      {"cell", [](Identity& i) { i.cell_hash = std::string(64, 'c'); }},
      {"storage", [](Identity& i) { i.storage = "fp16"; }},
      {"math", [](Identity& i) { i.math = "accurate"; }},
      {"pass", [](Identity& i) { i.pass = "fws"; }},
      {"heads", [](Identity& i) { i.heads += 1; }},
      {"dim", [](Identity& i) { i.dim *= 2; }}};
  for (const auto& [what, change] : changes) {
    PackageWriter writer;
    for (const bool changed : {false, true}) {
      Kernels kernels = rondo::testing::kernels_of({.batch = changed ? 64 : 2});
      if (changed) change(kernels.executable.identity);
      const Entry before = kernels.entry;
      kernels.entry = entry_of(kernels.executable.identity, before.arch);
      kernels.entry.origin = before.origin;
      ASSERT_TRUE(writer.add(kernels).ok()) << what;
    }
    const std::string bytes = writer.bytes();
    const Package package = Package::from_memory(bytes, "a test").value();
    const auto selected = select(package, {.cell = "paragru"}, {90, 0});
    ASSERT_FALSE(selected.ok()) << what;
    EXPECT_EQ(selected.error().kind, ErrorKind::Input) << what << ": " << selected.error().message;
  }
}

class Shapes : public Selection {
 protected:
  Shapes()
      : Selection({{.arch = "sm_90", .batch = 1, .time = 1},
                   {.arch = "sm_90", .batch = 1, .time = 1024},
                   {.arch = "sm_90", .batch = 16, .time = 64},
                   {.arch = "sm_80", .batch = 64, .time = 1024},
                   {.arch = "sm_86", .batch = 1, .time = 2},
                   {.pass = Pass::Backward, .arch = "sm_90", .batch = 16, .time = 64}}) {}
  std::string shape(std::int64_t batch, std::int64_t time, int capability = 90) const {
    const Result<std::vector<Selected>> selected =
        select(package_, {.pass = "fw", .batch = batch, .time = time}, {capability, 0});
    if (!selected) return selected.error().message;
    const Entry& entry = package_.index().entries[selected->front().entry];
    return std::to_string(entry.batch) + " " + std::to_string(entry.time);
  }
};

TEST_F(Shapes, TheNearestIsTaken) {
  EXPECT_EQ(shape(1, 1), "1 1");
  EXPECT_EQ(shape(2, 4), "1 1");
  EXPECT_EQ(shape(1, 1000), "1 1024");
  EXPECT_EQ(shape(16, 64), "16 64") << "as many steps as of 1 1024: the batch decides";
  EXPECT_EQ(shape(3, 341), "1 1024");
  EXPECT_EQ(shape(8, 128), "16 64");
  EXPECT_EQ(shape(1 << 30, 1 << 30), "16 64");
  EXPECT_EQ(shape(1, 1, 80), "64 1024");
  EXPECT_EQ(shape(64, 1024, 86), "1 2") << "code for this GPU goes before the shape";
}

// With code for Turing, whose PTX runs on all later GPUs.
class WithTuring : public Selection {
 protected:
  WithTuring()
      : Selection({{.arch = "sm_75"},
                   {.arch = "sm_80"},
                   {.arch = "compute_75", .images = {image_for("sm_75", ImageKind::Ptx)}}}) {}
};

TEST_F(WithTuring, RunsThereAndByPtxOnLaterGpus) {
  EXPECT_EQ(taken(75), "sm_75 cubin sm_75");
  EXPECT_EQ(taken(86), "sm_80 cubin sm_80");
  EXPECT_EQ(taken(90), "compute_75 ptx sm_75");
  EXPECT_FALSE(select(package_, {}, {70, 0}).ok()) << "no code runs on an earlier one";
}

// Two GPUs of one architecture: each has choices of its own.
class Boards : public Selection {
 protected:
  Boards()
      : Selection({{.arch = "sm_90", .board = "NVIDIA H100 PCIe", .multiprocessors = 114},
                   {.arch = "sm_90", .board = "NVIDIA H200", .multiprocessors = 132},
                   {.arch = "sm_90", .board = "NVIDIA H800", .multiprocessors = 132},
                   {.arch = "sm_90", .board = "NVIDIA GH200 480GB", .multiprocessors = 140},
                   {.arch = "sm_90", .board = "NVIDIA H200", .multiprocessors = 132, .batch = 64},
                   {.arch = "compute_80", .images = {image_for("sm_80", ImageKind::Ptx)}}}) {}
  std::string board(const Gpu& gpu, std::int64_t batch = 2) const {
    const auto selected = select(package_, {.batch = batch, .time = 16}, gpu);
    if (!selected) return selected.error().message;
    const Entry& entry = package_.index().entries[selected->front().entry];
    return entry.board + " " + std::to_string(entry.batch);
  }
};

TEST_F(Boards, ThisOneThenOneAsLargeThenTheNearest) {
  ASSERT_EQ(package_.index().entries.size(), 6U) << "all are kept";
  EXPECT_EQ(board({90, 0, "NVIDIA H200", 132}), "NVIDIA H200 2");
  EXPECT_EQ(board({90, 0, "NVIDIA H800", 132}), "NVIDIA H800 2")
      << "not another with as many multiprocessors";
  EXPECT_EQ(board({90, 0, "NVIDIA H100 PCIe", 114}), "NVIDIA H100 PCIe 2");
  EXPECT_EQ(board({90, 0, "NVIDIA H100 80GB HBM3", 132}), "NVIDIA H200 2") << "as many multiprocessors";
  EXPECT_EQ(board({90, 0, "NVIDIA H20", 78}), "NVIDIA H100 PCIe 2") << "the nearest number";
  EXPECT_EQ(board({90, 0, "another", 150}), "NVIDIA GH200 480GB 2");
  EXPECT_EQ(board({90, 0, "NVIDIA H100 PCIe", 114}, 64), "NVIDIA H200 64") << "a nearer shape goes first";
  EXPECT_EQ(board({120, 0, "NVIDIA H200", 132}), " 2") << "code that runs goes before all";
}

TEST_F(Shapes, SeveralKindsMustBeNamed) {
  const Result<std::vector<Selected>> several = select(package_, {}, {90, 0});
  ASSERT_FALSE(several.ok());
  EXPECT_EQ(several.error().kind, ErrorKind::Input);
  EXPECT_NE(several.error().hint.find("paragru bw"), std::string::npos) << several.error().hint;
}

// As cells are that differ in the value of a constant.
class Namesakes : public Selection {
 protected:
  Namesakes()
      : Selection({{.cell_hash = std::string(64, 'a')},
                   {.time = 64, .cell_hash = std::string(64, 'b'), .variant = "k=0.25 resets"}}) {}
};

TEST_F(Namesakes, AreToldApartByTheirHash) {
  const Result<std::vector<Selected>> several = select(package_, {.cell = "paragru"}, {90, 0});
  ASSERT_FALSE(several.ok()) << "whatever B and T are";
  EXPECT_EQ(several.error().kind, ErrorKind::Input);
  EXPECT_NE(several.error().hint.find("paragru (k=0.25 resets) "), std::string::npos) << several.error().hint;
  for (const char letter : {'a', 'b'}) {
    const std::string hash(64, letter);
    EXPECT_NE(several.error().hint.find("cell " + hash), std::string::npos) << several.error().hint;
    const Result<std::vector<Selected>> one = select(package_, {.cell = hash}, {90, 0});
    ASSERT_TRUE(one.ok()) << one.error().message;
    EXPECT_EQ(package_.index().entries[one->front().entry].cell_hash, hash);
  }
}

}  // namespace
}  // namespace rondo::package
