#include "compiler/backend/nvrtc/parts.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "compiler/support/bundle.h"
#include "compiler/support/parallel_for.h"

namespace rondo::backend {

namespace {

// Bytes of text below which kernels share a program.
constexpr std::size_t kShort = 4096;

// What stands before the first part, and a part by itself. For what is left out between them the lines are
// kept, so that messages count as in the whole text.
std::string part_of(const Request& request, std::size_t index) {
  const std::string& text = request.text;
  const std::size_t first = request.parts.front(), begin = request.parts[index];
  const std::size_t end = index + 1 < request.parts.size() ? request.parts[index + 1] : text.size();
  std::string part = text.substr(0, first);
  const auto at = [&](std::size_t place) { return text.begin() + static_cast<std::ptrdiff_t>(place); };
  part.append(static_cast<std::size_t>(std::count(at(first), at(begin), '\n')), '\n');
  return part.append(text, begin, end - begin);
}

// As if the compiler had made all of it at once.
void append(Compiled& whole, std::vector<std::string>& cubins, Compiled part) {
  cubins.push_back(std::move(part.image.bytes));
  if (cubins.size() == 1) {
    whole = std::move(part);
    return;
  }
  std::ranges::move(part.image.resources, std::back_inserter(whole.image.resources));
  whole.log += "\n" + part.log;
}

}  // namespace

std::vector<std::size_t> worthwhile_parts(std::size_t size, const std::vector<std::size_t>& kernels) {
  std::vector<std::size_t> parts;
  for (const std::size_t begin : kernels)
    if (parts.empty() || (begin - parts.back() >= kShort && size - begin >= kShort)) parts.push_back(begin);
  return parts;
}

Result<Compiled> compile_parts(const Nvrtc& nvrtc, const Request& request) {
  const std::string target = request.target.name();
  if (request.parts.size() < 2) return nvrtc.compile(request.text, request.name, target, request.flags);
  if (!std::ranges::is_sorted(request.parts) || request.parts.back() > request.text.size())
    return Error{ErrorKind::Internal, "the parts of " + request.name + " are not within its text"};
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::optional<Result<Compiled>>> made(request.parts.size());
  parallel_for(static_cast<std::int64_t>(made.size()), request.threads, [&]() -> Worker {
    return [&](std::int64_t item) {
      const auto index = static_cast<std::size_t>(item);
      made[index] = nvrtc.compile(part_of(request, index), request.name, target, request.flags);
    };
  });
  Compiled whole;
  std::vector<std::string> cubins;
  for (std::optional<Result<Compiled>>& part : made) {
    if (!*part) return part->error();
    append(whole, cubins, std::move(*part).value());
  }
  whole.image.bytes = bundled(cubins);
  whole.compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return whole;
}

}  // namespace rondo::backend
