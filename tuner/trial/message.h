// What a tuner and its trial worker write to each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/bytes.h"
#include "tuner/trial/trials.h"

namespace rondo::tuner {

void write_setup(ByteWriter& writer, const TrialSetup& setup);
TrialSetup read_setup(ByteReader& reader);  // fails for a cell that is not well formed

// One question to a trial worker; which members count depends on `what`.
struct TrialRequest {
  enum class What : std::uint8_t { SetUp, Copy, Run, Round, Verify, Drop, AtShape } what = What::Copy;
  struct Plan {
    std::size_t candidate = 0;
    std::int64_t turn = 1;
    std::optional<std::string> executable;  // its bytes; nothing where the worker has it already
  };
  std::optional<TrialSetup> setup{};  // of SetUp
  std::vector<Plan> plans{};          // of Round; one of Run, Verify and AtShape
  int samples = 0;                    // of Run
  double sample_s = 0;                // of Run
  std::size_t candidate = 0;          // of Drop
  std::uint64_t seed = 0;             // of Verify
  std::vector<std::string> plain{};   // of AtShape: the executables of PlainCode, "" for one that it has not
};
std::string encode_request(const TrialRequest& request);
std::optional<TrialRequest> decode_request(std::string_view bytes);  // nothing for bytes that are none

struct TrialAnswer {
  std::vector<double> values{};  // of Copy, Run and Round
  engine::Verdict verdict{};     // of Verify
};
struct TrialReply {
  bool alive = false;  // the worker's trials can go on
  Result<TrialAnswer> answer;
};
std::string encode_reply(const TrialReply& reply);
std::optional<TrialReply> decode_reply(std::string_view bytes);

}  // namespace rondo::tuner
