// The header is C++17 too; compiling it is the test.
#include <rondo/rondo.h>

static_assert(sizeof(rondo_plan_options) >= sizeof(size_t), "a complete type");
