/* transmission_batch.c - points at once: the graph of one operator (point.h), planned over ranks
 * and threads, run, and its results brought together. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/transmission/transmission_priv.h"

static weir_status build(const transport_job *j, int64_t n, transport_batch *b, weir_value in[2])
{
  WEIR_TRY(weir_graph_create(&b->graph));
  in[0] = weir_input(b->graph, "k", &(weir_array_desc){WEIR_F64, 2, {n, 2}, 0});
  in[1] = weir_input(b->graph, "energy", &(weir_array_desc){WEIR_F64, 1, {n}, 0});
  weir_value v = qt_points(b->graph, in[0], in[1], &j->point);

  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    if (qt_point_count(&j->point, (qt_point_array)i) > 0) {
      weir_output(b->graph, qt_point_name((qt_point_array)i), v);
      v.output++;
    }
  }
  return weir_graph_status(b->graph);
}

void transport_batch_fini(transport_batch *b)
{
  weir_plan_destroy(&b->plan);
  weir_graph_destroy(&b->graph);
  *b = (transport_batch){.n = 0};
}

/* Plans n points at once, sharded over the groups of ranks. Collective. */
weir_status transport_plan(transport_job *j, int64_t n)
{
  transport_batch *b = &j->batch;
  weir_exec_cfg cfg;
  weir_value in[2];

  if (b->n == n) {
    return WEIR_OK;
  }
  transport_batch_fini(b);
  for (int g = 0; g <= j->groups; g++) {
    j->bounds[g] = n * g / j->groups;
  }
  b->n = n;
  b->lo = j->bounds[j->group];
  b->hi = j->bounds[j->group + 1];
  if (j->slabs != NULL || j->qtbm != NULL) {
    return WEIR_OK;
  }
  const weir_status status = build(j, n, b, in);

  WEIR_TRY(j->ranks > 1 ? weir_comm_agree(j->spec->comm, status) : status);
  const weir_shard shards[] = {
      {weir_value_array(b->graph, in[0]), 0, 0, j->bounds, 0, 0, false},
      {weir_value_array(b->graph, in[1]), 0, 0, j->bounds, 0, 0, false},
  };
  const weir_dist dist = {j->spec->comm, {1, {j->ranks}}, shards, 2};

  qt_execution(j->spec->exec, &cfg);
  cfg.tier = WEIR_TIER_VECTOR; /* there is no loop to compile */
  return weir_plan_create(
      b->graph, NULL,
      &(weir_plan_opts){
          .exec = &cfg, .threads = j->threads, .terse = true, .dist = j->ranks > 1 ? &dist : NULL},
      &b->plan);
}

/* Numbers of points [first, first + n) that have come together on rank 0. Returns the first that
 * failed; -1: none. */
static int64_t take_numbers(const transport_job *j, int64_t first, int64_t n, const double *numbers)
{
  qt_transport *out = j->out;
  int64_t failed = -1;

  for (int64_t i = 0; i < n; i++, numbers += QT_POINT_NUMBERS) {
    if (numbers[QT_POINT_STATUS] != 0) {
      failed = failed < 0 ? first + i : failed;
      continue;
    }
    out->transmission[first + i] = numbers[QT_POINT_TRANSMISSION];
    for (int c = 0; c < QT_LEADS; c++) {
      out->n_modes[c][first + i] = (int64_t)numbers[QT_POINT_MODES + c];
    }
    out->residual = fmax(out->residual, numbers[QT_POINT_RESIDUAL]);
    out->n_shifted += numbers[QT_POINT_SHIFTED] != 0;
    out->flops += numbers[QT_POINT_FLOPS];
    out->leads_flops += numbers[QT_POINT_LEADS_FLOPS];
    for (int k = 0; k < QT_PHASES; k++) {
      out->seconds[k] += numbers[QT_POINT_SECONDS + k];
    }
  }
  return failed;
}

weir_status transport_run(const transport_job *j, int64_t first)
{
  const transport_batch *b = &j->batch;
  const int64_t n = b->hi - b->lo;
  weir_binding bindings[2 + QT_POINT_ARRAYS];
  weir_tensor t[2 + QT_POINT_ARRAYS];
  double *slice[QT_POINT_ARRAYS] = {NULL};
  int used = 2;

  for (int64_t i = 0; i < n; i++) {
    const int64_t point = first + b->lo + i;

    memcpy(j->in[0] + 2 * i, j->spec->k[point / j->spec->n_energies], 2 * sizeof(double));
    j->in[1][i] = j->spec->energy[point % j->spec->n_energies];
  }
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    if (qt_point_count(&j->point, (qt_point_array)i) > 0) {
      slice[i] = transport_slice_of(j, i, first);
    }
  }
  if (j->slabs != NULL) {
    transport_run_slabs(j, slice);
    return WEIR_OK;
  }
  if (j->qtbm != NULL) {
    if (qt_qtbm_run(j->qtbm, n, j->in[0], j->in[1], slice) != WEIR_OK) {
      weir_clear_failure(); /* transport_tell_failure learns why */
    }
    return WEIR_OK;
  }
  t[0] = weir_tensor_wrap(j->in[0], WEIR_F64, 2, (const int64_t[]){n, 2});
  t[1] = weir_tensor_wrap(j->in[1], WEIR_F64, 1, &n);
  bindings[0] = (weir_binding){"k", &t[0]};
  bindings[1] = (weir_binding){"energy", &t[1]};
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    const int64_t count = qt_point_count(&j->point, (qt_point_array)i);

    if (count > 0) {
      t[used] = weir_tensor_wrap(slice[i], WEIR_F64, 2, (const int64_t[]){n, count});
      bindings[used] = (weir_binding){qt_point_name((qt_point_array)i), &t[used]};
      used++;
    }
  }
  return weir_plan_run(b->plan, bindings, used);
}

/* Results of all ranks to rank 0; *failed: as take_numbers. Collective. */
weir_status transport_collect(const transport_job *j, int64_t first, int64_t *failed)
{
  const transport_batch *b = &j->batch;
  const bool gives = j->group_comm == NULL || weir_comm_rank(j->group_comm) == 0;
  const int64_t own = gives ? b->hi - b->lo : 0;

  *failed = -1;
  if (j->ranks == 1) {
    *failed = take_numbers(j, first, b->n, j->slice[QT_POINT_NUMBER]);
    return WEIR_OK;
  }
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    const int64_t count = qt_point_count(&j->point, (qt_point_array)i);
    const int64_t bytes = count * (int64_t)sizeof(double);
    void *all = NULL;
    int64_t total = 0;

    if (count == 0) {
      continue;
    }
    WEIR_TRY(weir_comm_gather(j->spec->comm, j->slice[i], own * bytes, &all, &total));
    if (j->rank == 0 && i == QT_POINT_NUMBER) {
      *failed = take_numbers(j, first, b->n, all);
    } else if (j->rank == 0) {
      memcpy(transport_result_of(j->out, i) + first * count, all, (size_t)total);
    }
    weir_free(&all);
  }
  return transport_share_failed(j, failed);
}

/* Why the point failed: it is computed again. Collective over the ranks that share it. */
weir_status transport_tell_failure(const transport_job *j, int64_t point)
{
  const double *k = j->spec->k[point / j->spec->n_energies];
  const double energy = j->spec->energy[point % j->spec->n_energies];
  qt_point_leads leads = {.same = false};
  double *out[QT_POINT_ARRAYS] = {NULL};
  void *scratch = NULL;
  char text[512];
  weir_status status = WEIR_OK;

  if (j->slabs != NULL) {
    WEIR_TRY_GOTO(transport_repeat_in_slabs(j, k, energy), done);
    goto passed;
  }
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    WEIR_TRY_GOTO(
        weir_alloc(qt_point_count(&j->point, (qt_point_array)i), sizeof **out, (void **)&out[i]),
        done);
  }
  if (j->qtbm != NULL) {
    WEIR_TRY_GOTO(qt_qtbm_run(j->qtbm, 1, k, &energy, out), done);
  } else {
    WEIR_TRY_GOTO(weir_alloc(qt_point_scratch(&j->point), 1, &scratch), done);
    WEIR_TRY_GOTO(qt_point_leads_set(j->s, k, &leads), done);
    WEIR_TRY_GOTO(qt_point_solve(&j->point, &leads, energy, scratch, out), done);
  }
passed:
  status = weir_fail(WEIR_ERR_MEMORY, "out of memory on one of %d ranks", j->ranks);
done:
  qt_point_leads_fini(&leads);
  weir_free(&scratch);
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    weir_free(&out[i]);
  }
  (void)snprintf(text, sizeof text, "%s", transport_failure_text(j));
  return weir_fail(status, "k (%g, %g), energy %.12g eV: %s", k[0], k[1], energy, text);
}
