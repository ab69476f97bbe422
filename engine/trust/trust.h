// Whether a kernel may run under the name of what is recorded of it. A record proves nothing by itself: it
// may come from another program, machine or driver. Its code is verified where it runs before it is called
// tuned, once; the result is kept.
#pragma once

#include <functional>
#include <string>

#include "compiler/executable/executable.h"
#include "compiler/support/result.h"
#include "engine/choice/choose.h"
#include "engine/data/given_data.h"

namespace rondo::engine {

// What a comparison with the reference found.
struct Compared {
  bool passed = false;
  std::string summary;
};

// What is verified is kept in the database too. Platform and refused trials are those of the call.
struct TrustOptions : ChooseOptions {
  bool strict = false;                             // nothing is verified now: what has no proof is refused
  bool later = false;                              // nor here, but what was compiled here serves without
  std::function<void(const std::string&)> note{};  // remarks for people: what was verified, and what it cost
  bool at_shape = true;                            // verified_plan() compares at the full shape too
  bool arbitrary_states = false;                   // verified_plan(): initial states are random numbers
  Given given{};                                   // verified_plan(): what of its data is not random
  // Without a database: makes one, so that what is verified is kept. None: it is not kept.
  std::function<Result<db::Database>()> create{};
  // Compares code of others with the reference in a process of its own (tuner/trial/verify_alone.h). None:
  // code of others is not used.
  std::function<Result<Compared>(const schedule::Task&, const executable::Executable&, std::int64_t turn)>
      trial{};
};

// How a choice becomes a kernel and the kernel is compared with the reference: on a GPU (trusted_plan.h), or
// a test's stand-in.
class TrustWork {
 public:
  struct Made {
    Choice choice;
    std::string code;   // CacheKey::hash() of the kernel
    std::string image;  // CompiledCode::digest(): of the bytes that run
    std::string
        origin{};  // of code of others that has to be verified in a trial process; "": it may run here
  };
  using Outcome = Compared;

  virtual ~TrustWork() = default;
  // The kernel of what choose() gives.
  virtual Result<Made> make(const ChooseOptions& options) = 0;
  // Compares the kernel made last with the reference, code of others in a trial process. Error Input: nothing
  // can be compared (the reference is not finite); other kinds: what kept it from running.
  virtual Result<Outcome> verify() = 0;
  // Stores the code of the kernel made last, unless it is of others.
  virtual void keep(db::Database& database) = 0;
};

// Makes the kernel that a problem gets on the platform. One that comes from a record, of this pass or of
// another one, and was not verified here for this pass is verified first; one that is wrong is passed over
// for the next choice. What the model chose is no record: it is called that and needs no proof, except with
// `strict`. With `later` the caller has it verified by another call, and until then it is called unproven:
// the kernel is kept for that call. Code of others is verified in a trial process before any of it is loaded
// here; what is wrong, or cannot be compared, is blocked in the database. Errors: Missing (strict, and no
// proof), Wrong (code of others that nothing else can take the place of), those of the work.
Result<Choice> trusted_choice(TrustWork& work, const db::Platform& platform, const schedule::Problem& problem,
                              const TrustOptions& options);

// Verifies code of others in a trial process, and blocks it where it does not agree. Errors: Wrong (it is not
// to be used), Missing (there is no trial process).
Status admit_foreign(TrustWork& work, const TrustWork::Made& made, const TrustOptions& options);

// Keeps what was found of a choice that comes from a record, for the problem's pass and sizes; what is
// shipped is stored beside it. Error: why it could not be kept.
Status keep_verification(TrustWork& work, const TrustWork::Made& made, const db::Platform& platform,
                         const schedule::Problem& problem, const TrustWork::Outcome& outcome,
                         db::Database& database);

}  // namespace rondo::engine
