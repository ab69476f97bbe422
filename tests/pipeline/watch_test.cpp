// What a pass tells a watcher, and what becomes of one that is broken.
#include "compiler/pipeline/watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "compiler/kernel/builder/builder.h"
#include "compiler/pipeline/record.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/step/verify.h"
#include "engine/request/load_cell.h"
#include "tests/pipeline/verifying.h"

namespace rondo::pipeline {
namespace {

using testing::Verifying;

void wait_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

Made text(const std::string& made) {
  return {[=] { return made; }, [] { return std::vector<std::string>{}; }};
}

TEST(Watched, NobodyIsAskedWhereNobodyWatches) {
  const int made = watched(
      nullptr, Pass::EmitText, [] { return 3; },
      [](int) {
        Made result = text("3");
        result.print = []() -> std::string { throw std::logic_error("printed"); };
        return result;
      });
  EXPECT_EQ(made, 3);
}

TEST(PassRecord, CountsRunsAndTakesInnerPassesOut) {
  PassRecord record;
  for (int i = 0; i < 2; ++i)
    watched(
        &record, Pass::Lower,
        [&] {
          watched(
              &record, Pass::ShortenChain,
              [] {
                wait_ms(40);
                return 0;
              },
              [](int) { return text("s"); });
          return 0;
        },
        [](int) { return text("l"); });
  const auto rows = record.rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].pass, Pass::ShortenChain) << "in the order of the list";
  EXPECT_EQ(rows[1].pass, Pass::Lower);
  EXPECT_EQ(rows[0].runs, 2);
  EXPECT_EQ(rows[1].runs, 2);
  EXPECT_GE(rows[0].ms, 80);
  EXPECT_LT(rows[1].ms, rows[0].ms / 2) << "Lower itself did nothing";
  const std::string table = print_times(rows, 1000);
  EXPECT_NE(table.find("shorten-chain    StepIR        2"), std::string::npos) << table;
}

TEST(PassRecord, KeepsWhatIsAskedForAndEachTextOnce) {
  PassRecord record({Pass::Clip});
  for (const char* made : {"a", "b", "a"}) {
    watched(
        &record, Pass::Clip, [] { return 0; }, [&](int) { return text(made); });
    watched(
        &record, Pass::Forms, [] { return 0; }, [&](int) { return text(made); });
  }
  const auto texts = record.texts();
  ASSERT_TRUE(texts.ok());
  EXPECT_EQ(print_texts(*texts), "# after clip: StepIR\na\n# after clip: StepIR\nb\n");
  PassRecord other({Pass::Lower});
  watched(
      &other, Pass::Clip, [] { return 0; }, [&](int) { return text("a"); });
  EXPECT_EQ(other.texts().error().message, "pass lower does not run on the way to this");
  EXPECT_EQ(other.texts().error().hint, "these do: clip");
}

// A pass that leaves a state without its next value, and one that uses a value before it is there.
TEST(BrokenPass, IsFoundByItsVerifierAndNamed) {
  const auto file = engine::load_cell_file("mingru");
  ASSERT_TRUE(file.ok());
  const step::Cell& cell = file->parsed.cells.front();
  Verifying verifying;
  const auto made = [](const step::Cell& broken) { return step::made(broken); };
  const auto forgets = [&] {
    step::Cell broken = cell;
    broken.next.pop_back();
    return broken;
  };
  const auto looks_ahead = [&] {
    step::Cell broken = cell;
    broken.graph.nodes.back().operands.front() = static_cast<step::NodeId>(broken.graph.nodes.size());
    return broken;
  };
  EXPECT_NO_THROW(watched(
      &verifying, Pass::Simplify, [&] { return cell; }, made));
  for (const auto& [name, run] :
       {std::pair<std::string, std::function<step::Cell()>>{"simplify", forgets}, {"simplify", looks_ahead}})
    try {
      watched(&verifying, Pass::Simplify, run, made);
      ADD_FAILURE() << "not found";
    } catch (const BrokenPass& found) {
      EXPECT_EQ(found.pass, Pass::Simplify);
      EXPECT_EQ(std::string(found.what()).find("pass " + name + ": "), 0u) << found.what();
    }
}

// A strategy that writes a kernel which is not well formed is found in every build, watched or not.
TEST(BrokenPass, KernelsAreAlwaysVerified) {
  schedule::KernelPlan plan;
  kernel::Builder b("broken", 32);
  b.let("x", b.thread());
  kernel::Kernel kernel = b.kernel();
  kernel.threads = 0;
  plan.launches.push_back({kernel, {}});
  try {
    schedule::simplify_kernels({}, plan);
    ADD_FAILURE() << "not found";
  } catch (const BrokenPass& found) {
    EXPECT_EQ(std::string(found.what()).find("pass simplify-kernel: kernel broken: "), 0u) << found.what();
  }
}

TEST(Passes, AnUnknownNameListsAll) {
  const auto wrong = passes_named("simplfy");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().kind, ErrorKind::Input);
  EXPECT_EQ(wrong.error().message, "unknown pass 'simplfy'");
  for (const PassInfo& row : kPasses) {
    EXPECT_NE(wrong.error().hint.find(row.text), std::string::npos) << row.text;
    EXPECT_EQ(passes_named(row.text).value(), std::vector{row.value});
  }
  EXPECT_EQ(passes_named("all")->size(), std::size(kPasses));
  EXPECT_TRUE(passes_named("")->empty());
  EXPECT_NE(parse_stage("kernels").error().hint.find("kernel, cuda"), std::string::npos);
}

// docs/overview.md has the rows of the list, in its order.
TEST(Passes, ThePageShowsTheList) {
  std::string rows;
  for (const PassInfo& row : kPasses)
    rows += std::string("| `") + row.text + "` | " + to_text(kLevels, row.level) + " | " + row.what + " | " +
            (*row.verifier != '\0' ? "`" + std::string(row.verifier) + "`" : "-") + " |\n";
  const char* moved = std::getenv("RONDO_SOURCE_DIR");
  std::ifstream file(std::string(moved != nullptr ? moved : RONDO_SOURCE_DIR) + "/docs/overview.md");
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_NE(page.str().find("|---|---|---|---|\n" + rows + "\n"), std::string::npos)
      << "the table of passes in docs/overview.md should be:\n"
      << rows;
}

}  // namespace
}  // namespace rondo::pipeline
