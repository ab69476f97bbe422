// Text -> tokens.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/frontend/diagnostics.h"
#include "compiler/frontend/token.h"

namespace rondo::frontend {

// All tokens of `text`, the last one End. Line ends are tokens (the parser knows where they count); comments
// and blanks are dropped. Bytes that cannot be part of a token, malformed numbers and operators of other
// languages are reported and become Bad tokens. Any bytes are accepted.
std::vector<Token> tokenize(std::string_view text, Diagnostics& diagnostics);

}  // namespace rondo::frontend
