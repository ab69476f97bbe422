#include "engine/request/problem_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <tuple>

#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/step/extents.h"
#include "compiler/step/ranges.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"

namespace rondo::engine {

using kernel::Math;
using kernel::Storage;
using schedule::Pass;

namespace {

Error bad(std::string message, std::string hint = "") {
  return {ErrorKind::Input, std::move(message), std::move(hint)};
}

template <class Number>
std::optional<Number> number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else if (c != ' ')
      parts.back() += c;
  }
  return parts;
}

constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

std::int64_t* extent_of(step::Sizes& sizes, const std::string& name) {
  if (name == "B") return &sizes.batch;
  if (name == "T") return &sizes.time;
  if (name == "H") return &sizes.heads;
  if (name == "D") return &sizes.dim;
  return nullptr;
}

}  // namespace

std::string shape_text(const step::Sizes& sizes) {
  return fmt::format("B={},T={},H={},D={}", sizes.batch, sizes.time, sizes.heads, sizes.dim);
}

Result<step::Sizes> parse_shape(const std::string& text, const step::Sizes& defaults) {
  const std::string hint = "write it like B=8,T=4096,H=1,D=1536";
  step::Sizes sizes = defaults;
  std::string seen;
  for (const std::string& part : split(text)) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    std::int64_t* extent = extent_of(sizes, name);
    if (extent == nullptr || equals == std::string::npos)
      return bad(fmt::format("shape '{}': '{}' is no extent of B, T, H, D", text, part), hint);
    if (seen.find(name) != std::string::npos)
      return bad(fmt::format("shape '{}' gives {} twice", text, name), hint);
    seen += name;
    const auto value = number<std::int64_t>(part.substr(equals + 1));
    if (!value || *value < 1 || *value > kMostExtent)
      return bad(fmt::format("shape '{}': {} must be a whole number from 1 to {}", text, name, kMostExtent),
                 hint);
    *extent = *value;
  }
  std::int64_t elements = 1;
  for (const std::int64_t extent : {sizes.batch, sizes.time, sizes.heads, sizes.dim})
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > kMostElements)
      return bad(fmt::format("shape '{}' has more than 2^48 elements", text), "");
  return sizes;
}

Result<Storage> parse_dtype(const std::string& text) {
  for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32, Storage::F64})
    if (text == kernel::storage_name(storage)) return storage;
  return bad(fmt::format("unknown dtype '{}'", text), "known: bf16, fp16, fp32, and on CPUs fp64");
}

Result<Math> parse_math(const std::string& text) {
  for (const Math math : {Math::Fast, Math::Accurate, Math::Tf32})
    if (text == math_name(math)) return math;
  return bad(fmt::format("unknown math '{}'", text), "known: fast, accurate, tf32");
}

Result<std::vector<Pass>> parse_passes(const std::string& text) {
  std::vector<Pass> passes;
  for (const std::string& part : split(text)) {
    std::optional<Pass> found;
    for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
      if (part == schedule::pass_name(pass)) found = pass;
    if (!found)
      return bad(fmt::format("unknown pass '{}'", part),
                 "known: fw (forward), fws (forward (training): saves what backward needs), bw (backward)");
    if (std::ranges::find(passes, *found) != passes.end())
      return bad(fmt::format("pass '{}' is named twice", part));
    passes.push_back(*found);
  }
  return passes;
}

Result<double> parse_duration(const std::string& text) {
  const std::string hint = "write it like 500ms, 60s, 2m, 1h or 30d";
  const std::size_t unit_at = text.find_first_not_of("0123456789.");
  const std::string unit = unit_at == std::string::npos ? "s" : text.substr(unit_at);
  const auto value = number<double>(text.substr(0, unit_at));
  const std::pair<const char*, double> units[] = {
      {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  for (const auto& [name, seconds] : units)
    if (value && unit == name && std::isfinite(*value) && *value * seconds <= 1e10) return *value * seconds;
  return bad(fmt::format("'{}' is no duration", text), hint);
}

Result<std::int64_t> parse_memory(const std::string& text) {
  const std::size_t unit_at = text.find_first_not_of("0123456789.");
  const std::string unit = unit_at == std::string::npos ? "B" : text.substr(unit_at);
  const auto value = number<double>(text.substr(0, unit_at));
  const std::pair<const char*, double> units[] = {
      {"B", 1},    {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},
      {"KB", 1e3}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  for (const auto& [name, bytes] : units)
    if (value && unit == name && *value * bytes >= 1 && *value * bytes <= 0x1p60)
      return static_cast<std::int64_t>(*value * bytes);
  return bad(fmt::format("'{}' is no size of memory", text), "write it like 4GB, 512MiB or 1000000");
}

Result<std::pair<std::string, std::string>> parse_assignment(const std::string& text,
                                                             const std::string& what) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return bad(fmt::format("{} '{}' is not of the form name=value", what, text));
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<std::map<std::string, double>> parse_constants(const step::Cell& cell,
                                                      const std::vector<std::string>& texts) {
  std::map<std::string, double> result;
  std::vector<std::string> known;
  for (const step::NamedConstant& constant : cell.constants) known.push_back(constant.name);
  for (const std::string& text : texts) {
    const auto parts = parse_assignment(text, "--const");
    if (!parts) return parts.error();
    const auto& [name, value_text] = *parts;
    if (std::ranges::find(known, name) == known.end())
      return bad(
          fmt::format("cell {} has no constant '{}'", cell.name, name),
          known.empty()
              ? "it has none at all"
              : fmt::format("it has: {}; a constant that is computed from others follows them, and takes "
                            "no number of its own",
                            fmt::join(known, ", ")));
    const auto value = number<double>(value_text);
    if (!value || !std::isfinite(*value))
      return bad(fmt::format("--const {}: '{}' is no finite number", name, value_text));
    if (!result.emplace(name, *value).second) return bad(fmt::format("--const {} is given twice", name));
  }
  return result;
}

Result<step::Forms> parse_forms(const std::string& text) {
  step::Forms forms;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    bool* form = word == step::kResetsName        ? &forms.resets
                 : word == step::kLengthsName     ? &forms.lengths
                 : word == step::kReversedName    ? &forms.reversed
                 : word == step::kResetStatesName ? &forms.reset_states
                 : word == step::kDirectionsName  ? &forms.directions
                 : word == step::kTangentsName    ? &forms.tangents
                                                  : nullptr;
    if (form == nullptr || *form)
      return bad(
          fmt::format("--forms '{}': '{}' is {}", text, word,
                      form == nullptr ? "no form of a sequence" : "given twice"),
          "forms are resets, reset_states, lengths, reversed, directions and tangents, with commas between "
          "them");
    *form = true;
    begin = end + 1;
  }
  return forms;
}

Result<step::Clip> parse_clip(const std::string& forward, const std::string& gradient) {
  step::Clip clip;
  for (const auto& [option, text, bound] : {std::tuple{"--clip-forward", &forward, &clip.forward},
                                            std::tuple{"--clip-gradient", &gradient, &clip.gradient}}) {
    if (text->empty()) continue;
    const auto value = number<double>(*text);
    if (!value || !(*value > 0) || !std::isfinite(*value))
      return bad(fmt::format("{} '{}' is no positive number", option, *text), "leave it out for no clipping");
    *bound = *value;
  }
  return clip;
}

Result<schedule::Parameters> parse_parameters(const std::vector<std::string>& texts) {
  schedule::Parameters result;
  for (const std::string& text : texts) {
    const auto parts = parse_assignment(text, "--param");
    if (!parts) return parts.error();
    const auto& [name, value_text] = *parts;
    auto value = schedule::value_of_word(name, value_text);
    if (!value) value = number<std::int64_t>(value_text);
    if (!value) {
      const std::string words = schedule::words_of(name);
      return bad(fmt::format("--param {}: '{}' is no whole number", name, value_text),
                 words.empty() ? "" : fmt::format("known words: {}", words));
    }
    if (!result.emplace(name, *value).second) return bad(fmt::format("--param {} is given twice", name));
  }
  return result;
}

bool can_save_products(const step::Cell& written) {
  return !schedule::saved_products(step::simplified(written, nullptr)).empty();
}

Result<std::int64_t> parse_every(const std::string& save) {
  const std::string word = "every=";
  if (!save.starts_with(word)) return 0;
  const auto steps = number<std::int64_t>(save.substr(word.size()));
  if (steps && *steps >= 1 && *steps <= kMostExtent) return *steps;
  return bad(fmt::format("--save {}: '{}' is no number of steps", save, save.substr(word.size())),
             "write it like every=64: the states of every 64th step");
}

namespace {

// Whether products are saved.
Result<bool> parse_save(const step::Cell& cell, const std::string& text) {
  if (text == "states") return false;
  if (text != "products")
    return bad(fmt::format("unknown --save '{}'", text),
               "known: states, products; `rondo run`, `verify` and `bench` also know every=K and auto");
  if (can_save_products(cell)) return true;
  const bool multiplies = step::analyze(cell).has_matrix;
  return bad(fmt::format("--save products: cell {} has none to save: {}", cell.name,
                         multiplies ? "its backward pass reads no product of a matrix"
                                    : "its step multiplies by no matrix"),
             "leave out --save");
}

}  // namespace

Result<schedule::Problem> parse_problem(const step::Cell& cell, const ProblemText& text, Pass pass) {
  const auto sizes = parse_shape(text.shape, {8, 4096, 1, 1536});
  if (!sizes) return sizes.error();
  const auto storage = parse_dtype(text.dtype);
  if (!storage) return storage.error();
  schedule::Problem problem;
  problem.sizes = *sizes;
  problem.storage = *storage;
  problem.pass = pass;
  problem.math = schedule::default_math(*storage);
  if (!text.math.empty()) {
    const auto math = parse_math(text.math);
    if (!math) return math.error();
    if (*math == Math::Tf32 && *storage != Storage::F32)
      return bad(fmt::format("math 'tf32' with dtype '{}'", text.dtype),
                 "tf32 rounds the products of fp32 matrices; use --dtype fp32, or fast or accurate");
    problem.math = schedule::math_in(*storage, *math);
  }
  auto constants = parse_constants(cell, text.constants);
  if (!constants) return constants.error();
  problem.constants = std::move(constants).value();
  if (Status status = step::check_extents(cell, problem.constants); !status) return status.error();
  if (Status status = step::check_ranges(cell, problem.constants); !status) return status.error();
  const auto save_products = parse_save(cell, text.save);
  if (!save_products) return save_products.error();
  problem.save_products = *save_products && pass != Pass::Forward;
  return problem;
}

}  // namespace rondo::engine
