#include "runtime/device/gpu_turns.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace rondo::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kPoll{200};

// A lock on a file, free for any user of the machine; none where `path` is empty.
class FileLock {
 public:
  explicit FileLock(const std::string& path) {
    // A file of another user in a sticky directory may be opened, but not with O_CREAT (protected_regular).
    constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    file_ = ::open(path.c_str(), kFlags);
    if (file_ < 0 && errno == ENOENT) file_ = ::open(path.c_str(), kFlags | O_CREAT, 0644);
  }
  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock() {
    if (file_ >= 0) ::close(file_);
  }

  bool open() const { return file_ >= 0; }
  // By polling: flock() knows no time-out.
  bool lock_until(Clock::time_point end) const {
    while (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if ((errno != EWOULDBLOCK && errno != EINTR) || Clock::now() >= end) return false;
      std::this_thread::sleep_for(kPoll);
    }
    return true;
  }

 private:
  int file_ = -1;
};

std::string path_in(const std::string& directory, const std::string& gpu, const char* what) {
  std::error_code error;
  const std::filesystem::path place =
      directory.empty() ? std::filesystem::temp_directory_path(error) : std::filesystem::path(directory);
  return error ? "" : (place / fmt::format("rondo-{}.{}", gpu, what)).string();
}

}  // namespace

GpuTurns::GpuTurns(const std::string& gpu, const std::string& directory, Patience patience)
    : queue_(path_in(directory, gpu, "queue")), turn_(path_in(directory, gpu, "turn")), patience_(patience) {}

// Who waits for the turn holds the queue, so that a program which ends its turn and wants the next one comes
// after it.
std::shared_ptr<void> GpuTurns::take() {
  if (std::shared_ptr<void> held = held_.lock()) return held;
  const auto end = Clock::now() + patience_;
  const FileLock queue(queue_);
  auto turn = std::make_shared<FileLock>(turn_);
  if (!queue.open() || !turn->open()) return nullptr;
  if (!queue.lock_until(end) || !turn->lock_until(end)) {
    patience_ = Patience(0);
    return nullptr;
  }
  held_ = turn;
  return turn;
}

}  // namespace rondo::runtime
