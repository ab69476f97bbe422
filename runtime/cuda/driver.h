// Everything of the CUDA driver in one include. None of these headers pulls in cuda.h.
#pragma once

#include "runtime/cuda/driver_device.h"   // IWYU pragma: export
#include "runtime/cuda/driver_graph.h"    // IWYU pragma: export
#include "runtime/cuda/driver_library.h"  // IWYU pragma: export
#include "runtime/cuda/driver_memory.h"   // IWYU pragma: export
#include "runtime/cuda/driver_module.h"   // IWYU pragma: export
#include "runtime/cuda/driver_stream.h"   // IWYU pragma: export
