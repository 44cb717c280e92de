/* owners.c - which group of ranks keeps which sample for all of them. An epoch visits a sample
 * once, so no two groups need one at a time: the group that meets it first reads it then, which
 * shares out the reading as the steps do, and the first pass needs no message. */
#include <string.h>

#include "base/weir_alloc.h"
#include "load/load_priv.h"

int64_t load_batches(const weir_sampler *o)
{
  const int64_t epoch = weir_sampler_epoch(o);

  return epoch / o->batch + (epoch % o->batch > 0);
}

load_batch load_batch_of(const weir_sampler *o, int64_t number)
{
  const int64_t each = load_batches(o), at = number % each * o->batch;
  const int64_t left = weir_sampler_epoch(o) - at;

  return (load_batch){number / each, at, left < o->batch ? left : o->batch};
}

/* Context of the search. */
typedef struct search {
  const weir_sampler *order;
  int64_t of, first, end;
  int64_t *sample;   /* [batch] */
  int64_t *last;     /* [samples] batch of the last visit, -1: none */
  int64_t *capacity; /* [of] samples left */
  int64_t left;      /* of all */
} search;

static load_batch take(const search *s, int64_t number)
{
  const load_batch b = load_batch_of(s->order, number);

  weir_sampler_take(s->order, b.epoch, b.at, b.n, s->sample);
  return b;
}

/* Backwards, until every sample was seen; the number of those that were. */
static int64_t find_last(search *s)
{
  int64_t seen = 0;

  for (int64_t t = s->end - 1; t >= s->first && seen < s->order->samples; t--) {
    const load_batch b = take(s, t);

    for (int64_t i = 0; i < b.n; i++) {
      int64_t *const last = &s->last[s->sample[i]];

      seen += *last < 0;
      *last = *last < 0 ? t : *last;
    }
  }
  return seen;
}

/* Forwards, until every sample has an owner or is not accessed again. */
static void find_owners(search *s, int64_t open, load_owners *k)
{
  for (int64_t t = s->first; t < s->end && open > 0 && s->left > 0; t++) {
    const load_batch b = take(s, t);

    for (int64_t g = 0; g < s->of; g++) {
      int64_t lo, hi;

      weir_sampler_share(b.n, g, s->of, &lo, &hi);
      for (int64_t i = lo; i < hi; i++) {
        const int64_t one = s->sample[i];

        if (k->by[one] >= 0) {
          continue;
        }
        if (t < s->last[one] && s->capacity[g] > 0) {
          k->by[one] = (int32_t)g;
          k->since[one] = t;
          s->capacity[g]--;
          s->left--;
          open--;
        }
        open -= t == s->last[one];
      }
    }
  }
}

weir_status load_owners_make(const weir_sampler *o, int64_t of, int64_t first, int64_t end,
                             int64_t capacity, load_owners *out)
{
  search s = {.order = o, .of = of, .first = first, .end = end};
  load_owners k = {.by = NULL};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(o->samples, sizeof *k.by, (void **)&k.by), done);
  WEIR_TRY_GOTO(weir_alloc(o->samples, sizeof *k.since, (void **)&k.since), done);
  WEIR_TRY_GOTO(weir_alloc(o->samples, sizeof *s.last, (void **)&s.last), done);
  WEIR_TRY_GOTO(weir_alloc(o->batch, sizeof *s.sample, (void **)&s.sample), done);
  WEIR_TRY_GOTO(weir_alloc(of, sizeof *s.capacity, (void **)&s.capacity), done);
  for (int64_t i = 0; i < o->samples; i++) {
    k.by[i] = -1;
    s.last[i] = -1;
  }
  for (int64_t g = 0; g < of; g++) {
    s.capacity[g] = capacity < o->samples ? capacity : o->samples;
    s.left += s.capacity[g];
  }
  find_owners(&s, find_last(&s), &k);
done:
  weir_free(&s.last);
  weir_free(&s.sample);
  weir_free(&s.capacity);
  if (status != WEIR_OK) {
    load_owners_fini(&k);
    return status;
  }
  *out = k;
  return WEIR_OK;
}

void load_owners_fini(load_owners *k)
{
  weir_free(&k->by);
  weir_free(&k->since);
}
