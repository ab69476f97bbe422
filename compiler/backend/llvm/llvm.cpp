#include "compiler/backend/llvm/llvm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "compiler/backend/llvm/library/entry.h"
#include "compiler/support/environment.h"
#include "compiler/support/find_files.h"

namespace rondo::backend {

namespace {

constexpr const char* kFile = "librondo_llvm.so";
// The first that knows Blackwell, and whose IR the text is written in.
constexpr int kLeastVersion = 22;
constexpr const char* kInstallHint =
    "it is built beside rondo where LLVM 22 is installed (tools/setup), for Python it is the extra "
    "rondo-rnn[llvm], or point RONDO_LLVM at it or its folder";

std::vector<std::string> candidates_of(const std::string& path) {
  std::error_code failed;
  if (!path.empty())
    return {std::filesystem::is_directory(path, failed) ? fmt::format("{}/{}", path, kFile) : path};
  std::vector<std::string> candidates;
  for (const std::string& folder : own_folders(1))
    // The last is a package of Python beside the one that librondo is in (python/llvm).
    for (const char* place :
         {"/", "/rondo/", "/../rondo/", "/../lib/", "/../lib/rondo/", "/../../rondo_llvm/"})
      candidates.push_back(folder + place + kFile);
  candidates.emplace_back(kFile);
  return candidates;
}

std::string architecture_of(const std::string& triple) { return triple.substr(0, triple.find('-')); }

}  // namespace

Status Llvm::load(const std::string& path) {
  auto library = DynamicLibrary::open(candidates_of(path), fmt::format("LLVM ({})", kFile), kInstallHint,
                                      {.found = path.empty()});
  if (!library) return library.error();
  library_ = std::move(*library);
  decltype(&rondo_llvm_entry) entry = nullptr;
  if (!library_.load(entry, "rondo_llvm_entry") ||
      (interface_ = entry())->interface_version != RONDO_LLVM_INTERFACE)
    return Error{ErrorKind::Unsupported,
                 fmt::format("{} belongs to another version of Rondo", library_.path()),
                 "build both together"};
  version_ = interface_->version;
  if (std::atoi(version_.c_str()) < kLeastVersion)
    return Error{
        ErrorKind::Unsupported,
        fmt::format("{} holds LLVM {}; {} or newer is needed", library_.path(), version_, kLeastVersion),
        "build it with a newer LLVM"};
  std::istringstream targets(interface_->targets);
  for (std::string target; targets >> target;) targets_.push_back(target);
  return success();
}

Result<std::unique_ptr<const Llvm>> Llvm::open(const std::string& path) {
  if (path == "none")
    return Error{ErrorKind::Missing, "no LLVM: RONDO_LLVM=none hides it", "unset RONDO_LLVM to compile"};
  std::unique_ptr<Llvm> llvm(new Llvm);
  if (auto loaded = llvm->load(path); !loaded) return loaded.error();
  return std::unique_ptr<const Llvm>(std::move(llvm));
}

Result<const Llvm*> Llvm::get() { return library_of_process<Llvm>("RONDO_LLVM"); }

bool Llvm::looks_installed() {
  const std::string path = environment("RONDO_LLVM");
  if (path == "none") return false;
  std::error_code failed;
  return std::ranges::any_of(candidates_of(path), [&](const std::string& candidate) {
    return candidate.find('/') != std::string::npos && std::filesystem::exists(candidate, failed);
  });
}

Result<std::string> Llvm::compile(const std::string& ir, const std::string& name, const LlvmMachine& machine,
                                  LlvmOutput output, bool optimise) const {
  const std::string architecture = architecture_of(machine.triple);
  if (std::ranges::find(targets_, architecture) == targets_.end())
    return Error{
        ErrorKind::Unsupported,
        fmt::format("{} is built without {}; it has {}", path(), architecture, fmt::join(targets_, ", ")),
        kInstallHint};
  rondo_llvm_request request{};
  request.ir = ir.c_str();
  request.size = ir.size();
  request.name = name.c_str();
  request.triple = machine.triple.c_str();
  request.cpu = machine.cpu.c_str();
  request.features = machine.features.c_str();
  request.object = output == LlvmOutput::Object ? 1 : 0;
  request.optimise = optimise ? 1 : 0;
  request.print_ir = output == LlvmOutput::OptimisedIr ? 1 : 0;
  rondo_llvm_answer answer{};
  interface_->compile(&request, &answer);
  if (answer.status == RONDO_LLVM_NO_MEMORY)
    return Error{ErrorKind::Memory,
                 fmt::format("the memory is short for LLVM to compile {} for {}", name, machine.cpu),
                 "it takes some hundred megabytes: free some, or raise the limit of the process"};
  std::string bytes(answer.bytes, answer.size);
  const bool ok = answer.status == RONDO_LLVM_OK;
  interface_->release(&answer);
  if (ok) return bytes;
  while (bytes.ends_with('\n')) bytes.pop_back();
  return Error{ErrorKind::Compile,
               fmt::format("LLVM {} rejected {} for {}: {}", version_, name, machine.cpu, bytes)};
}

}  // namespace rondo::backend
