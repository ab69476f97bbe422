// Reductions over the head between the threads of a block that holds it: within a thread over its channels,
// between the lanes of a warp by shuffles, and between warps through a word a warp in shared memory. Every
// thread adds up these words in one order, so all of them have the same bits.
#pragma once

#include <utility>
#include <vector>

#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/schedule/stream/kernel.h"

namespace rondo::schedule {

class HeadExchange {
 public:
  HeadExchange(StreamKernel& stream, const StreamParameters& parameters, const Problem& problem,
               const HeadReductions& reductions)
      : stream_(stream), parameters_(parameters), problem_(problem), reductions_(reductions) {}

  // Words of shared memory, and what is the same at all steps. After StreamKernel::place_threads.
  void declare();
  // One exchange: all reductions of a level, whose operands come by [reduction of the level][channel of the
  // thread, vector]. Gives total and squares of each; the latter are invalid where there are none. One
  // barrier is enough: the words of two exchanges that follow each other lie apart.
  using Totals = std::pair<kernel::Value, kernel::Value>;
  std::vector<Totals> run(int level, const std::vector<std::vector<kernel::Value>>& operands);

 private:
  using Kind = HeadReduction::Kind;
  // What goes through shuffles and shared memory.
  struct Word {
    scalar::Op op;  // how two of them become one
    kernel::Value value;
  };
  std::vector<Word> of_warp(const std::vector<std::size_t>& level,
                            const std::vector<std::vector<kernel::Value>>& operands);
  kernel::Value of_thread(scalar::Op op, const std::vector<kernel::Value>& values);
  void across_lanes(std::vector<Word>& words, int lanes);
  kernel::Value line(int level, int words);
  std::vector<kernel::Value> words_of_warps(kernel::Value first);
  Totals combine_all(const HeadReduction& reduction, kernel::Value sums, kernel::Value squares);
  Totals combine_by_lanes(const HeadReduction& reduction, kernel::Value sums, kernel::Value squares);
  kernel::Value distance_from(kernel::Value mean, kernel::Value sum, kernel::Value squares,
                              kernel::Value numbers, kernel::Value each);
  double numbers_of(const HeadReduction& reduction) const;  // that the head has

  int lanes() const { return parameters_.lanes() < 32 ? parameters_.lanes() : 32; }  // of a head in a warp
  int warps() const { return parameters_.lanes() < 32 ? 1 : parameters_.lanes() / 32; }  // of a head
  int stride() const { return (warps() + 3) / 4 * 4; }  // words between two lines, for vector loads
  int words_of(int level) const;
  int channels_of(int warp) const;  // of a head

  StreamKernel& stream_;
  const StreamParameters& parameters_;
  const Problem& problem_;
  const HeadReductions& reductions_;
  kernel::Memory words_;
  kernel::Value warp_;                       // of the thread, in its head
  kernel::Value each_of_warp_;               // 1 over the channels of the thread's warp
  kernel::Value lane_warp_;                  // the warp whose words the lane reads
  kernel::Value has_word_;                   // Pred: there is one
  kernel::Value lane_channels_, lane_each_;  // channels of that warp, and 1 over them
};

}  // namespace rondo::schedule
