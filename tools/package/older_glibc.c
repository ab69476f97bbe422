/* What Rondo's libraries and the program would want of a newer glibc, for older ones: built on Debian 12
 * (2.36) they run where glibc is 2.34 (Ubuntu 22.04, RHEL 9), which is what the tag of the Python wheel
 * promises. None of it is our own calls: GCC's static C++ runtime and unwinder look for the newest functions
 * when they are linked. Those of this file take their place at link time (cmake/targets.cmake) and are seen
 * by nobody else. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* glibc 2.36. The C++ runtime's std::random_device takes its numbers from it, and it cannot fail: where the
 * kernel has no random numbers, glibc ends the program too. */
HIDDEN uint32_t arc4random(void) {
  uint32_t number = 0;
  ssize_t got = 0;
  do {
    got = getrandom(&number, sizeof number, 0);
  } while (got < 0 && errno == EINTR);
  if (got == (ssize_t)sizeof number) return number;
  const int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC); /* a sandbox may know no getrandom() */
  if (file < 0 || read(file, &number, sizeof number) != (ssize_t)sizeof number) abort();
  close(file);
  return number;
}

/* glibc 2.35. The unwinder asks it for the table of the object that holds an address; before 2.35 it walked
 * over the objects by itself, as here. Its struct is taken from the headers, which the runtime was compiled
 * with too. */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look_into(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  const struct search* search = data;
  uintptr_t first = UINTPTR_MAX, end = 0, table = 0;
  int inside = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &object->dlpi_phdr[i];
    const uintptr_t start = object->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) table = start;
    if (header->p_type != PT_LOAD) continue;
    if (search->address - start < header->p_memsz) inside = 1;
    if (start < first) first = start;
    if (start + header->p_memsz > end) end = start + header->p_memsz;
  }
  if (!inside) return 0;
  if (table == 0) return -1; /* no other object has the address */
  search->found->dlfo_flags = 0;
  search->found->dlfo_map_start = (void*)first;
  search->found->dlfo_map_end = (void*)end;
  search->found->dlfo_link_map = NULL; /* the unwinder does not read it */
  search->found->dlfo_eh_frame = (void*)table;
  return 1;
}

HIDDEN int _dl_find_object(void* address, struct dl_find_object* found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}
#endif
