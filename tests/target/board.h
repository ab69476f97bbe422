// The shipped boards, for tests that need one.
#pragma once

#include <map>
#include <string>

#include "compiler/target/profile.h"

namespace rondo::target {

// The shipped profile of a board or of an architecture. Throws for an unknown name.
inline const Profile& board(const std::string& name = "h200") {
  static std::map<std::string, Profile> boards;
  const auto found = boards.find(name);
  return found != boards.end() ? found->second
                               : boards.emplace(name, find_profile(name).value()).first->second;
}

}  // namespace rondo::target
