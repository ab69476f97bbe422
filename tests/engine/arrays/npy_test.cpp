#include "engine/arrays/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "compiler/support/text_file.h"
#include "engine/arrays/npy_header.h"

namespace rondo::engine {
namespace {

using kernel::Storage;

std::string file_of(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  const std::size_t width = version == 1 ? 2 : 4;
  for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  return bytes + header + data;
}

TEST(Npy, RoundTripsEveryShapeAndStorage) {
  for (const Storage storage : {Storage::F32, Storage::F16, Storage::BF16})
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{}, {5}, {2, 3}, {1, 1, 1, 7}, {0, 4}}) {
      std::int64_t count = 1;
      for (const std::int64_t extent : shape) count *= extent;
      std::vector<double> values;
      for (std::int64_t i = 0; i < count; ++i) values.push_back(0.25 * static_cast<double>(i) - 1);
      const std::string bytes = to_npy(npy_from(values, shape, storage));
      EXPECT_EQ(bytes.size() % 64,
                (static_cast<std::size_t>(count) * (storage == Storage::F16 ? 2 : 4)) % 64);
      const Result<NpyArray> array = parse_npy(bytes, "a.npy");
      ASSERT_TRUE(array.ok()) << array.error().message;
      EXPECT_EQ(array->shape, shape);
      const auto read = npy_values(*array, storage, "a.npy");
      ASSERT_TRUE(read.ok());
      EXPECT_EQ(*read, values);
    }
}

TEST(Npy, ReadsVersion2AndDoubles) {
  const double value = 0.1;
  std::string data(8, '\0');
  std::memcpy(data.data(), &value, 8);
  for (const int version : {1, 2, 3}) {
    const auto array =
        parse_npy(file_of("{'shape': (1,), 'fortran_order': False, 'descr': '<f8'}\n", data, version), "a");
    ASSERT_TRUE(array.ok()) << array.error().message;
    EXPECT_EQ(npy_values(*array, Storage::F32, "a")->front(), 0.1);
  }
}

TEST(Npy, WordsAreBf16OnlyWhenAsked) {
  const std::string one("\x80\x3f", 2);  // 1.0
  for (const char* descr : {"<V2", "|V2", "<u2"}) {
    const auto array = parse_npy(
        file_of(std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (1,), }", one),
        "w.npy");
    ASSERT_TRUE(array.ok()) << array.error().message;
    EXPECT_EQ(npy_values(*array, Storage::BF16, "w.npy")->front(), 1.0);
    const auto refused = npy_values(*array, Storage::F32, "w.npy");
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("w.npy"), std::string::npos);
  }
}

TEST(Npy, RefusesWhatItCannotRead) {
  const std::string four(4, '\0');
  const std::pair<std::string, std::string> cases[] = {
      {"", "no .npy"},
      {"\x93NUMPY", "no .npy"},
      {"hello world, this is text", "no .npy"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", four, 9), "version 9"},
      {file_of("{'descr': '<i8', 'fortran_order': False, 'shape': (1,)}", four), "'<i8'"},
      {file_of("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", four), "'>f4'"},
      {file_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", four), "'|O'"},
      {file_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", four), "type"},
      {file_of("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1)}", four), "Fortran"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", four), "needs 8"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", four + four), "needs 4"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (46116860184273879040,)}", four),
       "malformed"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (400000000000000000,400)}", four),
       "more than any file"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", four), "malformed"},
      {file_of("{'descr': '<f4', 'fortran_order': False}", four), "malformed"},
      {file_of("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", four), "malformed"},
      {file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", four), "malformed"},
      {file_of("{'descr': '<f4', ", "").substr(0, 20), "cut off"},
  };
  for (const auto& [bytes, message] : cases) {
    const auto array = parse_npy(bytes, "bad.npy");
    ASSERT_FALSE(array.ok()) << bytes;
    EXPECT_EQ(array.error().kind, ErrorKind::Input);
    EXPECT_NE(array.error().message.find(message), std::string::npos) << array.error().message;
    EXPECT_NE(array.error().message.find("bad.npy"), std::string::npos);
  }
}

TEST(Npy, SurvivesDamagedFiles) {
  const std::string sound = to_npy(npy_from({1, 2, 3, 4, 5, 6}, {2, 3}, Storage::F32));
  std::mt19937 random(7);
  int read = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string bytes = sound.substr(0, i % 5 == 0 ? random() % (sound.size() + 1) : sound.size());
    for (unsigned k = 0; k <= random() % 4 && !bytes.empty(); ++k)
      bytes[random() % std::min<std::size_t>(bytes.size(), 80)] = static_cast<char>(random());
    const auto array = parse_npy(bytes, "fuzz");
    if (!array) continue;
    ++read;
    ASSERT_EQ(static_cast<std::size_t>(array->elements() * npy_element_bytes(array->descr)),
              array->data.size());
    (void)npy_values(*array, Storage::BF16, "fuzz");
  }
  EXPECT_GT(read, 0);
}

// What a file says of itself is compared with its size before its data is read, so that no file takes more
// memory than it should.
TEST(Npy, FilesAreReadWithinABound) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "npy-bound";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "a.npy").string();
  const auto error = [](const std::string& name) {
    const auto array = read_npy(name);
    EXPECT_FALSE(array.ok()) << name;
    return array.ok() ? "" : array.error().message;
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(contains(error("/dev/zero"), "no regular file")) << error("/dev/zero");
  EXPECT_TRUE(contains(error(folder.string()), "directory")) << error(folder.string());
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,)}";
  ASSERT_TRUE(write_text_file(path, file_of(header, "")).ok());
  EXPECT_TRUE(contains(error(path), "holds 0 bytes of data"));
  std::filesystem::resize_file(path, 1 << 20);
  EXPECT_TRUE(contains(error(path), "needs 4398046511104"));
  // All that it says is there, as a hole.
  std::filesystem::resize_file(path, file_of(header, "").size() + (std::uintmax_t{1} << 42));
  EXPECT_TRUE(contains(error(path), "too many for the")) << error(path);
  // A header that claims 4 GiB.
  ASSERT_TRUE(write_text_file(path, std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12)).ok());
  std::filesystem::resize_file(path, std::uintmax_t{1} << 33);
  EXPECT_TRUE(contains(error(path), "a header of 4294967295 bytes")) << error(path);
  // And one that is as it should be, larger than what is read at first.
  const NpyArray array = npy_from(std::vector<double>(50'000, 0.5), {50, 1000}, Storage::F32);
  ASSERT_TRUE(write_text_file(path, to_npy(array)).ok());
  const auto read = read_npy(path);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->data, array.data);
  std::filesystem::remove_all(folder);
}

TEST(Npy, HeaderAllowsAtMost32Axes) {
  auto header = [](int axes) {
    std::string shape;
    for (int i = 0; i < axes; ++i) shape += "1,";
    return "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + ")}";
  };
  EXPECT_TRUE(parse_npy_header(header(32)).has_value());
  EXPECT_FALSE(parse_npy_header(header(33)).has_value());
}

}  // namespace
}  // namespace rondo::engine
