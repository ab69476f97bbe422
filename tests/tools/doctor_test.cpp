// What `rondo doctor` finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

namespace rondo::test {
namespace {

TEST(Doctor, SaysWhatIsMissing) {
  const Outcome outcome = rondo({"doctor", "--json"}, {{"RONDO_NVRTC", "none"}, {"RONDO_LLVM", "none"}});
  EXPECT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  const nlohmann::json findings = nlohmann::json::parse(outcome.out)["findings"];
  for (const char* subject : {"CUDA driver", "NVRTC", "LLVM"}) {
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [&](const auto& f) { return f["subject"] == subject; });
    ASSERT_NE(found, findings.end());
    EXPECT_EQ((*found)["health"], "missing");
    EXPECT_NE((*found)["advice"], "");
  }
}

TEST(Doctor, KnowsWhichGpusAreServed) {
  const auto gpu = [](const char* capability) {
    const Outcome outcome =
        rondo({"doctor"}, {{"RONDO_LIBCUDA", RONDO_FAKE_CUDA}, {"RONDO_FAKE_CAPABILITY", capability}});
    const std::size_t line = outcome.out.find("GPU 0");
    EXPECT_NE(line, std::string::npos) << outcome.out << outcome.err;
    const std::size_t begin = outcome.out.rfind('\n', line) + 1;
    return outcome.out.substr(begin, outcome.out.find('\n', line) - begin);
  };
  EXPECT_TRUE(gpu("75").starts_with("ok ")) << gpu("75");
  EXPECT_NE(gpu("75").find("sm_75"), std::string::npos) << gpu("75");
  EXPECT_TRUE(gpu("70").starts_with("broken ")) << gpu("70");
  EXPECT_NE(gpu("70").find("kernels for compute capability 7.5 and later"), std::string::npos) << gpu("70");
}

}  // namespace
}  // namespace rondo::test
