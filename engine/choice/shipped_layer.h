// The choices shipped with Rondo, compiled into the program so that one binary is enough.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/embedded_text.h"
#include "compiler/support/result.h"
#include "engine/choice/shipped.h"
#include "tuning_db/database.h"

namespace rondo::engine {

// Every tuning_db/shipped/*.json of the source tree at build time, in alphabetical order: an export for each
// GPU, as `rondo db export --best` writes it.
const std::vector<EmbeddedText>& embedded_tuning();

// The layer of an export's text. `origin` is the file, for messages. Error Input: it is no export.
Result<ShippedLayer> layer_from(const std::string& text, const std::string& origin);

// What is shipped, read once a process; or the file that the environment variable RONDO_SHIPPED names in its
// place, "none" for nothing. Lives as long as the process. Error Input or Missing: that file cannot be read.
const Result<ShippedLayer>& shipped_layer();

// What a search can start from: what `shipped` holds, and after it the best of every problem of the database,
// whose cells may be others of the same structure. Both may be null. Errors: those of reading the database; a
// search then starts from what is shipped alone, and says so.
Result<ShippedLayer> known_choices(const ShippedLayer* shipped, db::Database* database);
inline std::string starts_without(const Error& error) {
  return "the search starts without what the database holds: " + error.message;
}

}  // namespace rondo::engine
