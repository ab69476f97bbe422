// The part of StatementWriter for barriers, tensor cores, mbarriers, clusters and grid flags: mostly calls of
// helpers of the prelude. Included by statements.cpp alone.
#pragma once

#include <fmt/format.h>

#include <string>

#include "compiler/backend/cuda/statements.h"
#include "compiler/kernel/passes/codegen.h"

namespace rondo::backend::cuda {

struct StatementWriter::Units {
  StatementWriter& w;

  std::string text(kernel::ExprId id) const { return w.expressions_.whole(id); }
  // Where a wait that ends in vain says so.
  std::string status() const { return w.kernel_.status < 0 ? "nullptr" : w.names_.param(w.kernel_.status); }
  // A call of a helper.
  template <class... Arguments>
  void call(const std::string& helper, const Arguments&... arguments) const {
    w.prelude_.require(helper);
    std::string list;
    ((list += (list.empty() ? "" : ", ") + arguments), ...);
    w.line(fmt::format("{}({});", helper, list));
  }

  void operator()(const kernel::Barrier& s) const {
    if (s.threads == 0) return w.line("__syncthreads();");
    const char* helper = !s.waits                                   ? "named_barrier_arrive"
                         : w.awaited_in_two_roles_.count(s.id) != 0 ? "named_barrier_any"
                                                                    : "named_barrier";
    w.prelude_.require(helper);
    w.line(fmt::format("{}<{}, {}>();", helper, s.id, s.threads));
  }
  void operator()(const kernel::WarpSync&) const { w.line("__syncwarp();"); }
  void operator()(const kernel::ClusterBarrier&) const { call("cluster_barrier"); }

  void operator()(const kernel::Mma& s) const {
    const std::string storage = s.storage != kernel::Storage::F32 ? kernel::storage_name(s.storage)
                                : s.tf32x3                        ? "tf32x3"
                                                                  : "tf32";
    call("mma_" + storage, w.expressions_.address(s.acc), w.expressions_.address(s.a),
         w.expressions_.address(s.b));
  }
  void operator()(const kernel::LoadMatrix& s) const {
    call(fmt::format("load_matrix_x{}{}", s.count, s.transposed ? "_transposed" : ""),
         w.expressions_.address(s.into), "&" + w.expressions_.element(s.row));
  }

  void operator()(const kernel::WarpgroupMma& s) const {
    w.line(fmt::format(
        "{}<{}, {}, {}, {}, {}>({}, &{}, &{});", w.prelude_.require(WarpgroupProduct{s.storage, s.columns}),
        s.steps, s.a.mn_major, s.b.mn_major, kernel::panel_elements(s.a), kernel::panel_elements(s.b),
        w.expressions_.address(s.acc), w.expressions_.element(s.a.first), w.expressions_.element(s.b.first)));
  }
  void operator()(const kernel::WgmmaWait& s) const {
    w.prelude_.require("wait_products");
    w.line(fmt::format("wait_products<{}>();", s.pending));
    if (s.pending > 0) return;
    w.prelude_.require("settle");
    for (const kernel::ArrayId acc : w.accumulators_) {
      const int size = w.kernel_.arrays[static_cast<std::size_t>(acc)].size;
      w.line(fmt::format("settle<{}>({});", size, w.names_.array(acc)));
    }
  }
  void operator()(const kernel::ProxyFence&) const { call("publish_operands"); }
  void operator()(const kernel::TileMma&) const { of_cpus(); }
  void operator()(const kernel::PackTile&) const { of_cpus(); }
  static void of_cpus() { throw std::logic_error("a node that is an instruction of CPUs"); }

  void operator()(const kernel::MbarrierArrive& s) const {
    const std::string barrier = w.expressions_.address(s.barrier);
    if (s.rank < 0) return call("mbarrier_arrive", barrier);
    call("mbarrier_arrive_in_block", barrier, text(s.rank));
  }
  void operator()(const kernel::MbarrierExpect& s) const {
    const std::string barrier = w.expressions_.address(s.barrier);
    if (!counts_vain_waits(w.kernel_)) return call("mbarrier_expect", barrier, text(s.bytes));
    w.prelude_.require("mbarrier_expect");
    w.line(fmt::format("if (!in_vain) mbarrier_expect({}, {});", barrier, text(s.bytes)));
  }
  void operator()(const kernel::MbarrierWait& s) const {
    const std::string barrier = w.expressions_.address(s.barrier);
    const char* vain = counts_vain_waits(w.kernel_) ? "in_vain |= " : "";
    const char* helper =
        w.signalled_by_others_.count(s.barrier.id) != 0 ? "mbarrier_wait_cluster" : "mbarrier_wait";
    w.prelude_.require(helper);
    w.line(fmt::format("{}{}({}, {}, {});", vain, helper, barrier, text(s.parity), status()));
  }
  void operator()(const kernel::StoreAsync& s) const {
    std::string words;
    for (kernel::ExprId value : s.values) {
      if (!words.empty()) words += ", ";
      const bool real = w.kernel_.expr(value).type == kernel::Type::F32;
      words += real ? fmt::format("__float_as_int({})", text(value)) : text(value);
    }
    call(fmt::format("store_async_{}", s.values.size()), "&" + w.expressions_.element(s.to), text(s.rank),
         w.expressions_.address(s.barrier), words);
  }
  void operator()(const kernel::GridArrive& s) const {
    call("grid_arrive", "&" + w.expressions_.element(s.counter));
  }
  void operator()(const kernel::GridWait& s) const {
    call("grid_wait", "&" + w.expressions_.element(s.counter), text(s.target), status());
  }

  std::string flagged(kernel::ExprId value) const {
    if (w.kernel_.expr(value).type != kernel::Type::F32) return text(value);
    w.prelude_.require("flagged_word");
    return fmt::format("flagged_word({})", text(value));
  }
  void operator()(const kernel::StoreSelfFlagged& s) const {
    std::string words;
    for (kernel::ExprId value : s.values) words += (words.empty() ? "" : ", ") + flagged(value);
    call(fmt::format("store_flagged_{}", s.values.size()), "&" + w.expressions_.element(s.to), words);
  }
  void operator()(const kernel::LoadSelfFlagged& s) const {
    const bool reals = w.kernel_.arrays[static_cast<std::size_t>(s.into.array)].type == kernel::Type::F32;
    const std::string helper = fmt::format("load_flagged{}{}", reals ? "_fp32" : "",
                                           s.once       ? "_once"
                                           : s.together ? "_together"
                                                        : "");
    w.prelude_.require(helper);
    if (s.rest > 0) call("rest_cycles", std::to_string(s.rest));
    w.line(fmt::format("{}<{}>({}, &{}, {}{});", helper, s.vectors, w.expressions_.address(s.into),
                       w.expressions_.element(s.from), text(s.stride), s.once ? "" : ", " + status()));
  }
  void operator()(const kernel::GridFence&) const { call("grid_fence"); }
  void operator()(const kernel::SetMaxNReg& s) const {
    const std::string helper = s.more ? "more_registers" : "fewer_registers";
    w.prelude_.require(helper);
    w.line(fmt::format("{}<{}>();", helper, s.count));
  }
};

}  // namespace rondo::backend::cuda
