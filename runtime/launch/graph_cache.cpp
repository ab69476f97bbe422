#include "runtime/launch/graph_cache.h"

#include <algorithm>

#include "runtime/cuda/driver_graph.h"

namespace rondo::runtime {

namespace {

class DriverReplay final : public GraphCache::Replay {
 public:
  DriverReplay(Graph graph, Event done) : graph_(std::move(graph)), done_(std::move(done)) {}

  Status launch(StreamHandle stream) override {
    if (Status status = graph_.launch(stream); !status) return status;
    return done_.record(stream);
  }

  // An event that was never recorded counts as passed (CUDA driver API, cuEventQuery).
  bool idle() override {
    const Result<bool> done = done_.done();
    return done.ok() && *done;
  }

 private:
  Graph graph_;
  Event done_;
};

}  // namespace

Result<std::unique_ptr<GraphCache::Replay>> record_graph(const GraphCache::Work& work) {
  const Result<Stream> stream = Stream::create();
  if (!stream) return stream.error();
  Result<Graph> graph = Graph::capture(*stream, work);
  if (!graph) return graph.error();
  Result<Event> done = Event::create();
  if (!done) return done.error();
  return std::unique_ptr<GraphCache::Replay>(
      std::make_unique<DriverReplay>(std::move(graph).value(), std::move(done).value()));
}

GraphCache::Entry* GraphCache::find(const Key& key) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found == entries_.end()) return nullptr;
  std::rotate(found, found + 1, entries_.end());
  return &entries_.back();
}

void GraphCache::remember(Key key) {
  if (entries_.size() == kMostEntries) {
    const auto idle = std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) {
      return entry.replay == nullptr || entry.replay->idle();
    });
    if (idle == entries_.end()) return;
    entries_.erase(idle);
  }
  entries_.push_back({std::move(key), nullptr, true});
}

Status GraphCache::run(StreamHandle stream, Key key, const Work& work) {
  const std::lock_guard lock(mutex_);
  Entry* entry = find(key);
  if (entry == nullptr) {
    Status status = work(stream);
    if (status.ok()) remember(std::move(key));
    return status;
  }
  if (entry->replay == nullptr && entry->recordable) {
    Result<std::unique_ptr<Replay>> recorded = record_(work);
    entry->recordable = recorded.ok();
    if (recorded) entry->replay = std::move(recorded).value();
  }
  return entry->replay == nullptr ? work(stream) : entry->replay->launch(stream);
}

}  // namespace rondo::runtime
