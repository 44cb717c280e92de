/* transmission_size.c - how many points are computed at once, and the memory that takes. */
#include <math.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "model/transmission/transmission_priv.h"

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

/* Points of a thread between two looks at signals and at the clock: at least MIN_POINTS, of short
 * ones as many as have so many flops, some hundredths of a second; of wave functions WAVES. */
enum { MIN_POINTS = 4, MAX_POINTS = 256, WAVES = 8 };
static const double batch_flops = 1e8;

static int64_t points_of_thread(const qt_point_spec *p)
{
  const double n = batch_flops / fmax(qt_point_flops(p), 1);

  return n < MIN_POINTS ? MIN_POINTS : n > MAX_POINTS ? MAX_POINTS : (int64_t)n;
}

/* About what a plan takes in addition to arrays and scratch. */
static const double plan_bytes = 1 << 16;

/* Bytes of the arrays of a point; *largest: of the largest. */
static double arrays_of_point(const transport_job *j, double *largest)
{
  double sum = 0;

  *largest = 0;
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    const double bytes = sizeof(double) * (double)qt_point_count(&j->point, (qt_point_array)i);

    sum += bytes;
    *largest = fmax(*largest, bytes);
  }
  return sum;
}

/* Of the results, which rank 0 has; of the bonds, which all have. */
static double kept_bytes(const transport_job *j)
{
  const int64_t n_bonds = qt_sparse_count(&j->out->bonds);
  double largest;
  const double point = arrays_of_point(j, &largest) - QT_POINT_NUMBERS * sizeof(double) +
                       sizeof(double) + QT_LEADS * sizeof(int64_t); /* of the numbers T and modes */
  const double bonds = n_bonds > 0 ? (double)(j->s->n + 1) * sizeof(int64_t) +
                                         (double)n_bonds * (sizeof(int64_t) + sizeof(weir_c128))
                                   : 0;

  return bonds + (j->rank == 0 ? (double)j->points * point : 0);
}

/* Points at once on all ranks, where each group has so many. */
int64_t transport_points_of_ranks(const transport_job *j, int64_t of_rank)
{
  return of_rank < j->points / j->groups ? of_rank * j->groups : j->points;
}

/* Maximum that this rank allocates, computing so many points at once; without factors. */
static double peak_bytes(const transport_job *j, int threads, int64_t of_rank)
{
  const double all = (double)transport_points_of_ranks(j, of_rank), share = ceil(all / j->groups);
  double largest;
  const double point = arrays_of_point(j, &largest);
  const double numbers = j->ranks > 1 ? point : QT_POINT_NUMBERS * sizeof(double);
  const double batch = kept_bytes(j) + share * (3 * sizeof(double) + numbers) +
                       (j->ranks > 1 && j->rank == 0 ? all * largest : 0);

  if (j->qtbm != NULL) {
    return batch + qt_qtbm_bytes(j->qtbm, &j->point, threads);
  }
  const double thread = (double)qt_point_scratch(&j->point) + point + qt_point_bytes(&j->point) +
                        (j->first != NULL ? (double)qt_slabs_bytes(&j->division) : 0);

  return batch + share * point + threads * thread + (j->first != NULL ? 0 : plan_bytes);
}

/* As many threads and points at once as memory allows: threads first. */
static weir_status fit_memory(transport_job *j)
{
  const int64_t usual = j->qtbm != NULL ? WAVES : points_of_thread(&j->point);
  const int max_threads = j->threads;
  const double factors = isnan(j->factor_bytes) ? 0 : j->factor_bytes, mib = 1 << 20;
  const double limit = j->spec->memory;

  for (j->threads = max_threads; j->threads > 0; j->threads--) {
    for (int64_t n = usual; n > 0; n /= 2) {
      j->at_once = n * j->threads;
      if (limit <= 0 || peak_bytes(j, j->threads, j->at_once) + factors <= limit) {
        return WEIR_OK;
      }
    }
  }
  j->threads = 1;
  return weir_fail(
      WEIR_ERR_CONFIG,
      "memory.budget: one point at a time takes %.4g MiB more than it allows (results "
      "alone: %.4g MiB, sparse factors: %.4g MiB): give that, or fewer energies or wave "
      "vectors, or switch output.dos or output.bond_currents off",
      (peak_bytes(j, 1, 1) + factors - limit) / mib, kept_bytes(j) / mib, factors / mib);
}

static weir_status check_leads(const transport_job *j)
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

/* The matrix of QTBM, and what its factors take. */
static weir_status make_matrix(transport_job *j, bool factors)
{
  const qt_transport_spec *spec = j->spec;

  if (spec->slabs > 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "transport.method: qtbm solves the whole device at once, without "
                     "parallel.slabs; leave that out, or set transport.method: rgf");
  }
  WEIR_TRY(qt_qtbm_create(j->s, &spec->lead, spec->petsc, &j->qtbm));
  j->point.n_channels = spec->channels ? qt_qtbm_channels(j->qtbm) : 0;
  j->factor_bytes = spec->factor_bytes;
  return j->factor_bytes == 0 && (factors || spec->memory > 0)
             ? qt_qtbm_factor_bytes(j->qtbm, &j->factor_bytes)
             : WEIR_OK;
}

/* Sizes, which are all that is known then. */
weir_status transport_measure(transport_job *j, bool factors)
{
  const qt_transport_spec *spec = j->spec;

  WEIR_TRY(count_points(j->s, spec, &j->points, &j->threads));
  WEIR_TRY(qt_layout_create(j->s->n_blocks, j->s->block, &j->layout));
  WEIR_TRY(check_leads(j));
  if (spec->bond_currents) {
    WEIR_TRY(qt_bonds_create(j->s, &j->out->bonds));
  }
  set_point(j->s, spec, &j->layout, &j->out->bonds, &j->point);
  if (spec->method == QT_TRANSPORT_QTBM) {
    WEIR_TRY(make_matrix(j, factors));
  } else if (transport_slabs_of(spec) > 1) {
    WEIR_TRY(transport_divide(j, spec->threads));
    j->threads = 1; /* at points */
  }
  return fit_memory(j);
}

void transport_take_ranks(transport_job *j)
{
  if (j->spec->comm != NULL) {
    j->rank = weir_comm_rank(j->spec->comm);
    j->ranks = weir_comm_size(j->spec->comm);
  } else if (j->spec->ranks_per_point > 1) { /* sizes alone */
    j->ranks = (int)j->spec->ranks_per_point;
  }
  const int of_point = j->spec->ranks_per_point > 1 ? (int)j->spec->ranks_per_point : 1;

  j->group = j->rank / of_point;
  j->groups = j->ranks / of_point;
}

weir_status qt_transport_size_of(const qt_system *s, const qt_transport_spec *spec,
                                 qt_transport_size *out)
{
  qt_transport none = {.n = 0};
  transport_job j = {.s = s, .spec = spec, .out = &none, .ranks = 1};

  transport_take_ranks(&j);
  WEIR_TRY(transport_check_ranks(spec, j.ranks));
  const weir_status status = transport_measure(&j, true);

  if (status == WEIR_OK) {
    const int allowed = spec->threads > 0 ? spec->threads : weir_threads_get();
    const int64_t slabs = (transport_slabs_of(spec) * j.groups + j.ranks - 1) / j.ranks;
    const int threads = slabs < allowed ? (int)slabs : allowed;

    *out = (qt_transport_size){.peak = peak_bytes(&j, j.threads, j.at_once),
                               .factors = j.factor_bytes,
                               .kept = kept_bytes(&j),
                               .threads = j.first != NULL ? threads : j.threads,
                               .at_once = transport_points_of_ranks(&j, j.at_once),
                               .point_flops = qt_point_flops(&j.point)};
  }
  transport_close_slabs(&j);
  qt_qtbm_destroy(&j.qtbm);
  qt_layout_fini(&j.layout);
  qt_transport_fini(&none);
  return status;
}
