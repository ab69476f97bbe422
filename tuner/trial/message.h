// What a tuner and its trial worker write to each other: CBOR, which holds every double and an executable's
// bytes as they are. Both ends are the same build. Internal to tuner/.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "tuner/trial/trials.h"

namespace rondo::tuner {

// A cell with everything a strategy reads of it; the text of the file and places in it stay behind.
nlohmann::json cell_to_message(const step::Cell& cell);
step::Cell cell_from_message(const nlohmann::json& message);

nlohmann::json setup_to_message(const TrialSetup& setup);
TrialSetup setup_from_message(const nlohmann::json& message);

// Without the executable where the worker has it already.
nlohmann::json plan_to_message(const TrialPlan& plan, bool with_executable);

nlohmann::json error_to_message(const Error& error);
Error error_from_message(const nlohmann::json& message);

}  // namespace rondo::tuner
