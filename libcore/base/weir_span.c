/* weir_span.c - nested spans: a stack per thread, one table of sums by name. */
#include <stdlib.h>
#include <string.h>

#include "base/base_priv.h"
#include "base/weir_clock.h"
#include "base/weir_lock.h"
#include "base/weir_log.h"

enum { MAX_DEPTH = 64, MAX_ROWS = 512, MODULE_SIZE = 24, NAME_SIZE = 72 };

/* Names are copied: those of a plan's groups do not outlive the plan. */
struct row {
  char module[MODULE_SIZE], name[NAME_SIZE];
  double seconds;
  int64_t calls, flops, bytes;
};

static _Thread_local struct {
  int depth; /* may exceed MAX_DEPTH; spans beyond it are not timed */
  struct open_span {
    char module[MODULE_SIZE], name[NAME_SIZE];
    double start;
  } open[MAX_DEPTH];
} stack;

static struct {
  weir_lock lock;
  int n;
  struct row rows[MAX_ROWS]; /* the last one collects what does not fit */
} table = {.lock = WEIR_LOCK_INIT};

void weir_span_begin(const char *module, const char *name)
{
  if (stack.depth < MAX_DEPTH) {
    struct open_span *s = &stack.open[stack.depth];
    snprintf(s->module, sizeof s->module, "%s", module);
    snprintf(s->name, sizeof s->name, "%s", name);
    s->start = weir_clock();
  }
  stack.depth++;
}

static struct row *row_of(const char *module, const char *name)
{
  for (int i = 0; i < table.n; i++) {
    if (strcmp(table.rows[i].name, name) == 0 && strcmp(table.rows[i].module, module) == 0) {
      return &table.rows[i];
    }
  }
  if (table.n == MAX_ROWS) {
    return &table.rows[MAX_ROWS - 1];
  }
  struct row *row = &table.rows[table.n++];
  const bool last = table.n == MAX_ROWS;
  memset(row, 0, sizeof *row);
  snprintf(row->module, sizeof row->module, "%s", last ? "base" : module);
  snprintf(row->name, sizeof row->name, "%s", last ? "other spans" : name);
  return row;
}

void weir_span_end(int64_t flops, int64_t bytes)
{
  WEIR_ASSERT(stack.depth > 0);
  stack.depth--;
  if (stack.depth >= MAX_DEPTH) {
    return;
  }
  const struct open_span *s = &stack.open[stack.depth];
  const double seconds = weir_clock() - s->start;
  weir_lock_take(&table.lock);
  struct row *row = row_of(s->module, s->name);
  row->seconds += seconds;
  row->calls++;
  row->flops += flops;
  row->bytes += bytes;
  weir_lock_give(&table.lock);
}

/* Slowest first; equal times in the order of first use. */
static int by_time(const void *a, const void *b)
{
  const struct row *x = *(const struct row *const *)a;
  const struct row *y = *(const struct row *const *)b;

  if (x->seconds != y->seconds) {
    return x->seconds > y->seconds ? -1 : 1;
  }
  return x < y ? -1 : x > y;
}

int weir_span_table(weir_span_row *rows, int n)
{
  const struct row *order[MAX_ROWS];

  weir_lock_take(&table.lock);
  const int count = table.n;
  for (int i = 0; i < count; i++) {
    order[i] = &table.rows[i];
  }
  qsort(order, (size_t)count, sizeof order[0], by_time);
  for (int i = 0; i < count && i < n; i++) {
    const struct row *r = order[i];
    rows[i] = (weir_span_row){.module = r->module,
                              .name = r->name,
                              .seconds = r->seconds,
                              .calls = r->calls,
                              .flops = r->flops,
                              .bytes = r->bytes};
  }
  weir_lock_give(&table.lock);
  return count;
}

void weir_span_reset(void)
{
  weir_lock_take(&table.lock);
  table.n = 0;
  weir_lock_give(&table.lock);
}
