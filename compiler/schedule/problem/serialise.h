// A problem as bytes: for other processes, and to be hashed.
#pragma once

#include "compiler/schedule/problem/problem.h"
#include "compiler/support/bytes.h"

namespace rondo::schedule {

void write_problem(ByteWriter& writer, const Problem& problem);
// Zeros and empty texts, and a reader that has failed, for bytes that hold none.
Problem read_problem(ByteReader& reader);

}  // namespace rondo::schedule
