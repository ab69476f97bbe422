// Tests that wait for a turn of their own take all of their cases when it comes.
#pragma once

#include <vector>

#include "tests/structure/rules.h"

namespace rondo::structure {

// Tests that skip by tests/support/slow_tests.h and whose cases take turns (tests/support/turns.h): a case
// whose turn never falls on one of the test's would never be taken. Either may be said by the test, by what
// its file has for it to call, by its fixture, or, of cases, where its suite is instantiated.
Findings check_turns(const std::vector<SourceFile>& files);

}  // namespace rondo::structure
