// What a walk whose rows are dealt to lanes (rewrite/deal_rows.h) needs of a GPU: whether a cell has such
// walks, their tuning space, and what their steps cost.
#pragma once

#include <map>

#include "compiler/schedule/analysis/step_cost.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/stream/parameters.h"

namespace rondo::schedule {

// What stages of such a walk hold, by step: bytes by channel, of the rows of tensors with channels; bytes of
// those with many values a head; and bytes between the rows of two lanes, by lane.
struct RowsStaging {
  std::int64_t by_channel = 0, of_head = 0, by_lane = 0;
};
RowsStaging rows_staging(const Task& task);

// What a thread does at each step.
struct RowsShape {
  int lanes = 1;
  StepCost cost;        // of a channel, through its sums over rows
  int levels = 0;       // exchanges between the lanes of a channel, one after the other
  int words = 0;        // values that they add up, by channel
  int live = 0;         // values of a channel at once, its states among them
  int live_head = 0;    // values of the head at once
  int kept = 0;         // values of a channel beside: parameters, sums of their gradients
  int staged = 0;       // rows that a thread loads, by channel
  int head_rows = 0;    // and of those with one value a head
  int written = 0;      // rows that a thread writes, by channel
  int all_written = 0;  // the same of all lanes
  int shares = 0;       // gradients of values of the head that a warp adds up
  int share_rows = 0;   // the same of all lanes
  int together = 1;     // of these that a lane stores in one access
};
// By lanes: those that the rows can be dealt to, beside 1. Empty where they cannot be dealt.
std::map<int, RowsShape> rows_shapes(const Task& task);

// Of a cell that has shapes.
constraint::System rows_space(const Task& task);

// Registers that a thread asks for, an estimate; whether it may ask for more than there are; and blocks of an
// SM that they allow.
int rows_registers(const StreamParameters& p, const RowsShape& shape);
bool rows_may_spill(const StreamParameters& p, const RowsShape& shape, const target::Limits& limits);
int rows_blocks_by_registers(const StreamParameters& p, const RowsShape& shape, const target::Limits& limits);

// Bytes of shared memory of a block.
std::int64_t rows_shared_bytes(const StreamParameters& p, const RowsStaging& staging,
                               std::int64_t head_values);
// A thread's instructions of a step, and those of them that go through shared memory's port; cycles of a
// step's dependent chain.
double rows_slots(const StreamParameters& p, const RowsShape& shape);
double rows_port_slots(const StreamParameters& p, const RowsShape& shape);
double rows_chain_cycles(const StreamParameters& p, const RowsShape& shape);

}  // namespace rondo::schedule
