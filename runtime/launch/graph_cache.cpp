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

  Status upload() override {
    const Result<Stream> stream = Stream::create();
    if (!stream) return stream.error();
    if (Status status = graph_.upload(*stream); !status) return status;
    return stream->synchronize();
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
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const std::unique_ptr<Entry>& entry) { return entry->key == key; });
  return found == entries_.end() ? nullptr : found->get();
}

GraphCache::Entry& GraphCache::entry(Key key) {
  if (Entry* known = find(key)) return *known;
  entries_.push_back(std::make_unique<Entry>());
  entries_.back()->key = std::move(key);
  return *entries_.back();
}

void GraphCache::forget_rare() {
  std::erase_if(entries_, [&](const std::unique_ptr<Entry>& entry) {
    return entry->replay == nullptr && calls_ - entry->last > often();
  });
}

bool GraphCache::make_room(std::uint64_t unused_for) {
  std::vector<Entry*> graphs;
  for (const std::unique_ptr<Entry>& entry : entries_)
    if (entry->replay != nullptr) graphs.push_back(entry.get());
  if (graphs.size() < most_) return true;
  std::sort(graphs.begin(), graphs.end(), [](const Entry* a, const Entry* b) { return a->last < b->last; });
  for (Entry* graph : graphs)
    if (calls_ - graph->last > unused_for && graph->replay->idle()) {
      graph->replay.reset();
      return true;
    }
  return false;
}

bool GraphCache::record(Entry& entry, const Work& work) {
  Result<std::unique_ptr<Replay>> recorded = record_(work);
  entry.recordable = recorded.ok();
  if (recorded) entry.replay = std::move(recorded).value();
  return entry.recordable;
}

Status GraphCache::run(StreamHandle stream, Key key, const Work& work) {
  const std::lock_guard lock(mutex_);
  ++calls_;
  forget_rare();
  Entry* known = find(key);
  if (known == nullptr) {
    Status status = work(stream);
    if (status.ok()) entry(std::move(key)).last = calls_;
    return status;
  }
  known->last = calls_;
  if (known->replay == nullptr && known->recordable && make_room(often())) record(*known, work);
  return known->replay == nullptr ? work(stream) : known->replay->launch(stream);
}

void GraphCache::prepare(Key key, const Work& work, std::size_t calls) {
  const std::lock_guard lock(mutex_);
  most_ = std::max(most_, calls);
  Entry& prepared = entry(std::move(key));
  prepared.last = calls_;
  if (prepared.replay != nullptr || !prepared.recordable || !make_room(0)) return;
  if (record(prepared, work)) (void)prepared.replay->upload();  // the first launch does it, if this cannot
}

}  // namespace rondo::runtime
