#include "tests/fuzz/samples.h"

#include "compiler/executable/serialise.h"
#include "compiler/frontend/frontend.h"
#include "compiler/support/bytes.h"
#include "compiler/support/hash.h"
#include "engine/worker/compile_message.h"
#include "engine/worker/frame.h"
#include "runtime/package/package.h"
#include "runtime/package/writer/writer.h"
#include "tuner/trial/message.h"

namespace rondo::fuzz {
namespace {

using executable::Argument;
using executable::Role;

executable::Executable sample_executable() {
  executable::Executable code;
  code.identity.cell_name = "c";
  code.tensors = {{{Role::Input, 0},
                   "x",
                   "[B, T, H, D]",
                   scalar::Storage::BF16,
                   executable::Need::Required,
                   false,
                   16,
                   64,
                   {0, 64, 1, 1}},
                  {{Role::Output, 1},
                   "h",
                   "[B, T, H, D]",
                   scalar::Storage::BF16,
                   executable::Need::Required,
                   true,
                   16,
                   64,
                   {0, 64, 1, 1}},
                  {{Role::Status, -1},
                   "status",
                   "",
                   scalar::Storage::I32,
                   executable::Need::Required,
                   true,
                   4,
                   1,
                   {1, 0, 1, 0}}};
  code.kernels = {{"k", 128, 2, 4096, true, true}};
  const std::vector<Argument> arguments = {
      {Argument::Kind::Pointer, 8, 0},  {Argument::Kind::StrideB, 8, 0}, {Argument::Kind::StrideT, 8, 1},
      {Argument::Kind::Batch, 4, 0},    {Argument::Kind::Time, 4, 0},    {Argument::Kind::FirstTile, 4, 0},
      {Argument::Kind::StepCount, 4, 0}};
  using Kind = executable::Repetition::Kind;
  code.launches = {{0, {{0, 2, 16, 0}, 1}, {Kind::Once, 1, 0}, arguments},
                   {0, {{4, 0, 1, 0}, 0}, {Kind::Until, 7, 2}, arguments},
                   {0, {{4, 0, 1, 0}, 0}, {Kind::EachStep, 1, 0}, {}}};
  code.images = {
      {"sm_90", executable::ImageKind::Cubin, "nvrtc 13.0", "bytes", {{"k", 40, 1024, 8, 4, 2, 256}}}};
  return code;
}

tuner::TrialSetup sample_setup() {
  const step::Cell cell = frontend::parse(
                              "cell c(D) { input x[2, D]\n param R[D, D]\n const k = 0.5\n state h[D]\n"
                              "next h = tanh(R @ h + x[0]) * k + sum(x[1]) / 64\n output h }",
                              "sample.cell")
                              .cells.at(0);
  schedule::Problem problem;
  problem.constants["k"] = 2;
  tuner::TrialSetup setup;
  setup.task = {cell, problem, target::shipped_profiles().front()};
  return setup;
}

package::SelfTest sample_self_test() {
  package::SelfTest test;
  test.batch = 2;
  test.time = 3;
  test.given = {{{Role::Input, 0}, 1.0, 7, {}}, {{Role::Output, 2}, 0, 0, {1, -2}}};
  test.expected = {{{Role::LastState, 1}, 4, 3.0, 0.1, {{0, 1.5, 0.25}, {3, -2.0, 0.5}}}};
  return test;
}

std::string as_text(char reader, std::string bytes) { return reader + std::move(bytes); }

}  // namespace

std::string sample_package() {
  package::Kernels kernels;
  kernels.executable = sample_executable();
  for (executable::Image& image : kernels.executable.images) image.seal();
  kernels.entry = package::entry_of(kernels.executable.identity, "sm_90");
  kernels.entry.origin = "by model";
  kernels.self_test = sample_self_test();
  package::PackageWriter writer;
  (void)writer.add(kernels);
  return writer.bytes();
}

std::string with_header(std::string_view payload) {
  ByteWriter header;
  header.u32(executable::kFormatVersion);
  header.u64(payload.size());
  return "RONDOEXE" + header.take() + sha256_hex(payload) + std::string(payload);
}

std::vector<std::string> samples() {
  using What = tuner::TrialRequest::What;
  const std::string code = executable::to_bytes(sample_executable());
  const std::string compile = engine::encode_request(
      {"nvrtc", "text", "name", {target::Target::Kind::Gpu, 90, true}, {"-a", "--b=c d"}});
  const std::string sample_package_bytes = sample_package();
  backend::Compiled compiled;
  compiled.image = sample_executable().images.front();
  return {as_text(0, code.substr(with_header("").size())),
          as_text(1, code),
          as_text(2, tuner::encode_request({What::SetUp, sample_setup(), {}, 0, 0, 0})),
          as_text(2, tuner::encode_request({What::Round, {}, {{7, 96, "code"}, {8, 1, {}}}, 3, 0.25, 9, 10})),
          as_text(3, tuner::encode_reply({true, tuner::TrialAnswer{{1, 2}, {false, "h", 3.5, "s"}}})),
          as_text(3, tuner::encode_reply({false, Error{ErrorKind::Wrong, "m", "h"}})),
          as_text(4, compile),
          as_text(5, engine::encode_answer(compiled)),
          as_text(5, engine::encode_answer(Error{ErrorKind::Missing, "m", "h"})),
          as_text(6, engine::frame(engine::encode_call({123, compile})) + engine::frame("rest")),
          as_text(7, sample_package_bytes),
          as_text(8, package::index_to_bytes(
                         package::Package::from_memory(sample_package_bytes, "sample").value().index())),
          as_text(9, package::to_bytes(sample_self_test()))};
}

}  // namespace rondo::fuzz
