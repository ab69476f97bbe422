#include "engine/figures/cell_picture.h"

#include <fmt/format.h>

#include "compiler/step/derive.h"
#include "engine/figures/alone.h"
#include "engine/figures/step_graph.h"

namespace rondo::figures {

Result<std::string> cell_picture(const step::Cell& cell, bool backward) {
  const Figure figure = backward ? backward_graph(cell, step::backward_step(cell)) : step_graph(cell);
  if (!figure.draw)
    return Error{ErrorKind::Unsupported,
                 fmt::format("{} has more than {} boxes, too many for a picture", figure.title, kMostNodes),
                 "`rondo report` has them as a table"};
  return alone(figure, fmt::format("rondo-{}-{}", cell.name, backward ? "backward" : "step"));
}

}  // namespace rondo::figures
