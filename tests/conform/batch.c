/* batch.c - cases as tensors in one graph, so that the engine that compiles does so once. */
#include "batch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "exec/weir_plan.h"
#include "graph/weir_kernel.h"

static bool has_gather(const weir_access *a)
{
  bool found = false;

  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      found = found || a->in[k].index[d].gather > 0;
    }
  }
  return found;
}

/* How one case draws its values. */
typedef struct style {
  bool halves;   /* floats are multiples of 1/2: ties, equal elements */
  bool nan;      /* some floats are NaN                               */
  bool extremes; /* some narrow integers are the ends of their range  */
} style;

static style style_of(const batch_case *k, weir_draw *w)
{
  const weir_access *a = k->access;

  return (style){.halves = weir_draw_one_in(w, 3),
                 .nan = weir_draw_one_in(w, 5) && a->combine != WEIR_COMBINE_SOFTMAX,
                 .extremes = weir_draw_one_in(w, 5) && !has_gather(a)};
}

static double draw_float(const style *s, double lo, double hi, weir_draw *w)
{
  const double x = lo + (hi - lo) * (double)weir_draw_int(w, 0, 1 << 30) * 0x1p-30;

  return s->nan && weir_draw_one_in(w, 7) ? NAN : s->halves ? rint(2 * x) / 2 : x;
}

static void fill(weir_tensor *t, const style *s, double lo, double hi, weir_draw *w)
{
  const int64_t n = weir_tensor_numel(t);
  const int bits = 8 * (int)weir_dtype_size(t->dtype);

  for (int64_t i = 0; i < n; i++) {
    if (weir_dtype_is_complex(t->dtype)) {
      const double re = draw_float(s, lo, hi, w);

      weir_dtype_store_complex(t->dtype, t->data, i, (weir_c128){re, draw_float(s, lo, hi, w)});
    } else if (weir_dtype_is_real(t->dtype)) {
      weir_dtype_store_real(t->dtype, t->data, i, draw_float(s, lo, hi, w));
    } else if (s->extremes && t->dtype != WEIR_BOOL && bits < 64 && weir_draw_one_in(w, 3)) {
      const bool sign = t->dtype != WEIR_U8;
      const double top = ldexp(1, sign ? bits - 1 : bits);

      weir_dtype_store_real(t->dtype, t->data, i,
                            weir_draw_one_in(w, 2) ? top - 1
                            : sign                 ? -top
                                                   : 0);
    } else {
      weir_dtype_store_int(t->dtype, t->data, i,
                           weir_draw_int(w, (int64_t)ceil(lo), (int64_t)floor(hi)));
    }
  }
}

static weir_status marks_of(const weir_tensor *t, uint8_t **out)
{
  void *memory;

  WEIR_TRY(weir_alloc(weir_tensor_numel(t) + 1, 1, &memory));
  *out = memory;
  return WEIR_OK;
}

static weir_status allocate(batch *b, batch_case *k)
{
  const weir_node *node = weir_graph_node(b->g, k->node);
  void *memory;

  k->access = &node->access;
  k->n_out = node->n_out;
  for (int i = 0; i < k->c.n_in; i++) {
    const weir_array_desc *d = &k->c.in[i];

    WEIR_TRY(weir_tensor_init(&k->in[i], d->dtype, d->rank, d->shape));
    WEIR_TRY(marks_of(&k->in[i], &k->in_marks[i]));
  }
  for (int i = 0; i < k->n_out; i++) {
    const weir_array_desc *d = &weir_graph_get_array(b->g, node->out[i])->desc;

    WEIR_TRY(weir_tensor_init(&k->expected[i], d->dtype, d->rank, d->shape));
    for (int t = WEIR_TIER_REFERENCE; t < BATCH_TIERS; t++) {
      WEIR_TRY(weir_tensor_init(&k->got[t][i], d->dtype, d->rank, d->shape));
    }
    WEIR_TRY(marks_of(&k->expected[i], &k->out_marks[i]));
    WEIR_TRY(weir_alloc(weir_tensor_numel(&k->expected[i]) + 1, sizeof(double), &memory));
    k->scale[i] = memory;
  }
  return WEIR_OK;
}

/* What the definition gives: the oracle's word, or where there is no body the operator's own on the
 * whole. */
static weir_status expect(batch *b, batch_case *k)
{
  oracle_run run = {.access = k->access, .in = k->in, .out = k->expected};
  weir_view in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];

  run.box = weir_iterations(k->access);
  memcpy(run.in_marks, k->in_marks, sizeof run.in_marks);
  memcpy(run.out_marks, k->out_marks, sizeof run.out_marks);
  memcpy(run.scale, k->scale, sizeof run.scale);
  if (k->access->maker == WEIR_MADE_BY_BODY) {
    oracle_evaluate(&run);
    return WEIR_OK;
  }
  oracle_mark(&run);
  for (int i = 0; i < k->c.n_in; i++) {
    in[i] = weir_view_of(&k->in[i]);
  }
  for (int i = 0; i < k->n_out; i++) {
    out[i] = weir_view_of(&k->expected[i]);
  }
  WEIR_TRY(oracle_call(weir_graph_node(b->g, k->node), in, out));
  return WEIR_OK;
}

static void name_of(char *text, size_t size, int number, const char *what, int which)
{
  snprintf(text, size, "%d.%s%d", number, what, which);
}

static weir_status make_case(batch *b, batch_case *k, int number)
{
  weir_value in[WEIR_MAX_OPERANDS];
  weir_draw w = {.seed = k->seed ^ 0x5eed};
  char name[32];

  weir_op_draw(k->op, k->seed, &k->c);
  for (int i = 0; i < k->c.n_in; i++) {
    name_of(name, sizeof name, number, "in", i);
    in[i] = weir_input(b->g, name, &k->c.in[i]);
  }
  const weir_value v =
      weir_graph_add(b->g, k->op, k->c.spec.bytes, in, k->c.n_in, "conformance case");

  WEIR_TRY(weir_graph_status(b->g));
  k->node = v.node;
  WEIR_TRY(allocate(b, k));
  for (int i = 0; i < k->n_out; i++) {
    name_of(name, sizeof name, number, "out", i);
    weir_output(b->g, name, (weir_value){v.node, i});
  }
  const style s = style_of(k, &w);

  for (int i = 0; i < k->c.n_in; i++) {
    fill(&k->in[i], &s, k->c.lo[i], k->c.hi[i], &w);
  }
  WEIR_TRY(expect(b, k));
  return WEIR_OK;
}

void batch_draw(batch_case *k, uint64_t seed)
{
  weir_draw w = {.seed = seed};
  const style s = {.halves = false};

  for (int i = 0; i < k->c.n_in; i++) {
    fill(&k->in[i], &s, k->c.lo[i], k->c.hi[i], &w);
  }
}

weir_status batch_make(const weir_op_desc *op, uint64_t seed, int n, batch *b)
{
  void *memory;

  *b = (batch){.n = n};
  WEIR_TRY(weir_alloc(n, sizeof *b->cases, &memory));
  b->cases = memory;
  WEIR_TRY(weir_graph_create(&b->g));
  for (int i = 0; i < n; i++) {
    b->cases[i].op = op;
    b->cases[i].seed = seed + (uint64_t)i;
    WEIR_TRY(make_case(b, &b->cases[i], i));
  }
  WEIR_TRY(weir_graph_validate(b->g));
  return WEIR_OK;
}

void batch_fini(batch *b)
{
  for (int i = 0; i < b->n && b->cases != NULL; i++) {
    batch_case *k = &b->cases[i];

    for (int j = 0; j < WEIR_MAX_OPERANDS; j++) {
      weir_tensor_fini(&k->in[j]);
      weir_free(&k->in_marks[j]);
    }
    for (int j = 0; j < WEIR_MAX_OUTPUTS; j++) {
      weir_tensor_fini(&k->expected[j]);
      for (int t = WEIR_TIER_REFERENCE; t < BATCH_TIERS; t++) {
        weir_tensor_fini(&k->got[t][j]);
      }
      weir_free(&k->out_marks[j]);
      weir_free(&k->scale[j]);
    }
  }
  weir_free(&b->cases);
  weir_graph_destroy(&b->g);
}

weir_dtype batch_dtype(const batch_case *k)
{
  return k->access->n_in > 0 ? k->access->in[0].dtype : k->access->out[0].dtype;
}

/* A number is NaN where a part of it is. */
static bool is_nan(weir_c128 x)
{
  return isnan(x.re) || isnan(x.im);
}

static double difference(weir_dtype dtype, const weir_tensor *a, const weir_tensor *e, int64_t i)
{
  if (weir_dtype_is_whole(dtype)) {
    const bool same =
        weir_dtype_load_int(dtype, a->data, i) == weir_dtype_load_int(dtype, e->data, i);

    return same ? 0 : INFINITY;
  }
  const weir_c128 x = weir_dtype_load_complex(dtype, a->data, i);
  const weir_c128 y = weir_dtype_load_complex(dtype, e->data, i);

  if (is_nan(x) || is_nan(y)) {
    return is_nan(x) && is_nan(y) ? 0 : INFINITY;
  }
  const double gap = hypot(x.re - y.re, x.im - y.im);

  return x.re == y.re && x.im == y.im ? 0 : isfinite(gap) ? gap : INFINITY;
}

static const char *tier_name(int tier)
{
  return tier == BATCH_KERNELS ? "kernels" : weir_tier_name((weir_tier)tier);
}

/* By how much the outputs of an engine miss what they should be, where the operator says that. */
static int64_t wrong_by_error(const batch_case *k, int tier)
{
  const double enough = 20; /* LAPACK judges eigenvalues by twice that (TESTING/nep.in) */
  weir_view in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];

  for (int i = 0; i < k->c.n_in; i++) {
    in[i] = weir_view_of(&k->in[i]);
  }
  for (int o = 0; o < k->n_out; o++) {
    out[o] = weir_view_of(&k->got[tier][o]);
  }
  const double error = k->op->error(&(weir_op_run){.spec = k->c.spec.bytes,
                                                   .access = k->access,
                                                   .box = weir_iterations(k->access),
                                                   .n_in = k->c.n_in,
                                                   .n_out = k->n_out,
                                                   .in = in,
                                                   .out = out});

  if (!(error <= enough)) {
    fprintf(stderr, "FAIL %s seed %" PRIu64 " %s %s: error %g, at most %g is right\n", k->op->name,
            k->seed, tier_name(tier), weir_dtype_name(k->access->in[0].dtype), error, enough);
  }
  return !(error <= enough);
}

int64_t batch_wrong(const batch_case *k, int tier)
{
  int64_t wrong = 0;

  if (k->op->error != NULL) {
    return wrong_by_error(k, tier);
  }

  for (int o = 0; o < k->n_out; o++) {
    const weir_tensor *a = &k->got[tier][o], *e = &k->expected[o];
    const weir_tolerance t = weir_tolerance_of(e->dtype);
    const int64_t n = weir_tensor_numel(e);

    for (int64_t i = 0; i < n; i++) {
      const weir_c128 y = weir_dtype_load_complex(e->dtype, e->data, i);
      const double norm = hypot(y.re, y.im);
      const double size = fmax(fmax(1, isfinite(norm) ? norm : 1), k->scale[o][i]);
      const double d = difference(e->dtype, a, e, i);
      const bool bad = k->c.exact ? d != 0 : !(d <= t.fail * size);

      if (bad || d > t.warn * size) {
        char got[72], wanted[72];

        fprintf(stderr, "%s %s seed %" PRIu64 " %s output %d [%" PRId64 "] %s: %s, expected %s\n",
                bad ? "FAIL" : "warn", k->op->name, k->seed, tier_name(tier), o, i,
                weir_dtype_name(e->dtype), weir_element_text(a->dtype, a->data, i, got),
                weir_element_text(e->dtype, e->data, i, wanted));
      }
      if (bad) {
        wrong++;
        break;
      }
    }
  }
  return wrong;
}

int64_t batch_differ(const batch_case *k, int tier, int other)
{
  int64_t differ = 0;

  for (int o = 0; o < k->n_out; o++) {
    const weir_tensor *a = &k->got[tier][o], *b = &k->got[other][o];
    const size_t size = weir_dtype_size(a->dtype);
    const int64_t n = weir_tensor_numel(a);

    for (int64_t i = 0; i < n; i++) {
      const char *x = (const char *)a->data + (size_t)i * size;
      const char *y = (const char *)b->data + (size_t)i * size;
      const weir_c128 one = weir_dtype_load_complex(a->dtype, a->data, i);
      const weir_c128 two = weir_dtype_load_complex(b->dtype, b->data, i);
      const bool both_nan = is_nan(one) && is_nan(two);

      if (memcmp(x, y, size) != 0 && !both_nan) {
        char first[72], second[72];

        fprintf(stderr, "FAIL %s seed %" PRIu64 " output %d [%" PRId64 "]: %s %s, %s %s\n",
                k->op->name, k->seed, o, i, tier_name(tier),
                weir_element_text(a->dtype, a->data, i, first), tier_name(other),
                weir_element_text(b->dtype, b->data, i, second));
        differ++;
        break;
      }
    }
  }
  return differ;
}

/* Binds every input and result of the batch. */
static int bind(batch *b, int tier, weir_binding *bindings, char (*names)[32])
{
  int n = 0;

  for (int i = 0; i < b->n; i++) {
    batch_case *k = &b->cases[i];

    for (int j = 0; j < k->c.n_in; j++, n++) {
      name_of(names[n], sizeof names[n], i, "in", j);
      bindings[n] = (weir_binding){names[n], &k->in[j]};
    }
    for (int j = 0; j < k->n_out; j++, n++) {
      name_of(names[n], sizeof names[n], i, "out", j);
      bindings[n] = (weir_binding){names[n], &k->got[tier][j]};
    }
  }
  return n;
}

weir_status batch_run(batch *b, int tier, const char *cache)
{
  const size_t most = (size_t)b->n * (WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS);
  weir_binding *bindings = calloc(most, sizeof *bindings);
  char(*names)[32] = calloc(most, sizeof *names);
  weir_exec_cfg cfg;
  weir_store *store = NULL;
  weir_plan *plan = NULL;
  weir_status status;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = tier == BATCH_KERNELS ? WEIR_TIER_REFERENCE : tier;
  cfg.kernel = tier == BATCH_KERNELS ? "auto" : "none";
  cfg.cache_dir = cache;
  WEIR_ASSERT(bindings != NULL && names != NULL);
  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_plan_create(b->g, store, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &plan),
                done);
  WEIR_TRY_GOTO(weir_plan_run(plan, bindings, bind(b, tier, bindings, names)), done);
  for (int32_t i = 0; i < weir_plan_groups(plan); i++) {
    for (int j = 0; weir_kernel_table[j] != NULL; j++) {
      b->claimed += strcmp(weir_plan_group(plan, i).kernel, weir_kernel_table[j]->name) == 0;
    }
  }
done:
  weir_plan_destroy(&plan);
  weir_store_destroy(&store);
  free(bindings);
  free(names);
  return status;
}
