/* store_check.h - stored arrays in tests. Tests only. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/weir_store.h"

/* Returns the array, to read and to write until the next run of a plan; ends the test where there
 * is none. */
static inline weir_tensor *check_stored(const weir_store *s, const char *name)
{
  weir_store *own = NULL;
  weir_tensor *t = NULL;

  memcpy(&own, &s, sizeof own); /* also of a test that only reads */
  if (weir_store_write(own, name, &t) != WEIR_OK) {
    weir_print_trace(stderr);
    abort();
  }
  return t;
}
#endif
