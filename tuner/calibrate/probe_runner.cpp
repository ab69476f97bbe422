#include "tuner/calibrate/probe_runner.h"

#include <fmt/format.h>

#include <span>

#include "compiler/backend/backends.h"

namespace rondo::tuner {

Result<ProbeRunner> ProbeRunner::make(const backend::Request& request, const runtime::Device& device) {
  const Result<backend::Compiled> code = backend::compile(request);
  if (!code) return code.error();
  Result<runtime::Module> module = runtime::Module::load(code->image.bytes);
  if (!module) return module.error();
  ProbeRunner runner(std::move(module).value(), device);
  Result<runtime::DeviceBuffer> out = runtime::DeviceBuffer::allocate(kOutBytes);
  if (!out) return out.error();
  runner.out_ = std::move(out).value();
  if (Status status = runner.out_.fill(0, runner.stream_); !status) return status.error();
  return runner;
}

Result<ProbeRunner::Figures> ProbeRunner::download(const std::string& name) {
  std::vector<std::uint64_t> all(kOutBytes / sizeof(std::uint64_t));
  if (Status status = out_.download(std::as_writable_bytes(std::span(all)), stream_); !status)
    return status.error();
  if (Status status = runtime::synchronize(stream_); !status) return status.error();
  if (all.back() != 0)
    return Error{ErrorKind::Device, fmt::format("the probe '{}' waited in vain for other blocks", name),
                 "run `rondo calibrate` again when nothing else uses this GPU"};
  return Figures{all[0], all[1]};
}

}  // namespace rondo::tuner
