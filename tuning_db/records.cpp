#include "tuning_db/records.h"

#include "compiler/support/machine_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "compiler/support/enum_text.h"
#include "compiler/support/nesting.h"

namespace rondo::db {
namespace {

constexpr EnumText<Origin> kOrigins[] = {{Origin::Shipped, "shipped"}, {Origin::Measured, "measured"}};
static_assert(is_total(kOrigins));

constexpr EnumText<TrialStatus> kStatuses[] = {{TrialStatus::Ok, "ok"},
                                               {TrialStatus::CompileError, "compile_error"},
                                               {TrialStatus::Spill, "spill"},
                                               {TrialStatus::LaunchError, "launch_error"},
                                               {TrialStatus::Timeout, "timeout"},
                                               {TrialStatus::Wrong, "wrong"},
                                               {TrialStatus::Slower, "slower"},
                                               {TrialStatus::Duplicate, "duplicate"},
                                               {TrialStatus::Cancelled, "cancelled"}};
static_assert(is_total(kStatuses));

double log2_ratio(double a, double b) { return std::abs(std::log2(a) - std::log2(b)); }

std::uint64_t round_up(std::int64_t extent) {
  return std::bit_ceil(static_cast<std::uint64_t>(extent < 1 ? 1 : extent));
}

}  // namespace

std::string_view to_text(Origin origin) { return to_text(kOrigins, origin); }
std::optional<Origin> origin_from_text(std::string_view text) { return from_text(kOrigins, text); }
std::string_view to_text(TrialStatus status) { return to_text(kStatuses, status); }
std::optional<TrialStatus> trial_status_from_text(std::string_view text) {
  return from_text(kStatuses, text);
}

std::string bucket(const Shape& shape) {
  return fmt::format("B{}-T{}-H{}-D{}", round_up(shape.B), round_up(shape.T), shape.H, shape.D);
}

Status validate(const Problem& problem) {
  const std::pair<std::string_view, const std::string&> texts[] = {
      {"cell", problem.cell},   {"device", problem.device}, {"arch", problem.arch},
      {"dtype", problem.dtype}, {"math", problem.math},     {"pass", problem.pass}};
  for (const auto& [name, text] : texts)
    if (text.empty()) return Error{ErrorKind::Input, fmt::format("the problem's {} is empty", name)};

  const std::pair<char, std::int64_t> extents[] = {
      {'B', problem.shape.B}, {'T', problem.shape.T}, {'H', problem.shape.H}, {'D', problem.shape.D}};
  for (const auto& [name, extent] : extents)
    if (extent < 1)
      return Error{ErrorKind::Input,
                   fmt::format("the problem's {} is {}; at least 1 is needed", name, extent)};
  return success();
}

Status validate(const Opinion& opinion) {
  const std::pair<std::string_view, const std::string&> texts[] = {
      {"model", opinion.model}, {"question", opinion.asked}, {"strategy", opinion.strategy}};
  for (const auto& [name, text] : texts)
    if (text.empty()) return Error{ErrorKind::Input, fmt::format("the opinion's {} is empty", name)};
  if (!std::isfinite(opinion.seconds))
    return Error{ErrorKind::Input, fmt::format("the opinion's estimate is {} seconds", opinion.seconds)};
  return success();
}

double least_ms(const Problem& problem) {
  // Threads of a CPU begin a block without a launch: some nanoseconds are true of a small problem.
  const double least_launch = problem.arch.starts_with("sm_") ? 0.5e-3 : 1e-6;
  constexpr double kBytesPerMs = 100e12 * 1e-3;
  const Shape& s = problem.shape;
  const double results = static_cast<double>(s.B) * static_cast<double>(s.T) * static_cast<double>(s.H);
  return std::max(least_launch, 2 * results / kBytesPerMs);
}

std::string describe(const Problem& problem) {
  const Shape& s = problem.shape;
  return fmt::format("cell {:.12} on {} ({}), B={},T={},H={},D={}, {}, {}, {}", problem.cell, problem.device,
                     problem.arch, s.B, s.T, s.H, s.D, problem.dtype, problem.math, problem.pass);
}

bool alike(const Problem& tuned, const Problem& wanted) {
  Problem moved = tuned;
  moved.device = wanted.device;
  moved.shape.B = wanted.shape.B;
  moved.shape.T = wanted.shape.T;
  return moved == wanted;
}

bool Distance::operator<(const Distance& other) const {
  const double here = shape + (other_pass ? kOtherPass : 0);
  const double there = other.shape + (other.other_pass ? kOtherPass : 0);
  return std::tie(here, other_device, batch) < std::tie(there, other.other_device, other.batch);
}

Distance distance(const Problem& tuned, const Problem& wanted) {
  const auto ratio = [](std::int64_t a, std::int64_t b) {
    return log2_ratio(static_cast<double>(a), static_cast<double>(b));
  };
  const double batch = ratio(tuned.shape.B, wanted.shape.B), time = ratio(tuned.shape.T, wanted.shape.T);
  return {.shape = batch + Distance::kTime * time,
          .other_pass = tuned.pass != wanted.pass,
          .other_device = tuned.device != wanted.device,
          .batch = batch};
}

Result<std::string> canonical_object(const std::string& text, std::string_view what) {
  if (nested_deeper(text))
    return Error{ErrorKind::Input, fmt::format("{}: it is nested deeper than {}", what, kMostNesting)};
  const auto parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_object()) return parsed.dump();
  return Error{ErrorKind::Input, fmt::format("{}: '{:.80}' is no JSON object", what, text)};
}

std::int64_t now() {
  using std::chrono::duration_cast, std::chrono::seconds, std::chrono::system_clock;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

bool Cubin::foreign() const { return origin != compiled_here(); }
bool Cubin::blocked() const { return origin.starts_with(kBlocked); }

namespace {

constexpr std::string_view kCompiledOn = "compiled on ";

}  // namespace

std::string compiled_here() { return std::string(kCompiledOn) + machine_id(); }

std::string provenance(const std::string& origin) {
  if (origin == compiled_here()) return "compiled on this machine";
  if (origin.starts_with(kCompiledOn)) return "compiled on another machine";
  return origin.empty() ? "of unknown origin" : origin;
}

}  // namespace rondo::db
