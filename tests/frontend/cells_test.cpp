// Every shipped cell: well formed, and of the structure its name promises.
#include <gtest/gtest.h>

#include <map>

#include "compiler/step/structure.h"
#include "tests/frontend/support.h"

namespace rondo::frontend::testing {
namespace {

struct Expected {
  int states;
  bool all_diagonal, affine, has_matrix, has_reduction = false, has_along = false;
};

const std::map<std::string, Expected>& expected_structures() {
  static const std::map<std::string, Expected> table = {
      {"affine", {1, true, true, false}},
      {"alif", {3, false, false, true}},
      {"lif", {2, true, false, false}},
      {"blockgru", {1, false, false, true}},
      {"elman", {1, false, false, true}},
      {"gated_deltanet", {64, true, true, false}},
      {"gru", {1, false, false, true}},
      {"hgrn", {1, true, true, false}},
      {"indrnn", {1, true, false, false}},
      {"janet", {1, false, false, true}},
      {"linear_attention", {128, true, true, false}},
      {"lngru", {1, false, false, true, true}},
      {"lnlstm", {2, false, false, true, true}},
      {"lstm", {2, false, false, true}},
      {"lru", {2, true, true, false}},
      {"m2rnn", {1, false, false, true}},
      {"mgu", {1, false, false, true}},
      {"mingru", {1, true, true, false}},
      {"minlstm", {1, true, true, false}},
      {"mlstm", {129, true, false, false}},
      {"onlstm", {2, false, false, true, true, true}},
      {"paragru", {1, true, false, false}},
      {"paralstm", {2, true, false, false}},
      {"peephole", {2, false, false, true}},
      {"rmslstm", {2, false, false, true, true}},
      {"rglru", {1, true, true, false}},
      {"rwkv4", {3, true, false, false}},
      {"rwkv7", {64, true, true, false}},
      {"slstm", {4, false, false, true}},
      {"sru", {1, true, false, false}},
      {"viterbi", {1, false, false, true}},
      {"zoneout", {2, false, false, true}},
  };
  return table;
}

TEST(Cells, EveryOneIsListedHere) {
  std::vector<std::string> files, listed;
  for (const auto& path : cell_files("cells")) files.push_back(path.stem());
  for (const auto& [name, expected] : expected_structures()) listed.push_back(name);
  EXPECT_EQ(files, listed);
}

TEST(Cells, ParseVerifyAndHaveTheExpectedStructure) {
  for (const auto& [name, expected] : expected_structures()) {
    SCOPED_TRACE(name);
    const step::Cell cell = shipped(name);
    EXPECT_EQ(cell.name, name);
    EXPECT_EQ(step::verify(cell), std::vector<std::string>());
    EXPECT_EQ(cell.source, read_file(source_dir() / "cells" / (name + ".cell")));
    const step::Structure structure = step::analyze(cell);
    EXPECT_EQ(structure.states, expected.states);
    EXPECT_EQ(structure.all_diagonal, expected.all_diagonal);
    EXPECT_EQ(structure.affine, expected.affine);
    EXPECT_EQ(structure.has_matrix, expected.has_matrix);
    EXPECT_EQ(structure.has_reduction, expected.has_reduction);
    EXPECT_EQ(structure.has_along, expected.has_along);
  }
}

TEST(Cells, OutputHIsTheNextState) {
  const step::Cell cell = shipped("lstm");
  ASSERT_EQ(cell.outputs.size(), 1u);
  const auto state = cell.state_behind(cell.outputs[0]);
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(cell.tensors[static_cast<std::size_t>(state->tensor)].name, "h");
  EXPECT_FALSE(shipped("sru").state_behind(shipped("sru").outputs[0]).has_value());
}

TEST(Cells, ParsingIsDeterministic) {
  for (const auto& [name, expected] : expected_structures()) {
    EXPECT_EQ(step::print(shipped(name)), step::print(shipped(name)));
    EXPECT_EQ(step::canonical_hash(shipped(name)), step::canonical_hash(shipped(name)));
  }
}

TEST(Cells, HashIgnoresNamesOfValuesAndComments) {
  const std::string text = read_file(source_dir() / "cells/mingru.cell");
  std::string renamed = text;
  for (std::size_t at; (at = renamed.find("z =")) != std::string::npos;) renamed.replace(at, 3, "gate =");
  for (std::size_t at; (at = renamed.find("(1 - z)")) != std::string::npos;)
    renamed.replace(at, 7, "( 1 - gate )");
  for (std::size_t at; (at = renamed.find("+ z *")) != std::string::npos;) renamed.replace(at, 5, "+ gate *");
  ASSERT_NE(renamed, text);
  EXPECT_EQ(step::canonical_hash(parse_one("# another comment\n" + renamed)),
            step::canonical_hash(parse_one(text)));
}

}  // namespace
}  // namespace rondo::frontend::testing
