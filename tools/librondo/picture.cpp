// A cell's step as a picture.
#include <fmt/format.h>

#include "compiler/schedule/problem/task.h"
#include "compiler/step/derive.h"
#include "runtime/capi/launch/call.h"
#include "tools/librondo/cell.h"
#include "tuner/figures/alone.h"
#include "tuner/figures/step_graph.h"

namespace rondo::capi {
namespace {

Result<std::string> drawn(const step::Cell& given, bool backward) {
  const schedule::Task task(given, {}, {});  // of no problem: it has the cell as all passes have it
  const step::Cell& cell = task.cell;
  const figures::Figure figure =
      backward ? figures::backward_graph(cell, step::backward_step(cell)) : figures::step_graph(cell);
  if (!figure.draw)
    return Error{
        ErrorKind::Unsupported,
        fmt::format("{} has more than {} boxes, too many for a picture", figure.title, figures::kMostNodes),
        "`rondo report` has them as a table"};
  return figures::alone(figure, fmt::format("rondo-{}-{}", cell.name, backward ? "backward" : "step"));
}

Result<const char*> picture_of(CellObject& object, bool backward) {
  const std::lock_guard lock(object.drawing);
  std::string& kept = object.pictures[backward ? 1 : 0];
  if (kept.empty()) {
    Result<std::string> made = drawn(*object.cell, backward);
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
