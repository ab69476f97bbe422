#include "engine/worker/frame.h"

namespace rondo::engine {
namespace {

constexpr std::uint32_t kLargestFrame = 1U << 30;
constexpr std::size_t kLengthBytes = 4;

constexpr auto kCall = [](auto& archive, auto& call) { archive(call.limit_ms, call.message); };

}  // namespace

std::string frame(std::string_view message) { return encoded(message, kValue); }

std::optional<std::string> take_frame(std::string& stream, bool& broken) {
  if (stream.size() < kLengthBytes) return std::nullopt;
  const std::size_t size = ByteReader(stream).u32();
  broken = broken || size > kLargestFrame;
  if (broken || stream.size() - kLengthBytes < size) return std::nullopt;
  std::string message = stream.substr(kLengthBytes, size);
  stream.erase(0, kLengthBytes + size);
  return message;
}

std::string encode_call(const Call& call) { return encoded(call, kCall); }
std::optional<Call> decode_call(std::string_view bytes) { return decoded<Call>(bytes, kCall); }

}  // namespace rondo::engine
