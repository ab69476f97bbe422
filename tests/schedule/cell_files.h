// The cell library as tests see it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/frontend/frontend.h"
#include "compiler/schedule/alternating/strategy.h"
#include "compiler/schedule/persistent/strategy.h"
#include "compiler/schedule/rewrite/deal_rows.h"
#include "compiler/schedule/stream/strategy.h"
#include "compiler/step/declared.h"
#include "compiler/step/structure.h"

namespace rondo::schedule {

inline std::vector<step::Cell> shipped_cells() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(RONDO_SOURCE_DIR) + "/cells"))
    if (entry.path().extension() == ".cell") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<step::Cell> cells;
  for (const auto& file : files) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    const frontend::Parsed parsed = frontend::parse(text.str(), file.string());
    EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text.str(), file.string());
    cells.insert(cells.end(), parsed.cells.begin(), parsed.cells.end());
  }
  return cells;
}

// Whether a state is a matrix, of so many rows that they are dealt.
inline bool has_matrix_state(const step::Cell& cell) { return outer_rows(cell) >= kLeastRowsDealt; }

// All but those that fire at a threshold: rounding moves a potential over it, and then all that follows is
// another number. tests/schedule/declared_test.cpp has such cells over small integers, and
// tests/python/test_spiking.py these beside their papers. Nor those whose state is a matrix: a step of so
// many rows takes long in each of the many ways that these cells go. tests/schedule/stream/rows_test.cpp has
// them. Nor those with max-plus products, which choose as thresholds do: tests/schedule/max_plus_cells.h.
inline std::vector<step::Cell> all_cells() {
  std::vector<step::Cell> cells = shipped_cells();
  std::erase_if(cells, [](const step::Cell& cell) {
    return step::declares_derivatives(cell.graph) || has_matrix_state(cell) || step::has_max_plus(cell);
  });
  return cells;
}

inline std::vector<step::Cell> matrix_state_cells() {
  std::vector<step::Cell> cells = shipped_cells();
  std::erase_if(cells, [](const step::Cell& cell) { return !has_matrix_state(cell); });
  return cells;
}

// Those `stream` is legal for.
inline std::vector<step::Cell> diagonal_cells() {
  std::vector<step::Cell> result;
  for (step::Cell& cell : all_cells())
    if (Stream().legal({cell, Problem{}, {}}).legal) result.push_back(std::move(cell));
  return result;
}

// Those with matrix products, that all strategies for such cells are legal for.
inline std::vector<step::Cell> dense_cells() {
  std::vector<step::Cell> result;
  for (step::Cell& cell : all_cells())
    if (Persistent().legal({cell, Problem{}, {}}).legal && Alternating().legal({cell, Problem{}, {}}).legal)
      result.push_back(std::move(cell));
  return result;
}

inline step::Cell cell_named(const std::string& name) {
  for (step::Cell& cell : shipped_cells())
    if (cell.name == name) return cell;
  throw std::runtime_error("no cell named " + name);
}

// 8 steps a stage, two segments, two blocks that finish a round in the next one.
inline Parameters stream_in_cluster_of_two(int channels, bool pieces) {
  return {{"channels", channels}, {"per_thread", 1},     {"steps", 16},
          {"stages", 2},          {"unroll", 4},         {"vector", 4},
          {"producer_warps", 0},  {"rewrite", 0},        {"segments", 4},
          {"time_split", 2},      {"pipeline_depth", 2}, {"interleaved_copies", pieces ? 1 : 0},
          {"exchange", 0},        {"stream_stores", 0}};
}

}  // namespace rondo::schedule
