/* weir_alloc.c - aligned, zeroed, counted host memory. */
#include "base/weir_alloc.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define EXACT_BLOCKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EXACT_BLOCKS 1
#endif
#endif
#ifndef EXACT_BLOCKS
#define EXACT_BLOCKS 0
#endif

enum {
  ALIGNMENT = 64,
  LAZY_BYTES = 1 << 20, /* from here on pages come fresh from the system: only those that are
                          touched take memory, and free gives them back. Of smaller blocks the
                          faults of fresh pages would cost more than to clear them: threads wait for
                          one another there. */
  LARGE_PAGE = 2 << 20,
  LARGE_BYTES = 2 * LARGE_PAGE /* from here on in large pages: pages of 4 KiB lie anywhere in
                                  memory, so that by chance many share a set of L2, and are more
                                  than the TLB holds */
};

/* No machine has more; the sanitizer ends the program, instead of returning NULL, from 2^40 on. */
static const size_t max_bytes = (size_t)1 << (EXACT_BLOCKS ? 39 : 47);

/* Stands in the ALIGNMENT bytes before the memory handed out. */
struct header {
  void *block;          /* what free() or munmap() takes */
  size_t bytes, mapped; /* asked for; of the mapping, 0: none */
  uint64_t mark;        /* says that the block is ours and alive */
};

static const uint64_t live_mark = UINT64_C(0x77656972616c6c6f);

static _Thread_local struct {
  int64_t count, fail_at;
} faults;
static atomic_int_fast64_t allocated, peak;

static void count_bytes(int64_t change)
{
  const int_fast64_t now = atomic_fetch_add(&allocated, change) + change;
  int_fast64_t high = atomic_load(&peak);

  while (now > high && !atomic_compare_exchange_weak(&peak, &high, now)) {
  }
}

static struct header *header_of(void *memory)
{
  struct header *h = (struct header *)(void *)((char *)memory - ALIGNMENT);
  WEIR_ASSERT(h->mark == live_mark);
  return h;
}

/* `bytes` of fresh pages, or MAP_FAILED; those of a large block begin with a large page. */
static void *map_pages(size_t bytes)
{
  const size_t spare = bytes >= LARGE_BYTES ? LARGE_PAGE : 0;
  char *block =
      mmap(NULL, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (block == MAP_FAILED || spare == 0) {
    return block;
  }
  const size_t before = (LARGE_PAGE - (uintptr_t)block % LARGE_PAGE) % LARGE_PAGE;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), end = (bytes + page - 1) / page * page;

  if (before > 0) {
    (void)munmap(block, before);
  }
  block += before;
  if (before + end < bytes + spare) {
    (void)munmap(block + end, bytes + spare - before - end);
  }
  (void)madvise(block, end, MADV_HUGEPAGE);
  return block;
}

/* NULL when exhausted. The sanitizer sees an overrun only if a block ends with its memory, which
 * whole pages would hide. */
static void *acquire(size_t bytes)
{
  const size_t mapped = bytes >= LAZY_BYTES && !EXACT_BLOCKS ? bytes + ALIGNMENT : 0;
  void *block = NULL;
  char *memory;

  if (mapped > 0) {
    block = map_pages(mapped);
    if (block == MAP_FAILED) {
      return NULL;
    }
    memory = (char *)block + ALIGNMENT;
  } else {
    if (posix_memalign(&block, ALIGNMENT, bytes + ALIGNMENT) != 0) {
      return NULL;
    }
    memory = (char *)block + ALIGNMENT;
    memset(memory, 0, bytes);
  }
  struct header *h = (struct header *)(void *)(memory - ALIGNMENT);
  h->block = block;
  h->bytes = bytes;
  h->mapped = mapped;
  h->mark = live_mark;
  count_bytes((int64_t)bytes);
  return memory;
}

weir_status weir_alloc(int64_t count, size_t size, void **out)
{
  size_t bytes;

  *out = NULL;
  if (count == 0 || size == 0) {
    return WEIR_OK;
  }
  if (count < 0 || !weir_mul_ok((size_t)count, size, &bytes) || bytes > max_bytes) {
    return weir_fail(WEIR_ERR_MEMORY, "cannot allocate %" PRId64 " elements of %zu bytes", count,
                     size);
  }
  faults.count++;
  if (faults.count == faults.fail_at) {
    return weir_fail(WEIR_ERR_MEMORY, "injected failure of allocation %" PRId64, faults.count);
  }
  *out = acquire(bytes);
  if (*out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "out of memory: cannot allocate %zu bytes", bytes);
  }
  return WEIR_OK;
}

weir_status weir_realloc(void **ptr, int64_t old_count, int64_t new_count, size_t size)
{
  void *grown;

  WEIR_TRY(weir_alloc(new_count, size, &grown));
  const int64_t kept = old_count < new_count ? old_count : new_count;
  if (*ptr != NULL && kept > 0 && size > 0) {
    WEIR_ASSERT((size_t)kept * size <= header_of(*ptr)->bytes);
    memcpy(grown, *ptr, (size_t)kept * size);
  }
  weir_free(ptr);
  *ptr = grown;
  return WEIR_OK;
}

/* Typed pointers are read and written as bytes: a T * is not a void *, only shaped like one. */
void weir_free(void *ptr_to_pointer)
{
  void *memory;
  void *const nothing = NULL;

  if (ptr_to_pointer == NULL) {
    return;
  }
  memcpy(&memory, ptr_to_pointer, sizeof memory);
  memcpy(ptr_to_pointer, &nothing, sizeof nothing);
  if (memory == NULL) {
    return;
  }
  struct header *h = header_of(memory);
  h->mark = 0;
  count_bytes(-(int64_t)h->bytes);
  if (h->mapped > 0) {
    (void)munmap(h->block, h->mapped);
  } else {
    free(h->block);
  }
}

weir_status weir_strdup(const char *text, char **out)
{
  const size_t bytes = strlen(text) + 1;
  void *copy;

  *out = NULL;
  WEIR_TRY(weir_alloc((int64_t)bytes, 1, &copy));
  memcpy(copy, text, bytes);
  *out = copy;
  return WEIR_OK;
}

weir_status weir_reserve(void *ptr_to_array, int64_t *capacity, int64_t need, size_t size)
{
  void *array;
  int64_t wanted = *capacity > 4 ? *capacity : 4;

  if (need <= *capacity) {
    return WEIR_OK;
  }
  while (wanted < need) {
    if (!weir_mul_ok(wanted, (int64_t)2, &wanted)) {
      wanted = need;
    }
  }
  memcpy(&array, ptr_to_array, sizeof array);
  WEIR_TRY(weir_realloc(&array, *capacity, wanted, size));
  memcpy(ptr_to_array, &array, sizeof array);
  *capacity = wanted;
  return WEIR_OK;
}

void weir_alloc_fail_after(int64_t k)
{
  faults.count = 0;
  faults.fail_at = k;
}

int64_t weir_alloc_count(void)
{
  return faults.count;
}

int64_t weir_alloc_bytes(void)
{
  return atomic_load(&allocated);
}

int64_t weir_alloc_peak(void)
{
  return atomic_load(&peak);
}
