#include "tuner/package/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "compiler/backend/backends.h"
#include "compiler/support/parallel_for.h"
#include "compiler/target/target.h"
#include "engine/plan/ready_plan.h"
#include "tuner/package/self_test.h"

namespace rondo::tuner {

using executable::Image;
using package::Kernels;
using package::SelfTest;

namespace {

constexpr const char* kPortableKey = "portable";

// What decides about a self-test: it has sizes of its own in B and T.
std::string test_key(const PackagedProblem& packaged) {
  const schedule::Problem& p = packaged.problem;
  return fmt::format("{} {} {} {} {} {}",
                     step::canonical_hash(schedule::cell_with_constants(*packaged.cell, p)),
                     schedule::pass_key(p), kernel::storage_name(p.storage), kernel::math_name(p.math),
                     p.sizes.heads, p.sizes.dim);
}

// A problem on one GPU.
struct Item {
  const PackagedProblem* packaged;
  target::Profile profile;
  bool ptx;
  std::string what() const {
    const schedule::Problem& p = packaged->problem;
    return fmt::format("{} {} {} B={} T={} D={} for {}", packaged->cell->name, schedule::pass_key(p),
                       kernel::storage_name(p.storage), p.sizes.batch, p.sizes.time, p.sizes.dim,
                       ptx ? "PTX" : profile.arch());
  }
};

class Building {
 public:
  Building(const std::vector<PackagedProblem>& problems, const PackageOptions& options) : options_(options) {
    for (const PackagedProblem& packaged : problems) {
      for (const target::Profile& target : options.targets) items_.push_back({&packaged, target, false});
      if (options.base) items_.push_back({&packaged, portable_profile(*options.base), true});
      if (options.self_tests) tests_.try_emplace(test_key(packaged), Test{&packaged, {}});
    }
  }

  Result<package::PackageWriter> run() {
    std::vector<Test*> tests;
    for (auto& [key, test] : tests_) tests.push_back(&test);
    std::vector<std::optional<Result<std::optional<Kernels>>>> made(items_.size());
    all_ = tests.size() + items_.size();
    parallel_for(static_cast<std::int64_t>(all_), options_.workers, [&]() -> Worker {
      return [&](std::int64_t number) {
        if (stopped()) return;
        const auto at = static_cast<std::size_t>(number);
        if (at < tests.size()) {
          make_test(*tests[at]);
          return;
        }
        const Item& item = items_[at - tests.size()];
        made[at - tests.size()] = make_kernels(item);
        if (!made[at - tests.size()]->ok()) failed_ = true;
        done(item.what());
      };
    });
    for (const auto& one : made)
      if (one && !one->ok()) return one->error();
    if (stopped()) return Error{ErrorKind::Cancelled, "the package was not built: stopped"};
    return written(made);
  }

 private:
  struct Test {
    const PackagedProblem* packaged;
    std::optional<SelfTest> test;
  };

  bool stopped() const { return failed_ || (options_.stop != nullptr && options_.stop->load()); }

  void done(const std::string& what) {
    const std::lock_guard<std::mutex> guard(mutex_);
    ++done_;
    if (options_.progress) options_.progress({done_, all_, what});
  }
  void note(const std::string& text) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (options_.note && std::ranges::find(noted_, text) == noted_.end()) options_.note(text);
    noted_.push_back(text);
  }

  void make_test(Test& test) {
    Result<SelfTest> made = make_self_test({*test.packaged->cell, test.packaged->problem, {}});
    const std::string what =
        fmt::format("{} {}", test.packaged->cell->name, schedule::pass_key(test.packaged->problem));
    if (made)
      test.test = std::move(made).value();
    else
      note(fmt::format("no self-test of {}: {}", what, made.error().message));
    done(fmt::format("self-test of {}", what));
  }

  // Nothing where there is no PTX to be had.
  Result<std::optional<Kernels>> make_kernels(const Item& item) {
    const schedule::Task task(*item.packaged->cell, item.packaged->problem, item.profile);
    const auto in = [&](Error error) {
      error.message = fmt::format("{}: {}", item.what(), error.message);
      return error;
    };
    if (item.ptx && !backend::preferred_backend().available()) {
      note("the package has no PTX for later GPUs: " +
           backend::preferred_backend().available().error().message);
      return std::optional<Kernels>();
    }
    const Result<engine::Choice> choice = engine::choose(task, {options_});
    if (!choice) return in(item.ptx ? with_hint_for_ptx(choice.error()) : choice.error());
    Result<engine::CompiledCode> code = engine::code_of_choice(task, *choice, options_.database);
    if (!code) return in(code.error());
    Kernels kernels;
    kernels.executable = std::move(code->executable);
    // What was stored when another shape was tuned is this problem's code too.
    kernels.executable.identity.batch = task.problem.sizes.batch;
    kernels.executable.identity.time = task.problem.sizes.time;
    if (item.ptx) {
      Result<Image> ptx = ptx_of(*code, kernels.executable.images.front(), item.profile);
      if (!ptx) return in(ptx.error());
      kernels.executable.images = {std::move(ptx).value()};
    }
    kernels.entry = package::entry_of(
        kernels.executable.identity,
        item.ptx ? fmt::format("compute_{}", item.profile.target.level) : item.profile.arch());
    kernels.entry.origin = engine::origin_name(choice->origin);
    kernels.entry.note = choice->note;
    kernels.entry.expected_ms = choice->expected_ms;
    if (!item.ptx) {
      kernels.entry.board = item.profile.name;
      kernels.entry.multiprocessors = item.profile.limits.sm_count;
    }
    return std::optional(std::move(kernels));
  }

  // What is pinned was tuned on a GPU, and the portable one is none.
  Error with_hint_for_ptx(Error error) const {
    if (options_.pinned != nullptr && error.kind == ErrorKind::Missing)
      error.hint = fmt::format(
          "make no PTX (`--ptx none`), or add a choice for the device '{}' to '{}', as it has for others",
          kPortableKey, options_.pinned->origin());
    return error;
  }

  // The text of the cubin's kernels as PTX. What they use is as the assembler said of the cubin.
  static Result<Image> ptx_of(const engine::CompiledCode& code, const Image& cubin,
                              const target::Profile& profile) {
    const backend::Backend& backend = backend::preferred_backend();
    backend::Request request{backend.name(), code.key.source, "rondo_plan.cu",
                             profile.target, backend.flags(), executable::ImageKind::Ptx};
    Result<backend::Compiled> compiled = backend.compile(request);
    if (!compiled) return compiled.error();
    compiled->image.resources = cubin.resources;
    compiled->image.seal();
    return std::move(compiled->image);
  }

  Result<package::PackageWriter> written(std::vector<std::optional<Result<std::optional<Kernels>>>>& made) {
    package::PackageWriter writer;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      std::optional<Kernels>& kernels = made[i]->value();
      if (!kernels) continue;
      if (options_.self_tests) kernels->self_test = tests_.at(test_key(*items_[i].packaged)).test;
      if (Status status = writer.add(*kernels); !status) return status.error();
    }
    return writer;
  }

  const PackageOptions& options_;
  std::vector<Item> items_;
  std::map<std::string, Test> tests_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::size_t done_ = 0, all_ = 0;
  std::vector<std::string> noted_;
};

}  // namespace

target::Profile portable_profile(const target::Profile& base) {
  target::Profile portable = base;
  portable.key = kPortableKey;
  portable.name = "any GPU from " + base.arch() + " on";
  portable.origin = "public";
  portable.portable = true;
  target::Limits& limits = portable.limits;
  limits.shared_per_block = std::min(limits.shared_per_block, 99 * 1024);
  limits.shared_per_sm = std::min(limits.shared_per_sm, 100 * 1024);
  limits.threads_per_sm = std::min(limits.threads_per_sm, 1536);
  limits.blocks_per_sm = std::min(limits.blocks_per_sm, 16);
  limits.sm_count = std::min(limits.sm_count, 20);
  limits.max_cluster = 1;
  return portable;
}

Result<package::PackageWriter> build_package(const std::vector<PackagedProblem>& problems,
                                             const PackageOptions& options) {
  const auto refused = [](const target::Profile& profile) {
    return Error{
        ErrorKind::Unsupported, fmt::format("packages hold kernels for GPUs, and {} is none", profile.arch()),
        "name GPUs' architectures, such as sm_90; for CPUs the library compiles the cell where it runs"};
  };
  for (const target::Profile& target : options.targets)
    if (target.is_cpu()) return refused(target);
  if (options.base && options.base->is_cpu()) return refused(*options.base);
  return Building(problems, options).run();
}

}  // namespace rondo::tuner
