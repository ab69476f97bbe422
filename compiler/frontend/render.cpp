// Diagnostics as text for a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/frontend.h"

namespace rondo::frontend {
namespace {

constexpr int kTabWidth = 4;
constexpr std::size_t kExcerptWidth = 100;  // longer lines are cut to a window around the caret

std::string_view line_of(std::string_view text, int line) {
  std::size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  std::string_view result = text.substr(begin, text.find('\n', begin) - begin);
  if (!result.empty() && result.back() == '\r') result.remove_suffix(1);
  if (line == 1 && result.substr(0, 3) == "\xEF\xBB\xBF") result.remove_prefix(3);
  return result;
}

// A line as terminal cells, one string a cell: tabs widened, control characters and broken UTF-8 made visible
// as '?'. starts[i] is the cell at which character i (0-based) begins.
struct Cells {
  std::vector<std::string> text;
  std::vector<std::size_t> starts;
};

std::size_t utf8_length(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || length > bytes.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(bytes[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

Cells to_cells(std::string_view line) {
  Cells cells;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t length = utf8_length(line.substr(at));
    const auto byte = static_cast<unsigned char>(line[at]);
    // The lexer does not count continuation bytes as characters, stray ones included.
    if ((byte & 0xC0) != 0x80) cells.starts.push_back(cells.text.size());
    if (byte == '\t') {
      do cells.text.emplace_back(" ");
      while (cells.text.size() % kTabWidth != 0);
    } else if (length == 0 || byte < ' ' || byte == 0x7F) {
      cells.text.emplace_back("?");
    } else {
      cells.text.emplace_back(line.substr(at, length));
    }
    at += std::max<std::size_t>(1, length);
  }
  return cells;
}

// The source line and the caret line, without their margin.
struct Excerpt {
  std::string source, carets;
};

Excerpt excerpt(std::string_view line, const step::Span& span) {
  const Cells cells = to_cells(line);
  const auto cell_of = [&](int column) {
    const auto i = static_cast<std::size_t>(std::max(0, column));
    return i < cells.starts.size() ? cells.starts[i] : cells.text.size() + (i - cells.starts.size());
  };
  const std::size_t caret = cell_of(span.column - 1);
  std::size_t end = std::max(caret + 1, cell_of(span.column - 1 + span.length));
  std::size_t from = 0, to = cells.text.size();
  if (to > kExcerptWidth) {
    from = caret > kExcerptWidth / 2 ? caret - kExcerptWidth / 2 : 0;
    from = std::min(from, to - kExcerptWidth);
    to = from + kExcerptWidth;
  }
  Excerpt result;
  if (from > 0) result.source = "...", result.carets = "   ";
  for (std::size_t i = from; i < to; ++i) result.source += cells.text[i];
  if (to < cells.text.size()) result.source += "...";
  end = std::min(end, std::max(to, caret + 1));
  result.carets += std::string(caret - from, ' ') + "^" + std::string(end - caret - 1, '~');
  return result;
}

}  // namespace

std::string render(const Diagnostic& diagnostic, std::string_view text, std::string_view path,
                   std::string_view kind) {
  const step::Span& span = diagnostic.span;
  std::string result =
      fmt::format("{}:{}:{}: {}: {}\n", path, span.line, span.column, kind, diagnostic.message);
  const std::string number = fmt::format("{:>5}", span.line);
  const std::string margin(number.size(), ' ');
  const Excerpt shown = excerpt(line_of(text, span.line), span);
  result += fmt::format("{} | {}\n{} | {}\n", number, shown.source, margin, shown.carets);
  if (!diagnostic.help.empty()) result += fmt::format("{} = help: {}\n", margin, diagnostic.help);
  return result;
}

std::string render_remarks(const Parsed& parsed, std::string_view text, std::string_view path) {
  std::string result;
  for (const Diagnostic& remark : parsed.remarks) result += render(remark, text, path, "remark");
  return result;
}

std::string render_all(const Parsed& parsed, std::string_view text, std::string_view path) {
  if (parsed.diagnostics.empty()) return "";
  std::string result;
  for (const Diagnostic& diagnostic : parsed.diagnostics) result += render(diagnostic, text, path);
  const std::size_t count = parsed.diagnostics.size();
  return result + fmt::format("{}: {} error{}\n", path, count, count == 1 ? "" : "s");
}

}  // namespace rondo::frontend
