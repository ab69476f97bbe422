// The part of StatementWriter for barriers, mbarriers, clusters and grid flags. Included by statements.cpp
// alone.
#pragma once

#include <string>
#include <vector>

#include "compiler/backend/llvm/nvptx/statements.h"

namespace rondo::backend::nvptx {

struct StatementWriter::Units {
  StatementWriter& w;

  // Where a wait that ends in vain says so.
  std::string status() const {
    const std::string place = w.kernel_.status < 0 ? "null" : w.values_.param(w.kernel_.status);
    return "ptr addrspace(1) " + place;
  }

  void operator()(const kernel::Barrier& s) const {
    if (s.threads == 0) return w.text_.line("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)");
    const char* kind = !s.waits                                   ? "arrive.aligned"
                       : w.awaited_in_two_roles_.count(s.id) != 0 ? "sync"
                                                                  : "sync.aligned";
    w.text_.line(
        fmt::format("call void @llvm.nvvm.barrier.cta.{}.count(i32 {}, i32 {})", kind, s.id, s.threads));
  }
  void operator()(const kernel::WarpSync&) const {
    w.text_.line("call void @llvm.nvvm.bar.warp.sync(i32 -1)");
  }
  void operator()(const kernel::ClusterBarrier&) const {
    w.text_.line("call void @llvm.nvvm.barrier.cluster.arrive.aligned()");
    w.text_.line("call void @llvm.nvvm.barrier.cluster.wait.aligned()");
  }

  // ---- shuffles and votes ----
  static std::string_view name_of(kernel::ShuffleMode mode) {
    switch (mode) {
      case kernel::ShuffleMode::Up: return "up";
      case kernel::ShuffleMode::Down: return "down";
      case kernel::ShuffleMode::Xor: return "bfly";
      case kernel::ShuffleMode::Index: return "idx";
    }
    return "";
  }
  // Lanes past the warp's end keep their own value (PTX ISA, shfl: c is 0 for up, else the last lane).
  std::string shuffled(const kernel::Shuffle& s, std::string_view type, const std::string& value,
                       const std::string& lane) const {
    return w.text_.value("call {} @llvm.nvvm.shfl.sync.{}.{}(i32 -1, {} {}, i32 {}, i32 {})", type,
                         name_of(s.mode), type == "float" ? "f32" : "i32", type, value, lane,
                         s.mode == kernel::ShuffleMode::Up ? 0 : 31);
  }
  void operator()(const kernel::Shuffle& s) const {
    const kernel::Type type = w.values_.type_of(s.from);
    const std::string value = w.values_.write(s.from), lane = w.values_.write(s.lane);
    std::string result;
    if (type == kernel::Type::I64) {
      const std::string low = shuffled(s, "i32", w.text_.value("trunc i64 {} to i32", value), lane);
      const std::string top = w.text_.value("lshr i64 {}, 32", value);
      const std::string high = shuffled(s, "i32", w.text_.value("trunc i64 {} to i32", top), lane);
      const std::string wide = w.text_.value("zext i32 {} to i64", high);
      const std::string shifted = w.text_.value("shl i64 {}, 32", wide);
      result = w.text_.value("or i64 {}, {}", shifted, w.text_.value("zext i32 {} to i64", low));
    } else if (type == kernel::Type::Pred) {
      const std::string word = shuffled(s, "i32", w.text_.value("zext i1 {} to i32", value), lane);
      result = w.text_.value("icmp ne i32 {}, 0", word);
    } else {
      result = shuffled(s, type_text(type), value, lane);
    }
    w.values_.set_known(s.into, std::nullopt);
    w.values_.set(s.into, w.text_.named(result, w.values_.name(s.into)));
  }

  void operator()(const kernel::Ballot& s) const {
    const std::string votes =
        w.text_.value("call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, {})", w.values_.typed(s.predicate));
    w.values_.set_known(s.into, std::nullopt);
    w.values_.set(s.into, w.text_.named(votes, w.values_.name(s.into)));
  }

  // ---- mbarriers and clusters ----
  void operator()(const kernel::MbarrierArrive& s) const {
    const std::string barrier = w.values_.address(s.barrier);
    if (w.target_.before_ampere()) return w.values_.call("mbarrier_arrive_75", barrier);
    if (s.rank < 0) {
      w.text_.value("call i64 @llvm.nvvm.mbarrier.arrive.shared({})", barrier);
      return;
    }
    const std::string rank = w.values_.typed(s.rank);
    w.values_.call("mbarrier_arrive_in_block", barrier + ", " + rank);
  }
  void operator()(const kernel::MbarrierExpect& s) const {
    const std::string barrier = w.values_.address(s.barrier), bytes = w.values_.typed(s.bytes);
    const auto expect = [&] {
      w.text_.value("call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta({}, {})", barrier,
                    bytes);
    };
    if (w.in_vain_.empty()) return expect();
    const std::string vain = w.text_.value("load i1, ptr {}", w.in_vain_);
    const std::string yes = w.text_.label("expect"), no = w.text_.label("expected");
    w.text_.branch(vain, no, yes);
    w.text_.begin(yes);
    expect();
    w.text_.jump(no);
    w.text_.begin(no);
  }
  void operator()(const kernel::MbarrierWait& s) const {
    const std::string barrier = w.values_.address(s.barrier), parity = w.values_.typed(s.parity);
    const char* helper = w.signalled_by_others_.count(s.barrier.id) != 0 ? "mbarrier_wait_cluster"
                         : w.target_.level >= 90                         ? "mbarrier_wait_90"
                         : w.target_.before_ampere()                     ? "mbarrier_wait_75"
                                                                         : "mbarrier_wait_80";
    const std::string ended =
        w.values_.call("i1", helper, fmt::format("{}, {}, {}", barrier, parity, status()));
    if (w.in_vain_.empty()) return;
    const std::string before = w.text_.value("load i1, ptr {}", w.in_vain_);
    w.text_.line(
        fmt::format("store i1 {}, ptr {}", w.text_.value("or i1 {}, {}", before, ended), w.in_vain_));
  }
  void operator()(const kernel::StoreAsync& s) const {
    const std::string to = w.values_.address(s.to), rank = w.values_.typed(s.rank);
    std::string arguments = fmt::format("{}, {}, {}", to, rank, w.values_.address(s.barrier));
    for (const kernel::ExprId value : s.values) arguments += ", i32 " + word(value);
    w.values_.call(fmt::format("store_async_{}", s.values.size()), arguments);
  }
  // The bits of an I32 or F32.
  std::string word(kernel::ExprId value) const {
    const std::string written = w.values_.write(value);
    if (w.values_.type_of(value) != kernel::Type::F32) return written;
    return w.text_.value("bitcast float {} to i32", written);
  }

  // ---- flags of the grid ----
  void operator()(const kernel::GridArrive& s) const {
    w.values_.call("grid_arrive", w.values_.address(s.counter));
  }
  void operator()(const kernel::GridWait& s) const {
    const std::string counter = w.values_.address(s.counter), target = w.values_.typed(s.target);
    w.values_.call("grid_wait", fmt::format("{}, {}, {}", counter, target, status()));
  }
  void operator()(const kernel::GridFence&) const { w.text_.line("fence syncscope(\"device\") acq_rel"); }
  void operator()(const kernel::StoreSelfFlagged& s) const {
    std::string arguments = w.values_.address(s.to);
    for (const kernel::ExprId value : s.values) {
      const bool real = w.values_.type_of(value) == kernel::Type::F32;
      const std::string written = w.values_.typed(value);
      arguments += ", " + (real ? "i32 " + w.values_.call("i32", "flagged_word", written) : written);
    }
    w.values_.call(fmt::format("store_flagged_{}", s.values.size()), arguments);
  }

  static constexpr const char* kFour = "{ i32, i32, i32, i32 }";
  std::string vector_at(const std::string& from, const std::string& stride, int vector) const {
    const std::string at = w.text_.value("mul nsw i32 {}, {}", stride, vector);
    const std::string wide = w.text_.value("sext i32 {} to i64", at);
    return "ptr addrspace(1) " + w.text_.value("getelementptr inbounds i32, {}, i64 {}", from, wide);
  }
  // Loads four words and puts them into slots.
  void load_vector(const std::string& from, const std::vector<std::string>& slots, int vector) const {
    const std::string words = w.values_.call(kFour, "load_flagged_4", from);
    for (int i = 0; i < 4; ++i)
      w.text_.line(fmt::format("store i32 {}, ptr {}",
                               w.text_.value("extractvalue {} {}, {}", kFour, words, i),
                               slots[static_cast<std::size_t>(4 * vector + i)]));
  }
  // True where none of the slots' words is empty.
  std::string complete(const std::vector<std::string>& slots, int first, int count) const {
    std::string all;
    for (int i = first; i < first + count; ++i) {
      const std::string loaded = w.text_.value("load i32, ptr {}", slots[static_cast<std::size_t>(i)]);
      const std::string here = w.text_.value("icmp ne i32 {}, {}", loaded, kernel::kEmpty);
      all = all.empty() ? here : w.text_.value("and i1 {}, {}", all, here);
    }
    return all;
  }
  // All vectors are in flight at once; those that have come are not loaded again.
  void operator()(const kernel::LoadSelfFlagged& s) const {
    const std::string from = w.values_.address(s.from), stride = w.values_.write(s.stride);
    std::vector<std::string> slots, places;
    for (int i = 0; i < 4 * s.vectors; ++i) slots.push_back(w.text_.slot("i32", "word"));
    for (int i = 0; i < s.vectors; ++i) places.push_back(vector_at(from, stride, i));
    if (s.once) {
      for (int i = 0; i < s.vectors; ++i) load_vector(places[static_cast<std::size_t>(i)], slots, i);
    } else {
      poll(s, places, slots);
    }
    const bool reals = w.values_.element_type(s.into.array) == kernel::Type::F32;
    for (int i = 0; i < 4 * s.vectors; ++i) {
      std::string word = w.text_.value("load i32, ptr {}", slots[static_cast<std::size_t>(i)]);
      if (reals) word = w.text_.value("bitcast i32 {} to float", word);
      w.values_.write(s.into, i, word);
    }
  }
  void rest(int cycles) const {
    const auto clock = [&] { return w.text_.value("call i32 @llvm.nvvm.read.ptx.sreg.clock()"); };
    const std::string begin = clock(), again = w.text_.label("rest"), done = w.text_.label("rested");
    w.text_.jump(again);
    w.text_.begin(again);
    const std::string passed = w.text_.value("sub i32 {}, {}", clock(), begin);
    w.text_.branch(w.text_.value("icmp ult i32 {}, {}", passed, cycles), again, done);
    w.text_.begin(done);
  }
  void poll(const kernel::LoadSelfFlagged& s, const std::vector<std::string>& places,
            const std::vector<std::string>& slots) const {
    if (s.rest > 0) rest(s.rest);
    const std::string tries = w.text_.slot("i32", "tries"), start = w.text_.slot("i64", "start");
    w.text_.line(fmt::format("store i32 0, ptr {}", tries));
    w.text_.line(fmt::format("store i64 0, ptr {}", start));
    for (const std::string& slot : slots)
      w.text_.line(fmt::format("store i32 {}, ptr {}", kernel::kEmpty, slot));
    const std::string again = w.text_.label("poll"), wait = w.text_.label("wait"),
                      done = w.text_.label("come");
    w.text_.jump(again);
    w.text_.begin(again);
    for (int i = 0; i < s.vectors; ++i) {
      const std::string load = w.text_.label("load"), next = w.text_.label("next");
      w.text_.branch(complete(slots, 4 * i, 4), next, load);
      w.text_.begin(load);
      load_vector(places[static_cast<std::size_t>(i)], slots, i);
      w.text_.jump(next);
      w.text_.begin(next);
    }
    const auto vote = [&](const char* how, const std::string& own) {
      return s.together ? w.text_.value("call i1 @llvm.nvvm.vote.{}.sync(i32 -1, i1 {})", how, own) : own;
    };
    w.text_.branch(vote("all", complete(slots, 0, 4 * s.vectors)), done, wait);
    w.text_.begin(wait);
    const std::string ends =
        w.values_.call("i1", "patience_ends", fmt::format("ptr {}, ptr {}, {}", tries, start, status()));
    w.text_.branch(vote("any", ends), done, again);
    w.text_.begin(done);
  }

  // Architectures of their own ("sm_90a") have the instruction; elsewhere registers stay as they are.
  void operator()(const kernel::SetMaxNReg& s) const {
    if (w.target_.specific)
      w.text_.line(fmt::format("call void @llvm.nvvm.setmaxnreg.{}.sync.aligned.u32(i32 {})",
                               s.more ? "inc" : "dec", s.count));
  }
};

}  // namespace rondo::backend::nvptx
