/* Files that tests of the C interface write. */
#ifndef RONDO_TESTS_CAPI_FILES_H
#define RONDO_TESTS_CAPI_FILES_H

#include "tests/capi/check.h"

/* An export of a tuning database in which there is nothing. */
#define EMPTY_EXPORT \
  "{\"format\": \"rondo-tuning\", \"version\": 1, \"devices\": [], \"cells\": [], \"problems\": []}"

static inline void write_file(const char* path, const void* data, size_t bytes) {
  FILE* file = fopen(path, "wb");
  if (CHECK(file != NULL)) CHECK(fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

#endif
