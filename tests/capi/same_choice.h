/* What `rondo bench --json` and the C interface choose for 40 problems on either machine. */
#ifndef RONDO_TESTS_CAPI_SAME_CHOICE_H
#define RONDO_TESTS_CAPI_SAME_CHOICE_H

#ifdef __cplusplus
extern "C" {
#endif

/* The status of a program. `cuda`: a driver that stands in for a GPU; `program`: `rondo`. */
int same_choice(const char* cuda, const char* program);

#ifdef __cplusplus
}
#endif

#endif
