// Many processes in one file, and processes that die at any moment.
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

#include "tests/tuning_db/fixture.h"

namespace rondo::db {
namespace {

class ProcessesTest : public DatabaseTest {};

constexpr int kTuners = 8;
constexpr int kTrials = 40;

// Rounds in which processes create a file at the same time; RONDO_CREATION_ROUNDS says another number.
int creation_rounds() {
  const char* wanted = std::getenv("RONDO_CREATION_ROUNDS");
  return wanted == nullptr ? 50 : std::atoi(wanted);
}

// One tuner: its own problem and one that all share; every trial is recorded and offered as best.
std::string tune(const std::string& file, int tuner) {
  Database db = sample_database(file);
  const std::int64_t own = must(db.upsert_problem(sample_problem(100 + tuner)));
  const std::int64_t shared = must(db.upsert_problem(sample_problem()));
  for (int k = 0; k < kTrials; ++k) {
    const double median = 1 + (k * 17 % kTrials) + 0.1 * tuner;
    const std::string parameters =
        "{\"tuner\":" + std::to_string(tuner) + ",\"k\":" + std::to_string(k) + "}";
    for (const std::int64_t problem : {own, shared})
      must(db.set_best(must(db.record_trial(problem, sample_trial(median, parameters))), Replace::IfFaster));
    Cubin cubin = sample_cubin(std::string(4000, static_cast<char>(k)));
    cubin.key.source = std::to_string(k);
    must(db.put_cubin(cubin));
  }
  return "done";
}

// What each of `count` processes that begin at the same moment says: body(0), body(1), ...
std::vector<std::string> all_at_once(int count, const std::function<std::string(int)>& body) {
  int start[2];
  EXPECT_EQ(::pipe(start), 0);
  std::vector<Child> children;
  for (int i = 0; i < count; ++i)
    children.push_back(start_child([&, i] {
      char byte;
      ::close(start[1]);
      return ::read(start[0], &byte, 1) == 0 ? body(i) : std::string("no start");
    }));
  ::close(start[0]);
  ::close(start[1]);
  std::vector<std::string> said;
  for (const Child& child : children) said.push_back(finish_child(child));
  return said;
}

TEST_F(ProcessesTest, EightTunersShareOneFile) {
  // All begin at once, with creating the file.
  EXPECT_EQ(all_at_once(kTuners, [&](int tuner) { return tune(file, tuner); }),
            std::vector<std::string>(kTuners, "done"));

  Database db = must(Database::open(file));
  EXPECT_TRUE(must(db.check()).empty());
  EXPECT_EQ(must(db.stats()).trials, 2 * kTuners * kTrials);
  EXPECT_EQ(must(db.stats()).problems, kTuners + 1);
  EXPECT_EQ(must(db.cubins()).size(), static_cast<std::size_t>(kTrials));
  std::set<std::string> seen;
  for (const Trial& trial : must(db.trials(sample_problem()))) seen.insert(trial.parameters);
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kTuners * kTrials));
  EXPECT_EQ(must(db.find_best(sample_problem()))->trial.median_ms, 1.0);
  for (int tuner = 0; tuner < kTuners; ++tuner)
    EXPECT_DOUBLE_EQ(must(db.find_best(sample_problem(100 + tuner)))->trial.median_ms.value(),
                     1 + 0.1 * tuner);
}

// Opens the file, writes a record if it may, and says what went wrong. A reader also accepts that nothing is
// there yet.
std::string open_and_use(const std::string& path, Access access) {
  Result<Database> db = Database::open(path, {access});
  if (!db.ok())
    return access == Access::ReadOnly && db.error().kind == ErrorKind::Missing ? "done" : db.error().message;
  if (access == Access::ReadWrite)
    if (const Status put = db->put_cell(sample_cell()); !put.ok()) return put.error().message;
  const auto cells = db->cells();
  return cells.ok() ? "done" : cells.error().message;
}

TEST_F(ProcessesTest, EightProcessesCreateOneFileWhileOthersRead) {
  for (int round = 0; round < creation_rounds(); ++round) {
    SCOPED_TRACE(round);
    const std::string path = file + std::to_string(round);
    // The second half has readers too; a process that reads must not take a half-made file for a damaged one.
    const int readers = round % 2 == 0 ? 0 : kTuners;
    const std::vector<std::string> said = all_at_once(kTuners + readers, [&](int i) {
      return open_and_use(path, i < kTuners ? Access::ReadWrite : Access::ReadOnly);
    });
    ASSERT_EQ(said, std::vector<std::string>(said.size(), "done"));
    Database db = must(Database::open(path, {Access::ReadOnly}));
    EXPECT_EQ(must(db.cells()).size(), 1u);
    EXPECT_TRUE(must(db.check()).empty());
  }
}

// Whoever finds another process in the way goes on without storing; what is found is always whole.
TEST_F(ProcessesTest, EightProcessesStoreOpinionsAtOnce) {
  const auto said = all_at_once(kTuners, [&](int process) {
    Database db = must(Database::open(file));
    const std::string model = process % 2 == 0 ? "even" : "odd";
    for (int k = 0; k < kTrials; ++k) {
      const std::string asked = std::to_string(k % 4), parameters = "{\"asked\":" + asked + "}";
      if (const Status put = db.put_opinion({model, asked, model, parameters, 1}); !put.ok())
        if (put.error().message.find("locked") == std::string::npos) return put.error().message;
      const std::optional<Opinion> found = must(db.find_opinion(model, asked));
      if (found && (found->strategy != model || found->parameters != parameters)) return found->parameters;
    }
    return std::string("done");
  });
  EXPECT_EQ(said, std::vector<std::string>(kTuners, "done"));
  Database db = must(Database::open(file));
  EXPECT_TRUE(must(db.check()).empty());
  EXPECT_GT(must(db.stats()).opinions, 0);
  EXPECT_LE(must(db.stats()).opinions, 4);
}

// Writes until it is killed, and reports each trial's number when the call has returned.
[[noreturn]] void write_forever(const std::string& file, int round, int report) {
  try {
    Database db = sample_database(file);
    const std::int64_t problem = must(db.upsert_problem(sample_problem(1 + round)));
    for (int k = 0;; ++k) {
      const std::int64_t id =
          must(db.record_trial(problem, sample_trial(1000 - k % 1000, "{\"k\":" + std::to_string(k) + "}")));
      if (::write(report, &k, sizeof k) != sizeof k) ::_exit(3);
      must(db.set_best(id, Replace::IfFaster));
      if (k % 3 != 0) continue;
      Cubin cubin =
          sample_cubin(std::string(30'000, static_cast<char>(k)));  // makes the log grow past checkpoints
      cubin.key.source = std::to_string(k % 20);
      must(db.put_cubin(cubin));
    }
  } catch (const std::exception&) {
  }
  ::_exit(4);
}

// The numbers reported until the writer was killed, `pause` after its first commit (or after its start).
std::vector<int> run_and_kill(const std::string& file, int round, bool after_first_commit,
                              std::chrono::microseconds pause) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    write_forever(file, round, ends[1]);
  }
  ::close(ends[1]);
  std::vector<int> reported;
  int k = 0;
  if (after_first_commit && ::read(ends[0], &k, sizeof k) == sizeof k) reported.push_back(k);
  // Drained while it writes, so that a full pipe never stops the writer.
  std::thread killer([child, pause] {
    std::this_thread::sleep_for(pause);
    ::kill(child, SIGKILL);
  });
  while (::read(ends[0], &k, sizeof k) == sizeof k) reported.push_back(k);
  killer.join();
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  return reported;
}

TEST_F(ProcessesTest, AWriterKilledFiftyTimesLosesNothing) {
  std::mt19937 random(20240611);
  std::vector<int> counts;
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    // Every fifth dies while opening or creating, the others while writing.
    const bool writing = round % 5 != 0;
    const std::chrono::microseconds pause(
        std::uniform_int_distribution<int>(0, writing ? 25'000 : 6'000)(random));
    const std::vector<int> reported = run_and_kill(file, round, writing, pause);

    Database db = must(Database::open(file));
    ASSERT_EQ(must(db.check()), std::vector<std::string>());
    std::set<std::string> stored;
    for (const Trial& trial : must(db.trials(sample_problem(1 + round)))) stored.insert(trial.parameters);
    for (const int k : reported) EXPECT_TRUE(stored.contains("{\"k\":" + std::to_string(k) + "}")) << k;
    // At most the one that was under way when the writer died.
    EXPECT_LE(stored.size(), reported.size() + 1);
    counts.push_back(static_cast<int>(reported.size()));
  }
  // Nothing of earlier rounds is gone either, and the test did test something.
  Database db = must(Database::open(file));
  std::int64_t total = 0;
  for (int round = 0; round < 50; ++round) {
    const auto stored = static_cast<int>(must(db.trials(sample_problem(1 + round))).size());
    EXPECT_GE(stored, counts[static_cast<std::size_t>(round)]);
    total += stored;
  }
  EXPECT_GT(total, 80);
}

}  // namespace
}  // namespace rondo::db
