// The headers are C++17 too; compiling them is the test.
#include <rondo/launch.h>
#include <rondo/launch.hpp>

static_assert(sizeof(rondo_launch_args) >= sizeof(size_t), "a complete type");
