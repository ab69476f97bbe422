// What a compile pool asks of its workers, and what they answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/backend/interface/backend.h"

namespace rondo::engine {

std::string encode_request(const backend::Request& request);
std::optional<backend::Request> decode_request(std::string_view bytes);  // nothing for bytes that are none

std::string encode_answer(const Result<backend::Compiled>& answer);
std::optional<Result<backend::Compiled>> decode_answer(std::string_view bytes);

}  // namespace rondo::engine
