// A cell's step as a picture.
#include "compiler/schedule/problem/task.h"
#include "engine/figures/cell_picture.h"
#include "runtime/capi/launch/call.h"
#include "tools/librondo/cell.h"

namespace rondo::capi {
namespace {

Result<const char*> picture_of(CellObject& object, bool backward) {
  const std::lock_guard lock(object.drawing);
  std::string& kept = object.pictures[backward ? 1 : 0];
  if (kept.empty()) {
    const schedule::Task task(*object.cell, {}, {});  // of no problem: it has the cell as all passes have it
    Result<std::string> made = figures::cell_picture(task.cell, backward);
    if (!made) return made.error();
    kept = std::move(made).value();
  }
  return kept.c_str();
}

}  // namespace
}  // namespace rondo::capi

using namespace rondo;  // NOLINT: a source of the C interface

extern "C" {

rondo_status rondo_cell_get_picture(const rondo_cell* cell, int32_t backward, const char** svg) {
  return capi::with<capi::CellObject>(cell, [&](auto& object) -> Status {
    if (Status status = capi::not_null(svg, "svg"); !status) return status;
    *svg = nullptr;
    if (Status status = capi::zero_or_one(backward, "backward"); !status) return status;
    return capi::give(capi::picture_of(object, backward != 0), svg);
  });
}

}  // extern "C"
