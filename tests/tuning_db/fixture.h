// Shared by the database's tests: a folder of its own for each test, sample records, child processes.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "tuning_db/database.h"

namespace rondo::db {

// The value of a result, or a test failure that shows the error (by BadResult, which ends the test).
template <class T>
T must(Result<T> result) {
  if (!result.ok()) ADD_FAILURE() << result.error().message << " / " << result.error().hint;
  return std::move(result).value();
}

template <class T>
void expect_error(const Result<T>& result, ErrorKind kind, const std::string& part) {
  ASSERT_FALSE(result.ok()) << "expected an error with '" << part << "'";
  EXPECT_EQ(static_cast<int>(result.error().kind), static_cast<int>(kind)) << result.error().message;
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class DatabaseTest : public testing::Test {
 protected:
  DatabaseTest() {
    std::string name = (std::filesystem::temp_directory_path() / "rondo-db-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    file = folder + "/tuning.db";
  }
  ~DatabaseTest() override {
    std::error_code ignored;
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(folder, ignored);
  }

  std::string folder, file;
};

inline Device sample_device(const std::string& key = "h200") {
  return {.key = key,
          .name = "NVIDIA H200",
          .compute_major = 9,
          .compute_minor = 0,
          .sm_count = 132,
          .driver = "550.54",
          .profile = R"({"clock_hz":1.7e9})",
          .origin = Origin::Shipped,
          .calibrated_at = 0};
}

inline Cell sample_cell(const std::string& hash = "c0ffee") {
  return {hash, "mingru", "cell mingru(D) {}\n"};
}

inline Problem sample_problem(std::int64_t B = 8, std::int64_t T = 4096) {
  return {.cell = "c0ffee",
          .device = "h200",
          .arch = "sm_90",
          .shape = {B, T, 1, 1536},
          .dtype = "bf16",
          .math = "fast",
          .pass = "fw"};
}

inline Trial sample_trial(double median_ms, const std::string& parameters = R"({"threads":128})") {
  Trial trial;
  trial.strategy = "stream";
  trial.parameters = parameters;
  trial.verified = true;
  trial.median_ms = median_ms;
  trial.spread = 0.01;
  trial.samples = 25;
  trial.registers = 40;
  trial.shared_bytes = 49152;
  trial.rondo_version = "0.1.0";
  trial.created_at = 1'700'000'000;
  return trial;
}

inline Platform sample_platform(const std::string& device = "GPU-1") { return {"0.1.0", device, "13.0"}; }

inline Verification sample_verification(std::int64_t trial, const std::string& code = "code") {
  const Problem problem = sample_problem();
  return {.trial = trial,
          .batch = problem.shape.B,
          .time = problem.shape.T,
          .platform = sample_platform(),
          .code = code,
          .passed = true,
          .timed = true,
          .summary = "all 4 tensors agree",
          .created_at = 1'700'000'000};
}

inline Cubin sample_cubin(const std::string& image = std::string("\x7f"
                                                                 "ELF\0\1\2",
                                                                 7)) {
  return {.key = {"__global__ void k() {}", "-O3 --fmad", "sm_90", "12.4"},
          .image = image,
          .resources = R"({"registers":40})",
          .created_at = 1'700'000'000};
}

// An open database with the sample's cell and device.
inline Database sample_database(const std::string& path) {
  Database db = must(Database::open(path));
  must(db.put_device(sample_device()));
  must(db.put_cell(sample_cell()));
  return db;
}

struct Child {
  pid_t process = -1;
  int answer = -1;  // where it writes what it has to say
};

// Begins `body` in a forked child. No exit handlers run there.
inline Child start_child(const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    std::string text;
    try {
      text = body();
    } catch (const std::exception& error) {
      text = std::string("exception: ") + error.what();
    }
    const bool written = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(written && !testing::Test::HasFailure() ? 0 : 1);
  }
  ::close(ends[1]);
  return {child, ends[0]};
}

// What the child's body returned, or how the child ended.
inline std::string finish_child(const Child& child) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = ::read(child.answer, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  ::close(child.answer);
  int status = 0;
  while (::waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return "the child ended with status " + std::to_string(status);
  return text;
}

inline std::string in_child(const std::function<std::string()>& body) {
  return finish_child(start_child(body));
}

}  // namespace rondo::db
