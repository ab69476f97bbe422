// Binary messages and files: numbers and texts written one after another and read back in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rondo {

// Appends values to a string of bytes. Integers are little-endian whatever the machine; a double is the
// integer with its bits; a text is its length as a u32 and then its bytes.
class ByteWriter {
 public:
  void u8(std::uint8_t value);
  void u16(std::uint16_t value);
  void u32(std::uint32_t value);
  void u64(std::uint64_t value);
  void i32(std::int32_t value);
  void i64(std::int64_t value);
  void f64(double value);
  void flag(bool value);  // one byte, 0 or 1
  // Throws std::length_error for a text of 4 GiB or more.
  void text(std::string_view value);
  // The number of elements of a list that follows. Throws std::length_error where it does not fit a u32.
  void count(std::size_t elements);

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  void little_endian(std::uint64_t value, int bytes);
  std::string bytes_;
};

// Reads what a ByteWriter wrote. Any bytes are safe: the first value that does not fit makes the reader fail,
// and a reader that has failed stays so and gives zeros and empty texts from then on, so a caller may read a
// whole record and ask once. The bytes belong to the caller and must outlive the reader.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t u8();
  std::uint16_t u16();
  std::uint32_t u32();
  std::uint64_t u64();
  std::int32_t i32();
  std::int64_t i64();
  double f64();
  bool flag();  // fails for a byte that is neither 0 nor 1
  std::string text();
  // The number of elements of a list, of which each takes at least `least_bytes_each` (1 or more) bytes.
  // Fails, and gives 0, where that many cannot be left: a damaged count never leads to a large allocation.
  std::size_t count(std::size_t least_bytes_each);
  // An enumerator that was written as a u8, of an enumeration whose enumerators are 0, 1, ..., `last`.
  template <class Enum>
  Enum one_of(Enum last) {
    const std::uint8_t value = u8();
    if (value > static_cast<std::uint8_t>(last)) fail();
    return ok_ ? static_cast<Enum>(value) : Enum{};
  }

  void fail();                     // for a reader of records who finds a value out of range
  bool ok() const { return ok_; }  // nothing has failed so far
  bool done() const { return ok_ && rest_.empty(); }  // nothing has failed, and every byte was read

 private:
  std::uint64_t little_endian(std::size_t bytes);
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace rondo
