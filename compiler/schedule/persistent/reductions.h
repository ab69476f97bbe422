// Reductions over a head that lies spread over the computing warps of a team.
//
// A thread reduces its own channels, shuffles reduce the warp's, and each warp contributes one *line*: for
// each of its batch rows a word for every reduction of the stage. A thread holds two batch rows. Where the
// line goes to shared memory of the block, the lanes of a quarter share them, those of even groups the first
// row and those of odd groups the second, which halves the shuffles. Lines meet in shared memory of the
// block, of every block of the cluster, or in global memory, and every thread adds them up in one fixed
// order: all threads have the same bits, and so has every run. Where a team has many warps, the lines of a
// block meet first, and then one line of each block.
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

class ReductionExchange {
 public:
  // `graph` and `stages` must outlive this. `multiplies`: the step has products, for whose vectors all warps
  // of a block meet.
  ReductionExchange(PersistentKernel& kernel, const step::Graph& graph,
                    const std::vector<ReductionStage>& stages, bool multiplies);

  bool any() const { return !stages_.empty(); }
  // Before PersistentKernel::place.
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
  // In a grid: clears words of steps before. After a step's last reduce(). `fences`: no other clearing of the
  // step fences for these threads.
  void clear_sent(kernel::Value count, bool fences);

  // Lines that every thread adds up itself; of more, the lanes of a batch row share them: 8 warps that each
  // read 8 lines keep shared memory busy for longer than shuffles take.
  static constexpr int kMostOfThread = 4;
  // Warps of a team, up to which each sends a line of its own.
  static constexpr int kMostOfTeam = 16;
  // Whether lines of a block meet before those of the team; and how many the team's are.
  static bool by_block(const PersistentGeometry& geometry) {
    return geometry.p.blocks > 1 && geometry.warps > 1 && geometry.p.blocks * geometry.warps > kMostOfTeam;
  }
  static int team_lines(const PersistentGeometry& geometry) {
    return by_block(geometry) ? geometry.p.blocks : geometry.p.blocks * geometry.warps;
  }
  // Words of a slot of the ring in global memory, for stages of so many reductions.
  static std::int64_t slot_words(const PersistentGeometry& geometry, const std::vector<int>& stages);

 private:
  struct Word {
    const step::Node* node = nullptr;
    step::NodeId id = step::kNoNode;
    std::size_t sum = 0;  // where it is a spread: the index of the word with its vectors' sum
    // Numbers that a channel contributes.
    double rows() const {
      return node->kind == step::NodeKind::ReduceSpread ? static_cast<double>(node->operands.size()) - 1 : 1;
    }
  };
  // Lines that meet, each of the next channels.
  struct Meeting {
    int lines = 0;
    int channels = 0;       // the most channels that a line has
    bool in_block = false;  // at a named barrier; otherwise those of a team of several blocks
    // Places for the lines, by the parity of the step: two where other blocks may be a step ahead; and where
    // the stage itself is made a step ahead, since nothing orders those before the walk and the next ones, or
    // where no products do.
    int slots = 2;
    kernel::Memory memory;     // [slots, batch tiles, lines, quarters 4, 2 batch rows, words]
    kernel::Mbarrier arrived;  // cluster: all lines
    std::int64_t first = 0;    // grid: where its words begin in a slot
  };
  struct Stage {
    std::vector<Word> words;
    std::vector<Meeting> meetings;  // they follow each other
  };
  // Of a batch tile: a value for each word, of both batch rows of the thread, [2][words], or of the one that
  // is the lane's, [words]. A spread of one number, which is zero, is no value.
  using Parts = std::vector<kernel::Value>;
  // A spread's part around a mean; `row`: of those that the parts have.
  using Around = std::function<kernel::Value(const Word&, int row, kernel::Value mean)>;

  // How lanes are combined: with equally many channels each, `of_lane`; otherwise `share` is 1 / channels of
  // all of them. `split`: both rows become the lane's one, which needs equally many channels.
  struct Lanes {
    bool even = false;
    double of_lane = 0;
    kernel::Value share;
    bool split = false;
  };
  static std::size_t rows_of(const Stage& stage, const Parts& parts) {
    return parts.size() / stage.words.size();
  }
  void across_lanes(const Stage& stage, Parts& parts, const Lanes& lanes, const Around& around) const;
  void spreads_around(const Stage& stage, Parts& parts, const Lanes& lanes, const Around& around) const;
  void sum_up(const Stage& stage, Parts& parts, bool of_spreads) const;
  kernel::Value other_lanes(kernel::Value part, int distance) const;
  Parts combined(const Stage& stage, const Parts& a, const Parts& b, double of_part) const;
  Parts split_rows(const Stage& stage, const Parts& parts, double of_lane) const;
  Parts both_rows(const Parts& of_row) const;
  Parts of_warp(const Stage& stage, int tile, const ValueOf& value) const;
  Parts of_thread(const Stage& stage, int tile, const ValueOf& value) const;
  kernel::Value masked(kernel::Value value, int channel, double otherwise) const;
  kernel::Value spread_of_thread(const Word& word, int tile, int row, kernel::Value mean,
                                 const ValueOf& value) const;
  void meet(const Stage& stage, const Meeting& meeting, kernel::Value count, std::vector<Parts>& totals);
  void hand_over(const Stage& stage, const Meeting& meeting, int tile, kernel::Value count,
                 const Parts& parts) const;
  void send_to_cluster(const Meeting& meeting, kernel::Value to, kernel::Value count,
                       const Parts& parts) const;
  void send_to_grid(const Meeting& meeting, int tile, kernel::Value slot, int words,
                    const Parts& parts) const;
  void wait(const Meeting& meeting, kernel::Value count) const;
  Parts all_lines(const Stage& stage, const Meeting& meeting, int tile, kernel::Value count) const;
  Parts lines_by_lane(const Stage& stage, const Meeting& meeting, int tile, kernel::Value count);
  std::vector<Parts> load_by_lane(const Stage& stage, const Meeting& meeting, int tile, kernel::Value count);
  std::vector<Parts> collect_by_lane(const Stage& stage, const Meeting& meeting, int tile,
                                     kernel::Value count);
  Parts load_line(const Meeting& meeting, std::size_t numbers, kernel::Value place) const;
  Parts sums_of(const Stage& stage, const std::vector<Parts>& lines) const;
  // What a line's sum and spread add to a spread around a mean. `fixed`: channels of the line; 0 if only
  // `line` says.
  kernel::Value around_mean(const Meeting& meeting, const Word& word, double fixed, kernel::Value line,
                            kernel::Value sum, kernel::Value spread, kernel::Value mean) const;
  // Of a line; 0 for one past the last, which some lanes have where all do not have equally many. The
  // channels behind those of a block are another block's.
  kernel::Value channels_of(const Meeting& meeting, kernel::Value line) const;
  // 1 / channels of all lines.
  kernel::Value share_of(const Meeting& meeting) const;
  // Whether its lines are those of one block of several.
  bool of_block_of_team(const Meeting& meeting) const { return meeting.in_block && geometry_.p.blocks > 1; }
  kernel::Value combine(const Word& word, kernel::Value a, kernel::Value b) const;
  kernel::Value neutral(const Word& word) const;
  void expect(const Stage& stage, kernel::Value slot) const;
  // Where a line of so many words a batch row begins in shared memory.
  kernel::Value place(const Meeting& meeting, int tile, std::size_t words, kernel::Value line,
                      kernel::Value count) const;

  static constexpr int kGroups = 8;  // lanes of a warp that hold one pair of batch rows
  // Lanes that share lines, and which of them this lane is: of a block's lines each takes its own row, of a
  // team's, which are few for a lane, both rows.
  int sharers(const Meeting& meeting) const { return meeting.in_block ? kGroups / 2 : kGroups; }
  kernel::Value sharer(const Meeting& meeting) const {
    return meeting.in_block ? kernel_.here().group / 2 : kernel_.here().group;
  }
  bool in_shared(const Meeting& meeting) const { return meeting.in_block || !geometry_.in_grid(); }

  int channels_of_line() const { return 8 * geometry_.p.unit_blocks; }
  // Words of 4 lanes' batch rows, in whole vectors.
  static int padded(int words) { return (2 * words + 3) / 4 * 4; }

  PersistentKernel& kernel_;
  const PersistentGeometry& geometry_;
  std::vector<Stage> stages_;
  const GridRing* ring_ = nullptr;
  kernel::Array collected_;
  kernel::Value share_of_warp_, share_of_block_;  // 1 / their channels, where not all have as many
  std::map<step::NodeId, std::vector<kernel::Value>> results_;  // by batch row of the thread
};

}  // namespace rondo::schedule
