#include "compiler/support/bytes.h"

#include <limits>
#include <stdexcept>

namespace rondo {

void ByteWriter::little_endian(std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

void ByteWriter::u8(std::uint8_t value) { little_endian(value, 1); }
void ByteWriter::u16(std::uint16_t value) { little_endian(value, 2); }
void ByteWriter::u32(std::uint32_t value) { little_endian(value, 4); }
void ByteWriter::u64(std::uint64_t value) { little_endian(value, 8); }
void ByteWriter::i32(std::int32_t value) { u32(static_cast<std::uint32_t>(value)); }
void ByteWriter::i64(std::int64_t value) { u64(static_cast<std::uint64_t>(value)); }
void ByteWriter::f64(double value) { u64(std::bit_cast<std::uint64_t>(value)); }
void ByteWriter::flag(bool value) { u8(value ? 1 : 0); }

void ByteWriter::count(std::size_t elements) {
  if (elements > std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("a binary message holds at most 4 Gi elements or bytes in one piece");
  u32(static_cast<std::uint32_t>(elements));
}

void ByteWriter::text(std::string_view value) {
  count(value.size());
  bytes_.append(value);
}

void ByteReader::fail() {
  ok_ = false;
  rest_ = {};
}

std::uint64_t ByteReader::little_endian(std::size_t bytes) {
  if (rest_.size() < bytes) fail();
  if (!ok_) return 0;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
  rest_.remove_prefix(bytes);
  return value;
}

std::uint8_t ByteReader::u8() { return static_cast<std::uint8_t>(little_endian(1)); }
std::uint16_t ByteReader::u16() { return static_cast<std::uint16_t>(little_endian(2)); }
std::uint32_t ByteReader::u32() { return static_cast<std::uint32_t>(little_endian(4)); }
std::uint64_t ByteReader::u64() { return little_endian(8); }
std::int32_t ByteReader::i32() { return static_cast<std::int32_t>(u32()); }
std::int64_t ByteReader::i64() { return static_cast<std::int64_t>(u64()); }
double ByteReader::f64() { return std::bit_cast<double>(u64()); }

bool ByteReader::flag() {
  const std::uint8_t value = u8();
  if (value > 1) fail();
  return value == 1 && ok_;
}

std::string ByteReader::text() {
  const std::size_t size = count(1);
  if (!ok_) return {};
  std::string value(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return value;
}

std::size_t ByteReader::count(std::size_t least_bytes_each) {
  const std::size_t elements = u32();
  if (elements > rest_.size() / least_bytes_each) fail();
  return ok_ ? elements : 0;
}

}  // namespace rondo
