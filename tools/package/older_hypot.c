/* glibc 2.35 has a hypot() that sets no errno, under a version of its own. The linker turns calls of hypot()
 * to this one (--wrap), which calls the version that has always been there. */
#if defined __x86_64__
#define FIRST_VERSION "GLIBC_2.2.5"
#elif defined __aarch64__
#define FIRST_VERSION "GLIBC_2.17"
#endif
#ifdef FIRST_VERSION
__asm__(".symver first_hypot, hypot@" FIRST_VERSION);
double first_hypot(double x, double y);
#else
#include <math.h>
#define first_hypot hypot
#endif
__attribute__((visibility("hidden"))) double __wrap_hypot(double x, double y) { return first_hypot(x, y); }
