// The derivatives of the normalised cells of the library, which reduce over the head, against central
// differences.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "compiler/frontend/frontend.h"
#include "compiler/step/structure.h"
#include "tests/step/gradient_check.h"
#include "tests/step/random_cell.h"

namespace rondo::step::testing {
namespace {

Cell from_library(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(std::string(RONDO_SOURCE_DIR) + "/cells/" + name + ".cell").rdbuf();
  const frontend::Parsed parsed = frontend::parse(text.str(), name);
  EXPECT_TRUE(parsed.ok() && parsed.cells.size() == 1) << name;
  return parsed.cells.at(0);
}

TEST(NormalisedGradients, AgreeWithCentralDifferences) {
  for (const char* name : {"lngru", "lnlstm", "rmslstm"})
    for (const Sizes& sizes : {Sizes{2, 3, 2, 4}, Sizes{1, 2, 1, 7}, Sizes{1, 3, 1, 1}}) {
      const Cell cell = from_library(name);
      ASSERT_TRUE(analyze(cell).has_reduction) << name;
      Random random(3);
      const ForwardArguments<double> arguments = random_arguments(cell, sizes, random);
      const GradientReport report = check_gradients(cell, sizes, arguments, random_loss(cell, sizes, random));
      EXPECT_EQ(report.mismatch, "") << name << " with D = " << sizes.dim;
      EXPECT_GT(report.nonzero, 10) << name;
      EXPECT_LE(report.unusable, report.compared / 20) << name;
    }
}

}  // namespace
}  // namespace rondo::step::testing
