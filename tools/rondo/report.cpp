#include "tools/rondo/report.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/support/enum_text.h"
#include "tools/rondo/color.h"

namespace rondo::tools {

int exit_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Input: return 2;
    case ErrorKind::Unsupported: return 3;
    case ErrorKind::Missing: return 4;
    case ErrorKind::Database: return 5;
    case ErrorKind::Device: return 6;
    case ErrorKind::Compile: return 7;
    case ErrorKind::Wrong: return 8;
    case ErrorKind::Cancelled: return 130;
    case ErrorKind::Internal: return 70;
    case ErrorKind::Memory: return 71;
  }
  return 70;
}

namespace {

constexpr EnumText<ErrorKind> kErrorKinds[] = {
    {ErrorKind::Input, "input"},       {ErrorKind::Unsupported, "unsupported"},
    {ErrorKind::Missing, "missing"},   {ErrorKind::Database, "database"},
    {ErrorKind::Device, "device"},     {ErrorKind::Compile, "compile"},
    {ErrorKind::Wrong, "wrong"},       {ErrorKind::Cancelled, "cancelled"},
    {ErrorKind::Internal, "internal"}, {ErrorKind::Memory, "memory"}};
static_assert(is_total(kErrorKinds));

}  // namespace

const char* kind_name(ErrorKind kind) { return to_text(kErrorKinds, kind); }

void report(const Error& error, bool as_json) {
  if (error.message.empty()) return;
  std::string text = painted(Color::Red, "rondo: error:") + fmt::format(" {}\n", printable(error.message));
  if (!error.hint.empty())
    text += "  " + painted(Color::Cyan, "hint:") + fmt::format(" {}\n", printable(error.hint));
  if (error.kind == ErrorKind::Internal)
    text += "  this is a defect of Rondo: please report it with the command line and the cell file\n";
  std::fputs(text.c_str(), stderr);
  if (!as_json) return;
  const nlohmann::json object = {
      {"error", {{"kind", kind_name(error.kind)}, {"message", error.message}, {"hint", error.hint}}}};
  print(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Error after_results(const std::string& results, const Error& error, bool as_json) {
  if (results.empty()) return error;
  if (as_json) print(results);
  report(error, false);
  return already_shown(error.kind);
}

std::string printable(const std::string& text) {
  const auto is_control = [&](std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20) return byte != '\n' && byte != '\t';
    // U+0080 to U+009F, the control characters beyond ASCII, begin with 0xC2 in UTF-8.
    const bool follows = at > 0 && static_cast<unsigned char>(text[at - 1]) == 0xC2;
    return byte == 0x7F || (follows && byte >= 0x80 && byte < 0xA0);
  };
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at)
    if (is_control(at))
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    else
      result += text[at];
  return result;
}

std::string size_text(std::int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (number < 1e5) return fmt::format("{} bytes", bytes);
  const auto [unit, name] = number < 1e8 ? std::pair(1e6, "MB") : std::pair(1e9, "GB");
  const double value = number / unit;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, name);
}

void note(const std::string& text) {
  std::fputs((painted(Color::Yellow, "rondo: note:") + " " + printable(text) + "\n").c_str(), stderr);
}

namespace {
bool failed = false;
}

void print(const std::string& given) {
  const std::string text = printable(given);
  errno = 0;
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  failed = failed || (!written && errno != EPIPE);
}

bool output_failed() { return failed; }

}  // namespace rondo::tools
