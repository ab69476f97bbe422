// The tuning database: one SQLite file with device profiles, cells, problems, trials, the best of them, and
// cubins.
//
// Any number of processes may use one file on a local disk; each call is one short transaction, so killing a
// process loses nothing that a call has returned for. (SQLite's write-ahead log needs shared memory: on a
// network file system only one machine at a time.) All errors are values of kind Database, or Input for a
// record that cannot be stored; messages name the file, what is wrong and what to do. A file that is damaged
// or belongs to another application is never changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "tuning_db/exchange.h"
#include "tuning_db/records.h"

namespace rondo::db {

enum class Access {
  ReadWrite,  // creates the file if there is none, and brings older ones to this program's schema
  ReadOnly,   // works in a read-only folder too; there the file must not be changed by others meanwhile
};

struct OpenOptions {
  Access access = Access::ReadWrite;
  std::chrono::milliseconds busy_timeout{10'000};  // how long to wait for other processes
};

// When a verified trial takes the place of the best so far.
enum class Replace {
  IfFaster,  // there is none, or its median is longer: what concurrent tuners want
  Always,    // the user's choice, or a new measurement that overrides the old
};

// What decides between a new trial and the best so far, with Replace::IfFaster. A claim of another run,
// machine or driver is not weighed against a time measured here.
struct Contest {
  const Platform* platform = nullptr;  // where the new one was timed: a best not timed there gives way
  std::int64_t beaten = 0;             // a trial that was timed beside the new one, and lost: it gives way
};

// The best trial of a problem, seen from the one that was asked for: the same, or one near it.
struct Neighbour {
  Problem problem;
  Trial trial;
  Distance distance;
  // On the platform and for the pass asked for: at the wanted B and T, else at the neighbour's own.
  std::optional<Verification> verification;
};

struct ProblemSummary {
  Problem problem;
  std::string cell_name;
  std::int64_t trials = 0;
  std::optional<Trial> best;
  bool verified_here = false;  // the best was, on some platform that used this file
  // Of the stored kernel of the best: Cubin::origin; none where no kernel of it is stored.
  std::optional<std::string> kernel_origin{};
};

struct CubinSummary {
  std::string key, arch, compiler_version, flags;
  std::int64_t bytes = 0;
  std::int64_t created_at = 0;
  std::string origin;  // provenance() words it
};

struct Stats {
  std::int64_t devices = 0, cells = 0, problems = 0, trials = 0, verified = 0, best = 0, cubins = 0;
  std::int64_t verifications = 0, opinions = 0;
  std::int64_t cubin_bytes = 0;
  std::int64_t file_bytes = 0;  // main file and log
  int schema_version = 0;
};

struct MergeReport {
  std::int64_t devices = 0, cells = 0, problems = 0, trials = 0, cubins = 0;  // added or renewed
  std::int64_t known_trials = 0;                                              // were there already
  std::int64_t best = 0;                                                      // problems whose best changed
};

struct PruneReport {
  std::int64_t trials = 0, cubins = 0;
  std::int64_t bytes_before = 0, bytes_after = 0;  // of the main file and log
};

// $RONDO_DB, else $XDG_DATA_HOME/rondo/tuning.db, else ~/.local/share/rondo/tuning.db; Error Missing without
// a HOME.
Result<std::string> default_path();

// An open database. Move-only; calls from several threads are taken one at a time. A process that forks must
// open it anew in the child.
class Database {
 public:
  // Folders are not created. Opening for reading where there is no file, or one that holds nothing yet
  // because another process is only creating it, is Error Missing ("nothing is tuned yet").
  static Result<Database> open(const std::string& path, const OpenOptions& options = {});
  // The file at default_path(), whose folder is created when opened for writing.
  static Result<Database> open_default(const OpenOptions& options = {});
  // Whether the file has an older schema than this program's, which opening for writing brings up to date and
  // opening for reading refuses. Errors: those of opening for reading, where the file cannot be looked at.
  static Result<bool> is_older(const std::string& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  const std::string& path() const;  // absolute
  Access access() const;

  // Devices and cells. A shipped profile never replaces a measured one. A cell whose hash is known stays as
  // it is.
  Status put_device(const Device& device);
  Result<std::optional<Device>> get_device(const std::string& key);
  Result<std::vector<Device>> devices();
  Status put_cell(const Cell& cell);
  Result<std::vector<Cell>> cells();
  // By name, the newest where it has several, or by the start of the hash. None where nothing matches; Error
  // Input with the candidates where several hashes begin so.
  Result<std::optional<Cell>> find_cell(const std::string& name_or_hash);

  // Problems and trials. The problem's cell and device must be there; the same problem gives the same id.
  Result<std::int64_t> upsert_problem(const Problem& problem);
  // The trial's id; of the trial recorded before where all but its id is equal.
  Result<std::int64_t> record_trial(std::int64_t problem, const Trial& trial);
  // Makes the trial its problem's best; false where Replace::IfFaster keeps another. Error Input unless
  // trial.may_be_best().
  Result<bool> set_best(std::int64_t trial, Replace replace, const Contest& contest = {});
  Result<std::optional<Neighbour>> find_best(const Problem& problem, const Platform* platform = nullptr);
  // The best trials of this problem and of those that differ in device, B, T or pass only, the least distance
  // first, so that this problem's own comes first if it has one. Other passes are those of `passes`. With a
  // platform each comes with what was verified there, if anything was.
  Result<std::vector<Neighbour>> neighbours(const Problem& problem,
                                            const std::vector<std::string>& passes = {},
                                            const Platform* platform = nullptr);
  // The trial as it is stored here for the problem `tuned`, seen from the one that was asked for; none where
  // it is not. All but its id counts. Whether it is best does not matter.
  Result<std::optional<Neighbour>> find_trial(const Problem& tuned, const Trial& trial, const Problem& wanted,
                                              const Platform* platform = nullptr);
  // Verifications. Recording one again, for the same code, sizes and platform, replaces it; that its trial
  // was timed there stays.
  Status record_verification(const Verification& verification);
  Result<std::vector<Verification>> verifications(std::int64_t trial);
  Result<std::vector<Trial>> trials(const Problem& problem);  // in order of recording
  // All problems, or those of one cell (by hash) or of all cells of a name, sorted by cell name and shape.
  Result<std::vector<ProblemSummary>> list(const std::string& of_cell = "");

  // Opinions of cost models. Storing one replaces what was stored for `asked`, and drops those of other
  // models, and the oldest where there are more than kMostOpinions. It does not wait for other processes:
  // storing one is worth less than that.
  static constexpr std::int64_t kMostOpinions = 4096;
  Status put_opinion(const Opinion& opinion);
  Result<std::optional<Opinion>> find_opinion(const std::string& model, const std::string& asked);

  // Cubins. Storing one whose key is there replaces it. A damaged image is an Error: use it as a miss and
  // store a new one; it is never returned.
  Result<std::string> put_cubin(const Cubin& cubin);  // the key
  Result<std::optional<Cubin>> get_cubin(const CacheKey& key);
  Result<std::optional<Cubin>> get_cubin(const std::string& key_hash);
  Result<std::vector<CubinSummary>> cubins();
  // Code from elsewhere that was found wrong here: it is never taken again. What was compiled here stays.
  Status block_cubin(const std::string& key_hash, const std::string& why);

  // What a caller asks of contents from elsewhere, beyond what the database checks by itself: an error
  // refuses them.
  using Check = std::function<Status(const Contents&)>;

  // Exchange. The formats are in exchange.h and lock_file.h; `of_cell` is as in list(). What comes
  // in is recorded elsewhere: it never takes the place of a best that was verified here, nor comes back as
  // best where it was found wrong; of two that were not, the faster claim is kept. Times below least_ms() are
  // an Error Input. Trials that are already there are not added again. It is done whole or not at all;
  // code that comes in under a key voids what was verified under it.
  Result<Contents> contents(const std::string& of_cell = "");
  Result<std::string> export_json(const std::string& of_cell = "");
  Result<MergeReport> import_json(const std::string& text,
                                  const std::string& origin,  // file, for messages
                                  const Check& check = {});
  Result<MergeReport> merge(const Contents& contents);
  // Kernels of the other file come with it only where they are asked for: they are programs of whoever made
  // that file. They are stored as merged from it, and stand in the way of none that is here.
  enum class Kernels { Left, Taken };
  Result<MergeReport> merge_database(const std::string& path, const Check& check = {},
                                     Kernels kernels = Kernels::Left);
  Result<std::string> export_lock(const std::string& of_cell = "");

  // Care.
  // Moves what the log holds into the file, as far as no other process is in the way. Closing does that only
  // where no other connection is open, and a file with a log cannot be read in a folder that is read-only.
  Status empty_log();
  Result<Stats> stats();
  // What check() finds of pages and references: who is about to write much asks this. Damaged kernels are no
  // danger, since they are compiled again.
  Result<std::vector<std::string>> damage();
  // Everything that can be wrong with the file, one finding a line; reads it whole. Empty when sound.
  Result<std::vector<std::string>> check();
  // Removes trials, cubins and opinions from before the time `before`, except the best and their cubins, and
  // what was verified of removed trials, and shrinks the file. Opinions are not counted in the report.
  Result<PruneReport> prune(std::int64_t before);

 private:
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// `body(database)` with the database itself where it may be written, else through another connection to its
// file. Errors: those of opening that, and of `body`.
template <class Body>
Status write_to(Database& database, Body&& body, const OpenOptions& options = {}) {
  if (database.access() == Access::ReadWrite) return body(database);
  Result<Database> writer = Database::open(database.path(), options);
  if (!writer) return writer.error();
  Status done = body(*writer);
  (void)writer->empty_log();
  return done;
}

}  // namespace rondo::db
