// Executables as bytes: what is read back is what was written, and nothing else is accepted.
#include "compiler/executable/serialise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/schedule/plan/tensor_layout.h"
#include "compiler/support/hash.h"
#include "tests/engine/plan/cells.h"
#include "tests/schedule/point_plan.h"

namespace rondo::executable {
namespace {

using schedule::Pass;

// An executable with a bit of everything.
Executable sample() {
  const step::Cell cell = rondo::testing::library_cell("paragru");
  const schedule::Problem problem = rondo::testing::problem_of(Pass::Backward);
  Executable executable =
      schedule::lower_plan({cell, problem, {}}, rondo::testing::stream_plan(cell, problem)).value();
  executable.images = {{"sm_90a",
                        ImageKind::Cubin,
                        "nvrtc 13.0",
                        std::string("\0ELF\xff", 5),
                        {{"k", 40, 1024, 8, 4, 2, 256}}},
                       {"sm_90", ImageKind::Ptx, "nvrtc 13.0", ".version 8.0", {}}};
  for (Image& image : executable.images) image.seal();
  executable.identity.variant = "rate=0.5 clip_forward=2 resets";
  executable.launches.back().repetition = {Repetition::Kind::EachStep, 3, 0};
  return executable;
}

TEST(Serialise, ReadsBackWhatWasWritten) {
  for (const char* name : {"paragru", "mingru", "hgrn"})
    for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
      const step::Cell cell = rondo::testing::library_cell(name);
      const schedule::Problem problem = rondo::testing::problem_of(pass);
      const Executable executable =
          schedule::lower_plan({cell, problem, {}}, rondo::testing::stream_plan(cell, problem)).value();
      const Result<Executable> read = from_bytes(to_bytes(executable), "a test");
      ASSERT_TRUE(read.ok()) << read.error().message;
      EXPECT_EQ(*read, executable);
      EXPECT_EQ(to_bytes(*read), to_bytes(executable));
    }
  const Result<Executable> read = from_bytes(to_bytes(sample()), "a test");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, sample());
}

TEST(Serialise, EveryTruncationIsRefused) {
  const std::string bytes = to_bytes(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Result<Executable> read = from_bytes(std::string_view(bytes).substr(0, size), "a test");
    ASSERT_FALSE(read.ok()) << size << " of " << bytes.size() << " bytes";
    EXPECT_EQ(read.error().kind, ErrorKind::Input);
  }
  EXPECT_FALSE(from_bytes(bytes + '\0', "a test").ok()) << "a byte too many";
}

TEST(Serialise, EveryMutationIsRefused) {
  const std::string bytes = to_bytes(sample());
  std::mt19937_64 random(7);
  for (int i = 0; i < 10000; ++i) {
    std::string mutated = bytes;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int c = 0; c < changes; ++c) {
      char& byte = mutated[random() % mutated.size()];
      byte = static_cast<char>(byte ^ static_cast<char>(1 + random() % 255));
    }
    if (mutated == bytes) continue;
    ASSERT_FALSE(from_bytes(mutated, "a test").ok()) << "mutation " << i;
  }
}

// The reader behind the hash: what a hash cannot vouch for is checked too. Mutated payloads with a right hash
// are read or refused, and never crash.
TEST(Serialise, MutationsWithARightHashNeverCrash) {
  const std::string bytes = to_bytes(sample());
  constexpr std::size_t kHeader = 8 + 4 + 8 + 64;
  std::mt19937_64 random(11);
  int refused = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string payload = bytes.substr(kHeader);
    payload[random() % payload.size()] = static_cast<char>(random());
    if (random() % 8 == 0) payload.resize(random() % payload.size());
    std::string framed = bytes.substr(0, 12);
    for (int b = 0; b < 8; ++b) framed += static_cast<char>(payload.size() >> (8 * b) & 0xFF);
    const Result<Executable> read = from_bytes(framed + sha256_hex(payload) + payload, "a test");
    if (!read) {
      ++refused;
      continue;
    }
    const Result<Launcher> launcher = Launcher::make(*read);
    ASSERT_TRUE(launcher.ok()) << launcher.error().message;
    (void)launcher->workspace_bytes(1 << 30, 1 << 30);
  }
  EXPECT_GT(refused, 1000);
}

TEST(Serialise, OtherVersionsAreRefusedWithAMessage) {
  std::string newer = to_bytes(sample()), older = newer;
  newer[8] = static_cast<char>(kFormatVersion + 1);
  older[8] = 1;
  const Result<Executable> of_newer = from_bytes(newer, "x.rondo"), of_older = from_bytes(older, "x.rondo");
  ASSERT_FALSE(of_newer.ok());
  EXPECT_EQ(of_newer.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(of_newer.error().message, "x.rondo has version 8 of the format; this Rondo reads version 7");
  EXPECT_NE(of_newer.error().hint.find("newer"), std::string::npos);
  ASSERT_FALSE(of_older.ok());
  EXPECT_NE(of_older.error().hint.find("make it again"), std::string::npos);
}

TEST(Serialise, EveryImageHasAHashOfItsOwn) {
  const Executable read = from_bytes(to_bytes(sample()), "a test").value();
  ASSERT_EQ(read.images.size(), 2u);
  for (const Image& image : read.images) EXPECT_EQ(image.hash, sha256_hex(image.bytes));
  Executable unsealed = sample();
  unsealed.images.back().hash.clear();
  const Result<Executable> refused = from_bytes(to_bytes(unsealed), "a test");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::Input)
      << "bytes that contradict themselves are a fault of theirs";
}

TEST(Serialise, AMessageSaysWhichImageIsDamaged) {
  const std::string bytes = to_bytes(sample());
  for (const auto& [part, message] :
       {std::pair(".version 8.0", "its image for sm_90 does not match its hash"),
        std::pair("ELF\xff", "its image for sm_90a does not match its hash"),
        std::pair("paragru", "its content does not match its hash")}) {
    std::string damaged = bytes;
    damaged[bytes.find(part)] ^= 1;
    const Result<Executable> refused = from_bytes(damaged, "x.rondo");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().message, std::string("x.rondo is no valid executable: ") + message);
  }
}

TEST(Serialise, TheLaunchHashIsOfTensorsKernelsAndLaunches) {
  Executable a = sample(), b = sample();
  b.images.clear();
  b.identity.producer = b.identity.build = b.identity.parameters = "another";
  EXPECT_EQ(launch_hash(a), launch_hash(b));
  b.launches.front().grid.tiles_together += 1;
  EXPECT_NE(launch_hash(a), launch_hash(b));
  b = sample();
  b.kernels.front().threads += 32;
  EXPECT_NE(launch_hash(a), launch_hash(b));
  b = sample();
  b.tensors.front().size.fixed += 1;
  EXPECT_NE(launch_hash(a), launch_hash(b));
}

// Written, read back and launched in the simulator: equal bits.
TEST(Serialise, AnExecutableReadBackComputesTheSame) {
  const step::Cell cell = rondo::testing::library_cell("mingru");
  schedule::Problem problem = rondo::testing::problem_of(Pass::ForwardSave);
  problem.sizes = {3, 21, 1, 64};
  const schedule::KernelPlan plan = rondo::testing::stream_plan(cell, problem);
  const Executable executable = schedule::lower_plan({cell, problem, {}}, plan).value();
  const Executable read = from_bytes(to_bytes(executable), "a test").value();
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  schedule::TensorValues given;
  for (const Tensor& tensor : executable.tensors) {
    if (is_internal(tensor.ref.role) || tensor.written) continue;
    std::vector<double>& values = given[tensor.ref];
    values.resize(static_cast<std::size_t>(tensor.size.at(problem.sizes.batch, problem.sizes.time)));
    for (double& value : values) value = uniform(random);
  }
  const auto direct = schedule::simulate_plan({cell, problem, {}}, plan, given, 8);
  const auto again = schedule::simulate_executable(read, plan, problem.sizes, given, 8);
  EXPECT_TRUE(direct.faults.empty() && again.faults.empty());
  EXPECT_FALSE(direct.written.empty());
  EXPECT_EQ(direct.written, again.written);
}

TEST(Check, ContradictionsAreNamed) {
  const auto message = [](const auto& damage) {
    Executable executable = sample();
    damage(executable);
    const Status status = check(executable);
    return status.ok() ? std::string("accepted") : status.error().message;
  };
  const auto expect = [&](const auto& damage, const char* part) {
    EXPECT_NE(message(damage).find(part), std::string::npos) << message(damage);
  };
  EXPECT_EQ(message([](Executable&) {}), "accepted");
  expect([](Executable& e) { e.launches[0].kernel = 99; }, "a launch of kernel 99");
  expect([](Executable& e) { e.launches[0].arguments[0].tensor = 999; }, "names tensor 999");
  expect([](Executable& e) { e.launches[0].arguments[0].bytes = 3; }, "an argument of kernel");
  expect([](Executable& e) { e.launches[0].grid.blocks.batch_tile = 0; }, "the grid of kernel");
  expect([](Executable& e) { e.launches[0].grid.blocks.batch_rows = 0; }, "the grid of kernel");
  expect([](Executable& e) { e.launches[0].grid.blocks.batch_rows = 257; }, "the grid of kernel");
  expect([](Executable& e) { e.launches[0].repetition.most = 0; }, "the repetition of kernel");
  expect(
      [](Executable& e) {
        e.launches[0].repetition = {Repetition::Kind::Until, 3, 0};
      },
      "repeats until a word");
  expect([](Executable& e) { e.kernels[0].threads = 2048; }, "2048 threads");
  expect([](Executable& e) { e.kernels[0].cluster = 3; }, "clusters of 3");
  expect([](Executable& e) { e.tensors[0].alignment = 3; }, "aligned to 3 bytes");
  expect([](Executable& e) { e.tensors[0].size.each = -1; }, "the size of tensor");
  expect([](Executable& e) { e.tensors[1].ref = e.tensors[0].ref; }, "is there twice");
}

// What lies in a result is as large at most, of the same type and internal, and the result is always bound.
TEST(Check, OnlyATensorThatFitsLiesInAResult) {
  const auto accepts = [](const auto& damage) {
    Executable executable;
    executable.tensors.resize(2);
    Tensor &result = executable.tensors[0], &scratch = executable.tensors[1];
    result.ref = {Role::InputGradient, 0};
    result.written = true;
    result.unit = 12;
    scratch.ref = {Role::Scratch, 0};
    scratch.unit = 8;
    for (Tensor* tensor : {&result, &scratch}) {
      tensor->name = role_info(tensor->ref.role).text;
      tensor->storage = scalar::Storage::BF16;
      tensor->alignment = 2;
      tensor->size = {0, tensor->unit, 1, 1};
    }
    scratch.lies_in = 0;
    damage(result, scratch);
    const Status status = check(executable);
    if (!status) {
      EXPECT_NE(status.error().message.find("lies in tensor"), std::string::npos) << status.error().message;
    }
    return status.ok();
  };
  EXPECT_TRUE(accepts([](Tensor&, Tensor&) {}));
  EXPECT_FALSE(accepts([](Tensor&, Tensor& scratch) { scratch.lies_in = 2; }));
  EXPECT_FALSE(accepts([](Tensor&, Tensor& scratch) { scratch.lies_in = -2; }));
  EXPECT_FALSE(accepts([](Tensor&, Tensor& scratch) { scratch.lies_in = 1; }));
  EXPECT_FALSE(accepts([](Tensor&, Tensor& scratch) { scratch.size.each = scratch.unit = 13; }));
  EXPECT_FALSE(accepts([](Tensor&, Tensor& scratch) { scratch.size.each = 9; }));
  EXPECT_FALSE(accepts([](Tensor&, Tensor& scratch) { scratch.storage = scalar::Storage::F16; }));
  EXPECT_FALSE(accepts([](Tensor&, Tensor& scratch) { scratch.ref.role = Role::Packed; }));
  EXPECT_FALSE(accepts([](Tensor&, Tensor& scratch) { scratch.ref.role = Role::Output; }));
  EXPECT_FALSE(accepts([](Tensor& result, Tensor&) { result.need = Need::Discard; }));
  EXPECT_FALSE(accepts([](Tensor& result, Tensor&) { result.written = false; }));
  EXPECT_FALSE(accepts([](Tensor& result, Tensor&) { result.ref = {Role::ParamGradient, 0}; }));
}

// Regions never overlap, are aligned and fit, whatever B and T are.
// Sizes that no memory holds count as the most, and never wrap to something small.
TEST(Workspace, SizesSaturate) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  for (const SizeRule& rule : {SizeRule{0, 1, 1, 1}, SizeRule{1, 1, 16, 32}, SizeRule{kLargest, 1, 1, 0}})
    EXPECT_EQ(rule.at(kLargest, kLargest), SizeRule::kMost);
  EXPECT_EQ((SizeRule{0, 3, 16, 0}).at(kLargest, 1), SizeRule::kMost);
  EXPECT_EQ((SizeRule{5, 3, 16, 8}).at(17, 9), 5 + 3 * 2 * 2);
  EXPECT_EQ((SizeRule{0, 3, 16, 0, 256}).at(kLargest, 1), SizeRule::kMost);
  EXPECT_EQ((SizeRule{5, 3, 16, 8, 6}).at(3, 9), 5 + 3 * 2 * 2);
  std::vector<Tensor> tensors(kMaxTensors);
  for (Tensor& tensor : tensors) {
    tensor.ref = {Role::Scratch, static_cast<std::int32_t>(&tensor - tensors.data())};
    tensor.size = {0, kLargest, 1, 1};
  }
  EXPECT_GT(WorkspaceRule(tensors).at(tensors, kLargest, kLargest).bytes, std::int64_t{1} << 48);
}

TEST(Workspace, RegionsAreDisjoint) {
  for (const char* name : {"mgu", "lstm"})
    for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
      const step::Cell cell = rondo::testing::library_cell(name);
      const schedule::Problem problem = rondo::testing::problem_of(pass);
      const schedule::Parameters point = {
          {"units", 16}, {"batch_tiles", 1}, {"warps", 2}, {"stages", 2}, {"vector", 8}};
      const Executable executable =
          schedule::lower_plan(
              {cell, problem, {}},
              schedule::point_plan(*schedule::find_strategy("alternating"), cell, problem, point))
              .value();
      const WorkspaceRule rule(executable.tensors);
      for (const std::int64_t batch : {1, 3, 64, 1000})
        for (const std::int64_t time : {1, 7, 4096}) {
          const Workspace workspace = rule.at(executable.tensors, batch, time);
          std::vector<std::pair<std::int64_t, std::int64_t>> regions = {
              {workspace.zero, workspace.zero + workspace.zero_bytes}};
          for (std::size_t i = 0; i < executable.tensors.size(); ++i)
            if (is_internal(executable.tensors[i].ref.role) &&
                executable.tensors[i].ref.role != Role::Status && executable.tensors[i].lies_in < 0)
              regions.emplace_back(workspace.offsets[i],
                                   workspace.offsets[i] + region_bytes(executable.tensors[i], batch, time));
          std::sort(regions.begin(), regions.end());
          for (std::size_t i = 0; i < regions.size(); ++i) {
            EXPECT_EQ(regions[i].first % kRegionAlignment, 0);
            if (i > 0) {
              EXPECT_LE(regions[i - 1].second, regions[i].first) << name << " B=" << batch;
            }
          }
          EXPECT_LE(regions.back().second, workspace.discard);
        }
    }
}

}  // namespace
}  // namespace rondo::executable
