// What an assembler of PTX gives.
#pragma once

#include <string>

namespace rondo::backend {

struct Assembled {
  std::string cubin;
  std::string log;  // of ptxas --verbose: what the kernels use (ptxas_log.h)
};

}  // namespace rondo::backend
