#include "benchmarks/capi/plan.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

// Reproducible numbers in [-1, 1).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  float next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<float>(state_ >> 40) / static_cast<float>(1 << 23) - 1;
  }

 private:
  std::uint64_t state_;
};

std::uint16_t to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// Of numbers that are normal in fp16, or zero.
std::uint16_t to_fp16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const int exponent = static_cast<int>((bits >> 23) & 0xFF) - 127 + 15;
  if (exponent <= 0) return sign;
  return static_cast<std::uint16_t>(sign | (exponent << 10) | ((bits >> 13) & 0x3FF));
}

constexpr int kPatternElements = 1'048'573;  // a prime: rows and steps all differ

// As `rondo bench` draws them: parameters in [-1/2, 1/2], so are initial states, all else in [-1, 1].
std::vector<unsigned char> values_of(const rondo_tensor_info& info, std::int64_t bytes, std::uint64_t seed) {
  const bool small = info.role == RONDO_ROLE_PARAM || info.role == RONDO_ROLE_INITIAL_STATE;
  const std::size_t size = info.type == RONDO_TYPE_F32 || info.type == RONDO_TYPE_I32 ? 4 : 2;
  std::vector<unsigned char> values(
      std::min(static_cast<std::size_t>(bytes), std::size_t{kPatternElements} * size));
  Random random(seed);
  for (std::size_t at = 0; at + size <= values.size(); at += size) {
    const float value = random.next() * (small ? 0.5F : 1.0F);
    const std::uint16_t half = info.type == RONDO_TYPE_BF16 ? to_bf16(value) : to_fp16(value);
    std::memcpy(&values[at], size == 4 ? static_cast<const void*>(&value) : &half, size);
  }
  return values;
}

#ifndef RONDO_LAUNCH_ONLY

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
  for (std::int32_t i = 0; i < info.tensors; ++i) {
    infos_.push_back(need(plan.tensor(i)));
    buffers_.emplace_back(need(plan.tensor_bytes(i, batch_, time_)));
    buffers_.back().fill(
        values_of(infos_.back(), buffers_.back().bytes(), static_cast<std::uint64_t>(1000 * number + i)),
        stream);
  }
}

api::Arguments Memory::arguments(const Buffer& workspace, void* stream) const {
  api::Arguments arguments(batch_, time_);
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    arguments.set(static_cast<std::int32_t>(i), infos_[i].type, buffers_[i].data(), buffers_[i].bytes());
  return arguments.workspace(workspace.data(), workspace.bytes()).stream(stream);
}

std::int64_t Memory::bytes() const {
  std::int64_t all = 0;
  for (const Buffer& buffer : buffers_) all += buffer.bytes();
  return all;
}

void Memory::clear_results(void* stream) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (infos_[i].written != 0) buffers_[i].clear(stream);
  wait(stream);
}

std::vector<unsigned char> Memory::results(void* stream) const {
  std::vector<unsigned char> all;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (infos_[i].written == 0) continue;
    const std::vector<unsigned char> bytes = buffers_[i].read(stream);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

Buffer workspace_for(const api::Plan& plan, const Wanted& wanted) {
  return Buffer(need(plan.workspace_bytes(wanted.batch, wanted.time)));
}

}  // namespace bench
