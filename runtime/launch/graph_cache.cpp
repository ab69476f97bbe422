#include "runtime/launch/graph_cache.h"

#include <algorithm>
#include <optional>

#include "runtime/cuda/driver_graph.h"

namespace rondo::runtime {

namespace {

class DriverReplay final : public GraphCache::Replay {
 public:
  DriverReplay(Graph graph, Event done) : graph_(std::move(graph)), done_(std::move(done)) {}
  ~DriverReplay() override {
    const BesideCaptures beside;
    graph_.reset();
    done_.reset();
  }

  Status launch(StreamHandle stream) override {
    if (Status status = graph_->launch(stream); !status) return status;
    return done_->record(stream);
  }

  Status upload() override {
    const BesideCaptures beside;
    const Result<Stream> stream = Stream::create();
    if (!stream) return stream.error();
    if (Status status = graph_->upload(*stream); !status) return status;
    return stream->synchronize();
  }

  // An event that was never recorded counts as passed (CUDA driver API, cuEventQuery).
  bool idle() override {
    const BesideCaptures beside;
    const Result<bool> done = done_->done();
    return done.ok() && *done;
  }

 private:
  std::optional<Graph> graph_;
  std::optional<Event> done_;
};

}  // namespace

Result<std::unique_ptr<GraphCache::Replay>> record_graph(const GraphCache::Work& work) {
  const BesideCaptures beside;
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
      std::ranges::find_if(entries_, [&](const std::unique_ptr<Entry>& entry) { return entry->key == key; });
  return found == entries_.end() ? nullptr : found->get();
}

GraphCache::Entry& GraphCache::entry(const Key& key) {
  if (Entry* known = find(key)) return *known;
  entries_.push_back(std::make_unique<Entry>());
  entries_.back()->key = key;
  return *entries_.back();
}

void GraphCache::forget_rare() {
  std::erase_if(entries_, [&](const std::unique_ptr<Entry>& entry) {
    return entry->graph == nullptr && calls_ - entry->last > often();
  });
}

bool GraphCache::make_room(std::uint64_t unused_for) {
  std::vector<Entry*> graphs;
  for (const std::unique_ptr<Entry>& entry : entries_)
    if (entry->graph != nullptr) graphs.push_back(entry.get());
  if (graphs.size() < most_) return true;
  std::ranges::sort(graphs, [](const Entry* a, const Entry* b) { return a->last < b->last; });
  for (Entry* entry : graphs)
    // A thread that launches a graph holds it too, and takes hold of it under the mutex only.
    if (calls_ - entry->last > unused_for && entry->graph.use_count() == 1 && entry->graph->replay->idle()) {
      entry->graph.reset();
      return true;
    }
  return false;
}

bool GraphCache::record(Entry& entry, const Work& work) {
  Result<std::unique_ptr<Replay>> recorded = record_(work);
  entry.recordable = recorded.ok();
  if (recorded) {
    entry.graph = std::make_shared<Recorded>();
    entry.graph->replay = std::move(recorded).value();
  }
  return entry.recordable;
}

// Work is submitted without the mutex: where a stream takes no more, only its caller waits.
Status GraphCache::run(StreamHandle stream, const Key& key, const Work& work) {
  std::shared_ptr<Recorded> graph;
  bool known = false;
  {
    const std::lock_guard lock(mutex_);
    ++calls_;
    forget_rare();
    if (Entry* found = find(key)) {
      known = true;
      found->last = calls_;
      if (found->graph == nullptr && found->recordable && make_room(often())) record(*found, work);
      graph = found->graph;
    }
  }
  if (graph != nullptr) {
    const std::lock_guard turn(graph->turn);
    return graph->replay->launch(stream);
  }
  Status status = work(stream);
  if (known || !status) return status;
  const std::lock_guard lock(mutex_);
  entry(key).last = calls_;
  return status;
}

void GraphCache::prepare(const Key& key, const Work& work, std::size_t calls) {
  std::shared_ptr<Recorded> graph;
  {
    const std::lock_guard lock(mutex_);
    most_ = std::max(most_, calls);
    Entry& prepared = entry(key);
    prepared.last = calls_;
    if (prepared.graph != nullptr || !prepared.recordable || !make_room(0)) return;
    if (record(prepared, work)) graph = prepared.graph;
  }
  if (graph == nullptr) return;
  const std::lock_guard turn(graph->turn);
  (void)graph->replay->upload();  // the first launch does it, if this cannot
}

}  // namespace rondo::runtime
