#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "compiler/schedule/plan/problem_check.h"
#include "engine/choice/shipped_layer.h"
#include "engine/request/problem_text.h"
#include "runtime/capi/launch/status.h"
#include "tools/librondo/cell.h"
#include "tools/librondo/choose.h"
#include "tools/librondo/database.h"

namespace rondo::capi {

namespace {

constexpr std::size_t kFirstProblem = RONDO_SIZE_TO(rondo_problem, constant_count);
constexpr std::size_t kFirstConstant = RONDO_SIZE_TO(rondo_constant, value);
constexpr std::size_t kFirstPlanOptions = RONDO_SIZE_TO(rondo_plan_options, parameters);
constexpr std::size_t kFirstArray = RONDO_SIZE_TO(rondo_array, reserved);
constexpr std::size_t kMostListed = 4096;

Error unknown(const char* what, std::int32_t value, const char* known) {
  return {ErrorKind::Input, fmt::format("{} is no {}", value, what), fmt::format("known: {}", known)};
}

Result<kernel::Storage> storage_of(std::int32_t type) {
  switch (type) {
    case RONDO_TYPE_F32: return kernel::Storage::F32;
    case RONDO_TYPE_BF16: return kernel::Storage::BF16;
    case RONDO_TYPE_F16: return kernel::Storage::F16;
    case RONDO_TYPE_F64: return kernel::Storage::F64;
    default:
      return unknown("type of inputs", type,
                     "RONDO_TYPE_F32, RONDO_TYPE_BF16, RONDO_TYPE_F16 and, on CPUs, RONDO_TYPE_F64");
  }
}

Result<kernel::Math> math_of(std::int32_t math, kernel::Storage storage) {
  switch (math) {
    case RONDO_MATH_DEFAULT: return schedule::default_math(storage);
    case RONDO_MATH_FAST: return schedule::math_in(storage, kernel::Math::Fast);
    case RONDO_MATH_ACCURATE: return kernel::Math::Accurate;
    case RONDO_MATH_TF32: break;
    default: return unknown("math", math, "RONDO_MATH_DEFAULT, _FAST, _ACCURATE and _TF32");
  }
  if (storage == kernel::Storage::F32) return kernel::Math::Tf32;
  return Error{ErrorKind::Input, "RONDO_MATH_TF32 rounds the products of fp32 matrices",
               "take RONDO_TYPE_F32, or fast or accurate math"};
}

Result<schedule::Pass> pass_of(std::int32_t pass) {
  switch (pass) {
    case RONDO_PASS_FORWARD: return schedule::Pass::Forward;
    case RONDO_PASS_FORWARD_SAVE: return schedule::Pass::ForwardSave;
    case RONDO_PASS_BACKWARD: return schedule::Pass::Backward;
    default:
      return unknown("pass", pass, "RONDO_PASS_FORWARD, _FORWARD_SAVE, _BACKWARD and, of plans, _AGAIN");
  }
}

Result<bool> saves_products(std::int32_t save, const step::Cell& cell) {
  if (save == RONDO_SAVE_STATES) return false;
  if (save != RONDO_SAVE_PRODUCTS)
    return unknown("way to save", save, "RONDO_SAVE_STATES and _PRODUCTS; of training also _AUTO");
  if (engine::can_save_products(cell)) return true;
  return Error{ErrorKind::Input,
               fmt::format("cell {} has no products to save: its backward pass reads none", cell.name),
               "take RONDO_SAVE_STATES"};
}

// Structs that lie side by side, each as long as the caller's version of it.
template <class T>
Result<std::vector<T>> read_array_of(const T* first, std::size_t count, std::size_t size, std::size_t oldest,
                                     const char* field, const char* name) {
  std::vector<T> read;
  if (count == 0) return read;
  if (count > kMostListed)
    return Error{ErrorKind::Input, fmt::format("{} {} are given", count, std::strrchr(field, '.') + 1),
                 fmt::format("give {} at most", kMostListed)};
  if (Status status = not_null(first, field); !status) return status.error();
  if (size == 0) size = oldest;
  if (Status status = check_size(size, oldest, name); !status) return status.error();
  const auto* at = reinterpret_cast<const unsigned char*>(first);
  for (std::size_t i = 0; i < count; ++i, at += size) {
    T one{};
    std::memcpy(&one, at, std::min(size, sizeof one));
    if (Status status = check_rest(at, size, sizeof one, name); !status) return status.error();
    read.push_back(one);
  }
  return read;
}

Status read_constants(const rondo_problem& given, std::map<std::string, double>& into) {
  const auto constants = read_array_of(given.constants, given.constant_count, given.constant_size,
                                       kFirstConstant, "rondo_problem.constants", "rondo_constant");
  if (!constants) return constants.error();
  for (const rondo_constant& constant : *constants) {
    if (Status status = not_null(constant.name, "the name of a constant"); !status) return status;
    if (!into.emplace(constant.name, constant.value).second)
      return Error{ErrorKind::Input, fmt::format("constant '{}' is given twice", constant.name)};
  }
  return success();
}

Result<schedule::Parameters> parameters_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return engine::parse_parameters(words);
}

// Sizes to choose for: all that chooses counts on what the command line takes.
Status check_extents(const step::Sizes& sizes) {
  for (const auto& [axis, extent] : {std::pair("B", sizes.batch), std::pair("T", sizes.time),
                                     std::pair("H", sizes.heads), std::pair("D", sizes.dim)})
    if (extent > engine::kMostExtent)
      return Error{ErrorKind::Unsupported,
                   fmt::format("{} is {}: the most to choose for is {}", axis, extent, engine::kMostExtent),
                   "B and T of a call are free: choose for smaller ones"};
  return success();
}

rondo_progress to_c(const tuner::Progress& progress) {
  rondo_progress result{};
  result.struct_size = sizeof result;
  result.phase = tuner::phase_name(progress.phase);
  result.best = progress.best.c_str();
  result.tried = static_cast<std::int64_t>(progress.tried);
  result.total = static_cast<std::int64_t>(progress.total);
  result.best_ms = progress.best_ms;
  result.seconds_left = progress.seconds_left;
  return result;
}

Status check_numbers(const rondo_plan_options& given) {
  if (given.choose < RONDO_CHOOSE_DEFAULT || given.choose > RONDO_CHOOSE_TUNE)
    return unknown("way to choose", given.choose, "RONDO_CHOOSE_DEFAULT, _RECORDED, _MODEL and _TUNE");
  if (given.alignment != 0 && given.alignment != 2 && given.alignment != 4 && given.alignment != 8 &&
      given.alignment != 16)
    return unknown("alignment", given.alignment, "2, 4, 8 and 16 bytes, and 0 for 16");
  if (given.workers < 0 || given.workers > 1024)
    return unknown("number of workers", given.workers, "0 for the default, to 1024");
  if (!(given.budget_s >= 0) || given.budget_s > 1e9)
    return Error{ErrorKind::Input, fmt::format("a budget of {} seconds", given.budget_s),
                 "0 stands for a minute"};
  if (given.most_workspace < 0)
    return Error{ErrorKind::Input, fmt::format("most_workspace is {} bytes", given.most_workspace),
                 "0 stands for any"};
  if (given.most_memory < 0)
    return Error{ErrorKind::Input, fmt::format("most_memory is {} bytes", given.most_memory),
                 "0 stands for any"};
  if (given.strict < RONDO_PROOF_NOW || given.strict > RONDO_PROOF_LATER)
    return unknown("value of strict", given.strict, "RONDO_PROOF_NOW, _REQUIRED and _LATER");
  return success();
}

// The file's choices. Nothing else may choose beside it.
Result<std::shared_ptr<const db::PinnedChoices>> lock_of(const rondo_plan_options& given) {
  const char* beside = given.choose == RONDO_CHOOSE_MODEL  ? "the model is to choose"
                       : given.choose == RONDO_CHOOSE_TUNE ? "a tune is to choose"
                       : given.strategy != nullptr         ? "a strategy is given"
                       : given.parameters != nullptr       ? "parameters are given"
                                                           : nullptr;
  if (beside != nullptr)
    return Error{ErrorKind::Input, fmt::format("{}, and '{}' pins the choice", beside, given.lock),
                 "leave one of the two out"};
  Result<db::PinnedChoices> pinned = db::PinnedChoices::load(given.lock);
  if (!pinned) return pinned.error();
  return std::make_shared<const db::PinnedChoices>(std::move(pinned).value());
}

Status add_sources(const rondo_plan_options& given, ChoosePlan& into) {
  engine::TrustOptions& trust = into.request.trust;
  if (given.database != nullptr) {
    const auto database = object_of<DatabaseObject>(given.database);
    if (!database) return database.error();
    into.database = (*database)->database;
    trust.database = into.database.get();
    trust.keep = trust.database->access() == db::Access::ReadWrite;
  }
  // Without a database what is shipped would be verified anew each time.
  if (trust.database != nullptr || into.tunes) {
    const Result<engine::ShippedLayer>& shipped = engine::shipped_layer();
    if (!shipped) return shipped.error();
    trust.shipped = &*shipped;
  }
  if (given.lock == nullptr) return success();
  auto lock = lock_of(given);
  if (!lock) return lock.error();
  into.lock = std::move(lock).value();
  trust.pinned = into.lock.get();
  return success();
}

}  // namespace

Result<AskedPlan> read_asked(const rondo_context* context, bool any, const rondo_cell* cell,
                             const rondo_problem* problem) {
  AskedPlan asked;
  if (!any) {
    const auto where = object_of<ContextObject>(context);
    if (!where) return where.error();
    asked.device = (*where)->device;
  }
  const auto what = object_of<CellObject>(cell);
  if (!what) return what.error();
  asked.cell = (*what)->cell;
  asked.saves_products = (*what)->saves_products;
  const auto given = read_struct(problem, kFirstProblem, "rondo_problem");
  if (!given) return given.error();
  asked.given = *given;
  return asked;
}

Result<schedule::Problem> problem_of(const step::Cell& cell, const rondo_problem& given) {
  schedule::Problem problem;
  // A plan of no rows or no steps is one of a single one: its launches take 0 as any other number.
  problem.sizes = {given.batch == 0 ? 1 : given.batch, given.time == 0 ? 1 : given.time, given.heads,
                   given.dim};
  const auto storage = storage_of(given.type);
  if (!storage) return storage.error();
  problem.storage = *storage;
  const auto math = math_of(given.math, *storage);
  if (!math) return math.error();
  problem.math = *math;
  const auto pass = pass_of(given.pass);
  if (!pass) return pass.error();
  problem.pass = *pass;
  const auto products = saves_products(given.save, cell);
  if (!products) return products.error();
  problem.save_products = *products && *pass != schedule::Pass::Forward;
  if (Status status = read_constants(given, problem.constants); !status) return status.error();
  if (Status status = schedule::check_problem(cell, problem); !status) return status.error();
  if (Status status = check_extents(problem.sizes); !status) return status.error();
  return problem;
}

Result<ChoosePlan> outline_choice_of(const rondo_plan_options* options) {
  Result<ChoosePlan> how = choice_of(options);
  if (how && how->tunes)
    return Error{ErrorKind::Input, "RONDO_CHOOSE_TUNE measures, and an outline does not",
                 "take another way to choose, or make a plan"};
  if (how) how->outline = true;
  return how;
}

Result<ChoosePlan> choice_of(const rondo_plan_options* options) {
  ChoosePlan result;
  if (options == nullptr) return result;
  const auto given = read_struct(options, kFirstPlanOptions, "rondo_plan_options");
  if (!given) return given.error();
  if (Status status = check_numbers(*given); !status) return status.error();
  engine::TrustOptions& trust = result.request.trust;
  result.tunes = given->choose == RONDO_CHOOSE_TUNE;
  result.request.only_recorded = given->choose == RONDO_CHOOSE_RECORDED;
  trust.recorded = given->choose != RONDO_CHOOSE_MODEL;
  trust.strict = given->strict == RONDO_PROOF_REQUIRED;
  trust.later = given->strict == RONDO_PROOF_LATER;
  if (given->alignment != 0) trust.alignment = given->alignment;
  result.most_workspace = given->most_workspace;
  result.most_memory = given->most_memory;
  result.tuning.workers = given->workers;
  if (given->budget_s > 0) result.tuning.budget_s = given->budget_s;
  if (Status status = add_sources(*given, result); !status) return status.error();
  auto data = read_array_of(given->data, given->data_count, given->data_size, kFirstArray,
                            "rondo_plan_options.data", "rondo_array");
  if (!data) return data.error();
  result.data = std::move(data).value();
  if (given->progress != nullptr)
    result.progress = [call = given->progress, user = given->progress_user](const tuner::Progress& progress) {
      const rondo_progress now = to_c(progress);
      return call(user, &now) == 0;
    };
  if (given->strategy != nullptr) result.request.overrides.strategy = given->strategy;
  if (given->parameters != nullptr) {
    auto parameters = parameters_of(given->parameters);
    if (!parameters) return parameters.error();
    result.request.overrides.parameters = std::move(parameters).value();
  }
  return result;
}

}  // namespace rondo::capi
