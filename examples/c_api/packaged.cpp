// Kernels compiled ahead of time, over the C++ wrapper and librondo_rt: lists what a package holds, and
// launches the kernels of its first problem. The argument is a file that `rondo package build` wrote. Without
// a GPU that it has code for, the program says so and ends with status 77.
#include <dlfcn.h>

#include <cstdio>
#include <rondo/package.hpp>
#include <string>
#include <vector>

namespace {

namespace api = rondo::api;

// The driver, which a program of yours may link.
template <class... Arguments>
int cuda(const char* name, Arguments... arguments) {
  static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = library == nullptr ? nullptr : ::dlsym(library, name);
  return found == nullptr ? -1 : reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
}

class Memory {
 public:
  explicit Memory(std::int64_t bytes) {
    cuda("cuMemAlloc_v2", &address_, static_cast<std::size_t>(bytes + 256));
    cuda("cuMemsetD8_v2", address_, static_cast<unsigned char>(0), static_cast<std::size_t>(bytes));
  }
  Memory(Memory&& other) noexcept : address_(other.address_) { other.address_ = 0; }
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (address_ != 0) cuda("cuMemFree_v2", address_);
  }
  void* data() const { return reinterpret_cast<void*>(address_); }

 private:
  unsigned long long address_ = 0;
};

void launch(const api::Plan& plan, const rondo_package_entry& problem) {
  api::Arguments arguments(problem.batch, problem.time);
  std::vector<Memory> memory;
  for (std::int32_t i = 0; i < plan.info().value().tensors; ++i) {
    const std::int64_t bytes = plan.tensor_bytes(i, problem.batch, problem.time).value();
    memory.emplace_back(bytes);
    arguments.set(i, plan.tensor(i).value().type, memory.back().data(), bytes);
  }
  const std::int64_t bytes = plan.workspace_bytes(problem.batch, problem.time).value();
  memory.emplace_back(bytes);
  arguments.workspace(memory.back().data(), bytes);
  plan.launch(arguments).value();
  cuda("cuCtxSynchronize");
  plan.check().value();
}

int run(const std::string& path) {
  const api::Package package = api::Package::open(path).value();
  package.verify().value();
  const rondo_package_info info = package.info().value();
  for (std::int32_t i = 0; i < info.entries; ++i) {
    const rondo_package_entry entry = package.entry(i).value();
    std::printf("%s %s %s B=%lld T=%lld D=%lld for %s: %s %s (%s)\n", entry.cell, entry.pass, entry.type,
                static_cast<long long>(entry.batch), static_cast<long long>(entry.time),
                static_cast<long long>(entry.dim), entry.arch, entry.strategy, entry.parameters,
                entry.origin);
  }
  void* primary = nullptr;
  cuda("cuInit", 0U);
  cuda("cuDevicePrimaryCtxRetain", &primary, 0);
  cuda("cuCtxSetCurrent", primary);
  const api::Result<api::Context> context = api::Context::cuda();
  if (!context) {
    std::printf("there is no GPU to launch on: %s\n", context.error().message.c_str());
    return 77;
  }
  const rondo_package_entry first = package.entry(0).value();
  rondo_package_query query = api::package_query(first.cell_hash, first.pass, first.batch, first.time);
  query.type = first.type;
  query.heads = first.heads;
  query.dim = first.dim;
  const api::Result<api::Plan> plan = package.plan(*context, query);
  if (!plan) {
    std::printf("%s\n", plan.error().message.c_str());
    return plan.error().status == RONDO_ERROR_UNSUPPORTED ? 77 : 1;
  }
  launch(*plan, first);
  std::printf("launched: %s\n", plan->info().value().note);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: packaged FILE.rondo\n"), 2;
  try {
    return run(argv[1]);
  } catch (const api::BadResult& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
