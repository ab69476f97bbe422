#include "tests/tools/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/arrays/npy.h"

extern char** environ;

namespace rondo::test {
namespace {

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& given) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    all[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  for (const auto& [name, value] : given) all[name] = value;
  std::vector<std::string> result;
  for (const auto& [name, value] : all) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

Outcome start(const std::string& program, const std::vector<std::string>& arguments,
              const std::map<std::string, std::string>& environment) {
  const Folder folder;
  const std::string out = folder.path("out"), err = folder.path("err");
  std::vector<std::string> all = {program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = merged_environment(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t child = -1;
  Outcome outcome;
  const int error = ::posix_spawn(&child, program.c_str(), &actions, nullptr, pointers(all).data(),
                                  pointers(variables).data());
  if (error == 0) {
    int status = 0;
    ::waitpid(child, &status, 0);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  posix_spawn_file_actions_destroy(&actions);
  outcome.out = read_file(out);
  outcome.err = error == 0 ? read_file(err) : program + " does not start: " + std::strerror(error);
  return outcome;
}

Outcome rondo(const std::vector<std::string>& arguments,
              const std::map<std::string, std::string>& environment) {
  static const Folder home;
  // What is shipped changes with each release: tests name what they want of it.
  std::map<std::string, std::string> variables = {
      {"RONDO_LIBCUDA", "none"}, {"RONDO_SHIPPED", "none"}, {"RONDO_DB", home.path("tuning.db")}};
  for (const auto& [name, value] : environment) variables[name] = value;
  return start(RONDO_PROGRAM, arguments, variables);
}

Outcome rondo_into(const std::string& file, const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"-c", "exec \"$0\" \"$@\" > " + file, RONDO_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return start("/bin/sh", all, {{"RONDO_LIBCUDA", "none"}});
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "rondo-tools-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  root_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

std::vector<std::string> Folder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root_))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string heading_of(const std::string& emitted) { return emitted.substr(0, emitted.find("\n\n") + 1); }

std::string body_of(const std::string& emitted) { return emitted.substr(emitted.find("\n\n") + 2); }

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

void write_array(const std::string& path, const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i % 17) / 8 - 1);
  write_file(path, engine::to_npy(engine::npy_from(values, shape, kernel::Storage::F32)));
}

}  // namespace rondo::test
