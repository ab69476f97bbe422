/* The header stands by itself in C11; compiling it is the test. */
#include <rondo/rondo.h>

_Static_assert(sizeof(rondo_problem) == 6 * 8 + 4 * 4 + 3 * 8, "its layout has no holes");
