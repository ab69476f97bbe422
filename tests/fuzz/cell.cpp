// The text of a cell file: diagnostics, and where there are none every pass up to the backward step.
#include <algorithm>

#include "compiler/frontend/frontend.h"
#include "compiler/step/clip.h"
#include "compiler/step/derive.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/step/verify.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

constexpr std::size_t kMostNodes = 500;  // of cells that go on: five times the largest shipped one

void check_passes(const step::Cell& cell) {
  require(step::verify(cell).empty(), "the cell is well formed");
  const step::Structure structure = step::analyze(cell);
  step::describe(cell, structure);
  step::print(cell);
  const step::BackwardStep backward = step::backward_step(cell);
  require(step::verify(cell, backward).empty(), "its backward step is well formed");
  step::print(cell, backward);
  if (!structure.all_diagonal) return;
  require(step::verify(cell, step::jacobian_step(cell)).empty(), "its Jacobian is well formed");
}

void check_cell(const step::Cell& parsed) {
  require(step::verify(parsed).empty(), "a cell without diagnostics is well formed");
  if (parsed.graph.nodes.size() > kMostNodes) return;
  const step::Cell cell = step::simplify(parsed);
  check_passes(cell);
  require(step::canonical_hash(cell) == step::canonical_hash(step::simplify(cell)), "simplifying ends");
  const Result<step::Cell> clipped = step::clipped(cell, {.forward = 1.0, .gradient = 2.0});
  require(clipped.ok(), "every cell can be clipped");
  check_passes(step::simplify(*clipped));
}

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
