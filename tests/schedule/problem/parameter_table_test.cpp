// The tables of parameters: what each strategy's says, and what reading and writing by a table do.
#include "compiler/schedule/problem/parameter_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <stdexcept>

#include "compiler/schedule/alternating/geometry.h"
#include "compiler/schedule/host/parameters.h"
#include "compiler/schedule/persistent/parameters.h"
#include "compiler/schedule/shoot/parameters.h"
#include "compiler/schedule/stream/parameters.h"
#include "tests/schedule/problem/parameter_texts.h"

namespace rondo::schedule {
namespace {

template <class P>
class OfAStrategy : public ::testing::Test {};
using All = ::testing::Types<AlternatingParameters, HostParameters, PersistentParameters, ShootParameters,
                             StreamParameters>;
TYPED_TEST_SUITE(OfAStrategy, All);

// Any value that a row has.
Parameters random_point(std::span<const ParameterRow> rows, std::mt19937& random) {
  Parameters point;
  for (const ParameterRow& row : rows) {
    std::int64_t value = 0;
    do {
      value = std::uniform_int_distribution<int>(row.values.least(), row.values.most())(random);
    } while (!row.values.contains(value));
    point.emplace(row.name, value);
  }
  return point;
}

TYPED_TEST(OfAStrategy, ReadsWhatItWrites) {
  constexpr const auto& table = kParameters<TypeParam>;
  std::mt19937 random(1);
  for (int turn = 0; turn < 100; ++turn) {
    const Parameters point = random_point(table.rows(), random);
    EXPECT_EQ(write_parameters(read_parameters<TypeParam>(point)), point);
  }
}

TYPED_TEST(OfAStrategy, IsTheTableOfTheStrategyOfThatName) {
  constexpr const auto& table = kParameters<TypeParam>;
  const Strategy* strategy = find_strategy(std::string(table.strategy()));
  ASSERT_NE(strategy, nullptr);
  ASSERT_EQ(strategy->parameters().data(), table.rows().data());
  EXPECT_EQ(strategy->parameters().size(), table.rows().size());
}

TYPED_TEST(OfAStrategy, HasEachDefaultAmongTheValues) {
  const Parameters initial = write_parameters(TypeParam{});
  for (const ParameterRow& row : kParameters<TypeParam>.rows()) {
    EXPECT_TRUE(row.values.contains(row.initial)) << row.name;
    EXPECT_EQ(initial.at(std::string(row.name)), row.initial);
  }
}

TYPED_TEST(OfAStrategy, ReadsOldNamesAndFillsWhatWasAdded) {
  constexpr const auto& table = kParameters<TypeParam>;
  std::mt19937 random(2);
  Parameters wanted = random_point(table.rows(), random), recorded = wanted;
  for (const ParameterRow& row : table.rows()) {
    const std::string name(row.name), was(row.past.was);
    if (row.past.added) {
      recorded.erase(name);
      wanted[name] = row.initial;
    } else if (!was.empty()) {
      recorded[was] = recorded.at(name) - row.past.shift;
      recorded.erase(name);
    }
  }
  EXPECT_EQ(completed(recorded, table.rows()), wanted);
  for (const ParameterRow& row : table.rows()) {
    if (row.past.was.empty()) continue;
    const Parameters one = renamed({{std::string(row.past.was), 7}}, table.rows());
    EXPECT_EQ(one, (Parameters{{std::string(row.name), 7 + row.past.shift}}));
    Parameters both = wanted;
    both[std::string(row.past.was)] = 7;
    EXPECT_THROW(read_parameters<TypeParam>(completed(both, table.rows())), std::logic_error) << row.past.was;
  }
}

// No old name stands for two parameters, or is the name of another one.
TYPED_TEST(OfAStrategy, HasEachNameOnce) {
  std::set<std::string_view> names;
  for (const ParameterRow& row : kParameters<TypeParam>.rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    if (!row.past.was.empty()) {
      EXPECT_TRUE(names.insert(row.past.was).second) << row.past.was;
    }
    EXPECT_FALSE(row.label.empty()) << row.name;
  }
}

// One of each kind.
struct Own {
  int steps = 16;
  int lines = 3;
  bool eager = false;
  Rewrite rewrite = Rewrite::None;
};

constexpr auto kSteps = row<Own, &Own::steps>("steps", {8, 16, 32}, "steps");
constexpr auto kLines = row<Own, &Own::lines>("lines", Between{0, 9}, "lines", {.optional = true});
constexpr auto kEager = row<Own, &Own::eager>("eager", "eager", {.added = true});
constexpr auto kRewrite = row<Own, &Own::rewrite>(Rewrite::Latency, "rewrite");

}  // namespace

template <>
inline constexpr auto kParameters<Own> = parameter_table<Own>("own", {kSteps, kLines, kEager, kRewrite});

namespace {

TEST(ParameterTable, ReadsEachKind) {
  const Own own = read_parameters<Own>({{"steps", 8}, {"lines", 0}, {"eager", 1}, {"rewrite", 1}});
  EXPECT_EQ(own.steps, 8);
  EXPECT_EQ(own.lines, 0);
  EXPECT_TRUE(own.eager);
  EXPECT_EQ(own.rewrite, Rewrite::Latency);
  const Own least = read_parameters<Own>({{"steps", 17}, {"rewrite", 0}});
  EXPECT_EQ(least.steps, 17) << "between values that are searched";
  EXPECT_EQ(least.lines, 3);
  EXPECT_FALSE(least.eager);
  EXPECT_EQ((named<Own, &Own::rewrite>(Rewrite::Latency)), (Parameters::value_type{"rewrite", 1}));
}

TEST(ParameterTable, NamesAllFaultsAtOnce) {
  try {
    read_parameters<Own>({{"lines", 10}, {"eager", -1}, {"rewrite", 2}, {"colour", 1}});
    FAIL();
  } catch (const std::logic_error& faults) {
    EXPECT_STREQ(faults.what(),
                 "own: there is no parameter colour; eager is -1, not 0 to 1; lines is 10, not 0 to 9; "
                 "rewrite is 2, not 0 to 1; parameter steps is missing");
  }
}

TEST(ParameterTable, RefusesTwoRowsOfOneParameterAndAStrangeDefault) {
  using Two = ParameterTable<Own, 2>;
  EXPECT_NO_THROW((Two("own", {kSteps, kLines})));
  constexpr auto again = row<Own, &Own::lines>("steps", Between{0, 9}, "another member");
  EXPECT_THROW((Two("own", {kSteps, again})), const char*);
  constexpr auto same_member = row<Own, &Own::steps>("turns", {16, 32}, "the same member");
  EXPECT_THROW((Two("own", {kSteps, same_member})), const char*);
  constexpr auto strange = row<Own, &Own::lines>("lines", {1, 2, 4}, "not 3");
  EXPECT_THROW((Two("own", {kSteps, strange})), const char*);
}

// RONDO_UPDATE_GOLDEN=1 writes the rows anew.
TEST(ParameterTable, StandsInTheStrategysPage) {
  for (const Strategy* strategy : strategies()) {
    const std::string path = std::string(RONDO_SOURCE_DIR) + "/docs/strategies/" + strategy->name() + ".md";
    std::string page = testing::file_text(path);
    std::size_t first = page.find(testing::kPageHeader);
    ASSERT_NE(first, std::string::npos) << path << " has no table of parameters";
    first += testing::kPageHeader.size();
    const std::size_t count = page.find("\n\n", first) + 1 - first;
    const std::string rows = testing::page_rows(strategy->parameters());
    if (std::getenv("RONDO_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(path) << page.replace(first, count, rows);
      continue;
    }
    EXPECT_EQ(page.substr(first, count), rows) << path << ": RONDO_UPDATE_GOLDEN=1 writes it anew";
  }
}

TEST(ParameterTable, IsWhatReadersOfRecordsKnow) {
  const std::string path = std::string(RONDO_SOURCE_DIR) + "/benchmarks/parameter_names.json";
  if (std::getenv("RONDO_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << testing::names_json();
  EXPECT_EQ(testing::file_text(path), testing::names_json()) << "RONDO_UPDATE_GOLDEN=1 writes it anew";
}

}  // namespace
}  // namespace rondo::schedule
