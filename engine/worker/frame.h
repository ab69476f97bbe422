// What a program and its workers write to each other: frames, and in them calls and answers. Both ends are
// the same build on the same machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/support/bytes.h"
#include "compiler/support/result.h"

namespace rondo::engine {

// A frame is a u32, the length of its message in bytes, and the message.
std::string frame(std::string_view message);
// Takes the first complete frame off the front of `stream` and gives its message. `broken` is set when what
// arrived cannot be a frame.
std::optional<std::string> take_frame(std::string& stream, bool& broken);

// A call: a message, and the time after which the worker ends itself should the caller be gone.
struct Call {
  std::uint64_t limit_ms = 0;
  std::string message;
};
std::string encode_call(const Call& call);
std::optional<Call> decode_call(std::string_view bytes);  // nothing for bytes that are no call

// A value, or the error in place of it, as part of a message.
template <class Archive, class Answer, class Layout>
void archive_result(Archive& archive, Answer& answer, const Layout& layout) {
  bool ok = answer.ok();
  archive(ok);
  if (ok) return layout(archive, *answer);
  Error error = answer.ok() ? Error{} : answer.error();
  archive.one_of(error.kind, ErrorKind::Memory);
  archive(error.message, error.hint);
  if constexpr (Archive::kReads) answer = std::move(error);
}

}  // namespace rondo::engine
