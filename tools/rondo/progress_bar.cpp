#include "tools/rondo/progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace rondo::tools {
namespace {

constexpr int kBarWidth = 20;
constexpr double kRedraw_s = 0.1;

int terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string progress_line(const tuner::Progress& progress, double budget_s, int columns) {
  const double by_time = budget_s > 0 ? 1 - progress.seconds_left / budget_s : 0;
  const double by_count =
      progress.total > 0 ? static_cast<double>(progress.tried) / static_cast<double>(progress.total) : 0;
  const int full = static_cast<int>(kBarWidth * std::clamp(std::max(by_time, by_count), 0.0, 1.0));
  std::string line = fmt::format("[{:#<{}}{:.<{}}] {}: {} of {} tried", "", full, "", kBarWidth - full,
                                 tuner::phase_name(progress.phase), progress.tried, progress.total);
  line += fmt::format(", {:.0f} s left", std::max(0.0, progress.seconds_left));
  if (progress.best_ms > 0) line += fmt::format(", best {:.4f} ms ({})", progress.best_ms, progress.best);
  return line.substr(0, static_cast<std::size_t>(std::max(1, columns - 1)));
}

std::string progress_line(std::size_t done, std::size_t all, const std::string& what, int columns) {
  const double share = all > 0 ? static_cast<double>(done) / static_cast<double>(all) : 0;
  const int full = static_cast<int>(kBarWidth * std::clamp(share, 0.0, 1.0));
  const std::string line =
      fmt::format("[{:#<{}}{:.<{}}] {} of {}: {}", "", full, "", kBarWidth - full, done, all, what);
  return line.substr(0, static_cast<std::size_t>(std::max(1, columns - 1)));
}

StatusLine::StatusLine() : terminal_(::isatty(STDERR_FILENO) == 1) {}

StatusLine::~StatusLine() { wipe(); }

void StatusLine::wipe() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void StatusLine::show(const std::function<std::string(int columns)>& line) {
  if (!terminal_ || clock_() < next_) return;
  next_ = clock_() + kRedraw_s;
  drawn_ = true;
  std::fputs(fmt::format("\r\033[K{}", line(terminal_columns())).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace rondo::tools
