#include "compiler/schedule/stream/body.h"

#include "compiler/schedule/analysis/carried.h"
#include "compiler/schedule/lower/head_gradient_sum.h"
#include "compiler/schedule/rewrite/rewrite_step.h"
#include "compiler/schedule/stream/exchange_step.h"
#include "compiler/schedule/stream/segment_body.h"
#include "compiler/schedule/stream/segment_step.h"

#include <algorithm>
#include <stdexcept>

namespace rondo::schedule {

StreamBody::StreamBody(const Task& task, const DealtPass& dealt, const StreamParameters& parameters,
                       const std::string& name, const std::string& comment, TimeOrder order)
    : whole_(task),
      task_(dealt.task),
      dealt_(dealt.dealt),
      parameters_(parameters),
      stream_(name, comment, task, parameters, order),
      step_(prepare(parameters, dealt.step)),
      lowering_(stream_.builder(), task_, step_.graph, step_.roots,
                parameters.rewrite == Rewrite::Throughput) {
  stream_.signature().deal_rows(dealt_, parameters.row_lanes);
}

step::StepGraph StreamBody::prepare(const StreamParameters& parameters, step::StepGraph step) {
  if (parameters.segments > 1) {
    std::optional<SegmentStep> cut = segment_step(task_, step, parameters.pipelined());
    if (!cut) throw std::logic_error("stream: segments of a step that is not affine in what it carries");
    forms_ = std::move(cut->linear.roots);
    shifts_ = std::move(cut->linear.shifts);
    cuts_ = cut->linear.cuts;
    again_ = cut->again;
    pattern_ = std::move(cut->pattern);
    in_order_ = std::move(step);
    step = std::move(cut->linear.carry_free);
  }
  step = rewritten(task_, std::move(step), parameters.rewrite);
  if (!parameters.whole_head && parameters.row_lanes == 1) return step;
  reductions_ = parameters.whole_head ? head_reductions(task_, step) : row_sums(step);
  return reductions_.step;
}

void StreamBody::declare_params() {
  each_lowering(
      [&](const GraphLowering& lowering) { params_.declare(stream_.threads(), task_.cell, lowering); });
}

void StreamBody::each_lowering(const std::function<void(const GraphLowering&)>& body) {
  body(lowering_);
  if (again_) body({stream_.builder(), task_, in_order_.graph, in_order_.roots});
}

void StreamBody::declare_carries(const std::string& prefix) {
  if (parameters_.among_blocks()) return;
  for (std::size_t k = 0; k < task_.cell.next.size(); ++k)
    for (int channel = 0; channel < parameters_.per_thread; ++channel)
      carry_.push_back(
          channel >= carried(k)
              ? carry_.back()
              : stream_.builder().variable(prefix + carried_name(task_.cell, k), stream_.builder().real(0)));
}

void StreamBody::load_start(const CarryEnds& ends) {
  auto& b = stream_.builder();
  const bool carries = !parameters_.among_blocks();
  if (carries || params_.any())
    b.comment(carries ? "parameters and first carries into registers" : "parameters into registers");
  each_lowering([&](const GraphLowering& lowering) {
    params_.make_registers(stream_.threads(), task_.cell, lowering, parameters_.per_thread);
  });
  stream_.threads().if_reading([&] {
    params_.load(stream_.threads());
    if (carries) load_carries(ends, carry_);
  });
}

void StreamBody::load_carries(const CarryEnds& ends, const std::vector<Value>& carries) {
  auto& b = stream_.builder();
  for (std::size_t k = 0; k < task_.cell.next.size(); ++k)
    for (int channel = 0; channel < carried(k); ++channel) {
      const step::Row& row = task_.cell.next[k];
      const KernelTensor& first = ends.first.at(row.tensor);
      StreamThreads& threads = stream_.threads();
      b.assign(carries[index(k, channel)],
               parameters_.whole_head ? b.load("first", first.memory[first_place(first, row.row, channel)])
                                      : threads.first_carry(first, row, threads.channel_index(channel)));
    }
}

// A value differs by channel, so each of the thread's channels has its own.
void StreamBody::hoist() {
  for (int channel = 0; channel < parameters_.per_thread; ++channel)
    lowering_.hoist(channel, [&](const step::Node& leaf) { return param(leaf, channel); });
}

void StreamBody::store_carries(const CarryEnds& ends) {
  if (parameters_.among_blocks()) return;
  stream_.threads().if_owner([&] { store_carries(ends, carry_); });
}

void StreamBody::store_carries(const CarryEnds& ends, const std::vector<Value>& carries) {
  auto& b = stream_.builder();
  b.comment(ends.what);
  for (std::size_t k = 0; k < task_.cell.next.size(); ++k) {
    const step::Row& row = task_.cell.next[k];
    const bool of_head = is_head_value(row.tensor);
    const auto store = [&](const KernelTensor& to, int channels, const auto& place) {
      for (int channel = 0; channel < channels; ++channel)
        b.store(to.memory[place(channel)], carries[index(k, channel)]);
    };
    if (of_head && ends.shares.memory.valid()) {
      const Value place = row_among(first_head_value_row(whole_.cell, row.tensor), row);
      once(row.tensor, [&] {
        store(ends.shares, carried(k), [&](int channel) {
          return stream_.threads().state_index(head_value_rows(whole_.cell, TensorKind::State), place,
                                               channel);
        });
      });
      continue;
    }
    const auto last = [&](int channels) {
      const KernelTensor& to = ends.last.at(row.tensor);
      once(row.tensor,
           [&] { store(to, channels, [&](int channel) { return first_place(to, row.row, channel); }); });
    };
    of_head ? b.if_(leads(), [&] { last(1); }) : last(carried(k));
  }
}

Value StreamBody::leads() {
  return parameters_.whole_head ? stream_.threads().whole_heads().leads : stream_.threads().leads();
}

// The value in a register that the coming assignments cannot change.
Value StreamBody::settled(Value value, const std::string& name) {
  const auto reads = [](Value v) {
    return std::get_if<kernel::RegRead>(&v.builder()->kernel().expr(v.id()).node);
  };
  const kernel::RegRead* read = reads(value);
  const bool is_carry =
      read != nullptr && std::ranges::any_of(carry_, [&](Value c) { return reads(c)->reg == read->reg; });
  return read != nullptr && !is_carry ? value : stream_.builder().let(name, value);
}

void StreamBody::assign_carries(const Results& values) {
  std::vector<Value> next;
  for (std::size_t k = 0; k < task_.cell.next.size(); ++k)
    for (int channel = 0; channel < parameters_.per_thread; ++channel)
      next.push_back(channel < carried(k) ? settled(values[static_cast<std::size_t>(channel)][k],
                                                    "next_" + carried_name(task_.cell, k))
                                          : Value{});
  for (std::size_t i = 0; i < next.size(); ++i)
    if (next[i].valid()) stream_.builder().assign(carry_[i], next[i]);
}

Value StreamBody::first_place(const KernelTensor& tensor, int row, int channel) {
  StreamThreads& threads = stream_.threads();
  const Value own = threads.own_row(tensor, row);
  return tensor.per_head ? threads.head_value_index(tensor.rows, own)
                         : threads.state_index(tensor.rows, own, channel);
}

Value StreamBody::row_among(int first, const step::Row& row) {
  const bool dealt = is_dealt(row.tensor);
  return stream_.threads().own_row(whole_.cell.tensor(row.tensor).rows, row.row, dealt, first);
}

void StreamBody::once(step::TensorId tensor, const std::function<void()>& body) {
  stream_.threads().if_all({is_dealt(tensor) ? Value{} : stream_.threads().first_of_rows()}, body);
}

Value StreamBody::param(const step::Node& leaf, int channel) const { return params_.value(leaf, channel); }

Value StreamBody::draw(const GraphLowering& lowering, const step::Node& node, int channel) {
  return lowering.draw(
      node, channel,
      {stream_.threads().here().batch_row, stream_.threads().walked().among_all(stream_.step()),
       stream_.threads().here().head, stream_.threads().channel_index(channel)});
}

Value StreamBody::carry(TensorId id, int row, int channel) const {
  return carry_[index(carried_row(task_.cell, id, row), channel)];
}

void StreamBody::walk_steps(const CarryEnds& ends, const LeafOf& leaf,
                            const std::function<void(const Results&)>& consume) {
  if (parameters_.segments > 1) return SegmentedStep(*this, leaf, consume).walk(ends);
  if (parameters_.whole_head || parameters_.row_lanes > 1) return ExchangeStep(*this, leaf, consume).walk();
  stream_.walk([&](const StreamKernel::Staged& staged, bool at_start) {
    Results results;
    for (int channel = 0; channel < parameters_.per_thread; ++channel)
      results.push_back(lowering_.lower(channel, [&](const step::Node& node) {
        return leaf(node, staged, {at_start, {}}, channel);
      }));
    consume(results);
    assign_carries(results);
  });
}

std::vector<Value> StreamBody::sum_over_segments(const std::string& name, const std::vector<Value>& values) {
  if (parameters_.segments == 1) return values;
  auto& b = stream_.builder();
  const kernel::Memory parts =
      b.shared(name + "_parts", kernel::Storage::F32,
               std::int64_t{parameters_.segments} * parameters_.channels, "[segments, channels]");
  const Value own =
      stream_.threads().here().segment * parameters_.channels + stream_.threads().here().lane_channel;
  stream_.threads().if_active([&] { b.store_vector(parts[own], values); });
  b.barrier();
  std::vector<Value> totals;
  for (std::size_t c = 0; c < values.size(); ++c) totals.push_back(b.variable(name + "_total", b.real(0)));
  stream_.threads().if_owner([&] {
    b.for_("part", 0, parameters_.segments, 4, [&](Value part) {
      for (std::size_t c = 0; c < values.size(); ++c) {
        const Value place = part * parameters_.channels + stream_.threads().here().lane_channel +
                            static_cast<std::int64_t>(c);
        b.assign(totals[c], totals[c] + b.load("share", parts[place]));
      }
    });
  });
  return totals;
}

std::vector<Value> StreamBody::column(const Results& results, std::size_t root) {
  std::vector<Value> values;
  for (const auto& result : results) values.push_back(result[root]);
  return values;
}

}  // namespace rondo::schedule
