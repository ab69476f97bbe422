// Binary messages: what was written comes back, and damaged bytes fail without reading past their end.
#include "compiler/support/bytes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace rondo {
namespace {

TEST(Bytes, AreLittleEndian) {
  ByteWriter writer;
  writer.u8(1);
  writer.u16(0x0203);
  writer.u32(0x04050607);
  writer.u64(0x08090a0b0c0d0e0f);
  writer.text("ab");
  EXPECT_EQ(writer.bytes(),
            std::string("\x01\x03\x02\x07\x06\x05\x04\x0f\x0e\x0d\x0c\x0b\x0a\x09\x08\x02\0\0\0ab", 21));
}

TEST(Bytes, ComeBackAsWritten) {
  const std::string with_zero("a\0b", 3);
  ByteWriter writer;
  writer.u8(255);
  writer.u16(65535);
  writer.u32(4294967295U);
  writer.u64(std::numeric_limits<std::uint64_t>::max());
  writer.i32(std::numeric_limits<std::int32_t>::min());
  writer.i64(std::numeric_limits<std::int64_t>::min());
  writer.f64(-0.0);
  writer.f64(std::numeric_limits<double>::denorm_min());
  writer.f64(std::numeric_limits<double>::quiet_NaN());
  writer.flag(true);
  writer.flag(false);
  writer.text(with_zero);
  writer.text("");
  const std::string bytes = writer.take();

  ByteReader reader(bytes);
  EXPECT_EQ(reader.u8(), 255);
  EXPECT_EQ(reader.u16(), 65535);
  EXPECT_EQ(reader.u32(), 4294967295U);
  EXPECT_EQ(reader.u64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(reader.i32(), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(reader.i64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(std::signbit(reader.f64()));
  EXPECT_EQ(reader.f64(), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::isnan(reader.f64()));
  EXPECT_TRUE(reader.flag());
  EXPECT_FALSE(reader.flag());
  EXPECT_EQ(reader.text(), with_zero);
  EXPECT_FALSE(reader.done());  // the empty text is still to come
  EXPECT_EQ(reader.text(), "");
  EXPECT_TRUE(reader.done());
}

enum class Shade { Red, Green };
struct Part {
  std::string name;
  std::int32_t size = 0;
  bool whole = false;
  Shade colour = Shade::Red;
  std::vector<float> values;
  std::map<std::string, double> limits;
  std::optional<std::uint16_t> tag;
  bool operator==(const Part&) const = default;
};

constexpr auto kPart = [](auto& archive, auto& part) {
  archive(part.name, part.size, part.whole);
  archive.one_of(part.colour, Shade::Green);
  archive.list(part.values, 4, kValue);
  archive.map(part.limits, 12, kValue);
  archive.maybe(part.tag, kValue);
};

TEST(Bytes, OneLayoutWritesAndReads) {
  const Part part{"a", -2, true, Shade::Green, {1.5F, -0.0F}, {{"x", 0.25}, {"y", -1}}, 7};
  const std::string bytes = encoded(part, kPart);
  ByteWriter writer;
  writer.text("a");
  writer.i32(-2);
  writer.flag(true);
  writer.u8(1);
  writer.count(2);
  writer.u32(0x3FC00000);
  writer.u32(0x80000000);
  writer.count(2);
  writer.text("x");
  writer.f64(0.25);
  writer.text("y");
  writer.f64(-1);
  writer.flag(true);
  writer.u16(7);
  EXPECT_EQ(bytes, writer.bytes());
  EXPECT_EQ(decoded<Part>(bytes, kPart), part);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decoded<Part>(bytes.substr(0, size), kPart)) << size;
  EXPECT_FALSE(decoded<Part>(bytes + "x", kPart));
  std::string other = bytes;
  other[5 + 4 + 1] = 2;  // no shade
  EXPECT_FALSE(decoded<Part>(other, kPart));
}

TEST(Bytes, AReaderThatFailedStaysFailed) {
  ByteWriter writer;
  writer.u16(7);
  writer.u8(9);
  ByteReader reader(writer.bytes());
  EXPECT_EQ(reader.u32(), 0U);  // only three bytes are there
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0);
  EXPECT_EQ(reader.text(), "");
  EXPECT_FALSE(reader.ok());
  EXPECT_FALSE(reader.done());
}

TEST(Bytes, EveryTruncationFails) {
  ByteWriter writer;
  writer.u64(1);
  writer.text("source");
  writer.f64(2.5);
  const std::string whole = writer.take();
  const auto reads = [](std::string_view bytes) {
    ByteReader reader(bytes);
    reader.u64();
    reader.text();
    reader.f64();
    return reader.done();
  };
  EXPECT_TRUE(reads(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(reads(std::string_view(whole).substr(0, size))) << size;
  EXPECT_FALSE(reads(whole + '\0'));
}

TEST(Bytes, CountsThatCannotBeLeftFail) {
  ByteWriter writer;
  writer.count(3);
  for (int i = 0; i < 3; ++i) writer.u64(0);
  EXPECT_EQ(ByteReader(writer.bytes()).count(8), 3U);
  ByteReader too_wide(writer.bytes());
  EXPECT_EQ(too_wide.count(9), 0U);
  EXPECT_FALSE(too_wide.ok());
  ByteReader huge(std::string_view("\xff\xff\xff\xff", 4));
  EXPECT_EQ(huge.count(1), 0U);
  EXPECT_FALSE(huge.ok());
}

enum class Colour : std::uint8_t { Red, Green };

TEST(Bytes, ValuesOutOfRangeFail) {
  ByteReader colours(std::string_view("\x01\x02", 2));
  EXPECT_EQ(colours.one_of(Colour::Green), Colour::Green);
  EXPECT_EQ(colours.one_of(Colour::Green), Colour::Red);
  EXPECT_FALSE(colours.ok());
  ByteReader flags(std::string_view("\x02", 1));
  EXPECT_FALSE(flags.flag());
  EXPECT_FALSE(flags.ok());
}

TEST(Bytes, RandomBytesAreSafe) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    ByteReader reader(bytes);
    std::size_t read = 0;
    while (reader.ok() && !reader.done()) {
      switch (random() % 5) {
        case 0: reader.u8(), read += 1; break;
        case 1: reader.u64(), read += 8; break;
        case 2: read += 4 + reader.text().size(); break;
        case 3: read += 4, (void)reader.count(2); break;
        default: reader.flag(), read += 1; break;
      }
    }
    if (reader.done()) {
      EXPECT_EQ(read, bytes.size());
    }
  }
}

}  // namespace
}  // namespace rondo
