// Cells as bytes: what is read back is what was written, with all names.
#include "compiler/step/serialise.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/step/clip.h"
#include "tests/step/cell_builder.h"
#include "tests/step/random_cell.h"

namespace rondo::step::testing {
namespace {

std::string bytes_of(const Cell& cell) {
  ByteWriter writer;
  write_cell(writer, cell);
  return writer.take();
}

TEST(SerialiseCell, ReadsBackWhatWasWritten) {
  std::vector<Cell> cells = {mingru(), lstm(), clipped(mingru(), {0.25, 1e-3}).value()};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) cells.push_back(random_cell_of_seed(seed));
  Random random(3);
  cells.push_back(random_cell(random, {.own_extent = 5}));
  for (const Cell& cell : cells) {
    const std::string bytes = bytes_of(cell);
    ByteReader reader(bytes);
    const Cell read = read_cell(reader);
    ASSERT_TRUE(reader.done()) << cell.name;
    EXPECT_EQ(read.name, cell.name);
    EXPECT_EQ(canonical_text(read), canonical_text(cell));
    EXPECT_EQ(print(read), print(cell)) << "names of values";
    EXPECT_EQ(read.clip.gradient, cell.clip.gradient);
    EXPECT_EQ(bytes_of(read), bytes);
  }
}

TEST(SerialiseCell, NamesOfValuesCount) {
  Cell cell = mingru(), other = cell;
  other.graph.nodes.back().label = "another";
  EXPECT_EQ(canonical_hash(cell), canonical_hash(other));
  EXPECT_NE(bytes_of(cell), bytes_of(other));
}

TEST(SerialiseCell, EveryTruncationFails) {
  const std::string bytes = bytes_of(lstm());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ByteReader reader(std::string_view(bytes).substr(0, size));
    (void)read_cell(reader);
    ASSERT_FALSE(reader.ok()) << size << " of " << bytes.size() << " bytes";
  }
}

// Passes over cells, the derivative among them, take it for granted that there is none.
TEST(SerialiseCell, ANodeThatOnlySchedulesMakeIsRefused) {
  Cell cell = lstm();
  Node spread;
  spread.kind = NodeKind::ReduceSpread;
  spread.operands = {0, 0};
  cell.graph.nodes.push_back(spread);
  const std::string bytes = bytes_of(cell);
  ByteReader reader(bytes);
  (void)read_cell(reader);
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace rondo::step::testing
