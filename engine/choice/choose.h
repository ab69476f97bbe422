// Which strategy and parameters to use, at once: what was tuned, by the user or for what is shipped, else
// what was tuned for a problem like it, else what the cost model thinks best. Never runs anything on a GPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/problem/task.h"
#include "engine/choice/candidates.h"
#include "engine/choice/shipped.h"
#include "tuning_db/database.h"
#include "tuning_db/lock_file.h"

namespace rondo::engine {

enum class ChoiceOrigin {
  Tuned,      // measured and verified for exactly this problem on this device
  Nearest,    // measured and verified for other B and T, or on another device of the architecture
  OtherPass,  // measured and verified for a pass whose kernels are nearly this one's; for this one it was not
              // measured, and is to be verified
  Model,      // the cost model's best; not measured
  // Of this problem or the nearest, and not verified on the platform asked for: by another program, on
  // another machine or GPU, under another driver. It must be verified before it may be called tuned.
  Elsewhere,
  Pinned,  // what a lock file says, for exactly this problem or for other B and T
  // Shipped with Rondo: measured and verified on a GPU of the kind by whoever shipped it. It is to be
  // verified here too, and keeps its name then.
  Shipped,         // for exactly this problem
  NearestShipped,  // for other B and T, or for another device of the architecture
  ShippedAlike,    // for another pass, type or H, or for another cell of the structure: not measured
};
// "tuned", "nearest tuned", "tuned for another pass", "by model", "recorded elsewhere", "pinned", "shipped",
// "nearest shipped", "shipped for a like problem"
const char* origin_name(ChoiceOrigin origin);

struct Choice {
  std::string strategy;
  schedule::Parameters parameters;
  ChoiceOrigin origin = ChoiceOrigin::Model;
  std::string cubin_key;   // of the tuned kernel; empty if it has to be looked up by source
  double expected_ms = 0;  // median as tuned (of the tuned problem), or the model's estimate
  std::string note;        // one line for people: where it comes from

  // Of all but Model: the database's trial, and the code of it that was verified on the platform asked for,
  // for the problem's pass (CacheKey::hash(); other code was not), "" where none was.
  std::int64_t trial = 0;
  std::string verified_code{};
  std::string verified_image{};                      // and its bytes: CompiledCode::digest()
  ChoiceOrigin once_verified = ChoiceOrigin::Tuned;  // what Elsewhere becomes
  // What is shipped, where it comes from there; it lives as long as the layer. `trial` is below 0 then, as
  // long as the database does not hold it.
  const ShippedChoice* shipped = nullptr;

  // Whether its code was compared with the reference where it is to run.
  bool proven() const { return !verified_code.empty(); }
};
// origin_name(), and that it is not proven, where it was made for a platform.
std::string label(const Choice& choice);
// The choice once its code was verified where it is to run.
Choice verified_here(Choice choice, const std::string& code, const std::string& image);

// Where a choice may come from beside the model. What is pointed to outlives the request.
struct Sources {
  db::Database* database = nullptr;       // none: by what is shipped, or by model
  const ShippedLayer* shipped = nullptr;  // lies under the database; none: nothing is shipped
  // Every choice comes from here, or there is none; the database then only knows the code and the proof of
  // it.
  const db::PinnedChoices* pinned = nullptr;
};

struct ChooseOptions : Sources {
  bool recorded = true;  // false: by model, and the database is asked for code and the model's opinion alone
  // What is found out is kept in the database, through a connection of its own if the given one only reads.
  // False: it is kept nowhere.
  bool keep = true;
  // Bytes to which base addresses and strides of the caller's tensors are aligned. A tuned choice that needs
  // more is replaced by the point of its space that differs in the fewest parameters.
  int alignment = kFullAlignment;
  // Where the choice is to run. Trials that were not verified there are Elsewhere, and those that were found
  // wrong there are no choice. None: nothing runs, and nothing needs proof.
  const db::Platform* platform = nullptr;
  std::vector<std::int64_t> refused{};  // trials that are no choice
};

// A problem as the database keys it. Overridden constants count as part of the cell.
db::Problem database_problem(const schedule::Task& task);
// The other passes, as the database keys them, whose kernels are nearly this pass's: forward with and without
// what training saves; backward with and without saved products.
std::vector<std::string> passes_alike(const schedule::Problem& problem);

// Parameters as the database's JSON object, and back; nullopt if it is none of integers.
std::string parameters_to_json(const schedule::Parameters& parameters);
std::optional<schedule::Parameters> parameters_from_json(const std::string& text);
// Parameters that any version recorded for a strategy, in a trial, an export or a lock file, as this version
// reads them: names of earlier versions replaced, and what was added since at neutral values
// (Strategy::completed). The database keeps what was recorded, byte for byte: the identity of a trial is a
// hash of its row, so an export read twice stays one trial, whichever version wrote it.
std::optional<schedule::Parameters> recorded_parameters(const std::string& strategy,
                                                        const std::string& recorded);
std::optional<schedule::Parameters> recorded_parameters(const db::Trial& trial);

// What is tuned for another pass, or shipped for a like problem, is taken only where its parameters are legal
// for this one and the model does not object: its time for them must lie within Strategy::model_error() times
// its best, or this factor for another strategy, and it must not see them spill where they did not in the
// other pass. (Of the choices tuned for the record of an H200 nearly all lie within 1.16 of the model's best;
// those of a pass that suit another badly lie above 1.3.) A record tuned for a distant B or T must also pass
// this factor, unless the model rated it equally badly there.
inline constexpr double kModelsFactor = 1.25;

// Errors: Unsupported when no strategy computes the problem. A database that cannot be read is not an error:
// the choice is the model's, and its note says why. With pinned choices also: Missing (nothing is pinned for
// the problem), Input (what is pinned cannot be built), Wrong (it was found wrong on the platform).
Result<Choice> choose(const schedule::Task& task, const ChooseOptions& options = {});

}  // namespace rondo::engine
