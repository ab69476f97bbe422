#include "runtime/cuda/driver_graph.h"

#include "runtime/cuda/driver_api.h"

namespace rondo::runtime {

BesideCaptures::BesideCaptures() : api_(loaded_driver_api()), mode_(CU_STREAM_CAPTURE_MODE_RELAXED) {
  exchange();
}

BesideCaptures::~BesideCaptures() { exchange(); }

void BesideCaptures::exchange() {
  if (api_ == nullptr) return;
  auto mode = static_cast<CUstreamCaptureMode>(mode_);
  api_->exchange_capture_mode(&mode);  // fails for no valid mode
  mode_ = mode;
}

void Graph::Destroy::operator()(CUgraph_st* graph) const noexcept {
  if (const DriverApi* api = loaded_driver_api()) api->graph_destroy(graph);
}

void Graph::Destroy::operator()(CUgraphExec_st* executable) const noexcept {
  if (const DriverApi* api = loaded_driver_api()) api->graph_exec_destroy(executable);
}

Result<Graph> Graph::capture(StreamHandle stream, const std::function<Status(StreamHandle)>& work) {
  // Thread-local: other threads of the process may go on calling the driver meanwhile.
  const Status begun = call(&DriverApi::stream_begin_capture, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  if (!begun) return begun.error();
  const Status worked = work(stream);
  CUgraph handle = nullptr;
  // Capture ends whatever `work` said: a stream left capturing could not be used again.
  const Status ended = call(&DriverApi::stream_end_capture, stream, &handle);
  const Recorded recorded(handle);
  if (!worked) return worked.error();
  if (!ended) return ended.error();

  std::size_t nodes = 0;
  if (Status got = call(&DriverApi::graph_get_nodes, handle, nullptr, &nodes); !got) return got.error();
  CUgraphExec executable = nullptr;
  const Status made = call(&DriverApi::graph_instantiate, &executable, handle, 0);
  if (!made) return made.error();
  return Graph(executable, nodes);
}

Status Graph::launch(StreamHandle stream) const {
  return call(&DriverApi::graph_launch, executable_.get(), stream);
}

Status Graph::upload(StreamHandle stream) const {
  return call(&DriverApi::graph_upload, executable_.get(), stream);
}

}  // namespace rondo::runtime
