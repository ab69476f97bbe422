/* The command and the C interface choose the same: see same_choice.cpp. Arguments: the driver that stands in
 * for a GPU (fake_cuda.h) and the `rondo` program. */
#include "tests/capi/same_choice.h"

#include "tests/capi/check.h"

int main(int argc, char** argv) {
  if (!CHECK(argc == 3)) return report();
  return same_choice(argv[1], argv[2]);
}
