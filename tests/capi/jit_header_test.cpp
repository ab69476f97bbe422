// The headers are C++17 too; compiling them is the test.
#include <rondo/rondo.h>
#include <rondo/rondo.hpp>

static_assert(sizeof(rondo_plan_options) >= sizeof(size_t), "a complete type");
