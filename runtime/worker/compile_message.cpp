#include "runtime/worker/compile_message.h"

#include <cstring>

namespace rondo::runtime {
namespace {

constexpr std::uint32_t kLargestFrame = 1U << 30;

// Both ends are the same build on the same machine, so numbers travel as they lie in memory.
class Writer {
 public:
  template <class T>
  void number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<std::uint64_t>(value.size()));
    bytes_.append(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what Writer wrote; after the first thing that does not fit everything reads as empty and good() is
// false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T number() {
    T value{};
    if (bytes_.size() < sizeof value) good_ = false;
    if (!good_) return value;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  std::string text() {
    const auto size = number<std::uint64_t>();
    if (size > bytes_.size()) good_ = false;
    if (!good_) return {};
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }
  bool good() const { return good_; }
  bool complete() const { return good_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace

std::string encode_order(const WorkOrder& order) {
  Writer writer;
  writer.number(order.job.id);
  writer.number(order.limit_ms);
  writer.text(order.job.source);
  writer.text(order.job.name);
  writer.text(order.job.arch);
  writer.number(static_cast<std::uint64_t>(order.job.flags.size()));
  for (const std::string& flag : order.job.flags) writer.text(flag);
  return writer.take();
}

std::optional<WorkOrder> decode_order(std::string_view bytes) {
  Reader reader(bytes);
  WorkOrder order;
  order.job.id = reader.number<std::uint64_t>();
  order.limit_ms = reader.number<std::uint64_t>();
  order.job.source = reader.text();
  order.job.name = reader.text();
  order.job.arch = reader.text();
  const auto flags = reader.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < flags && reader.good(); ++i) order.job.flags.push_back(reader.text());
  if (!reader.complete()) return std::nullopt;
  return order;
}

std::string encode_result(const Result<CompiledKernel>& result) {
  Writer writer;
  writer.number(static_cast<std::uint8_t>(result.ok()));
  if (result) {
    writer.text(result->cubin);
    writer.text(result->log);
    writer.number(result->compile_ms);
  } else {
    writer.number(static_cast<std::int32_t>(result.error().kind));
    writer.text(result.error().message);
    writer.text(result.error().hint);
  }
  return writer.take();
}

std::optional<Result<CompiledKernel>> decode_result(std::string_view bytes) {
  Reader reader(bytes);
  if (reader.number<std::uint8_t>() == 0) {
    Error error;
    const auto kind = reader.number<std::int32_t>();
    if (kind < 0 || kind > static_cast<std::int32_t>(ErrorKind::Internal)) return std::nullopt;
    error.kind = static_cast<ErrorKind>(kind);
    error.message = reader.text();
    error.hint = reader.text();
    if (!reader.complete()) return std::nullopt;
    return Result<CompiledKernel>(std::move(error));
  }
  CompiledKernel compiled;
  compiled.cubin = reader.text();
  compiled.log = reader.text();
  compiled.compile_ms = reader.number<double>();
  if (!reader.complete()) return std::nullopt;
  auto kernels = read_cubin(compiled.cubin, compiled.log);
  if (!kernels) return Result<CompiledKernel>(kernels.error());
  compiled.kernels = std::move(*kernels);
  return Result<CompiledKernel>(std::move(compiled));
}

std::string frame(std::string_view message) {
  Writer writer;
  writer.number(static_cast<std::uint32_t>(message.size()));
  return writer.take().append(message);
}

std::optional<std::string> take_frame(std::string& stream, bool& broken) {
  std::uint32_t size = 0;
  if (stream.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, stream.data(), sizeof size);
  broken = broken || size > kLargestFrame;
  if (broken || stream.size() - sizeof size < size) return std::nullopt;
  std::string message = stream.substr(sizeof size, size);
  stream.erase(0, sizeof size + size);
  return message;
}

}  // namespace rondo::runtime
