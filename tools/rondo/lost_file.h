// Files that become shorter while they are mapped (compiler/support/mapped_file.h).
#pragma once

namespace rondo::tools {

// From here on a read beyond the end of a mapped file, which the system answers by SIGBUS, ends the program
// with a message and the status of bad input.
void explain_lost_files();

}  // namespace rondo::tools
