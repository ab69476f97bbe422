// The handlers that XLA calls, on CPUs and on CUDA GPUs: one to make a launch ready and one to launch, by the
// typed interface for foreign functions (xla/ffi/api/ffi.h). The text of the launch is the attribute `text`;
// operands and results are those of the site, and the last result is the workspace.
#include <xla/ffi/api/ffi.h>
#include <xmmintrin.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "sites.h"

namespace rondo::jax_ffi {
namespace {

namespace ffi = xla::ffi;

constexpr std::uintptr_t kAlignment = 256;  // of a workspace; XLA's own is 64 on CPUs and 128 on GPUs

ffi::Error error_of(rondo_status status, const std::string& text) {
  ffi::ErrorCode code = ffi::ErrorCode::kInternal;
  if (status == RONDO_ERROR_INPUT) code = ffi::ErrorCode::kInvalidArgument;
  if (status == RONDO_ERROR_UNSUPPORTED) code = ffi::ErrorCode::kUnimplemented;
  if (status == RONDO_ERROR_MISSING) code = ffi::ErrorCode::kNotFound;
  if (status == RONDO_ERROR_MEMORY) code = ffi::ErrorCode::kResourceExhausted;
  return ffi::Error(code, "rondo: " + text);
}

ffi::Error last_error(rondo_status status) {
  const std::string message = calls().message(), hint = calls().hint();
  return error_of(status, hint.empty() ? message : message + " (" + hint + ")");
}

std::optional<std::int32_t> type_of(ffi::DataType type) {
  switch (type) {
    case ffi::DataType::F32: return RONDO_TYPE_F32;
    case ffi::DataType::BF16: return RONDO_TYPE_BF16;
    case ffi::DataType::F16: return RONDO_TYPE_F16;
    case ffi::DataType::S32: return RONDO_TYPE_I32;
    case ffi::DataType::U8: return RONDO_TYPE_U8;
    case ffi::DataType::F64: return RONDO_TYPE_F64;
    default: return std::nullopt;
  }
}

// XLA runs programs of CPUs with small numbers flushed to zero, and a conversion from float16 may make such
// numbers of ordinary ones. While one of these lives, they are what they are.
class SmallNumbers {
 public:
  SmallNumbers() : before_(_mm_getcsr()) { _mm_setcsr(before_ & ~kFlushes); }
  SmallNumbers(const SmallNumbers&) = delete;
  SmallNumbers& operator=(const SmallNumbers&) = delete;
  ~SmallNumbers() { _mm_setcsr(before_); }

 private:
  static constexpr unsigned kFlushes = 0x8040;  // flush to zero, and denormals are zeros
  unsigned before_;
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// The launch of a site: tensors get their addresses, one after the other.
class Launch {
 public:
  Launch(const Site& site, Device device, void* stream)
      : site_(site), device_(device), args_(site.args), tensors_(site.tensors) {
    args_.stream = stream;
    args_.tensors = tensors_.data();
  }

  ffi::Error bind(ffi::AnyBuffer buffer, bool is_result) {
    const std::int32_t place = site_.places[bound_++];
    if (place < 0) {  // this plan does not save it: what should read it all the same would show it
      if (is_result && device_.on_cuda == 0) std::memset(buffer.untyped_data(), 0xff, buffer.size_bytes());
      return ffi::Error::Success();
    }
    rondo_tensor& tensor = tensors_[static_cast<std::size_t>(place)];
    if (type_of(buffer.element_type()) != tensor.type)
      return error_of(RONDO_ERROR_INTERNAL, "a buffer has another type than the launch");
    tensor.data = buffer.untyped_data();
    tensor.bytes = static_cast<std::int64_t>(buffer.size_bytes());
    return ffi::Error::Success();
  }

  // The buffer was as large as the plan wants when the program was compiled. Where that was on another
  // machine the plan here may want more: on a CPU it gets memory of its own.
  ffi::Error bind_workspace(ffi::AnyBuffer buffer) {
    const auto needed = static_cast<std::size_t>(site_.buffer_bytes);
    if (needed == 0) return ffi::Error::Success();
    void* data = buffer.untyped_data();
    std::size_t size = buffer.size_bytes();
    const std::size_t room = needed + kAlignment;
    if (size < needed || std::align(kAlignment, needed, data, size) == nullptr) {
      if (device_.on_cuda != 0)
        return error_of(RONDO_ERROR_UNSUPPORTED, "the program has a workspace of " +
                                                     std::to_string(buffer.size_bytes()) +
                                                     " bytes, and the plan of this GPU needs " +
                                                     std::to_string(room) + " (compile it on this machine)");
      own_.reset(std::aligned_alloc(kAlignment, room - room % kAlignment));
      if (own_ == nullptr) return error_of(RONDO_ERROR_MEMORY, "there is no memory for a workspace");
      data = own_.get();
    }
    args_.workspace = data;
    for (const rondo_jax_hidden& one : site_.hidden)
      tensors_[static_cast<std::size_t>(one.place)].data = static_cast<char*>(data) + one.offset;
    return ffi::Error::Success();
  }

  ffi::Error run() {
    const SmallNumbers kept;
    const rondo_status status = calls().launch(site_.plan, &args_);
    if (status != RONDO_OK) return last_error(status);
    count_launch();
    return ffi::Error::Success();
  }

 private:
  const Site& site_;
  Device device_;
  rondo_launch_args args_;
  std::vector<rondo_tensor> tensors_;
  std::unique_ptr<void, Free> own_;
  std::size_t bound_ = 0;
};

ffi::Error launch(std::string_view text, Device device, void* stream, ffi::RemainingArgs operands,
                  ffi::RemainingRets results) {
  const Answer found = find_site(text, device);
  if (found.site == nullptr) return error_of(found.status, found.text);
  if (operands.size() + results.size() != found.site->places.size() + 1)
    return error_of(RONDO_ERROR_INTERNAL, "a call has another number of buffers than its launch");
  Launch call(*found.site, device, stream);
  for (std::size_t number = 0; number < operands.size(); ++number) {
    const auto buffer = operands.get<ffi::AnyBuffer>(number);
    if (buffer.has_error()) return buffer.error();
    if (ffi::Error error = call.bind(*buffer, false); error.failure()) return error;
  }
  for (std::size_t number = 0; number < results.size(); ++number) {
    auto buffer = results.get<ffi::AnyBuffer>(number);
    if (buffer.has_error()) return buffer.error();
    const bool is_workspace = number + 1 == results.size();
    if (ffi::Error error = is_workspace ? call.bind_workspace(**buffer) : call.bind(**buffer, true);
        error.failure())
      return error;
  }
  return call.run();
}

ffi::Error prepare(std::string_view text, Device device) {
  const Answer found = find_site(text, device);
  return found.site == nullptr ? error_of(found.status, found.text) : ffi::Error::Success();
}

// XLA hands the buffers of a launch to this stage too on GPUs, and none on CPUs.
ffi::Error prepare_on_cpu(std::string_view text, ffi::RemainingArgs, ffi::RemainingRets) {
  return prepare(text, {});
}

ffi::Error prepare_on_cuda(std::int32_t ordinal, std::string_view text, ffi::RemainingArgs,
                           ffi::RemainingRets) {
  return prepare(text, {1, ordinal});
}

ffi::Error launch_on_cpu(std::string_view text, ffi::RemainingArgs operands, ffi::RemainingRets results) {
  return launch(text, {}, nullptr, operands, results);
}

ffi::Error launch_on_cuda(void* stream, std::int32_t ordinal, std::string_view text,
                          ffi::RemainingArgs operands, ffi::RemainingRets results) {
  return launch(text, {1, ordinal}, stream, operands, results);
}

}  // namespace
}  // namespace rondo::jax_ffi

using xla::ffi::DeviceOrdinal, xla::ffi::ExecutionStage, xla::ffi::Ffi, xla::ffi::PlatformStream;

// A plan is made before XLA captures its launch in a command buffer, where nothing may be compiled.
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    rondo_jax_prepare_cpu, rondo::jax_ffi::prepare_on_cpu,
    Ffi::Bind<ExecutionStage::kInitialize>().Attr<std::string_view>("text").RemainingArgs().RemainingRets());
XLA_FFI_DEFINE_HANDLER_SYMBOL(rondo_jax_prepare_cuda, rondo::jax_ffi::prepare_on_cuda,
                              Ffi::Bind<ExecutionStage::kInitialize>()
                                  .Ctx<DeviceOrdinal>()
                                  .Attr<std::string_view>("text")
                                  .RemainingArgs()
                                  .RemainingRets());
XLA_FFI_DEFINE_HANDLER_SYMBOL(rondo_jax_launch_cpu, rondo::jax_ffi::launch_on_cpu,
                              Ffi::Bind().Attr<std::string_view>("text").RemainingArgs().RemainingRets());
XLA_FFI_DEFINE_HANDLER_SYMBOL(rondo_jax_launch_cuda, rondo::jax_ffi::launch_on_cuda,
                              Ffi::Bind()
                                  .Ctx<PlatformStream<void*>>()
                                  .Ctx<DeviceOrdinal>()
                                  .Attr<std::string_view>("text")
                                  .RemainingArgs()
                                  .RemainingRets(),
                              {xla::ffi::Traits::kCmdBufferCompatible});
