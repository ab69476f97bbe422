// What the tuning database stores, as plain values. Strings are UTF-8; times are seconds since 1970, UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/support/result.h"
#include "tuning_db/cache_key.h"

namespace rondo::db {

// Where the figures of a device profile come from.
enum class Origin {
  Shipped,   // public figures that travel with Rondo
  Measured,  // `rondo calibrate` on the device itself
};
std::string_view to_text(Origin origin);  // "shipped", "measured"
std::optional<Origin> origin_from_text(std::string_view text);

struct Device {
  std::string key;   // "h200", or what tells this board from others; problems name it
  std::string name;  // "NVIDIA H200", as the driver names it
  int compute_major = 0;
  int compute_minor = 0;
  int sm_count = 0;
  std::string driver;          // driver version; empty for a shipped profile
  std::string profile = "{}";  // JSON (compiler/target/profile.h)
  Origin origin = Origin::Shipped;
  std::int64_t calibrated_at = 0;  // 0 for a shipped profile
};

struct Cell {
  std::string hash;    // of the canonical form: equal for texts that mean the same
  std::string name;    // "lstm"
  std::string source;  // the cell's text
};

// B sequences of T steps, H heads of D units.
struct Shape {
  std::int64_t B = 1, T = 1, H = 1, D = 1;
  bool operator==(const Shape&) const = default;
};

// The shape's bucket, "B8-T4096-H1-D1536": B and T rounded up to powers of two, H and D (compiled in) as they
// are.
std::string bucket(const Shape& shape);

// What is tuned. All fields together are the unique key.
struct Problem {
  std::string cell;    // hash of a cell in the database
  std::string device;  // key of a device in the database
  std::string arch;    // "sm_90"
  Shape shape;
  std::string dtype;  // storage type: "bf16", "fp16", "fp32"
  std::string math;   // "fast", "accurate" or "tf32"
  std::string pass;   // "fw", "bw", ...: the direction and what it saves
  bool operator==(const Problem&) const = default;
};

// Error Input naming the empty field or the extent below 1.
Status validate(const Problem& problem);
// Milliseconds that no GPU undercuts: half a microsecond for a launch, or one 16-bit result a head and step
// at 100 TB/s. What claims to be faster was not measured.
double least_ms(const Problem& problem);
// "cell 1f2e3d4c5b6a on h200 (sm_90), B=8,T=4096,H=1,D=1536, bf16, fast, fw"
std::string describe(const Problem& problem);

// True where a choice tuned for `tuned` is legal for `wanted`: all but device, B and T are equal.
bool alike(const Problem& tuned, const Problem& wanted);
// How far two problems are apart that differ in device, B, T or pass only: first by their shapes, where
// another pass counts like shapes that differ by kOtherPass; then whether the device differs, then by their
// B. Less is nearer.
struct Distance {
  // A batch within a factor of 1.4 of this pass is better evidence than this very shape of another pass.
  static constexpr double kOtherPass = 0.5;
  // Tiles and teams of blocks follow from B, and how often they do the same from T. An LSTM of 6 x 128, B =
  // 16 and T = 5000, backward, took what was tuned for B = 64 and T = 1024 by B * T, and 1.72 times as long
  // as what was tuned for it (H200).
  static constexpr double kTime = 0.25;

  double shape = 0;  // |log2(B / B')| + kTime * |log2(T / T')|
  bool other_pass = false;
  bool other_device = false;
  double batch = 0;                             // |log2(B / B')|
  bool operator<(const Distance& other) const;  // nearer
};
Distance distance(const Problem& tuned, const Problem& wanted);

enum class TrialStatus {
  Ok,            // ran to the end
  CompileError,  // the compiler rejected it
  Spill,         // registers spilled: dropped before running
  LaunchError,   // the driver refused it or it failed on the device
  Timeout,       // compiling or running took too long
  Wrong,         // results differ from the reference
  Slower,        // stopped early, far behind the leader
  Duplicate,     // same code as another candidate
  Cancelled,     // stopped by the user or the budget
};
std::string_view to_text(TrialStatus status);  // "ok", "compile_error", ...
std::optional<TrialStatus> trial_status_from_text(std::string_view text);

// One candidate tried on one problem; a failure is a result too.
struct Trial {
  std::int64_t id = 0;            // given by the database
  std::string strategy;           // "stream"
  std::string parameters = "{}";  // JSON object; stored in canonical form (sorted keys, no blanks)
  TrialStatus status = TrialStatus::Ok;
  bool verified = false;            // outputs (and gradients) were compared with the reference and agree
  std::string reason;               // why it failed, one line; empty when ok
  std::optional<double> median_ms;  // median time of one run; none if it was not timed
  double spread = 0;                // (90th - 10th percentile) / median of the samples
  int samples = 0;
  int registers = 0;     // a thread
  int shared_bytes = 0;  // a block, static and dynamic
  int spill_bytes = 0;   // a thread
  std::string cubin_key;
  std::string rondo_version;
  std::int64_t created_at = 0;  // 0: the time of recording

  // A trial may be stored as best only if this holds; the database refuses others.
  bool may_be_best() const { return status == TrialStatus::Ok && verified && median_ms.has_value(); }
};

// Where a verification holds: for the code of one version of Rondo, on one GPU, under one driver.
struct Platform {
  std::string rondo_version;
  std::string device;  // what tells this GPU from all others: its UUID
  std::string driver;  // "13.0 libcuda.so.580.65.06"
  bool operator==(const Platform&) const = default;
};

// That a trial's kernel, as this version builds it, was compared with the reference on the GPU at hand: the
// one of its own pass, or the one that its parameters make of another pass whose kernels are nearly the same.
// A trial without one was recorded elsewhere: by another program, machine, GPU or driver. Verifications never
// travel: exports do not hold them, and merging leaves them behind.
struct Verification {
  std::int64_t trial = 0;
  std::int64_t batch = 1, time = 1;  // B and T that it was verified for
  Platform platform;
  std::string code;             // what ran: CacheKey::hash(), over text, flags, target and compiler
  bool passed = false;          // false: it is wrong here
  bool timed = false;           // the trial's median was measured on this platform too, not only claimed
  std::string summary;          // of the comparison, one line
  std::int64_t created_at = 0;  // 0: the time of recording
  // Of the code: the trial's own pass, or one like it. "" in what is to be recorded: its own.
  std::string pass{};
  // Of the very bytes that ran (engine::CompiledCode::digest()): other code under the same key is not proven.
  // "": recorded by a version that did not say.
  std::string image{};
};

// What a cost model thinks best of all points of a problem. It is nobody's measurement: whoever has the time
// finds the same again, and it never travels.
struct Opinion {
  std::string model;  // which one: anything that may change its opinion makes another
  std::string asked;  // a hash of all that it was asked
  std::string strategy;
  std::string parameters = "{}";  // JSON object; stored in canonical form
  double seconds = 0;             // its estimate, bit for bit
};
// Error Input naming what is empty or no number.
Status validate(const Opinion& opinion);

// A compiled kernel, which is a program: whoever runs it runs what its maker wanted. The key's fields are
// stored beside the image, so that `rondo db show` can tell what it is.
struct Cubin {
  CacheKey key;
  std::string image;             // ELF bytes
  std::string resources = "{}";  // JSON: registers, shared and spill bytes as the compiler reports them
  std::int64_t created_at = 0;   // 0: the time of storing
  // Where the image comes from, as the database words it; what is to be stored counts as compiled here.
  std::string origin{};

  // Not compiled on this machine, as far as the database knows: it may be anybody's program. It serves only
  // once a trial process verified it here, and is never packed.
  bool foreign() const;
  bool blocked() const;  // it was wrong here, and serves no more
};

// The words of an origin: "compiled on this machine", "compiled on another machine", "merged from 'FILE'",
// "of unknown origin", "blocked: WHY"; "" for "", where nothing is stored.
std::string provenance(const std::string& origin);
inline constexpr std::string_view kMergedFrom = "merged from ", kBlocked = "blocked: ";
std::string compiled_here();  // the origin of what this machine compiles

// The text as canonical JSON: sorted keys, no blanks. Error Input where it is no JSON object; `what` names it
// there.
Result<std::string> canonical_object(const std::string& text, std::string_view what);

std::int64_t now();  // seconds since 1970

}  // namespace rondo::db
