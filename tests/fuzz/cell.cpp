// The text of a cell file: diagnostics, and where there are none every pass up to the backward step.
#include <algorithm>

#include "compiler/frontend/frontend.h"
#include "tests/fuzz/passes.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

void check_diagnostic(const frontend::Diagnostic& diagnostic, std::int64_t lines) {
  const step::Span& span = diagnostic.span;
  require(span.line >= 1 && span.line <= lines && span.column >= 1, "an error lies in the file");
  require(!diagnostic.message.empty(), "an error has a message");
}

}  // namespace
}  // namespace rondo::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rondo;
  const std::string_view text = fuzz::text_of(data, size);
  const frontend::Parsed parsed = frontend::parse(text, "fuzz.cell");
  fuzz::require(parsed.ok() == !parsed.cells.empty(), "there are errors, or cells");
  fuzz::require(frontend::render_all(parsed, text, "fuzz.cell").empty() == parsed.ok(), "errors are shown");
  frontend::print_ast(text, "fuzz.cell");
  const std::int64_t lines = std::count(text.begin(), text.end(), '\n') + 1;
  for (const frontend::Diagnostic& diagnostic : parsed.diagnostics) fuzz::check_diagnostic(diagnostic, lines);
  for (const step::Cell& cell : parsed.cells) fuzz::check_cell(cell);
  return 0;
}
