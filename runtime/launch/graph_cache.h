// CUDA graphs of calls that come again with the same arguments: thousands of short kernels are then started
// by one call, and follow each other closer than single launches do.
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
    virtual bool idle() = 0;  // no launch of it is unfinished
  };
  using Work = std::function<Status(StreamHandle)>;
  // Records what `work` submits, without running it. A plain function, so that tests can stand in for a GPU.
  using Record = std::function<Result<std::unique_ptr<Replay>>(const Work& work)>;
  // Everything that decides what the work submits.
  using Key = std::vector<std::int64_t>;

  static constexpr std::size_t kMostEntries = 8;

  explicit GraphCache(Record record) : record_(std::move(record)) {}

  // Submits `work` to `stream`: directly when a key comes for the first time (callers with ever new addresses
  // pay for no graph), from then on as a graph. Graphs that were not used for long make room, once they are
  // idle. What cannot be recorded is submitted directly. Calls from several threads take turns.
  Status run(StreamHandle stream, Key key, const Work& work);

 private:
  struct Entry {
    Key key;
    std::unique_ptr<Replay> replay;
    bool recordable = true;
  };
  Entry* find(const Key& key);  // and makes it the last used
  void remember(Key key);

  Record record_;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // the last used one at the end
};

// The driver's: captures on a stream of its own.
Result<std::unique_ptr<GraphCache::Replay>> record_graph(const GraphCache::Work& work);

}  // namespace rondo::runtime
