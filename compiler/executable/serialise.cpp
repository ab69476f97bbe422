#include "compiler/executable/serialise.h"

#include <fmt/format.h>

#include <bit>

#include "compiler/support/bytes.h"
#include "compiler/support/hash.h"

namespace rondo::executable {

namespace {

constexpr std::string_view kMagic = "RONDOEXE";
constexpr std::size_t kHeader = kMagic.size() + 4 + 8 + 64;  // magic, version, length, hash as hex

template <class Items, class Write>
void write_list(ByteWriter& out, const Items& items, Write write) {
  out.count(items.size());
  for (const auto& item : items) write(out, item);
}

// `least`: bytes that an item has at least, so that a wrong count cannot ask for more memory than there is.
template <class Item, class Read>
std::vector<Item> read_list(ByteReader& in, std::size_t least, Read read) {
  std::vector<Item> items;
  const std::size_t count = in.count(least);
  for (std::size_t i = 0; i < count && in.ok(); ++i) items.push_back(read(in));
  return items;
}

void write_size(ByteWriter& out, const SizeRule& rule) {
  for (const std::int64_t part : {rule.fixed, rule.each, rule.batch_tile, rule.time_tile}) out.i64(part);
}

SizeRule read_size(ByteReader& in) {
  SizeRule rule;
  for (std::int64_t* part : {&rule.fixed, &rule.each, &rule.batch_tile, &rule.time_tile}) *part = in.i64();
  return rule;
}

void write_identity(ByteWriter& out, const Identity& id) {
  for (const std::string* text :
       {&id.cell_name, &id.cell_hash, &id.storage, &id.math, &id.pass, &id.strategy, &id.parameters,
        &id.source_hash, &id.producer, &id.build, &id.asked, &id.variant})
    out.text(*text);
  for (const std::int64_t size : {id.batch, id.time, id.heads, id.dim}) out.i64(size);
}

Identity read_identity(ByteReader& in) {
  Identity id;
  for (std::string* text : {&id.cell_name, &id.cell_hash, &id.storage, &id.math, &id.pass, &id.strategy,
                            &id.parameters, &id.source_hash, &id.producer, &id.build, &id.asked, &id.variant})
    *text = in.text();
  for (std::int64_t* size : {&id.batch, &id.time, &id.heads, &id.dim}) *size = in.i64();
  return id;
}

void write_tensor(ByteWriter& out, const Tensor& tensor) {
  out.u8(static_cast<std::uint8_t>(tensor.ref.role));
  out.i32(tensor.ref.tensor);
  out.text(tensor.name);
  out.text(tensor.shape);
  out.u8(static_cast<std::uint8_t>(tensor.storage));
  out.u8(static_cast<std::uint8_t>(tensor.need));
  out.flag(tensor.written);
  out.i32(tensor.alignment);
  out.i64(tensor.unit);
  write_size(out, tensor.size);
  out.u32(std::bit_cast<std::uint32_t>(tensor.first));
}

Tensor read_tensor(ByteReader& in) {
  Tensor tensor;
  tensor.ref.role = in.one_of(Role::Lengths);
  tensor.ref.tensor = in.i32();
  tensor.name = in.text();
  tensor.shape = in.text();
  tensor.storage = in.one_of(scalar::Storage::U8);
  tensor.need = in.one_of(Need::Discard);
  tensor.written = in.flag();
  tensor.alignment = in.i32();
  tensor.unit = in.i64();
  tensor.size = read_size(in);
  tensor.first = std::bit_cast<float>(in.u32());
  return tensor;
}

void write_kernel(ByteWriter& out, const Kernel& kernel) {
  out.text(kernel.name);
  out.i32(kernel.threads);
  out.i32(kernel.cluster);
  out.i64(kernel.shared_bytes);
  out.flag(kernel.cooperative);
  out.flag(kernel.waits);
}

Kernel read_kernel(ByteReader& in) {
  Kernel kernel;
  kernel.name = in.text();
  kernel.threads = in.i32();
  kernel.cluster = in.i32();
  kernel.shared_bytes = in.i64();
  kernel.cooperative = in.flag();
  kernel.waits = in.flag();
  return kernel;
}

void write_launch(ByteWriter& out, const Launch& launch) {
  out.u16(launch.kernel);
  write_size(out, launch.grid.blocks);
  out.i64(launch.grid.tiles_together);
  out.u8(static_cast<std::uint8_t>(launch.repetition.kind));
  out.i32(launch.repetition.most);
  out.u16(launch.repetition.condition);
  write_list(out, launch.arguments, [](ByteWriter& to, const Argument& argument) {
    to.u8(static_cast<std::uint8_t>(argument.kind));
    to.u8(argument.bytes);
    to.u16(argument.tensor);
  });
}

Launch read_launch(ByteReader& in) {
  Launch launch;
  launch.kernel = in.u16();
  launch.grid.blocks = read_size(in);
  launch.grid.tiles_together = in.i64();
  launch.repetition.kind = in.one_of(Repetition::Kind::Until);
  launch.repetition.most = in.i32();
  launch.repetition.condition = in.u16();
  launch.arguments = read_list<Argument>(in, 4, [](ByteReader& from) {
    Argument argument;
    argument.kind = from.one_of(Argument::Kind::StrideTBack);
    argument.bytes = from.u8();
    argument.tensor = from.u16();
    return argument;
  });
  return launch;
}

void write_image(ByteWriter& out, const Image& image) {
  out.text(image.target);
  out.u8(static_cast<std::uint8_t>(image.kind));
  out.text(image.compiler);
  out.text(image.hash);
  out.text(image.bytes);
  write_list(out, image.resources, [](ByteWriter& to, const KernelResources& r) {
    to.text(r.name);
    for (const int count :
         {r.registers, r.shared_bytes, r.stack_bytes, r.spill_store_bytes, r.spill_load_bytes, r.max_threads})
      to.i32(count);
  });
}

Image read_image(ByteReader& in) {
  Image image;
  image.target = in.text();
  image.kind = in.one_of(ImageKind::Object);
  image.compiler = in.text();
  image.hash = in.text();
  image.bytes = in.text();
  image.resources = read_list<KernelResources>(in, 28, [](ByteReader& from) {
    KernelResources r;
    r.name = from.text();
    for (int* count : {&r.registers, &r.shared_bytes, &r.stack_bytes, &r.spill_store_bytes,
                       &r.spill_load_bytes, &r.max_threads})
      *count = from.i32();
    return r;
  });
  return image;
}

std::string payload_of(const Executable& executable) {
  ByteWriter out;
  write_identity(out, executable.identity);
  write_list(out, executable.tensors, write_tensor);
  write_list(out, executable.kernels, write_kernel);
  write_list(out, executable.launches, write_launch);
  write_list(out, executable.images, write_image);
  return out.take();
}

Error refused(const std::string& origin, const std::string& what) {
  return {ErrorKind::Input, fmt::format("{} is no valid executable: {}", origin, what),
          "it is damaged or was made by another program: make it again"};
}

Executable read_payload(ByteReader& in) {
  Executable executable;
  executable.identity = read_identity(in);
  executable.tensors = read_list<Tensor>(in, 60, read_tensor);
  executable.kernels = read_list<Kernel>(in, 22, read_kernel);
  executable.launches = read_list<Launch>(in, 53, read_launch);
  executable.images = read_list<Image>(in, 21, read_image);
  return executable;
}

// Which part of a payload it is that does not match its hash, for people.
Error damaged(std::string_view payload, const std::string& origin) {
  ByteReader in(payload);
  const Executable executable = read_payload(in);
  if (in.done())
    for (const Image& image : executable.images)
      if (sha256_hex(image.bytes) != image.hash)
        return refused(origin, fmt::format("its image for {} does not match its hash", image.target));
  return refused(origin, "its content does not match its hash");
}

// The payload, if header and hash are right.
Result<std::string_view> open(std::string_view bytes, const std::string& origin) {
  if (bytes.size() < kHeader || bytes.substr(0, kMagic.size()) != kMagic)
    return refused(origin, "it does not begin like one");
  ByteReader header(bytes.substr(kMagic.size(), 12));
  const std::uint32_t version = header.u32();
  const std::uint64_t length = header.u64();
  if (version != kFormatVersion)
    return Error{ErrorKind::Unsupported,
                 fmt::format("{} has version {} of the format; this Rondo reads version {}", origin, version,
                             kFormatVersion),
                 version > kFormatVersion ? "use the Rondo that made it, or a newer one"
                                          : "make it again with this Rondo"};
  const std::string_view hash = bytes.substr(kMagic.size() + 12, 64);
  const std::string_view payload = bytes.substr(kHeader);
  if (payload.size() != length)
    return refused(origin, fmt::format("{} bytes follow its header, not {}", payload.size(), length));
  if (sha256_hex(payload) != hash) return damaged(payload, origin);
  return payload;
}

}  // namespace

std::string to_bytes(const Executable& executable) {
  const std::string payload = payload_of(executable);
  ByteWriter header;
  header.u32(kFormatVersion);
  header.u64(payload.size());
  return std::string(kMagic) + header.take() + sha256_hex(payload) + payload;
}

Result<Executable> from_bytes(std::string_view bytes, const std::string& origin) {
  const Result<std::string_view> payload = open(bytes, origin);
  if (!payload) return payload.error();
  ByteReader in(*payload);
  Executable executable = read_payload(in);
  if (!in.done()) return refused(origin, "its parts do not fill it");
  if (Status status = check(executable); !status) return refused(origin, status.error().message);
  return executable;
}

std::string launch_hash(const Executable& executable) {
  Executable launched = executable.without_images();
  launched.identity = {};
  return sha256_hex(payload_of(launched));
}

}  // namespace rondo::executable
