#include "benchmarks/capi/plan.h"

#include <algorithm>
#include <compare>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

namespace bench {

template <>
void need(api::Result<void> result) {
  if (result) return;
  const api::Error& error = result.error();
  std::fprintf(stderr, "bench_capi: %s: %s (%s)\n", rondo_status_name(error.status), error.message.c_str(),
               error.hint.c_str());
  std::exit(error.status == RONDO_ERROR_MISSING ? 77 : 1);
}

namespace {

// Numbers in [-1, 1), as engine/data draws them (SplitMix64, compiler/support/split_mix.h). Written here
// again, because this program may use the C interface alone; the tests RunSets.AreTheNumbersOfTheRecords and
// capi.benchmark hold both to the same numbers.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
  }

 private:
  std::uint64_t state_;
};

// To nearest, ties to even.
std::uint16_t to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// To nearest, ties to even, where the result is normal; what is less than 2^-14 becomes zero.
std::uint16_t to_fp16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7FFFFFFF;
  constexpr std::uint32_t kOtherBias = (127 - 15) << 23;
  if (magnitude < kOtherBias + (1 << 23)) return static_cast<std::uint16_t>(sign);
  const std::uint32_t rounded = magnitude - kOtherBias + 0xFFF + ((magnitude >> 13) & 1);
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

float from_half(std::uint16_t half, std::int32_t type) {
  std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  if (type != RONDO_TYPE_BF16)
    bits =
        (half & 0x7FFF) == 0
            ? bits & 0x80000000
            : (bits & 0x80000000) | ((static_cast<std::uint32_t>(half & 0x7FFF) << 13) + ((127 - 15) << 23));
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::size_t size_of(std::int32_t type) { return type == RONDO_TYPE_F32 || type == RONDO_TYPE_I32 ? 4 : 2; }

constexpr int kPatternElements = 1'048'573;  // a prime: rows and steps all differ

bool is_drawn(const rondo_tensor_info& info) {
  return info.role == RONDO_ROLE_PARAM || info.role == RONDO_ROLE_INITIAL_STATE;
}

// Parameters and initial states in [-1/2, 1/2], all else in [-1, 1].
std::vector<unsigned char> values_of(const rondo_tensor_info& info, std::int64_t bytes, std::uint64_t seed) {
  const std::size_t size = size_of(info.type);
  std::vector<unsigned char> values(
      std::min(static_cast<std::size_t>(bytes), std::size_t{kPatternElements} * size));
  Random random(seed);
  for (std::size_t at = 0; at + size <= values.size(); at += size) {
    const auto value = static_cast<float>(random.next() * (is_drawn(info) ? 0.5 : 1.0));
    const std::uint16_t half = info.type == RONDO_TYPE_BF16 ? to_bf16(value) : to_fp16(value);
    std::memcpy(&values[at], size == 4 ? static_cast<const void*>(&value) : &half, size);
  }
  return values;
}

// In which order `rondo bench` draws tensors: by kind, each in its roles before the next of the kind.
struct Place {
  int kind, of_kind, role;
  auto operator<=>(const Place&) const = default;
};

Place place_of(std::int32_t role, int of_role) {
  switch (role) {
    case RONDO_ROLE_PRODUCTS: return {0, of_role, 0};
    case RONDO_ROLE_INPUT: return {1, of_role, 0};
    case RONDO_ROLE_INPUT_GRADIENT: return {1, of_role, 1};
    case RONDO_ROLE_PARAM: return {2, of_role, 0};
    case RONDO_ROLE_PARAM_GRADIENT: return {2, of_role, 1};
    case RONDO_ROLE_INITIAL_STATE: return {3, of_role, 0};
    case RONDO_ROLE_LAST_STATE:
    case RONDO_ROLE_LAST_STATE_GRADIENT: return {3, of_role, 1};
    case RONDO_ROLE_INITIAL_STATE_GRADIENT: return {3, of_role, 2};
    case RONDO_ROLE_OUTPUT:
    case RONDO_ROLE_OUTPUT_GRADIENT: return {4, of_role, 0};
    default: return {5, of_role, role};
  }
}

std::vector<std::size_t> in_drawing_order(const std::vector<rondo_tensor_info>& infos) {
  std::map<std::int32_t, int> of_role;
  std::vector<std::pair<Place, std::size_t>> places;
  for (std::size_t i = 0; i < infos.size(); ++i)
    places.emplace_back(place_of(infos[i].role, of_role[infos[i].role]++), i);
  std::sort(places.begin(), places.end());
  std::vector<std::size_t> order;
  for (const auto& [place, index] : places) order.push_back(index);
  return order;
}

std::uint64_t first_seed(int number) { return 1 + 1000 * static_cast<std::uint64_t>(number); }

#ifndef BENCH_PACKAGES_ONLY

std::int32_t type_of(const std::string& name) {
  return name == "fp32" ? RONDO_TYPE_F32 : name == "fp16" ? RONDO_TYPE_F16 : RONDO_TYPE_BF16;
}

api::Plan compiled(const api::Context& context, const Wanted& wanted) {
  const api::Cell cell = need(api::Cell::load(wanted.cell));
  rondo_problem problem =
      api::problem(wanted.batch, wanted.time, wanted.heads, wanted.dim, type_of(wanted.type),
                   wanted.pass == "bw"    ? RONDO_PASS_BACKWARD
                   : wanted.pass == "fws" ? RONDO_PASS_FORWARD_SAVE
                                          : RONDO_PASS_FORWARD);
  problem.save = wanted.save == "products" ? RONDO_SAVE_PRODUCTS : RONDO_SAVE_STATES;
  rondo_plan_options options = api::plan_options();
  std::unique_ptr<api::Database> database;
  if (!wanted.database.empty()) {
    database = std::make_unique<api::Database>(need(api::Database::open(wanted.database)));
    options.database = database->get();
  }
  if (wanted.tune_s > 0) {
    options.choose = RONDO_CHOOSE_TUNE;
    options.budget_s = wanted.tune_s;
  }
  if (!wanted.strategy.empty()) options.strategy = wanted.strategy.c_str();
  if (!wanted.parameters.empty()) options.parameters = wanted.parameters.c_str();
  return need(api::make_plan(context, cell, problem, options));
}

#else

api::Plan compiled(const api::Context&, const Wanted&) {
  std::fprintf(stderr, "bench_capi_rt: it launches packages alone: name one with --package\n");
  std::exit(2);
}

#endif

}  // namespace

api::Plan make_plan(const api::Context& context, const Wanted& wanted, double* open_s) {
  if (wanted.package.empty()) return compiled(context, wanted);
  const double begin = now();
  const api::Package package = need(api::Package::open(wanted.package));
  if (open_s != nullptr) *open_s = now() - begin;
  const std::string pass =
      wanted.pass + (wanted.save == "products" && wanted.pass != "fw" ? "+products" : "");
  rondo_package_query query =
      api::package_query(wanted.cell.c_str(), pass.c_str(), wanted.batch, wanted.time);
  query.type = wanted.type.c_str();
  query.heads = wanted.heads;
  query.dim = wanted.dim;
  return need(package.plan(context, query));
}

Memory::Memory(const api::Plan& plan, const Wanted& wanted, int number, void* stream)
    : batch_(wanted.batch), time_(wanted.time) {
  const rondo_plan_info info = need(plan.info());
  for (std::int32_t i = 0; i < info.tensors; ++i) infos_.push_back(need(plan.tensor(i)));
  buffers_.resize(infos_.size());
  std::uint64_t seed = first_seed(number);
  // Allocated in this order too, as `rondo bench` does: where tensors lie decides a little about the time.
  for (const std::size_t i : in_drawing_order(infos_)) {
    buffers_[i] =
        std::make_shared<Buffer>(need(plan.tensor_bytes(static_cast<std::int32_t>(i), batch_, time_)));
    buffers_[i]->fill(values_of(infos_[i], buffers_[i]->bytes(), seed++), stream);
  }
}

Memory Memory::draw(int number, void* stream) const {
  Memory other;
  other.batch_ = batch_, other.time_ = time_, other.infos_ = infos_, other.buffers_ = buffers_;
  std::uint64_t seed = first_seed(number);
  for (const std::size_t i : in_drawing_order(infos_)) {
    if (!is_drawn(infos_[i])) continue;
    other.buffers_[i] = std::make_shared<Buffer>(buffers_[i]->bytes());
    other.buffers_[i]->fill(values_of(infos_[i], buffers_[i]->bytes(), seed++), stream);
  }
  return other;
}

std::string Memory::first_numbers(void* stream) const {
  constexpr std::size_t kNumbers = 3;
  std::string said = "{";
  for (std::size_t i = 0; i < infos_.size(); ++i) {
    const std::vector<unsigned char> bytes = buffers_[i]->read(stream);
    said += std::string(i > 0 ? ", \"" : "\"") + infos_[i].name + "\": [";
    const std::size_t size = size_of(infos_[i].type);
    for (std::size_t at = 0; at < kNumbers && (at + 1) * size <= bytes.size(); ++at) {
      float value = 0;
      std::uint16_t half = 0;
      std::memcpy(size == 4 ? static_cast<void*>(&value) : &half, &bytes[at * size], size);
      char text[32];
      std::snprintf(text, sizeof text, "%s%.9g", at > 0 ? ", " : "",
                    static_cast<double>(size == 4 ? value : from_half(half, infos_[i].type)));
      said += text;
    }
    said += "]";
  }
  return said + "}";
}

api::Arguments Memory::arguments(const Buffer& workspace, void* stream) const {
  api::Arguments arguments(batch_, time_);
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    arguments.set(static_cast<std::int32_t>(i), infos_[i].type, buffers_[i]->data(), buffers_[i]->bytes());
  return arguments.workspace(workspace.data(), workspace.bytes()).stream(stream);
}

std::int64_t Memory::bytes() const {
  std::int64_t all = 0;
  for (const auto& buffer : buffers_) all += buffer->bytes();
  return all;
}

void Memory::clear_results(void* stream) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (infos_[i].written != 0) buffers_[i]->clear(stream);
  wait(stream);
}

std::vector<unsigned char> Memory::results(void* stream) const {
  std::vector<unsigned char> all;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (infos_[i].written == 0) continue;
    const std::vector<unsigned char> bytes = buffers_[i]->read(stream);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

Buffer workspace_for(const api::Plan& plan, const Wanted& wanted) {
  return Buffer(need(plan.workspace_bytes(wanted.batch, wanted.time)));
}

}  // namespace bench
