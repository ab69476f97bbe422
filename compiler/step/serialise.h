// A cell as bytes: for other processes, and to be hashed where names count.
#pragma once

#include "compiler/step/step_ir.h"
#include "compiler/support/bytes.h"

namespace rondo::step {

// A cell with everything a strategy reads of it, names included; the text of the file and places in it stay
// behind. What reads well may still be no cell: verify() tells.
void write_cell(ByteWriter& writer, const Cell& cell);
// Zeros and empty texts, and a reader that has failed, for bytes that hold none.
Cell read_cell(ByteReader& reader);

}  // namespace rondo::step
