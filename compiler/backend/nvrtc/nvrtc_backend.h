// The backend that writes CUDA C++ (compiler/backend/cuda) and compiles it with NVRTC.
#pragma once

#include "compiler/backend/interface/backend.h"

namespace rondo::backend {

const Backend& nvrtc_backend();

}  // namespace rondo::backend
