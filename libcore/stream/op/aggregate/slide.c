/* slide.c - windows of many hops: blocks as long as the window, the end of the last block and the
 * beginning of this one (van Herk 1992, Gil and Werman 1993), so that a hop costs the same however
 * long the window is, and nothing is ever subtracted.
 *
 * Block b is hops [b m, (b + 1) m). While block b runs, partial i of the state combines hops i ...
 * m - 1 of block b - 1, and, below the current hop, has the partials of block b as received.
 * Results depend on the numbers of hops alone, never on the division of time into calls. */
#include <math.h>
#include <string.h>
#include "aggregate_priv.h"
#include "base/weir_alloc.h"
#include "ops/call/weir_call.h"

/* As received: n samples, their mean, the sum of their squared distances from it. Combined: n, and
 * the sums of distances and squared distances from the pivot. Selected: n > 0, the value. */
typedef struct partial {
  double n, sum, squares;
} partial;

/* The state, as f64 numbers; partials follow. */
typedef struct head {
  double next;  /* the hop that comes */
  double pivot; /* mean of the last block, that sums of squares stay small */
  double found; /* the pivot is one     */
  partial now;  /* this block so far    */
} head;
#define HEAD_NUMBERS ((int64_t)(sizeof(head) / sizeof(double)))
#define PARTIAL_NUMBERS ((int64_t)(sizeof(partial) / sizeof(double)))

typedef struct plan {
  weir_aggregate kind; /* with `selects`: min, max or first */
  bool selects;        /* instead of moments             */
  int64_t hops;
} plan;

/* Of slot lo and those after it. */
typedef struct inputs {
  const uint8_t *present;
  const float *sample;              /* NULL: moments */
  const double *mean, *n, *squares; /* NULL: samples */
} inputs;

static inputs inputs_at(const weir_op_run *run, int64_t lo)
{
  inputs in = {.present = weir_view_at(&run->in[0], &lo)};

  if (run->n_in == 3) {
    in.sample = weir_view_at(&run->in[1], &lo);
  } else {
    in.mean = weir_view_at(&run->in[1], &lo);
    in.n = weir_view_at(&run->in[2], &lo);
    in.squares = weir_view_at(&run->in[3], &lo);
  }
  return in;
}

static partial read_partial(const inputs *in, int64_t i)
{
  if (in->sample == NULL) {
    return (partial){in->n[i], in->mean[i], in->squares[i]};
  }
  return in->present[i] != 0 ? (partial){1, (double)in->sample[i], 0} : (partial){0, 0, 0};
}

/* The earlier partial `a` with the later one `b`. */
static partial select_value(weir_aggregate kind, partial a, partial b)
{
  const bool second = kind == WEIR_AGGREGATE_MIN   ? b.sum < a.sum || isnan(b.sum)
                      : kind == WEIR_AGGREGATE_MAX ? b.sum > a.sum || isnan(b.sum)
                                                   : false;

  return a.n == 0 || (b.n > 0 && second) ? b : a;
}

static partial add(partial to, partial received, double pivot)
{
  const double d = received.sum - pivot, weighted = received.n * d;

  return (partial){to.n + received.n, to.sum + weighted,
                   to.squares + (received.squares + weighted * d)};
}

/* n, mean and variance of what was combined. */
static void put_moments(double *const out[3], int64_t i, partial all, double pivot)
{
  const double d = all.n > 0 ? all.sum / all.n : 0, level = d * d;
  const double rest = all.n > 0 ? all.squares / all.n - level : 0;
  /* A remainder of n additions in a row is no variance. */
  const double moments[] = {all.n, all.n > 0 ? pivot + d : 0,
                            rest <= level * all.n * 0x1p-51 ? 0 : rest};

  for (int k = 0; k < 3; k++) {
    out[k][i] = moments[k];
  }
}

/* All m partials are as received: combines them from the end, and chooses the next pivot. */
static void end_block(const plan *p, head *h, partial *partials)
{
  partial after = {0, 0, 0}, all = {0, 0, 0};

  for (int64_t i = 0; i < p->hops; i++) {
    all.n += partials[i].n;
    all.sum += partials[i].n * partials[i].sum;
  }
  const double mean = (double)(float)(all.sum / all.n);

  h->found = all.n > 0;
  h->pivot = h->found != 0 && isfinite(mean) ? mean : 0;
  for (int64_t i = p->hops - 1; i >= 0; i--) {
    after =
        p->selects ? select_value(p->kind, partials[i], after) : add(after, partials[i], h->pivot);
    partials[i] = after;
  }
  h->now = (partial){0, 0, 0};
}

/* Hops [next, lo) were left out: absent, like the m before them. */
static void skip_to(const plan *p, head *h, partial *partials, int64_t lo)
{
  const int64_t next = (int64_t)h->next, m = p->hops;

  if (lo / m != next / m) {
    *h = (head){.next = 0};
    memset(partials, 0, (size_t)m * sizeof *partials);
  } else {
    memset(partials + next % m, 0, (size_t)(lo - next) * sizeof *partials);
  }
}

/* Adds the partial of hop i of this block; returns the combined partial of the window. */
static partial advance(const plan *p, head *h, partial *partials, int64_t i, partial newest)
{
  const partial before = i + 1 < p->hops ? partials[i + 1] : (partial){0, 0, 0};

  partials[i] = newest;
  if (p->selects) {
    h->now = select_value(p->kind, h->now, newest);
    return select_value(p->kind, before, h->now);
  }
  if (h->found == 0 && newest.n > 0) {
    h->found = 1;
    h->pivot = isfinite((float)newest.sum) ? (double)(float)newest.sum : 0;
  }
  h->now = newest.n > 0 ? add(h->now, newest, h->pivot) : h->now;
  return (partial){before.n + h->now.n, before.sum + h->now.sum, before.squares + h->now.squares};
}

static weir_status slide(void *context, const weir_op_run *run)
{
  const plan *p = context;
  const int64_t lo = run->box.lo[0], n = run->box.hi[0] - lo;
  const inputs in = inputs_at(run, lo);
  head *h = run->in[run->n_in - 1].data;
  partial *partials = (void *)((double *)run->in[run->n_in - 1].data + HEAD_NUMBERS);
  void *out[3] = {NULL, NULL, NULL};
  int64_t i = lo % p->hops; /* of the block */

  for (int k = 0; k < run->n_out; k++) {
    out[k] = weir_view_at(&run->out[k], &lo);
  }
  if (lo > (int64_t)h->next) {
    skip_to(p, h, partials, lo);
  }
  for (int64_t t = 0; t < n; t++) {
    const partial newest = read_partial(&in, t), all = advance(p, h, partials, i, newest);

    if (p->selects) {
      ((float *)out[0])[t] = newest.n > 0 ? (float)all.sum : 0;
    } else {
      put_moments((double *const *)(void *)out, t, newest.n > 0 ? all : (partial){0, 0, 0},
                  h->pivot);
    }
    i++;
    if (i == p->hops) {
      end_block(p, h, partials);
      i = 0;
    }
  }
  h->next = (double)(lo + n);
  return WEIR_OK;
}

/* The state of the step, zeroed, in the store and in the graph. */
static weir_status make_state(const weir_series_use *use, int64_t hops, weir_value *state)
{
  int64_t numbers = 0;
  char name[128];

  (void)snprintf(name, sizeof name, "%s.window", use->step);
  if (__builtin_mul_overflow(hops, PARTIAL_NUMBERS, &numbers) ||
      __builtin_add_overflow(numbers, HEAD_NUMBERS, &numbers)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: a window of %lld hops is too long", use->step,
                     (long long)hops);
  }
  WEIR_TRY(weir_store_add(use->store, name, WEIR_F64, 1, &numbers));
  *state = weir_stored(use->graph, use->store, name);
  weir_in_place(use->graph, *state);
  return WEIR_OK;
}

/* Output 0; output k is {v.node, k}. */
static weir_value add_call(const weir_series_use *use, const aggregate_partial *a, plan p)
{
  const int n = a->n.node < 0 ? 3 : 5;
  weir_value in[5] = {a->present, a->value, a->n, a->m2};
  const weir_array_desc out = {
      .dtype = p.selects ? WEIR_F32 : WEIR_F64, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  void *memory = NULL;
  weir_status status = weir_series_keep(use, sizeof p, NULL, &memory);

  status = status == WEIR_OK ? make_state(use, p.hops, &in[n - 1]) : status;
  if (status != WEIR_OK) {
    return weir_graph_fail(use->graph, status);
  }
  memcpy(memory, &p, sizeof p);
  const weir_call_spec spec = {.name = "slide",
                               .function = slide,
                               .context = memory,
                               .n_out = p.selects ? 1 : 3,
                               .out = {out, out, out},
                               .presence = 1,
                               .settle = p.hops,
                               .flops = 12};

  return weir_call(use->graph, &spec, in, n);
}

weir_moments_stream aggregate_slide_moments(const weir_series_use *use, const aggregate_partial *a,
                                            int64_t hops)
{
  const weir_value n = add_call(use, a, (plan){.hops = hops});

  return (weir_moments_stream){n, {n.node, 1}, {n.node, 2}};
}

weir_value aggregate_slide_select(const weir_series_use *use, const aggregate_partial *a,
                                  weir_aggregate kind, int64_t hops)
{
  return add_call(use, a, (plan){.kind = kind, .selects = true, .hops = hops});
}
