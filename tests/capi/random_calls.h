/* What random sequences of calls are made of: numbers, handles that are mostly good, and a note of each call.
 * A call gives a status and a message, and leaves the thread's CUDA context alone. */
#ifndef RONDO_TESTS_CAPI_RANDOM_CALLS_H
#define RONDO_TESTS_CAPI_RANDOM_CALLS_H

#include <rondo/rondo.h>

#include "tests/capi/check.h"
#include "tests/capi/fake_cuda.h"

enum { CONTEXT, PLAN, CELL, LIST, DATABASE, TRAINING, PACKAGE, KINDS };
enum { POOL = 6, CALLS = 24, EACH = 16384, BYTES = 32 * EACH, MOST_FUNCTIONS = 64 };

static uint64_t state;
static void* pool[KINDS][POOL]; /* handles that were given once, alive or not */
static unsigned char* memory;   /* BYTES, aligned to 256 */
static fake_cuda* cuda;         /* the driver that the library has, */
static void* current; /* and the context that is current there, which is not the library's to change */
static int64_t statuses[12];
static int64_t launched;

/* What a function gave. */
static struct {
  char name[48];
  int64_t ok, refused;
} functions[MOST_FUNCTIONS];
/* What was wrong with handles, by the words of the message, and how often. */
static struct {
  const char* words;
  int64_t count;
} of_handles[] = {{" is NULL", 0}, {"this handle is a ", 0}, {"was destroyed, or comes from elsewhere", 0}};
enum { OF_HANDLES = sizeof of_handles / sizeof of_handles[0] };

static uint32_t below(uint32_t n) {
  state += 0x9E3779B97F4A7C15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (uint32_t)((z ^ (z >> 31)) >> 32) % n;
}

/* Mostly of the kind that is wanted. */
static void* handle(int kind) {
  switch (below(24)) {
    case 0: return NULL;
    case 1: return memory + below(64);
    case 2: return (void*)(uintptr_t)((uint64_t)below(0xFFFFFFFFu) << below(32));
    case 3: return pool[below(KINDS)][below(POOL)];
    default: return pool[kind][below(POOL)];
  }
}

static int64_t size_of_call(void) {
  static const int64_t wild[] = {0, -1, INT64_MIN, INT64_MAX, (int64_t)1 << 31, (int64_t)1 << 40, 4096};
  return below(12) == 0 ? wild[below(7)] : 1 + (int64_t)below(4);
}

static int32_t number(int32_t most) {
  static const int32_t wild[] = {-1, INT32_MIN, INT32_MAX, 99};
  return below(16) == 0 ? wild[below(4)] : (int32_t)below((uint32_t)most + 1);
}

static const char* text(void) {
  static const char* const texts[] = {NULL,    "",        "lstm",    "mingru", "x",
                                      "h_out", "no/such", "h_first", "stream"};
  return texts[below(9)];
}

/* One that is larger than the struct, if not by far, would have the library read what is not there. */
static size_t struct_size(size_t right) {
  switch (below(24)) {
    case 0: return 0;
    case 1: return below((uint32_t)right);
    case 2: return (size_t)-1;
    default: return right;
  }
}

/* `call` is the text of the call. */
static void count_function(rondo_status status, const char* call) {
  const int length = (int)strcspn(call, "(");
  int i = 0;
  while (i < MOST_FUNCTIONS && functions[i].name[0] != '\0' &&
         (strncmp(functions[i].name, call, (size_t)length) != 0 || functions[i].name[length] != '\0'))
    ++i;
  if (!CHECK(i < MOST_FUNCTIONS)) return;
  snprintf(functions[i].name, sizeof functions[i].name, "%.*s", length, call);
  ++*(status == RONDO_OK ? &functions[i].ok : &functions[i].refused);
}

static void note(rondo_status status, const char* call) {
  ++checks_made;
  if (status < RONDO_OK || status > RONDO_ERROR_MEMORY || status == RONDO_ERROR_INTERNAL ||
      (status != RONDO_OK && rondo_message()[0] == '\0') || cuda->current() != current) {
    fprintf(stderr, "%s gives %d: %s; %s\n", call, status, rondo_message(),
            cuda->current() == current ? "" : "another context is current");
    ++checks_failed;
    return;
  }
  ++statuses[status];
  count_function(status, call);
  launched += status == RONDO_OK && strstr(call, "rondo_launch(") != NULL;
  for (int i = 0; status == RONDO_ERROR_INPUT && i < OF_HANDLES; ++i)
    of_handles[i].count += strstr(rondo_message(), of_handles[i].words) != NULL;
}

#define CALL(call) note((call), #call)

static void destroy(int kind, void* h) {
  switch (kind) {
    case CONTEXT: CALL(rondo_context_destroy(h)); break;
    case PLAN: CALL(rondo_plan_destroy(h)); break;
    case CELL: CALL(rondo_cell_destroy(h)); break;
    case LIST: CALL(rondo_diagnostics_destroy(h)); break;
    case DATABASE: CALL(rondo_database_destroy(h)); break;
    case TRAINING: CALL(rondo_training_destroy(h)); break;
    case PACKAGE: CALL(rondo_package_destroy(h)); break;
    default: CHECK(!"a kind of handle"); break;
  }
}

/* In the place of another one, of which nothing must be left. */
static void keep(int kind, void* made) {
  if (made == NULL) return;
  void** place = &pool[kind][below(POOL)];
  destroy(kind, *place);
  *place = made;
}

static void destroy_all(void) { /* those that are destroyed already say so */
  for (int kind = 0; kind < KINDS; ++kind)
    for (int i = 0; i < POOL; ++i) destroy(kind, pool[kind][i]);
  memset(pool, 0, sizeof pool);
}

/* A struct to be filled, with room beyond it that must stay as it is. */
typedef union {
  size_t size;
  unsigned char bytes[512];
} room;

static room any_room(size_t right) {
  room r;
  memset(&r, 0xA5, sizeof r);
  r.size = struct_size(right);
  if (r.size != (size_t)-1 && r.size > 256) r.size = right;
  return r;
}

static void untouched(const room* r, size_t given) {
  const size_t from = given > sizeof *r ? sizeof(size_t) : given < sizeof(size_t) ? sizeof(size_t) : given;
  for (size_t i = from; i < sizeof *r; ++i)
    if (!CHECK(r->bytes[i] == 0xA5)) return;
}

#define QUERY(type, call)                           \
  do {                                              \
    room r = any_room(sizeof(type));                \
    const size_t given = r.size;                    \
    type* into = below(32) == 0 ? NULL : (type*)&r; \
    CALL(call);                                     \
    untouched(&r, given);                           \
  } while (0)

#endif
