/* distributed_check.h - a graph on all ranks together against the same graph on each rank alone:
 * every result and every stored array, box by box. Tests only. */
#ifndef DISTRIBUTED_CHECK_H
#define DISTRIBUTED_CHECK_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support/graph/store_check.h"
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "graph/weir_store.h"
#include "pass/weir_pass.h"

enum { DIST_NAMES = 64, DIST_CUTS = 24, DIST_BOUNDS = 8 };

/* What is compared. build makes g and fills the store, the same on every rank. */
typedef struct dist_case {
  const char *name;
  weir_dtype dtype;
  double within;             /* of the largest element of an array */
  int shrink;                /* the case's own use */
  const weir_exec_cfg *exec; /* of the plan over ranks, NULL: defaults */
  void (*build)(struct dist_case *c);
  weir_graph *g;
  weir_store *store;
  weir_shard cuts[DIST_CUTS];
  int64_t bounds[DIST_CUTS][DIST_BOUNDS];
  int n_cuts;
  weir_grid grid;
} dist_case;

static weir_comm *dist_comm;

/* Cuts dimension dim of v along a dimension of the grid: evenly, or (uneven) as the number says. */
static inline void dist_cut(dist_case *c, weir_value v, int dim, int along, uint64_t uneven)
{
  const int n = c->grid.extent[along];
  const int64_t extent = weir_value_desc(c->g, v)->shape[dim];
  int64_t *at = c->bounds[c->n_cuts];

  at[0] = 0;
  at[n] = extent;
  for (int q = 1; q < n; q++) {
    const uint64_t bits = weir_random_bits(uneven, (uint32_t)along, (uint32_t)q, 0);

    at[q] = uneven == 0 ? extent * q / n
                        : at[q - 1] + (int64_t)(bits % (uint64_t)(extent - at[q - 1] + 1));
  }
  c->cuts[c->n_cuts] = (weir_shard){weir_value_array(c->g, v), dim, along, at, 0, 0, false};
  c->n_cuts++;
}

/* Elements by their index in the complete array: numbers of [-1, 1), small integers for integers.
 */
static inline void dist_fill(const char *name, weir_tensor *t)
{
  uint32_t key = 7;

  for (const char *at = name; *at != 0; at++) {
    key = key * 31 + (uint8_t)*at;
  }
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    const double u = weir_random_uniform(11, key, 0, (uint64_t)i);

    weir_dtype_store_real(t->dtype, t->data, i,
                          weir_dtype_is_real(t->dtype) ? 2 * u - 1 : floor(19 * u) - 9);
  }
}

/* The elements of a box of a whole array. */
static inline weir_tensor dist_shard(const weir_tensor *whole, const weir_box *box)
{
  weir_tensor shard;
  int64_t shape[WEIR_MAX_RANK], at[WEIR_MAX_RANK];
  const size_t size = weir_dtype_size(whole->dtype);

  for (int d = 0; d < box->rank; d++) {
    shape[d] = box->hi[d] - box->lo[d];
  }
  assert_ok(weir_tensor_init(&shard, whole->dtype, whole->rank, shape));
  for (int64_t i = 0; i < weir_tensor_numel(&shard); i++) {
    int64_t left = i, from = 0;

    for (int d = box->rank - 1; d >= 0; d--) {
      at[d] = box->lo[d] + left % shape[d];
      left /= shape[d];
    }
    for (int d = 0; d < box->rank; d++) {
      from = from * whole->shape[d] + at[d];
    }
    memcpy((char *)shard.data + (size_t)i * size, (const char *)whole->data + (size_t)from * size,
           size);
  }
  return shard;
}

/* What a run left: tensors by name. */
typedef struct dist_outcome {
  int n;
  const char *name[DIST_NAMES];
  weir_tensor tensor[DIST_NAMES];
  weir_box box[DIST_NAMES];
} dist_outcome;

static inline void dist_keep(dist_outcome *o, const weir_plan *p, const char *name,
                             const weir_view *v)
{
  const weir_box box = weir_plan_owned(p, name);
  int64_t shape[WEIR_MAX_RANK];

  assert_true(o->n < DIST_NAMES && box.rank == v->rank);
  for (int d = 0; d < box.rank; d++) {
    shape[d] = box.hi[d] - box.lo[d];
    assert_int_equal(shape[d], v->extent[d]);
  }
  weir_tensor *t = &o->tensor[o->n];

  assert_ok(weir_tensor_init(t, v->dtype, v->rank, shape));
  if (weir_tensor_numel(t) > 0) {
    memcpy(t->data, v->data, (size_t)weir_tensor_numel(t) * weir_dtype_size(v->dtype));
  }
  o->name[o->n] = name;
  o->box[o->n++] = box;
}

static inline void dist_free(dist_outcome *o)
{
  for (int i = 0; i < o->n; i++) {
    weir_tensor_fini(&o->tensor[i]);
  }
  o->n = 0;
}

/* A store with this rank's boxes of what the case's own holds. */
static inline weir_store *dist_store(const dist_case *c)
{
  weir_partition *p;
  weir_store *own;

  assert_ok(weir_partition_create(c->g, &c->grid, c->cuts, c->n_cuts, &p));
  assert_ok(weir_store_create(&own));
  for (int32_t a = 0; a < weir_graph_arrays(c->g); a++) {
    const weir_array *array = weir_graph_get_array(c->g, a);

    if (array->kind == WEIR_ARRAY_STORED) {
      const weir_box box = weir_partition_owned(p, a, weir_comm_rank(dist_comm));
      weir_tensor shard = dist_shard(check_stored(c->store, array->name), &box);

      assert_ok(weir_store_add(own, array->name, shard.dtype, shard.rank, shard.shape));
      assert_ok(weir_tensor_copy(&shard, check_stored(own, array->name)));
      weir_tensor_fini(&shard);
    }
  }
  weir_partition_destroy(&p);
  return own;
}

/* This rank's shards of the inputs; returns how many. */
static inline int dist_bind(const dist_case *c, const weir_plan *p, weir_tensor shard[DIST_NAMES],
                            weir_binding binding[DIST_NAMES])
{
  int n = 0;

  for (int32_t a = 0; a < weir_graph_arrays(c->g); a++) {
    const weir_array *array = weir_graph_get_array(c->g, a);
    weir_tensor whole;

    if (array->kind == WEIR_ARRAY_INPUT) {
      const weir_box box = weir_plan_owned(p, array->name);

      assert_ok(weir_tensor_init(&whole, array->desc.dtype, array->desc.rank, array->desc.shape));
      dist_fill(array->name, &whole);
      shard[n] = dist_shard(&whole, &box);
      weir_tensor_fini(&whole);
      binding[n] = (weir_binding){array->name, &shard[n]};
      n++;
    }
  }
  return n;
}

/* Sets NaN wherever a plan computes, and its store as it was. */
static inline void dist_poison(const dist_case *c, weir_plan *p, weir_store *own)
{
  weir_tensor shard[DIST_NAMES];
  weir_binding binding[DIST_NAMES];
  const int n = dist_bind(c, p, shard, binding);
  weir_store *kept = dist_store(c);

  for (int k = 0; k < n; k++) {
    for (int64_t i = 0; i < weir_tensor_numel(&shard[k]); i++) {
      weir_dtype_store_real(shard[k].dtype, shard[k].data, i,
                            weir_dtype_is_real(shard[k].dtype) ? NAN : 77);
    }
  }
  assert_ok(weir_plan_run(p, binding, n));
  for (int64_t i = 0; i < weir_store_count(own); i++) {
    const char *name = weir_store_name(own, i);

    assert_ok(weir_tensor_copy(check_stored(kept, name), check_stored(own, name)));
  }
  for (int k = 0; k < n; k++) {
    weir_tensor_fini(&shard[k]);
  }
  weir_store_destroy(&kept);
}

/* Runs the plan on this rank's shards of the inputs and keeps results and stored arrays. */
static inline void dist_run(const dist_case *c, weir_plan *p, const weir_store *store,
                            dist_outcome *out)
{
  weir_tensor shard[DIST_NAMES];
  weir_binding binding[DIST_NAMES];
  const int n = dist_bind(c, p, shard, binding);
  const weir_comm_count before = weir_comm_counted(dist_comm, WEIR_COMM_EXCHANGE);
  int64_t bytes = 0;

  assert_ok(weir_plan_run(p, binding, n));
  const weir_comm_count after = weir_comm_counted(dist_comm, WEIR_COMM_EXCHANGE);

  for (int32_t m = 0; m < weir_plan_moves(p); m++) {
    const weir_comm_op_report r = weir_plan_move(p, m);

    bytes += r.merge ? 0 : r.bytes;
    assert_true(r.runs >= 1 && r.waited_s >= 0); /* more where passes were verified */
  }
  assert_int_equal(after.sent_bytes - before.sent_bytes, bytes);
  for (int32_t a = 0; a < weir_graph_arrays(c->g); a++) {
    const weir_array *array = weir_graph_get_array(c->g, a);
    weir_view v;
    int64_t lo, hi;

    if (array->output != NULL) {
      assert_ok(weir_plan_result(p, array->output, &v, &lo, &hi));
      dist_keep(out, p, array->output, &v);
    }
    if (array->kind == WEIR_ARRAY_STORED) {
      v = weir_view_of(check_stored(store, array->name));
      dist_keep(out, p, array->name, &v);
    }
  }
  for (int k = 0; k < n; k++) {
    weir_tensor_fini(&shard[k]);
  }
}

static inline double dist_largest(const weir_tensor *t)
{
  double most = 0;

  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    most = fmax(most, fabs(weir_dtype_load_real(t->dtype, t->data, i)));
  }
  return most;
}

/* The boxes of `got` against the same elements of `whole`. */
static inline void dist_compare(const dist_case *c, const dist_outcome *got,
                                const dist_outcome *whole)
{
  assert_int_equal(got->n, whole->n);
  for (int k = 0; k < got->n; k++) {
    weir_tensor expected = dist_shard(&whole->tensor[k], &got->box[k]);
    const double scale = dist_largest(&whole->tensor[k]);
    double worst = 0;

    for (int64_t i = 0; i < weir_tensor_numel(&expected); i++) {
      const double x = weir_dtype_load_real(expected.dtype, got->tensor[k].data, i);
      const double off = fabs(x - weir_dtype_load_real(expected.dtype, expected.data, i));

      worst = off <= worst ? worst : off; /* and NaN */
    }
    if (!(worst <= c->within * scale)) {
      print_error("%s, rank %d: '%s' is %g away, its largest element is %g\n", c->name,
                  weir_comm_rank(dist_comm), got->name[k], worst, scale);
    }
    assert_true(worst <= c->within * scale);
    weir_tensor_fini(&expected);
  }
}

/* To the bit. */
static inline void dist_same(const dist_outcome *a, const dist_outcome *b)
{
  assert_int_equal(a->n, b->n);
  for (int k = 0; k < a->n; k++) {
    const int64_t count = weir_tensor_numel(&a->tensor[k]);

    if (count > 0) {
      assert_memory_equal(a->tensor[k].data, b->tensor[k].data,
                          (size_t)count * weir_dtype_size(a->tensor[k].dtype));
    }
  }
}

/* What is whole on all ranks has the same bits there. */
static inline void dist_agree(const dist_outcome *o, const dist_outcome *whole)
{
  for (int k = 0; k < o->n; k++) {
    const int64_t count = weir_tensor_numel(&o->tensor[k]);
    const int64_t bytes = count * (int64_t)weir_dtype_size(o->tensor[k].dtype);
    const bool mine = count == weir_tensor_numel(&whole->tensor[k]);
    char *all = NULL, flag = (char)mine, *flags = NULL;
    int64_t total = 0;

    assert_ok(weir_comm_gather(dist_comm, &flag, 1, (void **)&flags, &total));
    assert_ok(
        weir_comm_gather(dist_comm, o->tensor[k].data, mine ? bytes : 0, (void **)&all, &total));
    for (int r = 1; r < weir_comm_size(dist_comm) && flags != NULL; r++) {
      const int64_t at = total / weir_comm_size(dist_comm) * r;

      assert_true(memchr(flags, 0, (size_t)weir_comm_size(dist_comm)) != NULL || bytes == 0 ||
                  memcmp(all, all + at, (size_t)bytes) == 0);
    }
    weir_free(&all);
    weir_free(&flags);
  }
}

/* Alone, then on all ranks, twice over: within the tolerance, and the same bits again, of memory in
 * which an earlier run left no numbers; for some, as plans take long to make, once more with
 * interiors ahead of halos wherever that can be. */
static inline void dist_check(dist_case *c)
{
  dist_outcome whole = {.n = 0}, first = {.n = 0}, again = {.n = 0}, ahead = {.n = 0};
  dist_outcome *const turns[] = {&first, &again, &ahead};
  const int turned = c->shrink % 4 < 2 ? 3 : 2;
  weir_exec_cfg exec;
  weir_plan *p;

  c->n_cuts = 0;
  assert_ok(weir_graph_create(&c->g));
  assert_ok(weir_store_create(&c->store));
  c->build(c);
  const weir_dist dist = {dist_comm, c->grid, c->cuts, c->n_cuts};
  weir_plan_opts opts = {.exec = c->exec, .threads = 1, .terse = true, .dist = &dist};

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec = c->exec != NULL ? *c->exec : exec;
  opts.exec = &exec;
  for (int mode = 0; mode < turned; mode++) {
    weir_store *own = dist_store(c);

    exec.overlap = mode < 2 ? exec.overlap : WEIR_OVERLAP_ON;
    exec.verify = mode == 1 || c->exec == NULL ? 0 : c->exec->verify; /* of 1: the plan of 0 */
    assert_ok(weir_plan_create(c->g, own, &opts, &p));
    if (mode == 1) {
      dist_poison(c, p, own);
    }
    dist_run(c, p, own, turns[mode]);
    weir_plan_destroy(&p);
    weir_store_destroy(&own);
  }
  opts.dist = NULL;
  opts.exec = NULL;
  assert_ok(weir_plan_create(c->g, c->store, &opts, &p));
  dist_run(c, p, c->store, &whole);
  weir_plan_destroy(&p);
  dist_compare(c, &first, &whole);
  if (turned > 2) {
    dist_compare(c, &ahead, &whole);
    dist_agree(&ahead, &whole);
  }
  dist_same(&first, &again);
  dist_agree(&first, &whole);
  dist_free(&whole);
  dist_free(&first);
  dist_free(&again);
  dist_free(&ahead);
  weir_graph_destroy(&c->g);
  weir_store_destroy(&c->store);
}
#endif
