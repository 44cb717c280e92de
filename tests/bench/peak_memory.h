/* peak_memory.h - growth of the resident memory of a process, and what a plan foresees of it. */
#ifndef WEIR_BENCH_PEAK_MEMORY_H
#define WEIR_BENCH_PEAK_MEMORY_H
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support/graph/store_check.h"
#include "learner.h"

/* A line of /proc/self/status in bytes, 0: not there. */
static inline double peak_memory(const char *field)
{
  char line[256];
  double kib = 0;
  FILE *f = fopen("/proc/self/status", "r");

  while (f != NULL && kib == 0 && fgets(line, sizeof line, f) != NULL) {
    if (strncmp(line, field, strlen(field)) == 0) {
      kib = strtod(line + strlen(field) + 1, NULL);
    }
  }
  if (f != NULL) {
    (void)fclose(f);
  }
  return 1024 * kib;
}

/* What is free goes back to the system, and the peak begins at what is left. */
static inline void peak_forget(void)
{
  FILE *f = fopen("/proc/self/clear_refs", "w");

  (void)malloc_trim(0);
  if (f != NULL) {
    (void)fputs("5", f);
    (void)fclose(f);
  }
}

static inline double peak_bytes(const weir_tensor *t)
{
  return (double)weir_tensor_numel(t) * (double)weir_dtype_size(t->dtype);
}

/* What the plan and the store say they hold, and one batch. */
static inline double peak_predict(const learner *t)
{
  double sum = (double)weir_plan_memory_bytes(t->plan) + (double)weir_plan_own_bytes(t->plan) +
               peak_bytes(&t->x) + peak_bytes(&t->y);

  for (int64_t i = 0; i < weir_store_count(t->store); i++) {
    sum += peak_bytes(check_stored(t->store, weir_store_name(t->store, i)));
  }
  return sum;
}

#endif
