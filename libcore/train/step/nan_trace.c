/* nan_trace.c - after a NaN or infinite loss or gradient: the step again, every value of its
 * graph a result, to say where the first one came from. */
#include "train/step/nan_trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "train/grid/rank_arrays.h"
#include "train/grid/ranks.h"
#include "train/state.h"
#include "train/step/batch.h"
#include "train/step/plan.h"

/* Findings in one array. */
typedef struct finding {
  bool bad, nan; /* holds an infinity or a NaN; a NaN */
  int64_t at;    /* first bad element                 */
  double value;
} finding;

typedef struct look {
  weir_graph *g;
  weir_plan *plan;
  finding *found;  /* [arrays] */
  int32_t *writer; /* [arrays]: last node that writes it, -1: a source */
  int32_t *order, n_order;
  int64_t at; /* when what was found comes about: the rank that had it first tells */
} look;

/* Makes a result of every float that a node writes and that has no name yet. */
static void show_all(weir_graph *g)
{
  char name[48];

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    for (int o = 0; node->op != NULL && !node->dead && o < node->n_out; o++) {
      const weir_array *a = weir_graph_get_array(g, node->out[o]);

      if (!weir_dtype_is_whole(a->desc.dtype) && a->output == NULL) {
        (void)snprintf(name, sizeof name, "value %d.%d", i, o);
        weir_output(g, name, (weir_value){i, o});
      }
    }
  }
}

static finding scan(const weir_tensor *t)
{
  finding f = {.bad = false};

  for (int64_t i = 0; !weir_dtype_is_whole(t->dtype) && i < weir_tensor_numel(t); i++) {
    const weir_c128 z = weir_dtype_load_complex(t->dtype, t->data, i);
    const double x = isfinite(z.re) && !isnan(z.im) ? z.im : z.re; /* of both the worse */

    if (!isfinite(x) && (!f.bad || (isnan(x) && !f.nan))) {
      f = (finding){.bad = true, .nan = isnan(x), .at = i, .value = x};
    }
    if (f.nan) {
      break;
    }
  }
  return f;
}

/* A result as a tensor; false where the plan has none of that name, or it is not dense. */
static bool result_of(const weir_plan *plan, const char *name, weir_tensor *t)
{
  weir_view v;
  int64_t lo = 0, hi = 0;

  if (weir_plan_result(plan, name, &v, &lo, &hi) != WEIR_OK || v.data == NULL) {
    weir_clear_failure();
    return false;
  }
  *t = weir_tensor_wrap(v.data, v.dtype, v.rank, v.extent);
  for (int d = 0; d < v.rank; d++) {
    if (v.stride[d] != t->stride[d] && t->shape[d] > 1) {
      return false;
    }
  }
  return true;
}

/* Inputs and stored arrays are checked where they are, made values in the plan. */
static weir_status scan_all(look *l, const train_run *r, int64_t n)
{
  for (int32_t a = 0; a < weir_graph_arrays(l->g); a++) {
    const weir_array *array = weir_graph_get_array(l->g, a);
    const weir_tensor *stored = NULL;
    weir_tensor t;

    if (array->kind == WEIR_ARRAY_STORED) {
      WEIR_TRY(weir_store_read(r->store, array->name, &stored));
      l->found[a] = scan(stored);
      if (train_optim_sharded(&r->ranks.optim, array->name)) {
        l->found[a].at += r->ranks.optim.at[r->ranks.optim.rank];
      }
    } else if (array->output != NULL && result_of(l->plan, array->output, &t)) {
      l->found[a] = scan(&t);
    }
    for (int k = 0; array->kind == WEIR_ARRAY_INPUT && k < r->task->n_inputs; k++) {
      if (strcmp(array->name, r->task->input[k].name) == 0) {
        t = train_first_samples(&r->input[k], r->graph.size, k, n);
        l->found[a] = scan(&t);
      }
    }
  }
  return WEIR_OK;
}

/* The first node that computes a NaN from operands without one, or else an infinity; -1: none. */
static int32_t first_bad(const look *l, bool nan)
{
  for (int32_t i = 0; i < l->n_order; i++) {
    const weir_node *node = weir_graph_node(l->g, l->order[i]);
    bool made = false, had = false;

    for (int o = 0; o < node->n_out; o++) {
      const finding *f = &l->found[node->out[o]];

      /* An array of several writers is checked after the last of them. */
      made = made || (l->writer[node->out[o]] == l->order[i] && (nan ? f->nan : f->bad));
    }
    for (int k = 0; k < node->n_in; k++) {
      had = had || (nan ? l->found[node->in[k]].nan : l->found[node->in[k]].bad);
    }
    if (made && !had) {
      return l->order[i];
    }
  }
  return -1;
}

/* From a NaN back over the infinities that it was made of. */
static int32_t trace_back(const look *l, int32_t node)
{
  for (bool moved = true; moved;) {
    const weir_node *n = weir_graph_node(l->g, node);

    moved = false;
    for (int k = 0; k < n->n_in && !moved; k++) {
      const int32_t from = l->writer[n->in[k]];

      if (l->found[n->in[k]].bad && from >= 0) {
        node = from;
        moved = true;
      }
    }
  }
  return node;
}

/* "inf in 'enc1/conv' (conv at unet.c:40), element 7 of [2, 3]" */
static void name_node(const look *l, int32_t number, char *text, size_t size)
{
  const weir_node *node = weir_graph_node(l->g, number);
  int32_t a = node->out[0];
  size_t n;

  for (int o = 0; o < node->n_out; o++) {
    a = l->found[node->out[o]].bad ? node->out[o] : a;
  }
  const weir_array_desc *d = &weir_graph_get_array(l->g, a)->desc;

  n = (size_t)snprintf(text, size, "%s in %s%s%s%s at %s%s, element %" PRId64 " of [",
                       l->found[a].nan ? "NaN" : "an infinite value", node->label ? "'" : "",
                       node->label ? node->label : "", node->label ? "' (" : "", node->op->name,
                       node->where, node->label ? ")" : "", l->found[a].at);
  for (int k = 0; k < d->rank && n < size; k++) {
    n += (size_t)snprintf(text + n, size - n, "%s%" PRId64, k > 0 ? ", " : "", d->shape[k]);
  }
  if (n < size) {
    (void)snprintf(text + n, size - n, "]");
  }
}

/* The first bad input or stored array, of those that a node reads or (-1) of all; -1: none. */
static int32_t bad_source(const look *l, int32_t node)
{
  const weir_node *n = node >= 0 ? weir_graph_node(l->g, node) : NULL;
  const int32_t count = n != NULL ? n->n_in : weir_graph_arrays(l->g);

  for (int32_t k = 0; k < count; k++) {
    const int32_t a = n != NULL ? n->in[k] : k;
    const weir_array *array = weir_graph_get_array(l->g, a);
    const bool source = array->kind == WEIR_ARRAY_INPUT || array->kind == WEIR_ARRAY_STORED;

    if (source && l->found[a].bad) {
      return a;
    }
  }
  return -1;
}

/* How many nodes run before this one; -1: all do. */
static int64_t position_of(const look *l, int32_t node)
{
  int64_t position = 0;

  while (position < l->n_order && l->order[position] != node) {
    position++;
  }
  return position;
}

/* Where it comes from: a node that makes it of numbers; the infinite array that such a node reads;
 * where no node makes it, an array that has it. Not before: missing truth is NaN and harmless. */
static bool find(look *l, char *text, size_t size)
{
  char made[512];
  const int32_t nan = first_bad(l, true);
  const int32_t from = nan >= 0 ? trace_back(l, nan) : first_bad(l, false);
  const int32_t source = bad_source(l, from);

  l->at = 2 * position_of(l, from) + 1;
  if (source >= 0) {
    const weir_array *array = weir_graph_get_array(l->g, source);

    l->at -= 1;
    (void)snprintf(text, size, "the %s '%s' has %g as element %" PRId64,
                   array->kind == WEIR_ARRAY_INPUT ? "input" : "stored array", array->name,
                   l->found[source].value, l->found[source].at);
    return true;
  }
  if (from < 0) {
    return false;
  }
  name_node(l, from, text, size);
  if (nan >= 0 && nan != from) {
    const size_t n = strlen(text);

    name_node(l, nan, made, sizeof made);
    (void)snprintf(text + n, size - n, ", which leads to %s", made);
  }
  return true;
}

static weir_status build_look(look *l, const train_run *r, int64_t n)
{
  WEIR_TRY(train_build(&r->graph, TRAIN_LOOK, n, &l->g));
  show_all(l->g);
  return weir_graph_status(l->g);
}

static weir_status open_look(look *l, train_run *r, int64_t n)
{
  weir_exec_cfg exec;
  weir_plan_opts opts = r->exec;
  void *memory = NULL;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR; /* no compiler is waited for; the bits are the same */
  exec.fusion = false;
  opts.exec = &exec;
  WEIR_TRY(train_create_plan(r, l->g, r->store, n, &opts, &l->plan));
  WEIR_TRY(weir_alloc(weir_graph_arrays(l->g), sizeof(finding), &memory));
  l->found = memory;
  WEIR_TRY(weir_alloc(weir_graph_arrays(l->g), sizeof(int32_t), &memory));
  l->writer = memory;
  WEIR_TRY(weir_alloc(weir_graph_nodes(l->g), sizeof(int32_t), &memory));
  l->order = memory;
  WEIR_TRY(weir_graph_order(l->g, l->order, &l->n_order));
  memset(l->writer, 0xff, (size_t)weir_graph_arrays(l->g) * sizeof(int32_t)); /* -1 */
  for (int32_t i = 0; i < l->n_order; i++) {
    const weir_node *node = weir_graph_node(l->g, l->order[i]);

    for (int o = 0; o < node->n_out; o++) {
      l->writer[node->out[o]] = l->order[i];
    }
  }
  return WEIR_OK;
}

/* *found: on any rank; *mine: here, and on no rank before it. */
static weir_status look_at(look *l, train_run *r, int64_t n, const train_numbers *x, bool *found,
                           bool *mine, char *text, size_t size)
{
  train_bindings b;
  int64_t lo, hi;

  WEIR_TRY(train_agree(r, build_look(l, r, train_counted_samples(r, n))));
  WEIR_TRY(train_agree(r, open_look(l, r, train_counted_samples(r, n))));
  train_own_samples(r, n, &lo, &hi);
  const int count =
      train_bind(r->task, r->graph.size, r->input, r->seed, TRAIN_LOOK, hi - lo, x, &b);

  WEIR_TRY(weir_plan_run(l->plan, b.binding, count));
  WEIR_TRY(train_take_before(r)); /* statistics were updated */
  WEIR_TRY(scan_all(l, r, hi - lo));
  int64_t first = INT64_MAX;

  *mine = find(l, text, size);
  first = *mine ? l->at : first;
  WEIR_TRY(train_min(r, &first));
  *found = first < INT64_MAX;
  *mine = *mine && l->at == first;
  return WEIR_OK;
}

static void close_look(look *l)
{
  weir_plan_destroy(&l->plan);
  weir_graph_destroy(&l->g);
  weir_free(&l->found);
  weir_free(&l->writer);
  weir_free(&l->order);
}

weir_status train_locate_nan(train_run *r)
{
  const int64_t step = *r->state.step + 1, n = train_step_samples(r);
  char text[1024] = "all values are finite, but their sums are not";
  bool found = false, mine = false;

  WEIR_TRY(train_allgather(r)); /* it reads the bank as one array */
  for (int64_t k = 0; k * r->cfg->batch < n && !found; k++) {
    const int64_t at = k * r->cfg->batch;
    const int64_t m = n - at < r->cfg->batch ? n - at : r->cfg->batch;
    const train_numbers x = train_numbers_of(r, k);
    look l = {.g = NULL};

    train_choose(r, *r->state.position + at, m);
    WEIR_TRY(train_fetch(r, WEIR_TRAIN_SAMPLES, m));
    if (train_counted_samples(r, m) == 0) {
      continue;
    }
    const weir_status status = look_at(&l, r, m, &x, &found, &mine, text, sizeof text);

    close_look(&l);
    if (status != WEIR_OK) {
      weir_warn("train", "origin unknown: %s", weir_last_message());
      (void)snprintf(text, sizeof text, "origin unknown");
      break;
    }
  }
  if (found && !mine) {
    return train_agree(r, WEIR_OK); /* fails with the message of the rank that has it */
  }
  return train_agree(r, weir_fail(WEIR_ERR_NUMERIC,
                                  "step %" PRId64 ": loss or gradient is NaN or infinite: %s%s; "
                                  "the latest checkpoint is from an earlier step",
                                  step, text, mine && r->ranks.all != NULL ? " on this rank" : ""));
}
