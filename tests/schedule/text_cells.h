// Cells from their text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/frontend/frontend.h"

namespace rondo::schedule {

inline std::vector<step::Cell> cells_of_text(const std::string& text) {
  const frontend::Parsed parsed = frontend::parse(text, "test.cell");
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text, "test.cell");
  return parsed.cells;
}

inline step::Cell cell_of_text(const std::string& text) { return cells_of_text(text).at(0); }

}  // namespace rondo::schedule
