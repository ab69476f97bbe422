// Text of a cell file -> checked StepIR. Grammar: docs/language.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/step/step_ir.h"

namespace rondo::frontend {

struct Diagnostic {
  step::Span span;
  std::string message;  // what is wrong, in the user's terms
  std::string help;     // what to do; may be empty
};

struct Parsed {
  std::vector<step::Cell> cells;        // the cells of the file, empty if there are diagnostics
  std::vector<Diagnostic> diagnostics;  // all errors of the file, in source order
  std::vector<Diagnostic> remarks;      // what may not be what was meant, of a file without errors
  bool ok() const { return diagnostics.empty(); }
};

// Never throws on bad text, whatever its bytes; never recurses deeper than a fixed limit (deep nesting is a
// diagnostic).
Parsed parse(std::string_view text, const std::string& path);

// "path:line:column: error: message", the source line, a caret line, and the help line.
std::string render(const Diagnostic& diagnostic, std::string_view text, std::string_view path,
                   std::string_view kind = "error");
// All of them, and a closing count.
std::string render_all(const Parsed& parsed, std::string_view text, std::string_view path);

// The remarks in the same form, with "remark" for "error"; "" where there are none.
std::string render_remarks(const Parsed& parsed, std::string_view text, std::string_view path);

// The syntax tree as text, for `rondo emit --stage ast`; empty if the text does not parse.
std::string print_ast(std::string_view text, std::string_view path);

}  // namespace rondo::frontend
