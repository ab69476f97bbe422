// What `--save auto` and `--memory` come to.
#pragma once

#include <cstdint>
#include <string>

#include "engine/service/within.h"
#include "tools/rondo/options/options.h"
#include "tools/rondo/session.h"

namespace rondo::tools {

// Bytes of --memory; 0: it is not given. Errors (Input): it is no size, or stands without --save auto.
Result<std::int64_t> memory_of(const Options& options);

// The options with what `auto` comes to in its place, which is said on standard error; others as they are.
// With
// --memory it is the fastest way that fits, else the faster of states and products: choices say it, and
// nothing is compiled. Errors: those of engine::ways_within().
Result<Options> with_chosen_save(Options options, const step::Cell& cell, const engine::Overrides& overrides,
                                 Session& session);

// The options of passes that save states, where --save names parts of time or leaves it open.
Options in_one_piece(Options options);

// "every=64: 3.1 MB saved, 1.2 MB of workspace".
std::string way_text(const engine::SavingWay& way);

}  // namespace rondo::tools
