#include "engine/worker/compile_message.h"

#include "compiler/executable/serialise.h"
#include "engine/worker/frame.h"

namespace rondo::engine {

using backend::Compiled;
using backend::Request;
using executable::ImageKind;

namespace {

constexpr auto kImage = [](auto& archive, auto& image) {
  archive(image.target);
  archive.one_of(image.kind, ImageKind::Object);
  archive(image.compiler, image.bytes);
  archive.list(image.resources, executable::kLeastResources, executable::kResources);
};

constexpr auto kRequest = [](auto& archive, auto& request) {
  archive(request.backend, request.text, request.name);
  archive.one_of(request.target.kind, target::Target::Kind::AArch64);
  archive(request.target.level, request.target.specific);
  archive.list(request.flags, 4, kValue);
  archive.one_of(request.kind, ImageKind::Object);
  archive.list(request.parts, 8, kValue);
  archive(request.threads);
};

constexpr auto kAnswer = [](auto& archive, auto& answer) {
  archive_result(archive, answer, [](auto& of, auto& compiled) {
    kImage(of, compiled.image);
    of(compiled.log, compiled.compile_ms);
  });
};

}  // namespace

std::string encode_request(const Request& request) { return encoded(request, kRequest); }
std::optional<Request> decode_request(std::string_view bytes) { return decoded<Request>(bytes, kRequest); }

std::string encode_answer(const Result<Compiled>& answer) { return encoded(answer, kAnswer); }
std::optional<Result<Compiled>> decode_answer(std::string_view bytes) {
  return decoded<Result<Compiled>>(bytes, kAnswer, Compiled{});
}

}  // namespace rondo::engine
