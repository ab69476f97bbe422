#include "runtime/cuda/driver.h"

#include <gtest/gtest.h>

#include <vector>

#include "compiler/support/dynamic_library.h"

namespace rondo::runtime {
namespace {

TEST(DynamicLibrary, OpensTheFirstThatExistsAndFindsSymbols) {
  const std::vector<std::string> names = {"/no/such/library.so", "libm.so.6"};
  auto library = DynamicLibrary::open(names, "the maths library", "");
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->opened_as(), "libm.so.6");
  EXPECT_EQ(library->path().front(), '/') << library->path();
  double (*cosine)(double) = nullptr;
  ASSERT_TRUE(library->load(cosine, "cos"));
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_FALSE(library->load(cosine, "no_such_function"));
  EXPECT_EQ(cosine, nullptr);
}

TEST(DynamicLibrary, NamesEveryCandidateThatFailed) {
  const std::vector<std::string> names = {"/no/such/a.so", "/no/such/b.so"};
  auto library = DynamicLibrary::open(names, "the thing", "install the thing");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, ErrorKind::Missing);
  EXPECT_EQ(library.error().hint, "install the thing");
  for (const char* part : {"the thing", "/no/such/a.so", "/no/such/b.so"})
    EXPECT_NE(library.error().message.find(part), std::string::npos) << library.error().message;
}

TEST(DynamicLibrary, MovesItsHandle) {
  const std::vector<std::string> names = {"libm.so.6"};
  auto opened = DynamicLibrary::open(names, "the maths library", "");
  ASSERT_TRUE(opened);
  DynamicLibrary moved = std::move(*opened);
  DynamicLibrary assigned;
  assigned = std::move(moved);
  EXPECT_NE(assigned.symbol("cos"), nullptr);
  EXPECT_EQ(moved.symbol("cos"), nullptr);  // NOLINT: the moved-from state is empty by contract
}

TEST(Driver, NonePretendsThatThereIsNone) {
  auto driver = Driver::open("none");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().kind, ErrorKind::Missing);
  EXPECT_NE(driver.error().message.find("RONDO_LIBCUDA=none"), std::string::npos) << driver.error().message;
  EXPECT_FALSE(driver.error().hint.empty());
}

TEST(Driver, AMissingLibraryIsNamedWithWhatToDo) {
  auto driver = Driver::open("/no/such/libcuda.so.1");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().kind, ErrorKind::Missing);
  EXPECT_NE(driver.error().message.find("/no/such/libcuda.so.1"), std::string::npos)
      << driver.error().message;
  EXPECT_NE(driver.error().hint.find("RONDO_LIBCUDA"), std::string::npos);
}

TEST(Driver, ALibraryThatIsNoDriverIsNamedWithWhatItLacks) {
  auto driver = Driver::open("libm.so.6");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().kind, ErrorKind::Unsupported);
  for (const char* part : {"libm.so.6", "cuInit", "cuMemAlloc_v2"})
    EXPECT_NE(driver.error().message.find(part), std::string::npos) << driver.error().message;
}

// Every entry answers with the error of Driver::get() where there is no driver; nothing crashes. In a process
// of its own, because get() answers once for all.
TEST(DriverDeathTest, EveryCallFailsAlikeWithoutADriver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("RONDO_LIBCUDA", "none", 1);
        bool missing = true;
        const auto expect_missing = [&missing](const auto& result) {
          missing = missing && !result && result.error().kind == ErrorKind::Missing;
        };
        expect_missing(Driver::get());
        expect_missing(device_count());
        expect_missing(device_info(0));
        expect_missing(Context::open(0));
        expect_missing(Stream::create());
        expect_missing(Event::create());
        expect_missing(hold(nullptr));
        expect_missing(DeviceBuffer::allocate(16));
        expect_missing(DeviceBuffer().fill(0, nullptr));
        expect_missing(fill_words(0, 0, 1, nullptr));
        expect_missing(Module::load("x"));
        expect_missing(Graph::capture(nullptr, [](StreamHandle) { return success(); }));
        expect_missing(launch(Function(), LaunchShape(), nullptr, {}));
        std::_Exit(missing ? 42 : 1);
      },
      ::testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace rondo::runtime
