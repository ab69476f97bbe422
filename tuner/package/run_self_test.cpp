#include <fmt/format.h>

#include "runtime/launch/device_plan.h"
#include "tuner/package/self_test.h"

namespace rondo::tuner {

using executable::Tensor;
using package::SelfTest;
using runtime::DeviceBuffer;

namespace {

// A tensor of the run, in device memory.
struct Bound {
  const Tensor* tensor;
  DeviceBuffer buffer;
};

template <class Items>
const auto* find(const Items& items, executable::TensorRef ref) {
  for (const auto& item : items)
    if (item.tensor == ref) return &item;
  return static_cast<decltype(&*items.begin())>(nullptr);
}

Result<Bound> bind(const SelfTest& test, const Tensor& tensor, runtime::StreamHandle stream) {
  const std::int64_t count = tensor.size.at(test.batch, test.time);
  const auto size = static_cast<std::size_t>(scalar::storage_bytes(tensor.storage));
  Result<DeviceBuffer> buffer = DeviceBuffer::allocate(static_cast<std::size_t>(count) * size);
  if (!buffer) return buffer.error();
  const SelfTest::Given* given = find(test.given, tensor.ref);
  if (given == nullptr) {
    if (Status status = buffer->fill(scalar::kPoisonByte, stream); !status) return status.error();
    return Bound{&tensor, std::move(buffer).value()};
  }
  const std::vector<double> values = values_of(*given, tensor.storage, count);
  if (static_cast<std::int64_t>(values.size()) != count)
    return Error{
        ErrorKind::Input,
        fmt::format("the self-test has {} elements of {}, not {}", values.size(), tensor.name, count),
        "build the package again"};
  std::vector<std::byte> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) scalar::encode(tensor.storage, values[i], &bytes[i * size]);
  if (Status status = buffer->upload(bytes, stream); !status) return status.error();
  if (Status status = runtime::synchronize(stream); !status) return status.error();
  return Bound{&tensor, std::move(buffer).value()};
}

Result<std::vector<double>> read_back(const Bound& bound, runtime::StreamHandle stream) {
  std::vector<std::byte> bytes(bound.buffer.bytes());
  if (Status status = bound.buffer.download(bytes, stream); !status) return status.error();
  if (Status status = runtime::synchronize(stream); !status) return status.error();
  const auto size = static_cast<std::size_t>(scalar::storage_bytes(bound.tensor->storage));
  std::vector<double> values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = scalar::decode(bound.tensor->storage, &bytes[i * size]);
  return values;
}

Result<std::string> differences(const SelfTest& test, const std::vector<Bound>& tensors,
                                runtime::StreamHandle stream) {
  std::string text;
  for (const Bound& bound : tensors) {
    const SelfTest::Expected* expected = find(test.expected, bound.tensor->ref);
    if (expected == nullptr) continue;
    const Result<std::vector<double>> values = read_back(bound, stream);
    if (!values) return values.error();
    if (const std::string differs = difference(*expected, *values); !differs.empty())
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", bound.tensor->name, differs);
  }
  return text;
}

}  // namespace

Result<std::string> run_self_test(const SelfTest& test, const executable::Executable& executable,
                                  const runtime::Context& context) {
  const Result<runtime::DevicePlan> plan = runtime::DevicePlan::load(executable, context);
  if (!plan) return plan.error();
  const Result<runtime::Stream> stream = runtime::Stream::create();
  if (!stream) return stream.error();
  std::vector<Bound> tensors;
  runtime::Bindings bindings;
  for (const Tensor& tensor : plan->tensors()) {
    const bool listed = find(test.given, tensor.ref) != nullptr || find(test.expected, tensor.ref) != nullptr;
    if (executable::is_internal(tensor.ref.role)) continue;
    if (!listed && tensor.need != executable::Need::Required) continue;
    Result<Bound> bound = bind(test, tensor, *stream);
    if (!bound) return bound.error();
    tensors.push_back(std::move(bound).value());
    bindings.set(tensor.ref, tensors.back().buffer.address());
  }
  const Result<DeviceBuffer> workspace =
      DeviceBuffer::allocate(static_cast<std::size_t>(plan->workspace_bytes(test.batch, test.time)));
  if (!workspace) return workspace.error();
  bindings.set_workspace(workspace->address(), static_cast<std::int64_t>(workspace->bytes()));
  if (Status status = plan->launch(*stream, bindings, test.batch, test.time); !status) return status.error();
  if (Status status = stream->synchronize(); !status) return status.error();
  if (Status status = plan->check(); !status) return status.error();
  return differences(test, tensors, *stream);
}

}  // namespace rondo::tuner
