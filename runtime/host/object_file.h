// Machine code of an object file, loaded into this process without a linker.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "compiler/support/result.h"

namespace rondo::runtime {

// An x86-64 ELF object file that needs nothing but itself, in memory of its own that can be executed and not
// written. Movable; its functions live as long as it does.
class ObjectFile {
 public:
  // Errors: Input (no such file, or bytes that contradict themselves), Unsupported (another machine's, or one
  // that needs symbols or relocations beyond those of code that stands alone), Memory.
  static Result<ObjectFile> load(std::string_view bytes);

  ObjectFile(ObjectFile&& other) noexcept;
  ObjectFile& operator=(ObjectFile&& other) noexcept;
  ~ObjectFile();

  // Where a function begins; null for an unknown one.
  void* function(const std::string& name) const;

 private:
  ObjectFile() = default;
  friend class ObjectLoader;

  void* memory_ = nullptr;
  std::size_t size_ = 0;
  std::map<std::string, void*> functions_;
};

}  // namespace rondo::runtime
