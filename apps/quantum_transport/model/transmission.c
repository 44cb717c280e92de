/* transmission.c - see transmission.h: all points by the graph of one operator (point.h), so many
 * at once as threads and memory allow. */
#include "model/transmission.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "comm/weir_request.h"
#include "device/weir_parallel.h"
#include "exec/weir_plan.h"

/* Points at once, as they are planned and run. */
typedef struct batch {
  int64_t n; /* 0: none planned */
  weir_graph *graph;
  weir_plan *plan;
  int64_t lo, hi;    /* of them, on this rank */
  int64_t bounds[2]; /* cut of one rank alone */
} batch;

typedef struct job {
  const qt_system *s;
  const qt_transport_spec *spec;
  qt_transport *out;
  qt_layout layout;
  qt_point_spec point;
  int rank, ranks, threads;
  int64_t points, at_once;
  int64_t *bounds;               /* [ranks + 1] of the batch */
  double *in[2];                 /* k and energy of this rank's points at once               */
  double *part[QT_POINT_ARRAYS]; /* their results, where they are not in `out`   */
  batch batch;
} job;

/* ---- Sizes ---- */

static void set_point(const qt_system *s, const qt_transport_spec *spec, const qt_layout *l,
                      const qt_sparse *bonds, qt_point_spec *out)
{
  *out = (qt_point_spec){.system = s,
                         .layout = l,
                         .lead = &spec->lead,
                         .bonds = spec->bond_currents ? bonds : NULL,
                         .shift = spec->shift,
                         .dos = spec->dos || spec->lead_dos,
                         .lead_dos = spec->lead_dos};
}

static weir_status count_points(const qt_system *s, const qt_transport_spec *spec, int64_t *points,
                                int *threads)
{
  const int allowed = spec->threads > 0 ? spec->threads : weir_threads_get();
  int64_t values;

  if (!weir_mul_ok(spec->n_k, spec->n_energies, points) || !weir_mul_ok(*points, s->n, &values)) {
    return weir_fail(WEIR_ERR_MEMORY, "%lld wave vectors, %lld energies, %lld orbitals: too many",
                     (long long)spec->n_k, (long long)spec->n_energies, (long long)s->n);
  }
  *threads = *points < allowed ? (int)*points : allowed;
  return WEIR_OK;
}

/* Points of a thread between two looks at signals and at the clock: at least LEAST, of short ones
 * as many as have so many flops, some hundredths of a second. */
enum { LEAST = 4, MOST = 256 };
static const double batch_flops = 1e8;

static int64_t points_of_thread(const qt_point_spec *p)
{
  const double n = batch_flops / fmax(qt_point_flops(p), 1);

  return n < LEAST ? LEAST : n > MOST ? MOST : (int64_t)n;
}

/* What a plan takes beside arrays and scratch, about. */
static const double plan_bytes = 1 << 16;

/* Bytes of the arrays of a point; *most: of the largest. */
static double arrays_of_point(const job *j, double *most)
{
  double sum = 0;

  *most = 0;
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    const double bytes = sizeof(double) * (double)qt_point_count(&j->point, (qt_point_array)i);

    sum += bytes;
    *most = fmax(*most, bytes);
  }
  return sum;
}

/* Of the results, which rank 0 has; of the bonds, which all have. */
static double kept_bytes(const job *j)
{
  const int64_t n_bonds = qt_sparse_count(&j->out->bonds);
  double most;
  const double point = arrays_of_point(j, &most) - QT_POINT_NUMBERS * sizeof(double) +
                       sizeof(double) + QT_LEADS * sizeof(int64_t); /* of the numbers T and modes */
  const double bonds = n_bonds > 0 ? (double)(j->s->n + 1) * sizeof(int64_t) +
                                         (double)n_bonds * (sizeof(int64_t) + sizeof(weir_c128))
                                   : 0;

  return bonds + (j->rank == 0 ? (double)j->points * point : 0);
}

/* Points at once on all ranks, where each has so many. */
static int64_t points_of_ranks(const job *j, int64_t of_rank)
{
  return of_rank < j->points / j->ranks ? of_rank * j->ranks : j->points;
}

/* Most that this rank holds, computing so many points at once. */
static double peak_bytes(const job *j, int threads, int64_t of_rank)
{
  const double all = (double)points_of_ranks(j, of_rank), share = ceil(all / j->ranks);
  double most;
  const double point = arrays_of_point(j, &most);
  const double room = j->ranks > 1 ? point : QT_POINT_NUMBERS * sizeof(double);
  const double thread = (double)qt_point_scratch(&j->point) + point + qt_point_bytes(&j->point);

  return kept_bytes(j) + share * (3 * sizeof(double) + point + room) +
         (j->ranks > 1 && j->rank == 0 ? all * most : 0) + threads * thread + plan_bytes;
}

/* As many threads and points at once as memory allows: threads first. */
static weir_status fit_memory(job *j)
{
  const int64_t usual = points_of_thread(&j->point);
  const int most = j->threads;
  const double limit = j->spec->memory, mib = 1 << 20;

  for (j->threads = most; j->threads > 0; j->threads--) {
    for (int64_t n = usual; n > 0; n /= 2) {
      j->at_once = n * j->threads;
      if (limit <= 0 || peak_bytes(j, j->threads, j->at_once) <= limit) {
        return WEIR_OK;
      }
    }
  }
  j->threads = 1;
  return weir_fail(WEIR_ERR_CONFIG,
                   "memory.budget: %.4g MiB more are needed to compute one point at a time, of "
                   "which results take %.4g MiB in all: give that, or fewer energies or wave "
                   "vectors, or switch output.dos or output.bond_currents off",
                   (peak_bytes(j, 1, 1) - limit) / mib, kept_bytes(j) / mib);
}

/* ---- Results ---- */

static double *result_of(const qt_transport *t, int which)
{
  switch (which) {
  case QT_POINT_NUMBER:
    return NULL;
  case QT_POINT_DOS:
    return t->dos;
  case QT_POINT_DOS_LEFT:
  case QT_POINT_DOS_RIGHT:
    return t->lead_dos[which - QT_POINT_DOS_LEFT];
  default:
    return t->bond_current[which - QT_POINT_BOND_LEFT];
  }
}

/* Of all points, on rank 0. */
static weir_status make_results(const job *j, qt_transport *out)
{
  const int64_t points = j->rank == 0 ? j->points : 0;
  double **const array[] = {&out->dos, &out->lead_dos[QT_LEFT], &out->lead_dos[QT_RIGHT],
                            &out->bond_current[QT_LEFT], &out->bond_current[QT_RIGHT]};

  out->n_k = j->spec->n_k;
  out->n_energies = j->spec->n_energies;
  out->n = j->s->n;
  WEIR_TRY(weir_alloc(points, sizeof(double), (void **)&out->transmission));
  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY(weir_alloc(points, sizeof(int64_t), (void **)&out->n_modes[c]));
  }
  for (int i = QT_POINT_DOS; i < QT_POINT_ARRAYS; i++) {
    WEIR_TRY(weir_alloc(points * qt_point_count(&j->point, (qt_point_array)i), sizeof(double),
                        (void **)array[i - QT_POINT_DOS]));
  }
  return WEIR_OK;
}

/* Numbers of points [first, first + n) that have come together on rank 0. Returns the first that
 * failed; -1: none. */
static int64_t take_numbers(const job *j, int64_t first, int64_t n, const double *numbers)
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
    for (int k = 0; k < QT_PHASES; k++) {
      out->seconds[k] += numbers[QT_POINT_SECONDS + k];
    }
  }
  return failed;
}

/* ---- The graph ---- */

static weir_status build(const job *j, int64_t n, batch *b, weir_value in[2])
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

static void fini_batch(batch *b)
{
  weir_plan_destroy(&b->plan);
  weir_graph_destroy(&b->graph);
  *b = (batch){.n = 0};
}

/* Plans n points at once, cut over the ranks. Collective. */
static weir_status plan_batch(job *j, int64_t n)
{
  batch *b = &j->batch;
  weir_exec_cfg cfg;
  weir_value in[2];

  if (b->n == n) {
    return WEIR_OK;
  }
  fini_batch(b);
  WEIR_TRY(build(j, n, b, in));
  for (int r = 0; r <= j->ranks; r++) {
    j->bounds[r] = n * r / j->ranks;
  }
  const weir_cut cuts[] = {
      {weir_value_array(b->graph, in[0]), 0, 0, j->bounds, 0, 0},
      {weir_value_array(b->graph, in[1]), 0, 0, j->bounds, 0, 0},
  };
  const weir_spread spread = {j->spec->comm, {1, {j->ranks}}, cuts, 2};

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR; /* there is no loop to compile */
  WEIR_TRY(weir_plan_create(b->graph, NULL,
                            &(weir_plan_opts){.exec = &cfg,
                                              .threads = j->threads,
                                              .terse = true,
                                              .spread = j->ranks > 1 ? &spread : NULL},
                            &b->plan));
  b->n = n;
  b->lo = j->bounds[j->rank];
  b->hi = j->bounds[j->rank + 1];
  return WEIR_OK;
}

/* ---- A batch ---- */

/* Where this rank's results of a batch go: on a rank alone where they stay. */
static double *part_of(const job *j, int which, int64_t first)
{
  return j->part[which] != NULL
             ? j->part[which]
             : result_of(j->out, which) + first * qt_point_count(&j->point, (qt_point_array)which);
}

static weir_status run_batch(const job *j, int64_t first)
{
  const batch *b = &j->batch;
  const int64_t n = b->hi - b->lo;
  weir_binding bindings[2 + QT_POINT_ARRAYS];
  weir_tensor t[2 + QT_POINT_ARRAYS];
  int used = 2;

  for (int64_t i = 0; i < n; i++) {
    const int64_t point = first + b->lo + i;

    memcpy(j->in[0] + 2 * i, j->spec->k[point / j->spec->n_energies], 2 * sizeof(double));
    j->in[1][i] = j->spec->energy[point % j->spec->n_energies];
  }
  t[0] = weir_tensor_wrap(j->in[0], WEIR_F64, 2, (const int64_t[]){n, 2});
  t[1] = weir_tensor_wrap(j->in[1], WEIR_F64, 1, &n);
  bindings[0] = (weir_binding){"k", &t[0]};
  bindings[1] = (weir_binding){"energy", &t[1]};
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    const int64_t count = qt_point_count(&j->point, (qt_point_array)i);

    if (count > 0) {
      t[used] = weir_tensor_wrap(part_of(j, i, first), WEIR_F64, 2, (const int64_t[]){n, count});
      bindings[used] = (weir_binding){qt_point_name((qt_point_array)i), &t[used]};
      used++;
    }
  }
  return weir_plan_run(b->plan, bindings, used);
}

/* Results of all ranks to rank 0; *failed: as take_numbers. Collective. */
static weir_status collect(const job *j, int64_t first, int64_t *failed)
{
  const batch *b = &j->batch;

  *failed = -1;
  if (j->ranks == 1) {
    *failed = take_numbers(j, first, b->n, j->part[QT_POINT_NUMBER]);
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
    WEIR_TRY(weir_comm_gather(j->spec->comm, j->part[i], (b->hi - b->lo) * bytes, &all, &total));
    if (j->rank == 0 && i == QT_POINT_NUMBER) {
      *failed = take_numbers(j, first, b->n, all);
    } else if (j->rank == 0) {
      memcpy(result_of(j->out, i) + first * count, all, (size_t)total);
    }
    weir_free(&all);
  }
  return WEIR_OK;
}

/* Why the point failed: it is computed again. */
static weir_status tell_failure(const job *j, int64_t point)
{
  const double *k = j->spec->k[point / j->spec->n_energies];
  const double energy = j->spec->energy[point % j->spec->n_energies];
  qt_point_leads leads = {.same = false};
  double *out[QT_POINT_ARRAYS] = {NULL};
  void *scratch = NULL;
  char text[512];
  weir_status status = WEIR_OK;

  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    WEIR_TRY_GOTO(
        weir_alloc(qt_point_count(&j->point, (qt_point_array)i), sizeof **out, (void **)&out[i]),
        done);
  }
  WEIR_TRY_GOTO(weir_alloc(qt_point_scratch(&j->point), 1, &scratch), done);
  WEIR_TRY_GOTO(qt_point_leads_set(j->s, k, &leads), done);
  WEIR_TRY_GOTO(qt_point_solve(&j->point, &leads, energy, scratch, out), done);
  status = weir_fail(WEIR_ERR_MEMORY, "out of memory on one of %d ranks", j->ranks);
done:
  qt_point_leads_fini(&leads);
  weir_free(&scratch);
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    weir_free(&out[i]);
  }
  (void)snprintf(text, sizeof text, "%s", weir_last_message());
  return weir_fail(status, "k (%g, %g), energy %.12g eV: %s", k[0], k[1], energy, text);
}

/* ---- All of them ---- */

static weir_status agree(const job *j, weir_status status)
{
  return j->ranks > 1 ? weir_comm_agree(j->spec->comm, status) : status;
}

/* The same number on all ranks: the least. Collective. */
static weir_status agree_least(const job *j, int64_t *value)
{
  weir_request *r = NULL;

  if (j->ranks == 1) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_allreduce_create(j->spec->comm, "points at once",
                                 weir_reducer_of(WEIR_MERGE_MIN, WEIR_I64), value, 1, &r));
  weir_status status = weir_request_start(r);

  status = status == WEIR_OK ? weir_request_wait(r) : status;
  weir_request_destroy(&r);
  return status;
}

static weir_status check_leads(const job *j)
{
  for (int c = 0; c < QT_LEADS; c++) {
    const int64_t rows = qt_layout_rows(&j->layout, c == QT_LEFT ? 0 : j->s->n_blocks - 1);

    if (j->s->lead[c].n != rows) {
      return weir_fail(WEIR_ERR_SHAPE, "a lead's cell of %lld orbitals at a block of %lld",
                       (long long)j->s->lead[c].n, (long long)rows);
    }
  }
  return WEIR_OK;
}

/* Sizes, which are all that is known then. */
static weir_status measure(job *j)
{
  const qt_transport_spec *spec = j->spec;

  WEIR_TRY(count_points(j->s, spec, &j->points, &j->threads));
  WEIR_TRY(qt_layout_create(j->s->n_blocks, j->s->block, &j->layout));
  WEIR_TRY(check_leads(j));
  if (spec->bond_currents) {
    WEIR_TRY(qt_bonds_create(j->s, &j->out->bonds));
  }
  set_point(j->s, spec, &j->layout, &j->out->bonds, &j->point);
  return fit_memory(j);
}

/* What needs no other rank. */
static weir_status prepare(job *j)
{
  WEIR_TRY(measure(j));
  return make_results(j, j->out);
}

/* Memory of a batch. */
static weir_status make_room(job *j)
{
  const int64_t most = points_of_ranks(j, j->at_once);
  const int64_t share = (most + j->ranks - 1) / j->ranks;

  j->at_once = most;
  WEIR_TRY(weir_alloc(j->ranks + 1, sizeof *j->bounds, (void **)&j->bounds));
  WEIR_TRY(weir_alloc(2 * share, sizeof(double), (void **)&j->in[0]));
  WEIR_TRY(weir_alloc(share, sizeof(double), (void **)&j->in[1]));
  for (int i = 0; i < (j->ranks > 1 ? QT_POINT_ARRAYS : 1); i++) {
    WEIR_TRY(weir_alloc(share * qt_point_count(&j->point, (qt_point_array)i), sizeof(double),
                        (void **)&j->part[i]));
  }
  return WEIR_OK;
}

/* Points from `first` on. Collective. */
static weir_status run_next(job *j, int64_t first, int64_t *done)
{
  const int64_t left = j->points - first, n = left < j->at_once ? left : j->at_once;
  int64_t failed = -1;

  WEIR_TRY(plan_batch(j, n));
  WEIR_TRY(run_batch(j, first));
  WEIR_TRY(collect(j, first, &failed));
  WEIR_TRY(agree(j, failed >= 0 ? tell_failure(j, failed) : WEIR_OK));
  *done = first + n;
  if (j->rank == 0) {
    weir_progress("transport", *done, j->points, "points");
  }
  return WEIR_OK;
}

static weir_status run_all(job *j)
{
  WEIR_TRY(agree(j, prepare(j)));
  WEIR_TRY(agree_least(j, &j->at_once));
  WEIR_TRY(agree(j, make_room(j)));
  for (int64_t done = 0; done < j->points;) {
    WEIR_TRY(run_next(j, done, &done));
    if (done < j->points) {
      WEIR_TRY(agree(j, !weir_stop_requested()
                            ? WEIR_OK
                            : weir_fail(WEIR_ERR_STOPPED,
                                        "stopped after %lld of %lld points: nothing is written",
                                        (long long)done, (long long)j->points)));
    }
  }
  return WEIR_OK;
}

static void take_ranks(job *j)
{
  if (j->spec->comm != NULL) {
    j->rank = weir_comm_rank(j->spec->comm);
    j->ranks = weir_comm_size(j->spec->comm);
  }
}

weir_status qt_transport_create(const qt_system *s, const qt_transport_spec *spec,
                                qt_transport *out)
{
  job j = {.s = s, .spec = spec, .out = out, .ranks = 1};

  *out = (qt_transport){.n = 0};
  take_ranks(&j);
  const weir_status status = run_all(&j);

  fini_batch(&j.batch);
  weir_free(&j.bounds);
  weir_free(&j.in[0]);
  weir_free(&j.in[1]);
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    weir_free(&j.part[i]);
  }
  qt_layout_fini(&j.layout);
  if (status != WEIR_OK) {
    qt_transport_fini(out);
  }
  return status;
}

weir_status qt_transport_size_of(const qt_system *s, const qt_transport_spec *spec,
                                 qt_transport_size *out)
{
  qt_transport none = {.n = 0};
  job j = {.s = s, .spec = spec, .out = &none, .ranks = 1};

  take_ranks(&j);
  const weir_status status = measure(&j);

  if (status == WEIR_OK) {
    *out = (qt_transport_size){.peak = peak_bytes(&j, j.threads, j.at_once),
                               .kept = kept_bytes(&j),
                               .threads = j.threads,
                               .at_once = points_of_ranks(&j, j.at_once)};
  }
  qt_layout_fini(&j.layout);
  qt_transport_fini(&none);
  return status;
}

void qt_transport_fini(qt_transport *t)
{
  weir_free(&t->transmission);
  weir_free(&t->dos);
  qt_sparse_fini(&t->bonds);
  for (int c = 0; c < QT_LEADS; c++) {
    weir_free(&t->n_modes[c]);
    weir_free(&t->bond_current[c]);
    weir_free(&t->lead_dos[c]);
  }
  *t = (qt_transport){.n = 0};
}

void qt_transport_average(int64_t n_k, const double *weight, int64_t count, const double *values,
                          double *out)
{
  memset(out, 0, (size_t)count * sizeof *out);
  for (int64_t k = 0; k < n_k; k++) {
    for (int64_t i = 0; i < count; i++) {
      out[i] += weight[k] * values[k * count + i];
    }
  }
}
