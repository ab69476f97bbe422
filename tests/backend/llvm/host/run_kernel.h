// Kernels compiled for the CPU that the tests run on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "compiler/backend/llvm/host/emit.h"
#include "compiler/backend/llvm/llvm_backend.h"
#include "runtime/host/object_file.h"

namespace rondo::backend {

// A kernel's machine code, which runs block by block on the caller's thread.
class NativeKernel {
 public:
  explicit NativeKernel(const kernel::Kernel& kernel, const target::Target& target = *target::host_target())
      : blocks_memory_(static_cast<std::size_t>(kernel::shared_bytes(kernel)) / 64 + 2) {
    const Source source = llvm_backend().lower({&kernel}, target);
    const auto compiled =
        llvm_backend().compile({"llvm", source.text, kernel.name, target, llvm_backend().flags()});
    EXPECT_TRUE(compiled.ok()) << compiled.error().message << "\n" << source.text;
    if (!compiled) return;
    auto object = runtime::ObjectFile::load(compiled->image.bytes);
    EXPECT_TRUE(object.ok()) << object.error().message;
    if (!object) return;
    object_.emplace(std::move(*object));
    entry_ = reinterpret_cast<host::Entry>(object_->function(kernel.name));
    EXPECT_NE(entry_, nullptr);
  }

  // Arguments: pointers, or integers of 64 bits.
  void run(int blocks, std::vector<std::uint64_t> arguments) {
    if (entry_ == nullptr) return;
    std::vector<void*> places;
    for (std::uint64_t& argument : arguments) places.push_back(&argument);
    for (int block = 0; block < blocks; ++block) entry_(places.data(), block, blocks, blocks_memory_.data());
  }

 private:
  struct alignas(64) Line {
    char bytes[64];
  };
  std::optional<runtime::ObjectFile> object_;
  host::Entry entry_ = nullptr;
  std::vector<Line> blocks_memory_;
};

// The highest level of this machine whose vectors differ from those below: matrix tiles change nothing in
// them.
inline int highest_vector_level() {
  constexpr int kWidest = 4;
  return std::min(target::host_target()->level, kWidest);
}

inline std::uint64_t pointer_to(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

}  // namespace rondo::backend
