// Binary records: executables, packages, and what a tuner and its workers write to each other. The first byte
// of the input says which reader gets the rest.
#include "compiler/executable/print.h"
#include "compiler/executable/serialise.h"
#include "engine/worker/compile_message.h"
#include "engine/worker/frame.h"
#include "runtime/package/package.h"
#include "runtime/package/writer/self_test.h"
#include "tests/fuzz/passes.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/walk.h"
#include "tuner/trial/message.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace rondo::fuzz {
namespace {

void read_executable(std::string_view bytes) {
  const Result<executable::Executable> code = executable::from_bytes(bytes, "fuzz");
  if (!code) return;
  require(executable::to_bytes(*code) == bytes, "what was read is written");
  (void)executable::print_rules(*code);
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{33}, std::int64_t{1} << 40})
    walk(*code, size, size);
}

void read_trial_request(std::string_view bytes) {
  const auto request = tuner::decode_request(bytes);
  if (!request) return;
  require(tuner::decode_request(tuner::encode_request(*request)).has_value(), "what was read is written");
  if (request->setup) check_cell(request->setup->task.written);
}

void read_trial_reply(std::string_view bytes) {
  const auto reply = tuner::decode_reply(bytes);
  if (reply) require(tuner::encode_reply(*reply) == bytes, "what was read is written");
}

void read_compile_request(std::string_view bytes) {
  const auto request = engine::decode_request(bytes);
  if (request) require(engine::encode_request(*request) == bytes, "what was read is written");
}

void read_compile_answer(std::string_view bytes) {
  const auto answer = engine::decode_answer(bytes);
  if (answer) require(engine::encode_answer(*answer) == bytes, "what was read is written");
}

void read_frames(std::string_view bytes) {
  std::string stream(bytes);
  bool broken = false;
  while (const std::optional<std::string> message = engine::take_frame(stream, broken))
    if (const auto call = engine::decode_call(*message))
      require(engine::encode_call(*call) == *message, "what was read is written");
}

void read_package(std::string_view bytes) {
  const Result<package::Package> opened = package::Package::from_memory(bytes, "fuzz");
  if (!opened || !opened->verify()) return;
  for (std::size_t entry = 0; entry < opened->index().entries.size(); ++entry)
    for (std::size_t code = 0; code < opened->index().entries[entry].codes.size(); ++code)
      (void)opened->executable(entry, code);
}

void read_package_index(std::string_view bytes) {
  const Result<package::Index> index = package::index_from_bytes(bytes, "fuzz");
  if (index) require(package::index_to_bytes(*index) == bytes, "what was read is written");
}

void read_self_test(std::string_view bytes) {
  const Result<package::SelfTest> test = package::self_test_from_bytes(bytes, "fuzz");
  if (test) require(package::to_bytes(*test) == bytes, "what was read is written");
}

using Reader = void (*)(std::string_view);
constexpr Reader kReaders[] = {
    [](std::string_view bytes) { read_executable(with_header(bytes)); },
    read_executable,
    read_trial_request,
    read_trial_reply,
    read_compile_request,
    read_compile_answer,
    read_frames,
    read_package,
    read_package_index,
    read_self_test,
};

}  // namespace
}  // namespace rondo::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rondo;
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::text_of(data, size);
  fuzz::kReaders[data[0] % std::size(fuzz::kReaders)](bytes.substr(1));
  return 0;
}

// Now and then an input begins anew as what the program itself writes, so that no kept file has to follow the
// formats.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  static const std::vector<std::string> samples = rondo::fuzz::samples();
  if (size > 1 && seed % 256 != 0) return LLVMFuzzerMutate(data, size, most);
  const std::string& sample = samples[seed / 256 % samples.size()];
  if (sample.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(sample.begin(), sample.end(), data);
  return sample.size();
}
