/* memory.c - arrays in separate pages, at the end of them, before a guard page. */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "device/emulated/emulated_priv.h"

static int64_t round_up(int64_t n, int64_t to)
{
  return (n + to - 1) / to * to;
}

/* Byte of a pattern at an address. */
static char pattern(const char *at, int which)
{
  static const unsigned char patterns[2][4] = {{0xDE, 0xC0, 0xF1, 0x7F}, {0x21, 0x3F, 0xF2, 0xFF}};

  return (char)patterns[which][(uintptr_t)at % 4];
}

void emulated_pages_fill(char *to, int64_t bytes, int which)
{
  for (int64_t i = 0; i < bytes; i++) {
    to[i] = pattern(to + i, which);
  }
}

weir_status emulated_pages_create(device_array *array)
{
  const int64_t page = sysconf(_SC_PAGESIZE);
  void *memory = NULL;

  if (array->bytes == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(1, sizeof(pages), &memory));
  pages *p = memory;

  array->state = p;
  p->bytes = round_up(array->bytes, page);
  p->map_bytes = p->bytes + 2 * page;
  if (array->space == WEIR_SPACE_DEVICE) {
    WEIR_TRY(weir_alloc(array->bytes, 1, &memory));
    p->written = memory;
  }
  p->map = mmap(NULL, (size_t)p->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p->map == MAP_FAILED) {
    p->map = NULL;
    return weir_fail(WEIR_ERR_MEMORY, "device emulated: %" PRId64 " bytes", array->bytes);
  }
  p->pages = p->map + page;
  array->address = p->pages + p->bytes - round_up(array->bytes, WEIR_DEVICE_ALIGN);
  emulated_pages_allow(array, PAGES_WRITE);
  emulated_pages_fill(p->pages, p->bytes, 0);
  emulated_pages_allow(array, array->space == WEIR_SPACE_DEVICE ? PAGES_NONE : PAGES_WRITE);
  return WEIR_OK;
}

void emulated_pages_destroy(device_array *array)
{
  pages *p = array->state;

  if (p != NULL) {
    if (p->map != NULL) {
      munmap(p->map, (size_t)p->map_bytes);
    }
    weir_free(&p->written);
    weir_free(&array->state);
  }
}

void emulated_pages_allow(const device_array *array, page_access access)
{
  static const int flags[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
  pages *p = array->state;

  if (p != NULL && p->now != access) {
    p->now = access;
    WEIR_ASSERT(mprotect(p->pages, (size_t)p->bytes, flags[access]) == 0);
  }
}
