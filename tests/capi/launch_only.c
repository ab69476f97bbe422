/* The header stands by itself in C11; compiling it is the test. */
#include <rondo/launch.h>

_Static_assert(sizeof(rondo_tensor) == 24 + 8 + 16 * RONDO_MOST_AXES, "its layout has no holes");
_Static_assert(sizeof(rondo_launch_args) == 9 * 8, "its layout has no holes");
