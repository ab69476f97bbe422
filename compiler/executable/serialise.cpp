#include "compiler/executable/serialise.h"

#include <fmt/format.h>

#include "compiler/support/bytes.h"
#include "compiler/support/hash.h"

namespace rondo::executable {

namespace {

constexpr std::string_view kMagic = "RONDOEXE";
constexpr std::size_t kHeader = kMagic.size() + 4 + 8 + 64;  // magic, version, length, hash as hex

constexpr auto kSizeRule = [](auto& archive, auto& rule) {
  archive(rule.fixed, rule.each, rule.batch_tile, rule.time_tile, rule.batch_rows);
};

constexpr auto kIdentity = [](auto& archive, auto& id) {
  archive(id.cell_name, id.cell_hash, id.storage, id.math, id.pass, id.strategy, id.parameters,
          id.source_hash, id.producer, id.build, id.asked, id.variant);
  archive(id.batch, id.time, id.heads, id.dim);
};

constexpr auto kTensor = [](auto& archive, auto& tensor) {
  kTensorRef(archive, tensor.ref);
  archive(tensor.name, tensor.shape);
  archive.one_of(tensor.storage, scalar::Storage::F64);
  archive.one_of(tensor.need, Need::Discard);
  archive(tensor.written, tensor.alignment, tensor.unit);
  kSizeRule(archive, tensor.size);
  archive(tensor.first, tensor.lies_in);
};

constexpr auto kKernel = [](auto& archive, auto& kernel) {
  archive(kernel.name, kernel.threads, kernel.cluster, kernel.shared_bytes, kernel.cooperative, kernel.waits);
};

constexpr auto kArgument = [](auto& archive, auto& argument) {
  archive.one_of(argument.kind, Argument::Kind::StrideTBack);
  archive(argument.bytes, argument.tensor);
};

constexpr auto kLaunch = [](auto& archive, auto& launch) {
  archive(launch.kernel);
  kSizeRule(archive, launch.grid.blocks);
  archive(launch.grid.tiles_together);
  archive.one_of(launch.repetition.kind, Repetition::Kind::Until);
  archive(launch.repetition.most, launch.repetition.condition);
  archive.list(launch.arguments, 4, kArgument);
};

constexpr auto kImage = [](auto& archive, auto& image) {
  archive(image.target);
  archive.one_of(image.kind, ImageKind::Object);
  archive(image.compiler, image.hash, image.bytes);
  archive.list(image.resources, kLeastResources, kResources);
};

// `least` of a list: bytes that an item has at least, so that a wrong count cannot ask for more memory than
// there is.
constexpr auto kPayload = [](auto& archive, auto& executable) {
  kIdentity(archive, executable.identity);
  archive.list(executable.tensors, 64, kTensor);
  archive.list(executable.kernels, 22, kKernel);
  archive.list(executable.launches, 53, kLaunch);
  archive.list(executable.images, 21, kImage);
};

Error refused(const std::string& origin, const std::string& what) {
  return {ErrorKind::Input, fmt::format("{} is no valid executable: {}", origin, what),
          "it is damaged or was made by another program: make it again"};
}

// Which part of a payload it is that does not match its hash, for people.
Error damaged(std::string_view payload, const std::string& origin) {
  if (const auto executable = decoded<Executable>(payload, kPayload))
    for (const Image& image : executable->images)
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
  const std::string payload = encoded(executable, kPayload);
  ByteWriter header;
  header.u32(kFormatVersion);
  header.u64(payload.size());
  return std::string(kMagic) + header.take() + sha256_hex(payload) + payload;
}

Result<Executable> from_bytes(std::string_view bytes, const std::string& origin) {
  const Result<std::string_view> payload = open(bytes, origin);
  if (!payload) return payload.error();
  std::optional<Executable> executable = decoded<Executable>(*payload, kPayload);
  if (!executable) return refused(origin, "its parts do not fill it");
  if (Status status = check(*executable); !status) return refused(origin, status.error().message);
  return *std::move(executable);
}

std::string launch_hash(const Executable& executable) {
  Executable launched = executable.without_images();
  launched.identity = {};
  return sha256_hex(encoded(launched, kPayload));
}

}  // namespace rondo::executable
