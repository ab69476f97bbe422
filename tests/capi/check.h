/* Checks for tests of the C interface that are written in C: a failed one is counted and printed, and the
 * test goes on. main() ends with `return report();`. */
#ifndef RONDO_TESTS_CAPI_CHECK_H
#define RONDO_TESTS_CAPI_CHECK_H

#include <rondo/launch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks_failed = 0;
static int checks_made = 0;

static inline int check_failed(const char* file, int line, const char* what) {
  ++checks_failed;
  fprintf(stderr, "%s:%d: %s\n", file, line, what);
  return 0;
}

#define CHECK(condition) \
  (++checks_made, (condition) ? 1 : check_failed(__FILE__, __LINE__, "it does not hold that " #condition))

static inline int check_status(const char* file, int line, const char* call, rondo_status status,
                               rondo_status wanted, const char* words) {
  ++checks_made;
  if (status != wanted) {
    char text[2048];
    snprintf(text, sizeof text, "%s gives %s (%s; %s), not %s", call, rondo_status_name(status),
             status == RONDO_OK ? "" : rondo_message(), status == RONDO_OK ? "" : rondo_hint(),
             rondo_status_name(wanted));
    return check_failed(file, line, text);
  }
  if (words != NULL && strstr(rondo_message(), words) == NULL && strstr(rondo_hint(), words) == NULL) {
    char text[2048];
    snprintf(text, sizeof text, "%s says '%s' (%s), nothing of '%s'", call, rondo_message(), rondo_hint(),
             words);
    return check_failed(file, line, text);
  }
  return 1;
}

#define OK(call) check_status(__FILE__, __LINE__, #call, (call), RONDO_OK, NULL)
/* The call fails with this status, and its message or hint has these words. */
#define FAILS(call, status, words) check_status(__FILE__, __LINE__, #call, (call), (status), (words))

/* Whether a run of the tests takes this one of many like cases: every third, or all, or every eighth where
 * RONDO_TURN is set (tests/support/turns.h). */
static inline int has_turn(int number) {
  const char* const turn = getenv("RONDO_TURN");
  if (turn != NULL) return ((unsigned long)number + strtoul(turn, NULL, 10)) % 8 == 0;
  return getenv("RONDO_LONG_TESTS") != NULL || number % 3 == 0;
}

static inline int report(void) {
  printf("%d checks, %d failed\n", checks_made, checks_failed);
  return checks_failed == 0 ? 0 : 1;
}

#endif
