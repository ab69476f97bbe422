#include "engine/arrays/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "compiler/scalar/storage.h"
#include "compiler/scalar/storage_blocks.h"
#include "compiler/support/mapped_file.h"
#include "engine/arrays/npy_header.h"

namespace rondo::engine {

using kernel::Storage;

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostHeader = 1 << 16;  // bytes; NumPy's own readers take at most 10,000
constexpr std::size_t kNumbersAtOnce = 1024;  // elements that are converted at once: they stay in the L1
constexpr std::size_t kAlignment = 64;        // of the data, as NumPy writes it

Error bad_npy(const std::string& origin, const std::string& what, std::string hint = "") {
  return {ErrorKind::Input, fmt::format("'{}' {}", origin, what), std::move(hint)};
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value |= std::size_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

// Bytes of all elements; nothing where 63 bits do not hold them.
std::optional<std::int64_t> total_bytes(const std::vector<std::int64_t>& shape, int element_bytes) {
  std::int64_t total = element_bytes;
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(total, extent, &total)) return std::nullopt;
  return total;
}

Status check_type(const NpyHeader& header, const std::string& origin) {
  if (npy_element_bytes(header.descr) == 0)
    return bad_npy(
        origin, fmt::format("holds elements of type '{}'", header.descr),
        "save float32, float64, float16 or bfloat16 in little-endian order (numpy: x.astype('<f4'))");
  if (header.fortran_order && header.shape.size() > 1)
    return bad_npy(origin, "is in Fortran order", "save it in C order: numpy.ascontiguousarray(x)");
  return success();
}

// What comes before the data.
struct Start {
  NpyHeader header;
  std::size_t data = 0;  // where the data begins
};

Result<Start> parse_start(std::string_view bytes, const std::string& origin) {
  if (bytes.substr(0, kMagic.size()) != kMagic || bytes.size() < kMagic.size() + 2)
    return bad_npy(origin, "is no .npy file", "write it with numpy.save");
  const int version = static_cast<unsigned char>(bytes[kMagic.size()]);
  if (version < 1 || version > 3)
    return bad_npy(origin, fmt::format("is a .npy file of version {}", version), "");
  const std::size_t width = version == 1 ? 2 : 4;
  const std::size_t before = kMagic.size() + 2 + width;
  const std::size_t length = little_endian(bytes.substr(kMagic.size() + 2, width));
  if (length > kMostHeader)
    return bad_npy(origin, fmt::format("has a header of {} bytes; at most {} are read", length, kMostHeader));
  if (bytes.size() < before + length) return bad_npy(origin, "is cut off in its header");
  const std::optional<NpyHeader> header = parse_npy_header(bytes.substr(before, length));
  if (!header) return bad_npy(origin, "has a malformed .npy header");
  if (Status status = check_type(*header, origin); !status) return status.error();
  const auto held = static_cast<std::int64_t>(bytes.size() - before - length);
  const auto wanted = total_bytes(header->shape, npy_element_bytes(header->descr));
  if (!wanted || *wanted != held)
    return bad_npy(origin, fmt::format("holds {} bytes of data; its shape {} of '{}' needs {}", held,
                                       shape_tuple(header->shape), header->descr,
                                       wanted ? std::to_string(*wanted) : "more than any file holds"));
  return Start{*header, before + length};
}

std::int64_t machine_memory() {
  return std::int64_t{::sysconf(_SC_PHYS_PAGES)} * std::int64_t{::sysconf(_SC_PAGESIZE)};
}

}  // namespace

std::int64_t NpyArray::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

namespace {

// Bytes of an integer type that flags may have; 0 for another.
int integer_bytes(const std::string& descr) {
  if (descr == "|u1" || descr == "|b1") return 1;
  if (descr == "<i4") return 4;
  return descr == "<i8" ? 8 : 0;
}

}  // namespace

bool holds_integers(const NpyArray& array) { return integer_bytes(array.descr) != 0; }

int npy_element_bytes(const std::string& descr) {
  if (descr == "<f8") return 8;
  if (descr == "<f4") return 4;
  if (descr == "<f2" || descr == "<V2" || descr == "|V2" || descr == "<u2") return 2;
  return integer_bytes(descr);
}

Result<NpyArray> parse_npy(std::string_view bytes, const std::string& origin) {
  const Result<Start> start = parse_start(bytes, origin);
  if (!start) return start.error();
  return NpyArray{start->header.descr, start->header.shape, std::string(bytes.substr(start->data))};
}

Result<NpyArray> read_npy(const std::string& path) {
  Result<MappedFile> file = map_file(path);
  if (!file) return file.error();
  const Result<Start> start = parse_start(file->bytes, path);
  if (!start) return start.error();
  const std::int64_t memory = machine_memory();
  if (static_cast<std::int64_t>(file->bytes.size()) > memory)
    return bad_npy(path, fmt::format("holds {} bytes, too many for the {} bytes of memory here",
                                     file->bytes.size(), memory));
  const std::string_view data = file->bytes.substr(start->data);
  return NpyArray{start->header.descr, start->header.shape, {std::move(file->owner), data}};
}

std::string to_npy(const NpyArray& array) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", array.descr,
                                   shape_tuple(array.shape));
  const std::size_t before = kMagic.size() + 4;
  while ((before + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  std::string bytes(kMagic);
  bytes += {1, 0, static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  return (bytes + header).append(array.data.view());
}

std::optional<Storage> natural_storage(const std::string& descr) {
  if (descr == "<f4" || descr == "<f8") return Storage::F32;
  if (descr == "<f2") return Storage::F16;
  if (descr == "<V2" || descr == "|V2") return Storage::BF16;
  return std::nullopt;
}

Result<std::vector<double>> npy_integers(const NpyArray& array, const std::string& origin) {
  const int size = integer_bytes(array.descr);
  if (size == 0)
    return bad_npy(origin, fmt::format("holds elements of type '{}', not integers", array.descr),
                   "write it as uint8, bool, int32 or int64");
  std::vector<double> values;
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    const char* from = array.data.data() + i * size;
    std::int64_t value = 0;
    if (size == 1) value = static_cast<unsigned char>(*from);
    if (size == 4) {
      std::int32_t narrow = 0;
      std::memcpy(&narrow, from, sizeof narrow);
      value = narrow;
    }
    if (size == 8) std::memcpy(&value, from, sizeof value);
    if (value != static_cast<std::int32_t>(value))
      return bad_npy(origin, fmt::format("holds {}, which has more than 32 bits", value), "");
    values.push_back(static_cast<double>(value));
  }
  return values;
}

Status check_floats(const NpyArray& array, Storage storage, const std::string& origin) {
  if (holds_integers(array))
    return bad_npy(origin,
                   fmt::format("holds integers ('{}'), not {}", array.descr, kernel::storage_name(storage)),
                   "convert it: array.astype('float32')");
  const bool words = array.descr[1] == 'V' || array.descr[1] == 'u';
  if (words && storage != Storage::BF16)
    return bad_npy(
        origin, fmt::format("holds 16-bit words ('{}'), not {}", array.descr, kernel::storage_name(storage)),
        "words are read as bf16 with --dtype bf16");
  return success();
}

Result<std::vector<double>> npy_values(const NpyArray& array, Storage storage, const std::string& origin) {
  if (Status status = check_floats(array, storage, origin); !status) return status.error();
  std::vector<double> values(static_cast<std::size_t>(array.elements()));
  npy_numbers(array, 0, values);
  return values;
}

void npy_numbers(const NpyArray& array, std::int64_t first, std::span<double> values) {
  if (array.descr == "<f8" && !values.empty())
    std::memcpy(values.data(), array.data.data() + first * 8, values.size_bytes());
  if (array.descr == "<f8") return;
  std::array<float, kNumbersAtOnce> block;
  for (std::size_t i = 0; i < values.size(); i += kNumbersAtOnce) {
    const std::span<float> part(block.data(), std::min(kNumbersAtOnce, values.size() - i));
    npy_numbers(array, first + static_cast<std::int64_t>(i), part);
    std::ranges::copy(part, values.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void npy_numbers(const NpyArray& array, std::int64_t first, std::span<float> values) {
  const char* const from = array.data.data() + first * npy_element_bytes(array.descr);
  const auto* const bytes = reinterpret_cast<const std::byte*>(from);
  if (array.descr == "<f4") return scalar::decode_block(Storage::F32, bytes, values);
  if (array.descr != "<f8")
    return scalar::decode_block(array.descr == "<f2" ? Storage::F16 : Storage::BF16, bytes, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    double value = 0;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    values[i] = static_cast<float>(value);
  }
}

NpyArray npy_from(const std::vector<double>& values, std::vector<std::int64_t> shape, Storage storage) {
  if (storage == Storage::F64) {
    std::string bytes(values.size() * sizeof(double), '\0');
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return {"<f8", std::move(shape), std::move(bytes)};
  }
  const Storage stored = storage == Storage::F16 ? Storage::F16 : Storage::F32;
  const auto size = static_cast<std::size_t>(kernel::storage_bytes(stored));
  std::string data(values.size() * size, '\0');
  std::array<float, kNumbersAtOnce> block;
  for (std::size_t i = 0; i < values.size(); i += kNumbersAtOnce) {
    const std::span<float> part(block.data(), std::min(kNumbersAtOnce, values.size() - i));
    std::transform(values.begin() + static_cast<std::ptrdiff_t>(i),
                   values.begin() + static_cast<std::ptrdiff_t>(i + part.size()), part.begin(),
                   [](double value) { return static_cast<float>(value); });
    if (storage == Storage::BF16)
      for (float& value : part) value = round_to(storage, value);
    scalar::encode_block(stored, part, reinterpret_cast<std::byte*>(data.data() + i * size));
  }
  return {stored == Storage::F16 ? "<f2" : "<f4", std::move(shape), std::move(data)};
}

std::string shape_tuple(const std::vector<std::int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace rondo::engine
