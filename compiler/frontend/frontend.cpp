#include "compiler/frontend/frontend.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/frontend/function_library.h"
#include "compiler/frontend/lexer.h"
#include "compiler/frontend/lower_cell.h"
#include "compiler/frontend/parser.h"

namespace rondo::frontend {
namespace {

constexpr std::size_t kMaxFileSize = 1 << 20;

// Lowers the file's cells and functions in the order of the text.
class FileLowering {
 public:
  FileLowering(const ast::File& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  std::vector<step::Cell> run() {
    const bool syntax_errors = diagnostics_.count() > 0;
    for (const auto& item : file_.items) {
      if (const auto* statement = std::get_if<ast::Statement>(&item)) announce(*statement);
    }
    for (const auto& item : file_.items) std::visit([&](const auto& node) { lower(node); }, item);
    if (cells_.empty() && !syntax_errors) {
      diagnostics_.error({1, 1, 1}, "this file holds no cell", "a cell begins like 'cell lstm(D) {'");
    } else if (!syntax_errors) {
      functions_.report_unused({}, diagnostics_);
    }
    return std::move(cells_);
  }

 private:
  void announce(const ast::Statement& statement) {
    if (const auto* function = std::get_if<ast::Function>(&statement.node)) {
      functions_.announce(function->name, statement.span);
    } else if (const auto* broken = std::get_if<ast::Broken>(&statement.node)) {
      broken_.insert(broken->names.begin(), broken->names.end());
    }
  }

  void lower(const ast::Statement& statement) {
    if (std::holds_alternative<ast::Function>(statement.node)) {
      define_function(statement, nullptr, functions_, diagnostics_);
    }
  }

  void lower(const ast::Cell& cell) {
    const auto [earlier, fresh] = lines_.emplace(cell.name, cell.span.line);
    if (!fresh) {
      diagnostics_.error(cell.span,
                         fmt::format("cell '{}' is already defined (line {})", cell.name, earlier->second));
    }
    cells_.push_back(lower_cell(cell, functions_, broken_, diagnostics_));
  }

  const ast::File& file_;
  Diagnostics& diagnostics_;
  Functions library_ = library_functions();
  Functions functions_{&library_};
  std::set<std::string> broken_;  // names in functions with syntax errors
  std::map<std::string, int> lines_;
  std::vector<step::Cell> cells_;
};

// What a file is that is no text, and where such files go; none for text. A few stray control characters are
// reported each by itself.
std::optional<std::string> no_text(std::string_view text) {
  constexpr std::pair<std::string_view, const char*> kKnown[] = {
      {"\x93NUMPY", "this is a .npy array: `rondo run` takes those by --input NAME=FILE"},
      {"SQLite format 3", "this is a database: a tuning database is named by --db"},
      {"\x7F"
       "ELF",
       "this is a program or a library"},
      {"\xFF\xFE", "this is text in UTF-16: save it as UTF-8"},
      {"\xFE\xFF", "this is text in UTF-16: save it as UTF-8"}};
  for (const auto& [begin, help] : kKnown)
    if (text.starts_with(begin)) return help;
  constexpr std::ptrdiff_t kMostStray = 8;
  const auto stray = std::ranges::count_if(text, [](char c) {
    const bool blank = c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
    return (static_cast<unsigned char>(c) < ' ' && !blank) || c == 0x7F;
  });
  if (stray <= kMostStray) return std::nullopt;
  return "give the path of a .cell file, which is text in UTF-8";
}

}  // namespace

Parsed parse(std::string_view text, const std::string& path) {
  Diagnostics diagnostics;
  Parsed parsed;
  if (text.size() > kMaxFileSize) {
    diagnostics.error({1, 1, 1},
                      fmt::format("this file has {} bytes; the limit is {}", text.size(), kMaxFileSize));
  } else if (const std::optional<std::string> help = no_text(text)) {
    diagnostics.error({1, 1, 1}, "this file is no text", *help);
  } else {
    const std::vector<Token> tokens = tokenize(text, diagnostics);
    const ast::File file = parse_file(tokens, diagnostics);
    parsed.cells = FileLowering(file, diagnostics).run();
  }
  parsed.diagnostics = diagnostics.take();
  parsed.remarks = diagnostics.take_remarks();
  if (!parsed.ok()) {
    parsed.cells.clear();
    parsed.remarks.clear();
  }
  for (step::Cell& cell : parsed.cells) {
    cell.source = text;
    cell.path = path;
  }
  return parsed;
}

}  // namespace rondo::frontend
