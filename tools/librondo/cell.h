// The cells and diagnostics behind handles of the C interface.
#pragma once

#include <rondo/rondo.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compiler/frontend/frontend.h"
#include "compiler/step/structure.h"
#include "runtime/capi/launch/handle.h"

namespace rondo::capi {

// A cell with what is asked of it, worked out once.
struct CellObject {
  std::shared_ptr<const step::Cell> cell;
  std::string hash, structure;
  step::Structure analysis;
  bool saves_products = false;
  // Drawn when they are first asked for: of the step and of its backward step.
  std::mutex drawing;
  std::array<std::string, 2> pictures;
};
template <>
struct HandleOf<CellObject> {
  using Handle = rondo_cell;
  static constexpr HandleKind kind = HandleKind::Cell;
};

struct DiagnosticsObject {
  std::vector<frontend::Diagnostic> diagnostics;
  std::vector<std::string> rendered;
};
template <>
struct HandleOf<DiagnosticsObject> {
  using Handle = rondo_diagnostics;
  static constexpr HandleKind kind = HandleKind::Diagnostics;
};

}  // namespace rondo::capi
