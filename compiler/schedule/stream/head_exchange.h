// Reductions over the head between the threads that hold it: within a thread over its channels, between the
// lanes of a warp by shuffles, and between warps through a word a warp in shared memory. Every thread adds up
// these words in one order, so all of them have the same bits.
//
// Where a cluster of blocks holds the head, a warp sends its words to all blocks by asynchronous stores, a
// lane to each block, and an mbarrier of each block counts the bytes. That takes the place of the barrier of
// the block: one way from SM to SM and nothing before it. Warps without channels send zeros, which nobody
// reads: thus whoever has all words of an exchange knows that every warp has come to it.
#pragma once

#include <utility>
#include <vector>

#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/schedule/stream/kernel.h"

namespace rondo::schedule {

// Words of a head that every thread reads; of more, each lane reads some.
inline constexpr int kWordsOfAll = 8;

// All of them in one, by pairs.
kernel::Value folded(kernel::Builder& b, scalar::Op op, std::vector<kernel::Value> values);

class HeadExchange {
 public:
  HeadExchange(StreamKernel& stream, const StreamParameters& parameters, const Problem& problem,
               const HeadReductions& reductions)
      : stream_(stream), parameters_(parameters), problem_(problem), reductions_(reductions) {}

  // Words of shared memory, and what is the same at all steps. After StreamKernel::place.
  void declare();
  // One exchange: all reductions of a level, whose operands come by [reduction of the level][channel of the
  // thread, vector]. Gives total and squares of each; the latter are invalid where there are none; and where
  // it goes along the head, a value for each channel of the thread in their place. One barrier is enough: the
  // words of two exchanges that follow each other lie apart. So do those that other blocks send: who sends
  // the words of exchange n + 2 has all words of n + 1, and every warp of the cluster sent its own after it
  // read those of n.
  struct Totals {
    kernel::Value total, squares;
    std::vector<kernel::Value> channels;
  };
  std::vector<Totals> run(int level, const std::vector<std::vector<kernel::Value>>& operands);
  // After the walk; all threads.
  void finish();

 private:
  using Kind = HeadReduction::Kind;
  // What goes through shuffles and shared memory.
  struct Word {
    scalar::Op op;  // how two of them become one
    kernel::Value value;
  };
  // What a warp adds to an exchange.
  struct WarpShare {
    std::vector<Word> words;
    std::vector<std::size_t> first;     // by reduction of the level: its word
    std::vector<std::size_t> squares;   // and that of its squares
    std::vector<kernel::Value> before;  // and of running sums, what the warp's lanes before the thread have
  };
  WarpShare of_warp(const std::vector<std::size_t>& level,
                    const std::vector<std::vector<kernel::Value>>& operands);
  void add_squares(const std::vector<std::size_t>& level,
                   const std::vector<std::vector<kernel::Value>>& operands, WarpShare& share);
  kernel::Value of_thread(scalar::Op op, const std::vector<kernel::Value>& values);
  void across_lanes(std::vector<Word>& words, int lanes);
  kernel::Value line(int level, int words);
  // Makes the words of an exchange, which begin at `first`, known to all threads of the head.
  void meet(int level, kernel::Value first, const std::vector<Word>& words);
  void send_to_cluster(int level, kernel::Value first, const std::vector<Word>& words);
  void expect(kernel::Value slot, int level);
  kernel::Value word_at(kernel::Value first, std::size_t word);  // of the thread's head
  std::vector<kernel::Value> words_of_warps(kernel::Value first);
  Totals combine_all(const HeadReduction& reduction, kernel::Value sums, kernel::Value squares);
  Totals combine_by_lanes(const HeadReduction& reduction, kernel::Value sums, kernel::Value squares);
  // Along the head (head_along.cpp).
  void declare_rows();
  void add_running_sums(const std::vector<std::size_t>& level,
                        const std::vector<std::vector<kernel::Value>>& operands, WarpShare& share);
  std::vector<kernel::Value> running_sums(const HeadReduction& reduction, kernel::Value before,
                                          const std::vector<kernel::Value>& values);
  kernel::Value of_other_warps(const HeadReduction& reduction, kernel::Value words);
  void send_rows(int level, const std::vector<std::size_t>& numbers,
                 const std::vector<std::vector<kernel::Value>>& operands);
  std::vector<kernel::Value> moved(std::size_t number, std::size_t channels);
  kernel::Value row_place(std::size_t number, kernel::Value channel);
  kernel::Value own_place();  // of the thread's first channel, in the block
  kernel::Value own_channel();
  bool is_move(std::size_t number) const { return reductions_.reductions[number].kind == Kind::Move; }
  int moves() const;
  int moves_of(int level) const;
  int row_length() const { return parameters_.lanes() * parameters_.per_thread; }

  kernel::Value distance_from(kernel::Value mean, kernel::Value sum, kernel::Value squares,
                              kernel::Value numbers, kernel::Value each);
  double numbers_of(const HeadReduction& reduction) const;  // that the head has

  int lanes() const { return parameters_.lanes() < 32 ? parameters_.lanes() : 32; }  // of a head in a warp
  bool in_cluster() const { return parameters_.head_split > 1; }
  int block_warps() const { return parameters_.lanes() < 32 ? 1 : parameters_.lanes() / 32; }  // of a head
  int warps() const;  // of a head, that have channels
  // Words between two lines, for vector loads.
  int stride() const { return (block_warps() * parameters_.head_split + 3) / 4 * 4; }
  // Where not all words are read by all: how many lanes read, and how many words each. The last one, of warp
  // lane_warp_, may be that of no warp, or of one with fewer channels; the others are words_before().
  int lanes_reading() const;
  int turns() const;
  std::vector<kernel::Value> words_before(kernel::Value first);
  kernel::Value of_lane(scalar::Op op, std::vector<kernel::Value> before, kernel::Value last);
  int words_of(int level) const;
  int channels_of(int warp) const;  // of a head

  StreamKernel& stream_;
  const StreamParameters& parameters_;
  const Problem& problem_;
  const HeadReductions& reductions_;
  kernel::Memory words_;
  kernel::Memory rows_;                      // of shifts and rotations
  kernel::Value warp_;                       // of the thread, in its head
  kernel::Value each_of_warp_;               // 1 over the channels of the thread's warp
  kernel::Value lane_warp_;                  // the warp whose words the lane reads
  kernel::Value has_word_;                   // Pred: there is one
  kernel::Value lane_channels_, lane_each_;  // channels of that warp, and 1 over them
  kernel::Mbarrier arrived_;                 // by slot: the words of all blocks of the cluster are there
};

}  // namespace rondo::schedule
