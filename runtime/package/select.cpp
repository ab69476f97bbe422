#include "runtime/package/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace rondo::package {
namespace {

struct Architecture {
  int capability = 0;
  bool specific = false;  // "sm_90a": with instructions that exist under this name alone
};

// Of "sm_90" and "sm_90a"; 0 for what is none.
Architecture architecture_of(const std::string& target) {
  constexpr std::string_view kPrefix = "sm_";
  Architecture result;
  if (!std::string_view(target).starts_with(kPrefix)) return result;
  std::size_t at = kPrefix.size();
  for (; at < target.size() && target[at] >= '0' && target[at] <= '9' && result.capability < 100000; ++at)
    result.capability = 10 * result.capability + (target[at] - '0');
  result.specific = at < target.size();
  return result;
}

bool is(const std::string& wanted, const std::string& value) { return wanted.empty() || wanted == value; }
bool is(std::int64_t wanted, std::int64_t value) { return wanted == 0 || wanted == value; }

bool agrees(const Entry& entry, const Wanted& wanted) {
  return (is(wanted.cell, entry.cell) || wanted.cell == entry.cell_hash) &&
         is(wanted.storage, entry.storage) && is(wanted.math, entry.math) && is(wanted.pass, entry.pass) &&
         is(wanted.heads, entry.heads) && is(wanted.dim, entry.dim);
}

// What must be equal for kernels to compute the same.
bool same_kind(const Entry& a, const Entry& b) {
  return a.cell_hash == b.cell_hash && a.storage == b.storage && a.math == b.math && a.pass == b.pass &&
         a.heads == b.heads && a.dim == b.dim;
}

std::string text_of(const Wanted& w) {
  std::string text = w.cell.empty() ? "any cell" : w.cell;
  for (const std::string* part : {&w.pass, &w.storage, &w.math})
    if (!part->empty()) text += " " + *part;
  if (w.heads != 0) text += fmt::format(" H={}", w.heads);
  if (w.dim != 0) text += fmt::format(" D={}", w.dim);
  return text;
}

// A list for people, each text once, cut where it gets long.
class Listing {
 public:
  void add(const std::string& text) {
    if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) texts_.push_back(text);
  }
  std::string text() const {
    constexpr std::size_t kMost = 8;
    std::string all;
    for (std::size_t i = 0; i < texts_.size() && i < kMost; ++i) all += (i == 0 ? "" : "; ") + texts_[i];
    if (texts_.size() > kMost) all += fmt::format("; and {} more", texts_.size() - kMost);
    return all;
  }

 private:
  std::vector<std::string> texts_;
};

// How far apart two counts are, as a fraction of at least 1 that is compared without rounding.
struct Ratio {
  std::uint64_t more = 1, less = 1;
  static Ratio of(std::uint64_t a, std::uint64_t b) { return {std::max(a, b), std::min(a, b)}; }
  friend bool operator<(const Ratio& a, const Ratio& b) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<Wide>(a.more) * b.less < static_cast<Wide>(b.more) * a.less;
  }
};

std::uint64_t count_of(std::int64_t size) {
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(size, 1, std::int64_t{1} << 31));
}

struct Rank {
  Suits how;
  int capability;  // larger is better
  Ratio steps;
  int other_board;  // 0: this one; 1: with as many multiprocessors; 2: another
  Ratio board, batch;
  bool better_than(const Rank& other) const {
    if (how != other.how) return how < other.how;
    if (capability != other.capability) return capability > other.capability;
    if (steps < other.steps || other.steps < steps) return steps < other.steps;
    if (other_board != other.other_board) return other_board < other.other_board;
    if (board < other.board || other.board < board) return board < other.board;
    return batch < other.batch;
  }
};

int other_board(const Entry& entry, const Gpu& gpu) {
  if (!gpu.name.empty() && entry.board == gpu.name) return 0;
  return gpu.multiprocessors > 0 && entry.multiprocessors == gpu.multiprocessors ? 1 : 2;
}

Rank rank_of(const Entry& entry, const Code& code, const Wanted& wanted, const Gpu& gpu) {
  const std::uint64_t batch = count_of(wanted.batch), own = count_of(entry.batch);
  return {suits(code, gpu),
          architecture_of(code.target).capability,
          Ratio::of(batch * count_of(wanted.time), own * count_of(entry.time)),
          other_board(entry, gpu),
          Ratio::of(count_of(entry.multiprocessors), count_of(gpu.multiprocessors)),
          Ratio::of(batch, own)};
}

bool fits(const Code& code, const Gpu& gpu) {
  return gpu.shared_per_block == 0 ||
         std::all_of(code.resources.begin(), code.resources.end(),
                     [&](const auto& kernel) { return kernel.shared_bytes <= gpu.shared_per_block; });
}

Error no_code(const Package& package, const Wanted& wanted, const Gpu& gpu,
              const std::vector<const Entry*>& entries) {
  Listing there;
  bool too_large = false;
  for (const Entry* entry : entries)
    for (const Code& code : entry->codes) {
      too_large = too_large || suits(code, gpu) != Suits::Not;
      there.add(fmt::format("{} for {}{}", executable::image_kind_name(code.kind), code.target,
                            code.kind == executable::ImageKind::Ptx ? " and later" : ""));
    }
  return {ErrorKind::Unsupported,
          fmt::format("{} holds no code of {} for sm_{}: it holds {}{}", package.origin(), text_of(wanted),
                      gpu.capability, there.text(),
                      too_large ? fmt::format(", which needs more shared memory than the {} bytes of a block "
                                              "on this GPU",
                                              gpu.shared_per_block)
                                : ""),
          fmt::format("build the package with --arch sm_{} too", gpu.capability)};
}

Error none_agrees(const Package& package, const Wanted& wanted) {
  Listing kinds;
  for (const Entry& entry : package.index().entries) kinds.add(kind_text(entry));
  return {ErrorKind::Missing, fmt::format("{} holds no {}", package.origin(), text_of(wanted)),
          package.index().entries.empty() ? "it is empty" : "it holds " + kinds.text()};
}

// Cells of one name may differ in the values of constants, in bounds or in forms: these are named by their
// hash.
Error several_agree(const Package& package, const Wanted& wanted, const std::vector<const Entry*>& entries) {
  Listing kinds;
  for (const Entry* entry : entries) {
    const bool namesake = std::any_of(entries.begin(), entries.end(), [&](const Entry* other) {
      return other->cell == entry->cell && other->cell_hash != entry->cell_hash;
    });
    kinds.add(kind_text(*entry) + (namesake ? ", cell " + entry->cell_hash : ""));
  }
  return {ErrorKind::Input, fmt::format("{} of {} may be several", text_of(wanted), package.origin()),
          "say which: " + kinds.text()};
}

}  // namespace

Suits suits(const Code& code, const Gpu& gpu) {
  const Architecture made_for = architecture_of(code.target);
  if (made_for.capability == 0) return Suits::Not;
  if (code.kind == executable::ImageKind::Ptx)
    return !made_for.specific && made_for.capability <= gpu.capability ? Suits::Ptx : Suits::Not;
  if (code.kind != executable::ImageKind::Cubin) return Suits::Not;
  if (made_for.capability == gpu.capability) return Suits::Exactly;
  const bool same_major = made_for.capability / 10 == gpu.capability / 10;
  return same_major && !made_for.specific && made_for.capability < gpu.capability ? Suits::Major : Suits::Not;
}

Result<std::vector<Selected>> select(const Package& package, const Wanted& wanted, const Gpu& gpu) {
  const std::vector<Entry>& all = package.index().entries;
  std::vector<const Entry*> agreeing;
  std::vector<std::pair<Rank, Selected>> ranked;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!agrees(all[i], wanted)) continue;
    agreeing.push_back(&all[i]);
    for (std::size_t k = 0; k < all[i].codes.size(); ++k) {
      const Rank rank = rank_of(all[i], all[i].codes[k], wanted, gpu);
      if (rank.how != Suits::Not && fits(all[i].codes[k], gpu)) ranked.push_back({rank, {i, k, rank.how}});
    }
  }
  if (agreeing.empty()) return none_agrees(package, wanted);
  for (const Entry* entry : agreeing)
    if (!same_kind(*entry, *agreeing.front())) return several_agree(package, wanted, agreeing);
  if (ranked.empty()) return no_code(package, wanted, gpu, agreeing);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first.better_than(b.first); });
  std::vector<Selected> result;
  for (const auto& [rank, selected] : ranked) result.push_back(selected);
  return result;
}

}  // namespace rondo::package
