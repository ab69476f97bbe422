#include "compiler/frontend/function_library.h"

#include <stdexcept>

#include "compiler/frontend/check_function.h"
#include "compiler/frontend/lexer.h"
#include "compiler/frontend/parser.h"
#include "compiler/support/embedded_text.h"

namespace rondo::frontend {

const std::vector<EmbeddedText>& embedded_library();

namespace {

// The trees, read once.
std::vector<ast::File> read_library() {
  std::vector<ast::File> files;
  Diagnostics diagnostics;
  for (const EmbeddedText& file : embedded_library())
    files.push_back(parse_file(tokenize(file.text, diagnostics), diagnostics));
  if (diagnostics.count() > 0) throw std::logic_error("the library of functions has a syntax error");
  return files;
}

}  // namespace

Functions library_functions() {
  static const std::vector<ast::File> files = read_library();
  Functions functions;
  for (const ast::File& file : files)
    for (const auto& item : file.items) {
      const auto& statement = std::get<ast::Statement>(item);
      functions.add(std::get<ast::Function>(statement.node), statement.span).library = true;
    }
  return functions;
}

bool is_complex(const ast::Parameter& parameter) { return parameter.name == "z" || parameter.name == "w"; }

}  // namespace rondo::frontend
