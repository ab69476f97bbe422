// Binary messages and files: numbers and texts written one after another and read back in the same order.
//
// The layout of a record is written once for both directions, as a function of an archive, which is a
// ByteWriter or a ByteReader:
//
//   constexpr auto kPart = [](auto& archive, auto& part) {
//     archive.one_of(part.kind, PartKind::SelfTest);
//     archive(part.offset, part.bytes);
//   };
//   const std::string bytes = encoded(part, kPart);
//   const std::optional<Part> read = decoded<Part>(bytes, kPart);
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rondo {

// Appends values to a string of bytes. Integers are little-endian whatever the machine; a double is the
// integer with its bits; a text is its length as a u32 and then its bytes.
class ByteWriter {
 public:
  static constexpr bool kReads = false;
  // Values one after another, each as wide as its type.
  template <class... Values>
  void operator()(const Values&... values) {
    (put(values), ...);
  }
  // An enumerator as a u8. Readers refuse those after `last`.
  template <class Enum>
  void one_of(Enum value, Enum /*last*/) {
    u8(static_cast<std::uint8_t>(value));
  }
  // A u8 whose bits say what else there is. Readers refuse others than those of `known`.
  void bits(std::uint8_t value, std::uint8_t /*known*/) { u8(value); }
  // The number of elements, and each by its layout. `least`: as for ByteReader::count().
  template <class Items, class Layout>
  void list(const Items& items, std::size_t /*least*/, const Layout& layout) {
    count(items.size());
    for (const auto& item : items) layout(*this, item);
  }
  template <class Map, class Layout>
  void map(const Map& map, std::size_t least, const Layout& layout) {
    list(map, least, [&](ByteWriter&, const auto& entry) {
      text(entry.first);
      layout(*this, entry.second);
    });
  }
  template <class T, class Layout>
  void maybe(const std::optional<T>& value, const Layout& layout) {
    flag(value.has_value());
    if (value) layout(*this, *value);
  }

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
  template <class T>
  void put(const T& value) {
    if constexpr (std::integral<T>)
      little_endian(static_cast<std::uint64_t>(value), sizeof value);
    else if constexpr (std::same_as<T, double>)
      f64(value);
    else if constexpr (std::same_as<T, float>)
      u32(std::bit_cast<std::uint32_t>(value));
    else
      text(value);
  }
  void little_endian(std::uint64_t value, std::size_t bytes);
  std::string bytes_;
};

// Reads what a ByteWriter wrote. Any bytes are safe: the first value that does not fit makes the reader fail,
// and a reader that has failed stays so and gives zeros and empty texts from then on, so a caller may read a
// whole record and ask once. The bytes belong to the caller and must outlive the reader.
class ByteReader {
 public:
  static constexpr bool kReads = true;
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <class... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }
  template <class Enum>
  void one_of(Enum& value, Enum last) {
    value = one_of(last);
  }
  void bits(std::uint8_t& value, std::uint8_t known) {
    value = u8();
    if ((value & ~known) != 0) fail();
  }
  template <class Items, class Layout>
  void list(Items& items, std::size_t least, const Layout& layout) {
    items.clear();
    for (std::size_t left = count(least); left > 0 && ok_; --left) layout(*this, items.emplace_back());
  }
  template <class Map, class Layout>
  void map(Map& map, std::size_t least, const Layout& layout) {
    for (std::size_t left = count(least); left > 0 && ok_; --left) layout(*this, map[text()]);
  }
  template <class T, class Layout>
  void maybe(std::optional<T>& value, const Layout& layout) {
    if (flag()) layout(*this, value.emplace());
  }

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
  template <class T>
  void get(T& value) {
    if constexpr (std::same_as<T, bool>)
      value = flag();
    else if constexpr (std::integral<T>)
      value = static_cast<T>(little_endian(sizeof value));
    else if constexpr (std::same_as<T, double>)
      value = f64();
    else if constexpr (std::same_as<T, float>)
      value = std::bit_cast<float>(u32());
    else
      value = text();
  }
  std::uint64_t little_endian(std::size_t bytes);
  std::string_view rest_;
  bool ok_ = true;
};

// The layout of a value that is a record by itself.
inline constexpr auto kValue = [](auto& archive, auto& value) { archive(value); };

template <class Record, class Layout>
std::string encoded(const Record& record, const Layout& layout) {
  ByteWriter writer;
  layout(writer, record);
  return writer.take();
}

// Nothing for bytes that are none.
template <class Record, class Layout>
std::optional<Record> decoded(std::string_view bytes, const Layout& layout, Record record = {}) {
  ByteReader reader(bytes);
  layout(reader, record);
  return reader.done() ? std::optional(std::move(record)) : std::nullopt;
}

}  // namespace rondo
