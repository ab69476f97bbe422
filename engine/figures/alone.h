// A picture that stands alone: in a file, a notebook or a page of another program.
#pragma once

#include <string>

#include "engine/figures/figure.h"

namespace rondo::figures {

// Colours, fonts and line widths of pictures: figures.css of this folder, compiled in. For a page that holds
// them beside its pictures, which then follow it from light to dark.
const std::string& style();

// The picture, which there must be (Figure::draw), as an SVG document. It has its own rules, with the light
// colours as numbers and on a ground of its own, and they hold within it alone, whatever page it is put into.
std::string alone(const Figure& figure, const std::string& id);

}  // namespace rondo::figures
