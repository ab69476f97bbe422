#include "engine/worker/compile_message.h"

#include "engine/worker/frame.h"

namespace rondo::engine {

using backend::Compiled;
using backend::Request;
using executable::ImageKind;
using executable::KernelResources;

namespace {

void write_image(ByteWriter& writer, const executable::Image& image) {
  writer.text(image.target);
  writer.u8(static_cast<std::uint8_t>(image.kind));
  writer.text(image.compiler);
  writer.text(image.bytes);
  writer.count(image.resources.size());
  for (const KernelResources& kernel : image.resources) {
    writer.text(kernel.name);
    for (const int count : {kernel.registers, kernel.shared_bytes, kernel.stack_bytes,
                            kernel.spill_store_bytes, kernel.spill_load_bytes, kernel.max_threads})
      writer.i32(count);
  }
}

executable::Image read_image(ByteReader& reader) {
  constexpr std::size_t kLeastBytes = 4 + 6 * 4;  // of a kernel: the length of its name, and six counts
  executable::Image image;
  image.target = reader.text();
  image.kind = reader.one_of(ImageKind::Object);
  image.compiler = reader.text();
  image.bytes = reader.text();
  image.resources.resize(reader.count(kLeastBytes));
  for (KernelResources& kernel : image.resources) {
    kernel.name = reader.text();
    for (int* count : {&kernel.registers, &kernel.shared_bytes, &kernel.stack_bytes,
                       &kernel.spill_store_bytes, &kernel.spill_load_bytes, &kernel.max_threads})
      *count = reader.i32();
  }
  return image;
}

}  // namespace

std::string encode_request(const Request& request) {
  ByteWriter writer;
  writer.text(request.backend);
  writer.text(request.text);
  writer.text(request.name);
  writer.u8(static_cast<std::uint8_t>(request.target.kind));
  writer.i32(request.target.level);
  writer.flag(request.target.specific);
  writer.count(request.flags.size());
  for (const std::string& flag : request.flags) writer.text(flag);
  writer.u8(static_cast<std::uint8_t>(request.kind));
  return writer.take();
}

std::optional<Request> decode_request(std::string_view bytes) {
  ByteReader reader(bytes);
  Request request;
  request.backend = reader.text();
  request.text = reader.text();
  request.name = reader.text();
  request.target.kind = reader.one_of(target::Target::Kind::AArch64);
  request.target.level = reader.i32();
  request.target.specific = reader.flag();
  request.flags.resize(reader.count(4));
  for (std::string& flag : request.flags) flag = reader.text();
  request.kind = reader.one_of(ImageKind::Object);
  return reader.done() ? std::optional(std::move(request)) : std::nullopt;
}

std::string encode_answer(const Result<Compiled>& answer) {
  ByteWriter writer;
  writer.flag(answer.ok());
  if (answer) {
    write_image(writer, answer->image);
    writer.text(answer->log);
    writer.f64(answer->compile_ms);
  } else {
    write_error(writer, answer.error());
  }
  return writer.take();
}

std::optional<Result<Compiled>> decode_answer(std::string_view bytes) {
  ByteReader reader(bytes);
  if (!reader.flag()) {
    Error error = read_error(reader);
    return reader.done() ? std::optional(Result<Compiled>(std::move(error))) : std::nullopt;
  }
  Compiled compiled;
  compiled.image = read_image(reader);
  compiled.log = reader.text();
  compiled.compile_ms = reader.f64();
  return reader.done() ? std::optional(Result<Compiled>(std::move(compiled))) : std::nullopt;
}

}  // namespace rondo::engine
