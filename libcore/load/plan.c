/* plan.c - the tier of each sample: the most frequent first, in the fastest tier that has capacity;
 * within a class they are wanted in the order of their first visit. */
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "load/load_priv.h"

static int by_times(const void *a, const void *b)
{
  const load_use *const x = a, *const y = b;

  return x->times != y->times    ? (x->times < y->times ? 1 : -1)
         : x->sample < y->sample ? -1
                                 : x->sample > y->sample;
}

void load_uses_sort(load_use *uses, int64_t n)
{
  qsort(uses, (size_t)n, sizeof *uses, by_times);
}

static int by_first(const void *a, const void *b)
{
  const load_use *const x = a, *const y = b;

  return x->first < y->first ? -1 : x->first > y->first;
}

void load_uses_count(const weir_access_stream *v, int64_t first, int64_t end, load_use *uses)
{
  for (int64_t i = 0; i < v->order.samples; i++) {
    uses[i] = (load_use){i, 0, -1};
  }
  for (int64_t k = first; k < end; k++) {
    load_use *const u = &uses[weir_access_stream_sample(v, k)];

    u->first = u->times == 0 ? k : u->first;
    u->times++;
  }
}

int64_t load_uses_frequent(load_use *uses, int64_t n, int64_t least)
{
  int64_t kept = 0;

  for (int64_t i = 0; i < n; i++) {
    if (uses[i].times >= least) {
      uses[kept++] = uses[i];
    }
  }
  load_uses_sort(uses, kept);
  return kept;
}

/* Of samples that are sorted by times, n from `at` on belong to class c. */
static weir_status give(load_plan *p, int c, load_use *uses, int64_t n)
{
  qsort(uses, (size_t)n, sizeof *uses, by_first);
  WEIR_TRY(weir_alloc(n, sizeof(int64_t), (void **)&p->order[c]));
  p->n[c] = n;
  for (int64_t i = 0; i < n; i++) {
    p->order[c][i] = uses[i].sample;
    p->where[uses[i].sample] = (uint8_t)c;
    p->slot[uses[i].sample] = i;
  }
  return WEIR_OK;
}

/* Samples that a group owns precede all others, and those that another one owns have no tier. */
static int64_t put_kept_first(const load_owners *k, int64_t at, int64_t n, load_use *uses)
{
  int64_t own = 0;

  for (int64_t i = 0; i < n; i++) {
    if (k->by[i] >= 0) {
      uses[i].times = k->by[i] == at ? INT64_MAX : 0;
      own += k->by[i] == at;
    }
  }
  return own;
}

weir_status load_plan_make(const weir_access_stream *v, int64_t first, int64_t end,
                           const int64_t *capacity, const load_owners *k, load_plan *out)
{
  const int64_t n = v->order.samples;
  load_plan p = {.samples = n};
  load_use *uses = NULL;
  int64_t at = 0, own = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p.where, (void **)&p.where), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p.slot, (void **)&p.slot), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *uses, (void **)&uses), done);
  memset(p.where, LOAD_CLASSES, (size_t)n);
  load_uses_count(v, first, end, uses);
  if (k != NULL) {
    own = put_kept_first(k, v->at, n, uses);
  }
  const int64_t again = load_uses_frequent(uses, n, 2); /* one access left: not cached */

  for (int c = 0; c < LOAD_CLASSES; c++) {
    const int64_t max_take = k != NULL && c == WEIR_LOAD_MEMORY ? own : capacity[c];
    const int64_t take = again - at < max_take ? again - at : max_take;

    WEIR_TRY_GOTO(give(&p, c, uses + at, take), done);
    at += take;
  }
done:
  weir_free(&uses);
  if (status != WEIR_OK) {
    load_plan_fini(&p);
    return status;
  }
  *out = p;
  return WEIR_OK;
}

void load_plan_fini(load_plan *p)
{
  for (int c = 0; c < LOAD_CLASSES; c++) {
    weir_free(&p->order[c]);
  }
  weir_free(&p->where);
  weir_free(&p->slot);
}
