// Packages written and merged: deterministic, in any order, with a manifest that says what they hold.
#include "runtime/package/writer/writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/runtime/package/packages.h"

namespace rondo::package {
namespace {

using rondo::testing::kernels_of;
using rondo::testing::package_of;
using schedule::Pass;

TEST(Writer, TheSameKernelsGiveTheSameBytesInAnyOrder) {
  const rondo::testing::PackagedKernels a{.arch = "sm_80"}, b{.arch = "sm_90"},
      c{.pass = Pass::Backward, .arch = "sm_90"};
  const std::string first = package_of({a, b, c});
  EXPECT_EQ(first, package_of({a, b, c}));
  EXPECT_EQ(first, package_of({c, a, b}));
  EXPECT_EQ(first, package_of({c, a, b, a})) << "the same again is left out";
  EXPECT_NE(first, package_of({a, b}));
}

TEST(Writer, MergingIsAddingAll) {
  const std::string one = package_of({{.arch = "sm_80"}, {.arch = "sm_90"}});
  const std::string two = package_of({{.arch = "sm_90"}, {.pass = Pass::Backward, .arch = "sm_90"}});
  PackageWriter writer;
  ASSERT_TRUE(writer.add(Package::from_memory(one, "one").value()).ok());
  ASSERT_TRUE(writer.add(Package::from_memory(two, "two").value()).ok());
  EXPECT_EQ(writer.bytes(),
            package_of({{.arch = "sm_80"}, {.arch = "sm_90"}, {.pass = Pass::Backward, .arch = "sm_90"}}));
}

TEST(Writer, OtherKernelsOfOneProblemAreRefused) {
  PackageWriter writer;
  ASSERT_TRUE(writer.add(kernels_of({})).ok());
  const Status other = writer.add(kernels_of({.shared_bytes = 4096}));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().kind, ErrorKind::Input);
  EXPECT_NE(other.error().message.find("paragru fw"), std::string::npos) << other.error().message;
  Kernels none = kernels_of({.batch = 5});
  none.executable.images.clear();
  EXPECT_FALSE(writer.add(none).ok());
}

TEST(Writer, TheManifestTellsWhatThereIs) {
  const std::string bytes = package_of({{.arch = "sm_80"}, {.pass = Pass::Backward, .arch = "sm_90"}});
  const Package package = Package::from_memory(bytes, "a test").value();
  const auto manifest = nlohmann::json::parse(package.manifest());
  EXPECT_EQ(manifest["format"], "rondo-package");
  ASSERT_EQ(manifest["entries"].size(), 2U);
  for (const auto& entry : manifest["entries"]) {
    EXPECT_EQ(entry["cell"], "paragru");
    EXPECT_EQ(entry["origin"], "by model");
    EXPECT_EQ(entry["note"], "best by the model of a board");
    EXPECT_EQ(entry["expected_ms"], 0.25);
    EXPECT_EQ(entry["shape"]["T"], 16);
    EXPECT_EQ(entry["self_test"]["results"][0]["role"], "last_state");
    EXPECT_EQ(entry["self_test"]["results"][0]["tolerance"], 0.25);
    const std::uint32_t part = entry["code"][0]["part"];
    EXPECT_EQ(entry["code"][0]["sha256"], package.index().parts[part].hash);
  }
}

TEST(Writer, CNamesAreIdentifiers) {
  EXPECT_EQ(c_name_of("out/my-kernels.v2.c"), "my_kernels");
  EXPECT_EQ(c_name_of("4x.c"), "kernels_4x");
  EXPECT_EQ(c_name_of("/tmp/.c"), "kernels_");
}

}  // namespace
}  // namespace rondo::package
