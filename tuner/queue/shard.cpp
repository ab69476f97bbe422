#include "tuner/queue/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

namespace rondo::tuner {

namespace {

constexpr const char* kForm = "a part is I/N, I from 1 to N: 2/8";

std::optional<int> number_of(const std::string& text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end && !text.empty() ? std::optional(number) : std::nullopt;
}

struct Variables {
  const char* number;
  const char* first;  // the lowest number, or a number's text
  const char* count;
};

Result<Shard> made(const Variables& names, int number, int of) {
  if (of < 1 || number < 1 || number > of)
    return Error{ErrorKind::Input, fmt::format("{} says part {} of {}", names.number, number, of),
                 "--shard I/N says which part this is, --shard 1/1 that it is the whole list"};
  return Shard{number, of, of == 1 ? "" : names.number};
}

}  // namespace

std::string Shard::text() const { return fmt::format("{}/{}", number, of); }

bool Shard::has(std::size_t item) const {
  return item % static_cast<std::size_t>(of) == static_cast<std::size_t>(number - 1);
}

std::string Shard::file(const std::string& whole) const {
  if (is_whole()) return whole;
  std::filesystem::path path(whole);
  const std::string end = path.extension().string();
  path.replace_extension(fmt::format("{}-of-{}{}", number, of, end));
  return path.string();
}

Result<Shard> parse_shard(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const int number = number_of(text.substr(0, slash)).value_or(0);
  const int of = number_of(text.substr(std::min(slash + 1, text.size()))).value_or(0);
  if (number < 1 || number > of)
    return Error{ErrorKind::Input, fmt::format("--shard '{}' is no part of a list", text), kForm};
  return Shard{number, of, "--shard"};
}

Result<Shard> shard_of_environment(const std::function<std::string(const char*)>& variable) {
  static constexpr Variables kKinds[] = {
      {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX"},
      {"SLURM_PROCID", "0", "SLURM_NTASKS"},
      {"RANK", "0", "WORLD_SIZE"},
      {"JOB_COMPLETION_INDEX", "0", "RONDO_SHARDS"}};
  for (const Variables& names : kKinds) {
    const auto number = number_of(variable(names.number));
    if (!number) continue;
    const bool to_highest = &names == kKinds;
    const auto first = to_highest ? number_of(variable(names.first)) : std::optional(0);
    const auto count = number_of(variable(names.count));
    if (!first || !count)
      return Error{ErrorKind::Input,
                   fmt::format("{} is {}, and {} does not say how many there are", names.number, *number,
                               first ? names.count : names.first),
                   fmt::format("set it, or name the part: --shard {}/N", *number + 1)};
    const int of = to_highest ? *count - *first + 1 : *count;
    // One process of one says nothing: an array's job may be many processes, and a process an array's.
    if (of == 1) continue;
    return made(names, *number - *first + 1, of);
  }
  return Shard{};
}

}  // namespace rondo::tuner
