// The identifiers of one kernel's text: KernelIR names made valid and distinct C++ names.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::backend::cuda {

// Names of KernelIR are unique but come from users' cells too: one that is a keyword, a built-in or a helper
// of the prelude gets a trailing underscore; characters C++ does not allow become underscores.
class Names {
 public:
  explicit Names(const kernel::Kernel& kernel);

  const std::string& reg(kernel::RegId id) const { return registers_[static_cast<std::size_t>(id)]; }
  const std::string& array(kernel::ArrayId id) const { return arrays_[static_cast<std::size_t>(id)]; }
  const std::string& param(kernel::ParamId id) const { return params_[static_cast<std::size_t>(id)]; }
  const std::string& shared(kernel::SharedId id) const { return shared_[static_cast<std::size_t>(id)]; }
  const std::string& mbarrier(kernel::MbarrierId id) const {
    return mbarriers_[static_cast<std::size_t>(id)];
  }
  const std::string& named(int index) const { return named_[static_cast<std::size_t>(index)]; }

 private:
  std::string claim(std::string_view wanted);

  std::set<std::string> taken_;
  std::vector<std::string> registers_, arrays_, params_, shared_, mbarriers_, named_;
};

}  // namespace rondo::backend::cuda
