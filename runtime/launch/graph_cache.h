// CUDA graphs of calls that come again with the same arguments: a few kernels, or thousands of short ones,
// are then started by one call, which takes the host less time than two launches, and follow each other
// closer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "compiler/support/result.h"
#include "runtime/cuda/driver_stream.h"

namespace rondo::runtime {

class GraphCache {
 public:
  // Work once recorded.
  class Replay {
   public:
    virtual ~Replay() = default;
    virtual Status launch(StreamHandle stream) = 0;
    virtual Status upload() = 0;  // does what the first launch would do beyond the others, and waits for it
    virtual bool idle() = 0;      // no launch of it is unfinished
  };
  using Work = std::function<Status(StreamHandle)>;
  // Records what `work` submits, without running it. A plain function, so that tests can stand in for a GPU.
  using Record = std::function<Result<std::unique_ptr<Replay>>(const Work& work)>;
  // Everything that decides what the work submits.
  using Key = std::vector<std::int64_t>;

  static constexpr std::size_t kMostEntries = 8;  // graphs, unless more calls are prepared
  // Calls, for each graph that is kept. Less is often: a key that comes again within as many calls becomes a
  // graph, and a graph that came within as many makes no room. Callers who take turns with more keys than
  // there are graphs so keep those they have; nothing is recorded only to be thrown away.
  static constexpr std::uint64_t kOften = 4;

  explicit GraphCache(Record record) : record_(std::move(record)) {}

  // Submits `work` to `stream`: directly when a key comes for the first time (callers with ever new addresses
  // pay for no graph), from then on as a graph. Graphs that were not used for long make room, once they are
  // idle. What cannot be recorded, or finds no room, is submitted directly. May be called from several
  // threads; those with the same key take turns. No capture of another stream is disturbed.
  Status run(StreamHandle stream, const Key& key, const Work& work);

  // Records `work` without running it, so that the next run() with the key is a graph at once, and keeps
  // graphs of at least `calls` keys from now on: as many as the caller takes turns with. What cannot be
  // recorded is no error: it is submitted directly.
  void prepare(const Key& key, const Work& work, std::size_t calls);

 private:
  // A graph is launched by one thread at a time (CUDA Driver API, graph object thread safety): by who has the
  // turn.
  struct Recorded {
    std::unique_ptr<Replay> replay;
    std::mutex turn;
  };
  struct Entry {
    Key key;
    std::shared_ptr<Recorded> graph;
    bool recordable = true;
    std::uint64_t last = 0;  // the call that used it last
  };
  Entry& entry(const Key& key);  // new ones without a graph
  Entry* find(const Key& key);
  bool record(Entry& entry, const Work& work);
  bool make_room(std::uint64_t unused_for);  // for one graph more
  void forget_rare();
  std::uint64_t often() const { return kOften * most_; }

  Record record_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Entry>> entries_;  // graphs, and keys that may become some
  std::size_t most_ = kMostEntries;              // graphs
  std::uint64_t calls_ = 0;
};

// The driver's: captures on a stream of its own.
Result<std::unique_ptr<GraphCache::Replay>> record_graph(const GraphCache::Work& work);

}  // namespace rondo::runtime
