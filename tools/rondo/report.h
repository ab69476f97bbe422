// Errors on the terminal, and the exit status they become (docs/command-line.md).
#pragma once

#include <cstdint>
#include <string>

#include "compiler/support/result.h"

namespace rondo::tools {

int exit_status(ErrorKind kind);
const char* kind_name(ErrorKind kind);  // "input", "unsupported", ...

// An error whose message is empty was shown already.
inline Error already_shown(ErrorKind kind) { return {kind, "", ""}; }

// "rondo: error: ..." and the hint below it, on standard error; with `json` also an object on standard
// output.
void report(const Error& error, bool as_json);
// Ends a command that printed the results it had before the error: "" where it has none, and nothing is
// printed but the error.
Error after_results(const std::string& results, const Error& error, bool as_json);
// The text with what a terminal would take for commands (control characters but new lines and tabs) as \\xNN:
// names and notes come from files of others.
std::string printable(const std::string& text);
// "512 bytes", "25.2 MB", "1.61 GB".
std::string size_text(std::int64_t bytes);
// A remark on standard error: "rondo: note: ...".
void note(const std::string& text);
// To standard output, at once, as printable() text. A reader that went away is no error.
void print(const std::string& text);
// Whether some of it could not be written, the disk being full for instance.
bool output_failed();

}  // namespace rondo::tools
