// What a comparison of a kernel with the reference said.
#pragma once

#include <string>

namespace rondo::engine {

struct Verdict {
  bool passed = true;
  // Of one that did not pass: the tensor furthest beyond its limit, and its error in units of the limit;
  // infinite where elements are missing, not finite or outside the tensor.
  std::string tensor;
  double excess = 0;
  std::string summary;  // one line or a few
};

}  // namespace rondo::engine
