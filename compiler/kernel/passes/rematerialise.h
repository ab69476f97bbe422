// Values that cold branches (If::cold) compute anew. A value of the kernel's beginning that only a branch at
// its end reads keeps a register, or the place of one, through every loop between: the assembler of a GPU
// then schedules the loop worse, for code that hardly ever runs.
#pragma once

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// Each body of a cold branch begins with copies of the Let values from outside that it reads, where these
// come of nothing but constants, arguments and built-in numbers; it reads the copies. What was loaded, is a
// variable or comes of one it reads as before. Of cold branches in each other only the outermost is looked
// at. Values are unchanged bit for bit; the result is simplified (simplify.h) if anything changed.
Kernel rematerialise_cold(Kernel kernel);

}  // namespace rondo::kernel
