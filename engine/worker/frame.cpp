#include "engine/worker/frame.h"

namespace rondo::engine {
namespace {

constexpr std::uint32_t kLargestFrame = 1U << 30;
constexpr std::size_t kLengthBytes = 4;

}  // namespace

std::string frame(std::string_view message) {
  ByteWriter writer;
  writer.text(message);
  return writer.take();
}

std::optional<std::string> take_frame(std::string& stream, bool& broken) {
  if (stream.size() < kLengthBytes) return std::nullopt;
  const std::size_t size = ByteReader(stream).u32();
  broken = broken || size > kLargestFrame;
  if (broken || stream.size() - kLengthBytes < size) return std::nullopt;
  std::string message = stream.substr(kLengthBytes, size);
  stream.erase(0, kLengthBytes + size);
  return message;
}

std::string encode_call(const Call& call) {
  ByteWriter writer;
  writer.u64(call.limit_ms);
  writer.text(call.message);
  return writer.take();
}

std::optional<Call> decode_call(std::string_view bytes) {
  ByteReader reader(bytes);
  Call call;
  call.limit_ms = reader.u64();
  call.message = reader.text();
  return reader.done() ? std::optional(std::move(call)) : std::nullopt;
}

void write_error(ByteWriter& writer, const Error& error) {
  writer.u8(static_cast<std::uint8_t>(error.kind));
  writer.text(error.message);
  writer.text(error.hint);
}

Error read_error(ByteReader& reader) {
  Error error;
  error.kind = reader.one_of(ErrorKind::Memory);
  error.message = reader.text();
  error.hint = reader.text();
  return error;
}

}  // namespace rondo::engine
