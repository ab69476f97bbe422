#include "compiler/target/board_memory.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace rondo::target {
namespace {

struct Board {
  std::string_view key;
  std::int64_t gigabytes;  // as the data sheet has them
};
constexpr Board kBoards[] = {{"t4", 16},      {"rtx2080ti", 11}, {"a100", 80},  {"a10", 24},   {"l4", 24},
                             {"rtx4090", 24}, {"h100", 80},      {"h200", 141}, {"b200", 180}, {"b300", 288},
                             {"thor", 128},   {"rtx5090", 32},   {"gb10", 128}};

}  // namespace

std::int64_t board_memory(const Profile& profile) {
  const auto* const found = std::find_if(std::begin(kBoards), std::end(kBoards),
                                         [&](const Board& board) { return board.key == profile.key; });
  return found == std::end(kBoards) ? 0 : found->gigabytes * 1'000'000'000;
}

}  // namespace rondo::target
