#include "tuner/queue/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace rondo::tuner {

namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string text = *each;
    const auto is_set = [&](const auto& variable) { return text.rfind(variable.first + "=", 0) == 0; };
    bool replaced = false;
    for (const auto& variable : variables) replaced = replaced || is_set(variable);
    if (!replaced) all.push_back(text);
  }
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

}  // namespace

Result<Child> Child::start(const std::string& program, const std::vector<std::string>& words,
                           const std::vector<std::pair<std::string, std::string>>& variables) {
  std::array<int, 2> out{-1, -1}, err{-1, -1};
  const auto cannot = [&](int error) {
    for (const int end : {out[0], out[1], err[0], err[1]})
      if (end >= 0) ::close(end);
    return Error{ErrorKind::Missing, fmt::format("cannot start {}: {}", program, std::strerror(error))};
  };
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) return cannot(errno);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::vector<std::string> given{program}, variables_of = environment_with(variables);
  given.insert(given.end(), words.begin(), words.end());
  Child child;
  const int failed = posix_spawn(&child.process_, program.c_str(), &actions, &attributes,
                                 pointers(given).data(), pointers(variables_of).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    child.process_ = -1;
    return cannot(failed);
  }
  ::close(out[1]);
  ::close(err[1]);
  for (const int end : {out[0], err[0]}) ::fcntl(end, F_SETFL, O_NONBLOCK);
  child.out_.end = out[0];
  child.err_.end = err[0];
  return child;
}

Child::Child(Child&& other) noexcept { *this = std::move(other); }

Child& Child::operator=(Child&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(out_, other.out_);
  std::swap(err_, other.err_);
  std::swap(status_, other.status_);
  return *this;
}

Child::~Child() {
  kill();
  reap(0);
  for (const Pipe* pipe : {&out_, &err_})
    if (pipe->end >= 0) ::close(pipe->end);
}

bool Child::Pipe::take() {
  std::array<char, 65536> chunk;
  while (end >= 0) {
    const ssize_t got = ::read(end, chunk.data(), chunk.size());
    if (got > 0) {
      text.append(chunk.data(), static_cast<std::size_t>(got));
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return true;
    } else {
      ::close(end);
      end = -1;
    }
  }
  return false;
}

bool Child::wait(int milliseconds) {
  std::array<pollfd, 2> ends{pollfd{out_.end, POLLIN, 0}, pollfd{err_.end, POLLIN, 0}};
  ::poll(ends.data(), ends.size(), milliseconds);
  const bool ended = reap(WNOHANG);
  // What it started may have its pipes open longer than it lives, and all that it printed is in them.
  const bool more_out = out_.take(), more_err = err_.take();
  if (!ended && !more_out && !more_err) ::poll(nullptr, 0, milliseconds);  // it closed both and goes on
  return !ended;
}

void Child::interrupt() const {
  if (process_ > 0) ::kill(process_, SIGINT);
}

void Child::kill() const {
  if (process_ > 0) ::kill(process_, SIGKILL);
}

bool Child::reap(int how) {
  if (process_ <= 0) return true;
  int ended = 0;
  pid_t reaped = -1;
  do reaped = ::waitpid(process_, &ended, how);
  while (reaped < 0 && errno == EINTR);
  if (reaped == 0) return false;
  status_ = reaped != process_ ? 70 : WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  process_ = -1;
  return true;
}

}  // namespace rondo::tuner
