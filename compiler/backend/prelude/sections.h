// Helper functions of emitted text: a backend's files of them, cut into sections that are emitted only where
// something asks for them.
#pragma once

#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/support/embedded_text.h"

namespace rondo::backend {

// A helper of fixed text: a section of a file that the build embeds. A section begins with a line
// `MARK NAME` or `MARK NAME needs OTHER ...` and ends before the next such line; what stands above the first
// one is for readers of the file and is not emitted. Helpers stand after the helpers that they need.
struct Helper {
  std::string_view name;
  std::vector<std::string_view> needs;
  std::string_view text;  // one declaration, with the comment above it; ends with one line break
};

// The sections of such a text, in its order; they are views of it. `mark` begins a comment of the text's
// language: "//:" or ";:". Throws std::logic_error, with the line, where a section has no name or no text:
// the files are part of the program.
std::vector<Helper> parse_helpers(std::string_view text, std::string_view mark);

// The sections of all `files`, those of order[0] first: a file may need helpers of those before it. Throws
// std::logic_error where a file is not in the order, or is missing.
std::vector<Helper> read_helpers(const std::vector<EmbeddedText>& files,
                                 std::span<const std::string_view> order, std::string_view mark);

// The helpers with others in the place of those of the same names: forms of them that some targets need.
// Throws std::logic_error where a form has a name that no helper has.
std::vector<Helper> with_forms(std::vector<Helper> helpers, const std::vector<Helper>& forms);

// Adds the helper of this name, and all that it needs, to `required`. A name that is none is left alone.
void require_helper(const std::vector<Helper>& helpers, std::string_view name,
                    std::set<std::string_view>& required);

}  // namespace rondo::backend
