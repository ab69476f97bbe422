// Reductions over a head that lies spread over the computing warps of a team.
//
// A thread reduces its own channels, shuffles reduce the warp's, and each warp contributes one *line*: for
// each of its batch rows a word for every reduction of the stage. Lines meet in shared memory of the block,
// of every block of the cluster, or in global memory, and every thread adds them up in one fixed order: all
// threads have the same bits, and so has every run.
//
// A spread (NodeKind::ReduceSpread) of parts is that of each part around its own mean, and of their means
// around the mean of all (Chan, Golub, LeVeque 1983, "Algorithms for computing the sample variance"): nothing
// cancels.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "compiler/schedule/analysis/step_order.h"
#include "compiler/schedule/persistent/exchange.h"
#include "compiler/schedule/persistent/kernel.h"

namespace rondo::schedule {

class HeadReductions {
 public:
  // `graph` and `stages` must outlive this.
  HeadReductions(PersistentKernel& kernel, const step::Graph& graph,
                 const std::vector<ReductionStage>& stages);

  bool any() const { return !stages_.empty(); }
  // Before PersistentKernel::place_threads.
  void declare();
  // In the computing warps, before the walk. `ring`: that of a grid, whose slots end with the words of all
  // stages.
  void begin(const GridRing& ring);

  // Value of a node in a channel of the thread.
  using ValueOf = std::function<kernel::Value(step::NodeId, int channel)>;
  // Reduces for the `count`-th step: hands over this warp's line, and waits for all of them. A stage is
  // reduced once for each step, in the order of steps.
  void reduce(std::size_t stage, kernel::Value count, const ValueOf& value);
  // Of a node of the stage that was reduced last.
  kernel::Value value(step::NodeId node, int channel) const;
  // In a grid: clears words of steps before. After a step's last reduce().
  void clear_sent(kernel::Value count);

  // Lines that every thread adds up itself; of more, the lanes of a batch row share them.
  static constexpr int kMostOfThread = 8;
  // Words of a slot of the ring in global memory, for stages of so many reductions.
  static std::int64_t slot_words(const PersistentGeometry& geometry, const std::vector<int>& stages);

 private:
  struct Word {
    const step::Node* node = nullptr;
    step::NodeId id = step::kNoNode;
    std::size_t sum = 0;  // of a spread: the word of its vectors' sum
    // Numbers that a channel contributes.
    double rows() const {
      return node->kind == step::NodeKind::ReduceSpread ? static_cast<double>(node->operands.size()) - 1 : 1;
    }
  };
  struct Stage {
    std::vector<Word> words;
    kernel::Memory lines;      // [slots, batch tiles, lines, quarters 4, words, 2 batch rows]
    kernel::Mbarrier arrived;  // cluster: the lines of all warps
    std::int64_t first = 0;    // grid: of its words in a slot
    // Places for the lines, by the parity of the step: two where other blocks may be a step ahead; and where
    // the stage itself is made a step ahead, since nothing orders those before the walk and the next ones.
    int slots = 1;
  };
  // Of a batch tile: a value for each word and batch row of the thread, [word][2].
  using Parts = std::vector<kernel::Value>;
  // A spread's part around a mean.
  using Around = std::function<kernel::Value(const Word&, int row, kernel::Value mean)>;

  // How lanes are combined: with equally many channels each, `of_lane`; otherwise `share` is 1 / channels of
  // all of them.
  struct Lanes {
    bool even = false;
    double of_lane = 0;
    kernel::Value share;
  };
  void across_lanes(const Stage& stage, Parts& parts, const Lanes& lanes, const Around& around) const;
  void exchange_lanes(const Stage& stage, Parts& parts, int distance, double of_lane) const;
  Parts of_warp(const Stage& stage, int tile, const ValueOf& value) const;
  Parts of_thread(const Stage& stage, int tile, const ValueOf& value) const;
  kernel::Value masked(kernel::Value value, int channel, double otherwise) const;
  kernel::Value spread_of_thread(const Word& word, int tile, int row, kernel::Value mean,
                                 const ValueOf& value) const;
  void hand_over(const Stage& stage, int tile, kernel::Value count, const Parts& parts) const;
  void send_to_grid(const Stage& stage, int tile, kernel::Value slot, const Parts& parts) const;
  void wait(const Stage& stage, kernel::Value count) const;
  Parts all_lines(const Stage& stage, int tile, kernel::Value count) const;
  Parts lines_by_lane(const Stage& stage, int tile, kernel::Value count);
  std::vector<Parts> load_by_lane(const Stage& stage, int tile, kernel::Value count);
  Parts load_line(const Stage& stage, kernel::Value place) const;
  Parts sums_of(const Stage& stage, const std::vector<Parts>& lines) const;
  kernel::Value combine(const Word& word, kernel::Value a, kernel::Value b) const;
  kernel::Value neutral(const Word& word) const;
  void expect(const Stage& stage, kernel::Value slot) const;
  // Where a line of a batch tile begins in shared memory.
  kernel::Value place(const Stage& stage, int tile, kernel::Value line, kernel::Value count) const;

  static constexpr int kGroups = 8;  // lanes of a warp that hold one pair of batch rows

  int channels_of_line() const { return 8 * geometry_.p.unit_blocks; }
  static int lines(const PersistentGeometry& geometry) { return geometry.p.blocks * geometry.warps; }
  // Words of 4 lanes' batch rows, in whole vectors.
  static int padded(int words) { return (2 * words + 3) / 4 * 4; }

  PersistentKernel& kernel_;
  const PersistentGeometry& geometry_;
  std::vector<Stage> stages_;
  const GridRing* ring_ = nullptr;
  kernel::Array collected_;
  kernel::Value share_of_warp_;  // 1 / channels of the warp, where not all have as many
  std::map<step::NodeId, std::vector<kernel::Value>> results_;  // by batch row of the thread
};

}  // namespace rondo::schedule
