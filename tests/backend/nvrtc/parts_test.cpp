// Texts compiled part by part: the code of each kernel, the report and the messages are those of the whole.
#include "compiler/backend/nvrtc/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/support/bundle.h"

namespace rondo::backend {
namespace {

using Parts = std::vector<std::size_t>;

const Nvrtc& here() {
  auto found = Nvrtc::get();
  if (!found) throw std::runtime_error(found.error().message);
  return **found;
}

// A helper, and kernels that use it.
Request request_of(const std::vector<std::string>& bodies) {
  Request request;
  request.backend = kNvrtc;
  request.name = "parts.cu";
  request.target = target::Target::gpu(90);
  request.text = "// The helper.\n__device__ float twice(float x) { return 2.0f * x; }\n";
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    request.text += "\n";
    request.parts.push_back(request.text.size());
    request.text += "// A kernel.\nextern \"C\" __global__ void k" + std::to_string(i) +
                    "(float* y) {\n  y[threadIdx.x] = " + bodies[i] + ";\n}\n";
  }
  return request;
}

TEST(NvrtcParts, ShortNeighboursStayTogether) {
  EXPECT_EQ(worthwhile_parts(0, {}), Parts());
  EXPECT_EQ(worthwhile_parts(1000, {10}), Parts({10}));
  EXPECT_EQ(worthwhile_parts(1000, {10, 300, 700}), Parts({10}));
  EXPECT_EQ(worthwhile_parts(30000, {100, 10100, 20100}), Parts({100, 10100, 20100}));
  EXPECT_EQ(worthwhile_parts(30000, {100, 1100, 10100, 29000}), Parts({100, 10100}));
  EXPECT_EQ(worthwhile_parts(30000, {100, 10100, 11100, 12100, 20100}), Parts({100, 10100, 20100}));
}

TEST(NvrtcParts, AreOneImageThatThreadsDoNotChange) {
  Request request = request_of({"twice(y[1])", "y[0] + y[2] * y[3]", "twice(expf(y[2]))"});
  std::vector<std::string> bytes;
  for (const int threads : {1, 2, 0}) {
    request.threads = threads;
    const auto compiled = compile_parts(here(), request);
    ASSERT_TRUE(compiled) << compiled.error().message;
    EXPECT_GT(compiled->compile_ms, 0);
    const executable::Image& image = compiled->image;
    EXPECT_EQ(image.target, "sm_90");
    EXPECT_EQ(image.kind, executable::ImageKind::Cubin);
    EXPECT_EQ(image.compiler, "nvrtc " + here().version().text());
    ASSERT_EQ(image.resources.size(), 3U) << compiled->log;
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(image.resources[i].name, "k" + std::to_string(i));
    bytes.push_back(image.bytes);
  }
  EXPECT_EQ(bytes[1], bytes[0]);
  EXPECT_EQ(bytes[2], bytes[0]);
  const auto members = members_of(bytes[0]);
  ASSERT_TRUE(members);
  ASSERT_EQ(members->size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string_view cubin = (*members)[i];
    EXPECT_EQ(cubin.substr(0, 4), "\177ELF");
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(cubin.find(".text.k" + std::to_string(k)) != std::string_view::npos, k == i) << i << " " << k;
  }
}

TEST(NvrtcParts, OnePartIsTheWholeText) {
  Request request = request_of({"twice(y[1])"});
  const auto part = compile_parts(here(), request);
  const auto whole = here().compile(request.text, request.name, "sm_90");
  ASSERT_TRUE(part && whole);
  EXPECT_EQ(part->image.bytes, whole->image.bytes);
  request.parts.clear();
  const auto none = compile_parts(here(), request);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->image.bytes, whole->image.bytes);
}

// Of several the first, whichever thread ends first.
TEST(NvrtcParts, AnErrorNamesTheLineOfTheWholeText) {
  const auto rejected = compile_parts(here(), request_of({"1", "unknown_one", "twice(y[1])", "unknown_two"}));
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().kind, ErrorKind::Compile);
  const std::string& message = rejected.error().message;
  for (const char* part : {"NVRTC rejected parts.cu for sm_90", "parts.cu(11): error",
                           ">    11 |   y[threadIdx.x] = unknown_one;", "     12 | }"})
    EXPECT_NE(message.find(part), std::string::npos) << part << "\nnot in\n" << message;
  EXPECT_EQ(message.find("unknown_two"), std::string::npos) << message;
}

TEST(NvrtcParts, PlacesOutsideTheTextAreRefused) {
  Request request = request_of({"1", "2"});
  request.parts = {10, request.text.size() + 1};
  EXPECT_EQ(compile_parts(here(), request).error().kind, ErrorKind::Internal);
  request.parts = {10, 5};
  EXPECT_EQ(compile_parts(here(), request).error().kind, ErrorKind::Internal);
}

}  // namespace
}  // namespace rondo::backend
