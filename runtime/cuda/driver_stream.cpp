#include "runtime/cuda/driver_stream.h"
#include "runtime/cuda/driver_graph.h"

#include <condition_variable>
#include <mutex>

#include "runtime/cuda/driver_api.h"

namespace rondo::runtime {

void Stream::Destroy::operator()(CUstream_st* stream) const noexcept {
  if (const DriverApi* api = loaded_driver_api()) api->stream_destroy(stream);
}

void Event::Destroy::operator()(CUevent_st* event) const noexcept {
  if (const DriverApi* api = loaded_driver_api()) api->event_destroy(event);
}

Result<Stream> Stream::create() {
  CUstream handle = nullptr;
  const Status made = call(&DriverApi::stream_create, &handle, CU_STREAM_NON_BLOCKING);
  if (!made) return made.error();
  return Stream(handle);
}

Status Stream::synchronize() const { return runtime::synchronize(handle_.get()); }

Status synchronize(StreamHandle stream) { return call(&DriverApi::stream_synchronize, stream); }

namespace {

// What a stream waits for: open() from any thread, once.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    opened_.wait_for(lock, kLongestHold, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

// Runs on a thread of the driver, which hands it its share of the gate. A broken context never calls it (CUDA
// Driver API, cuLaunchHostFunc), and leaves that share behind.
void CUDA_CB wait_at(void* share) {
  const std::unique_ptr<std::shared_ptr<Gate>> gate(static_cast<std::shared_ptr<Gate>*>(share));
  (*gate)->wait();
}

}  // namespace

Result<std::shared_ptr<void>> hold(StreamHandle stream) {
  const auto gate = std::make_shared<Gate>();
  auto share = std::make_unique<std::shared_ptr<Gate>>(gate);
  const Status submitted = call(&DriverApi::launch_host_func, stream, wait_at, share.get());
  if (!submitted) return submitted.error();
  share.release();  // NOLINT(bugprone-unused-return-value): wait_at owns it
  return std::shared_ptr<void>(gate.get(), [gate](void*) { gate->open(); });
}

Result<bool> is_capturing(StreamHandle stream) {
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  const Status asked = call(&DriverApi::stream_is_capturing, stream, &capture);
  if (!asked) return asked.error();
  return capture != CU_STREAM_CAPTURE_STATUS_NONE;
}

Result<bool> has_ended(StreamHandle stream) {
  auto driver = Driver::get();
  if (!driver) return driver.error();
  const DriverApi& api = (*driver)->api();
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult asked = api.stream_is_capturing(stream, &capture);
  // The default stream must not be asked while one that it waits for is captured.
  if (asked == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || capture != CU_STREAM_CAPTURE_STATUS_NONE) return false;
  if (Status status = check(**driver, asked, "cuStreamIsCapturing"); !status) return status.error();
  const BesideCaptures beside;
  const CUresult ended = api.stream_query(stream);
  if (ended == CUDA_ERROR_NOT_READY) return false;
  if (Status status = check(**driver, ended, "cuStreamQuery"); !status) return status.error();
  return true;
}

Result<Event> Event::create() {
  CUevent handle = nullptr;
  const Status made = call(&DriverApi::event_create, &handle, CU_EVENT_DEFAULT);
  if (!made) return made.error();
  return Event(handle);
}

Status Event::record(StreamHandle stream) const {
  return call(&DriverApi::event_record, handle_.get(), stream);
}

Status Event::synchronize() const { return call(&DriverApi::event_synchronize, handle_.get()); }

Result<bool> Event::done() const {
  auto driver = Driver::get();
  if (!driver) return driver.error();
  const CUresult code = (*driver)->api().event_query(handle_.get());
  if (code == CUDA_ERROR_NOT_READY) return false;
  if (auto queried = check(**driver, code, "cuEventQuery"); !queried) return queried.error();
  return true;
}

Result<float> Event::elapsed_ms_since(const Event& start) const {
  float milliseconds = 0;
  const Status measured = call(&DriverApi::event_elapsed_time, &milliseconds, start.handle(), handle_.get());
  if (!measured) return measured.error();
  return milliseconds;
}

}  // namespace rondo::runtime
