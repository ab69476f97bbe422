// Cells that need the whole head, and points of stream for them.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "compiler/schedule/strategies.h"
#include "compiler/schedule/stream/head_space.h"
#include "compiler/step/simplify.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"

namespace rondo::schedule {

inline const Strategy& stream_of_heads() { return *find_strategy("stream"); }

inline std::vector<step::Cell> head_cells() {
  const std::string path = std::string(RONDO_SOURCE_DIR) + "/tests/schedule/stream/cells/";
  std::stringstream text;
  text << std::ifstream(path + "heads.cell").rdbuf() << std::ifstream(path + "moments.cell").rdbuf();
  const frontend::Parsed parsed = frontend::parse(text.str(), path);
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text.str(), path);
  return parsed.cells;
}

// A point of the whole head, with as many channels a thread as rows allow, up to `each`.
inline Parameters head_point(const Problem& problem, int each, int steps, int stages, int unroll,
                             int heads = 1) {
  int vector = static_cast<int>(16 / kernel::storage_bytes(problem.storage));
  while (problem.sizes.dim % vector != 0) vector /= 2;
  each = std::min(each, vector);
  const std::int64_t warps = (problem.sizes.dim + 32 * each - 1) / (32 * each);
  return {{"channels", warps * 32 * each},
          {"per_thread", each},
          {"steps", steps},
          {"stages", stages},
          {"unroll", unroll},
          {"vector", vector},
          {"producer_warps", 0},
          {"rewrite", 0},
          {"segments", 1},
          {"time_split", 1},
          {"stream_stores", 0},
          {"interleaved_copies", 0},
          {"pipeline_depth", 1},
          {"exchange", 0},
          {"heads", heads}};
}

inline Case case_of_head(const step::Cell& cell, Storage storage, const step::Sizes& sizes) {
  Case c{&stream_of_heads(), cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  return c;
}

// A point of whole heads, drawn at random: the space of all points is too thin for that where time can be
// cut.
inline Parameters some_point(const step::Cell& cell, const Problem& problem, std::mt19937& rng) {
  const constraint::System space = head_space({step::simplify(cell), problem, target::board()});
  for (;;) {
    Parameters point;
    for (std::size_t i = 0; i < space.domains().size(); ++i) {
      const auto& values = space.domains()[i].values();
      point[space.names().variables[i].name] = values[rng() % values.size()];
    }
    if (space.check(point)) return point;
  }
}

// The same where `blocks` of a cluster hold a head, with `each` channels a thread if rows allow. Every block
// must have a part of the head.
inline Parameters cluster_point(const Problem& problem, int each, int blocks, int steps, int unroll) {
  Parameters point = head_point(problem, each, steps, 2, unroll);
  if (point["vector"] * kernel::storage_bytes(problem.storage) == 16) point["per_thread"] = each;
  const std::int64_t turn = 32 * point["per_thread"];
  const std::int64_t warps = (problem.sizes.dim + turn - 1) / turn, of_block = (warps + blocks - 1) / blocks;
  EXPECT_LT((blocks - 1) * of_block, warps) << "a block without channels";
  point["channels"] = of_block * turn;
  point["head_split"] = blocks;
  return point;
}

}  // namespace rondo::schedule
