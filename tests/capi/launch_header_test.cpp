// The header is C++17 too; compiling it is the test.
#include <rondo/launch.h>

static_assert(sizeof(rondo_launch_args) >= sizeof(size_t), "a complete type");
