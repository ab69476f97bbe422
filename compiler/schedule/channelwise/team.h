// The parameters on which it depends who works on which channels and which part of time.
#pragma once

#include "compiler/schedule/problem/parameters.h"

namespace rondo::schedule {

struct Team {
  int channels = 64;   // channels of a block
  int per_thread = 1;  // neighbouring channels of a thread
  int segments = 1;    // parts of time that are worked on at once in a block, each by its own threads
  // Thread blocks that share the channels and split time between them. More than one needs segments > 1.
  int time_split = 1;
  // How those blocks exchange their transforms: within a cluster, through global memory, or from one launch
  // to the next.
  Exchange exchange = Exchange::Cluster;
  // Rounds in flight where blocks split time, 1 or 2. With 2, a round's apply phase runs after the next
  // round's local scan. This hides the exchange, at twice the registers of what is kept.
  int pipeline_depth = 1;

  // Heads of a block. More than one only where a block holds whole heads; `channels` are then those of one.
  int heads = 1;
  // Blocks of a cluster that hold a head together: each has `channels` of it.
  int head_split = 1;

  // Neighbouring threads that hold a channel together: each has a part of the rows that are dealt
  // (rewrite/deal_rows.h), and all have the rest alike. They are lanes of one warp.
  int row_lanes = 1;

  int lanes() const { return channels / per_thread; }  // threads side by side along the channels
  int computing() const { return lanes() * segments * heads * row_lanes; }  // threads that compute
  // Whether blocks exchange while they run, so that one waits for the other.
  bool among_blocks() const { return time_split > 1 && !by_launch(); }
  bool by_launch() const { return exchange == Exchange::Launch; }
  bool through_global() const { return exchange == Exchange::Global; }
  bool pipelined() const { return pipeline_depth > 1; }
};

}  // namespace rondo::schedule
