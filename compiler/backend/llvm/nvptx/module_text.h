// What the functions of a module share: helpers, and the loops' metadata.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/backend/prelude/sections.h"
#include "compiler/target/target.h"

namespace rondo::backend::nvptx {

// All helpers (prelude/*.ll, sections marked ";:"), in the order in which their text is emitted. For GPUs
// before compute capability 8.0 some have another form (prelude/turing).
const std::vector<Helper>& helpers(const target::Target& target = {});

class ModuleText {
 public:
  explicit ModuleText(const target::Target& target) : target_(target) {}

  // Asks for a helper by name. Throws std::logic_error where there is none: what LLVM itself knows ("llvm.")
  // is no helper.
  void require(std::string_view name);
  // Metadata for the branch back to a loop's head: unrolled `times` times, or left as it is with 1.
  std::string loop(int times);
  // Metadata for a store that should not take room in the caches.
  std::string nontemporal();

  std::string helpers_text() const;
  const std::string& metadata() const { return metadata_; }

 private:
  target::Target target_;
  std::set<std::string_view> required_;
  std::string metadata_;
  int nodes_ = 0;
  int nontemporal_ = -1;  // its node; one for all stores
};

}  // namespace rondo::backend::nvptx
