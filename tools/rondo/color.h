// Colour of messages, on a terminal alone.
#pragma once

#include <string>

namespace rondo::tools {

enum class Color { Red, Yellow, Cyan };

// Whether what is written there may have colours: it is a terminal, or CLICOLOR_FORCE says so, and NO_COLOR
// does not forbid it (no-color.org, bixense.com/clicolors).
bool may_be_colored(int descriptor);

// The text for standard error, in bold and in that colour where that may be colored. The text must be
// printable() already.
std::string painted(Color color, const std::string& text);

// What render_all() says of a cell, for standard error: the words "error:" and "help:", and the carets.
std::string painted_diagnostics(const std::string& text);

}  // namespace rondo::tools
