/* ribbon.h - a square ribbon with disorder between two leads, and its transmission at energies over
 * the band, by decimation unless `lead` is changed: what programs of transport share. */
#ifndef WEIR_BENCH_RIBBON_H
#define WEIR_BENCH_RIBBON_H
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "model/device.h"
#include "model/ribbon.h"
#include "model/transmission/transmission.h"
#include "weir_bench.h"

enum { RIBBON_MOST = 64 };

typedef struct ribbon {
  qt_ribbon_opts opts;
  qt_system system;
  qt_lead_opts lead;
  int threads, method; /* qt_transport_method */
  int64_t n_energies;
  double energy[RIBBON_MOST], transmission[RIBBON_MOST];
} ribbon;

static const double ribbon_no_k[1][2] = {{0, 0}};

/* n_energies: at most RIBBON_MOST, at equal distances from -3 to 3 |hopping|. */
static inline void ribbon_make(int64_t width, int64_t length, int64_t n_energies, ribbon *r)
{
  const qt_device *device = qt_device_find("square");

  *r = (ribbon){.threads = 1, .n_energies = n_energies};
  weir_opts_default(device->opts, sizeof r->opts, &r->opts);
  r->opts.width = width;
  r->opts.length = length;
  r->opts.disorder = 0.5;
  bench_must(device->build(&r->opts, 1, &r->system));
  weir_opts_default(qt_lead_options, sizeof r->lead, &r->lead);
  for (int64_t i = 0; i < n_energies; i++) {
    r->energy[i] = -3 + 6 * ((double)i + 0.5) / (double)n_energies;
  }
}

static inline void ribbon_fini(ribbon *r)
{
  qt_system_fini(&r->system);
}

/* For bench_best; context: the ribbon. */
static inline void ribbon_run(void *context)
{
  ribbon *r = context;
  const qt_transport_spec spec = {.method = r->method,
                                  .lead = r->lead,
                                  .n_k = 1,
                                  .k = ribbon_no_k,
                                  .n_energies = r->n_energies,
                                  .energy = r->energy,
                                  .threads = r->threads};
  qt_transport t;

  bench_must(qt_transport_create(&r->system, &spec, &t));
  memcpy(r->transmission, t.transmission, (size_t)r->n_energies * sizeof *t.transmission);
  qt_transport_fini(&t);
}

/* Energies of all sites, [n], which the caller frees. */
static inline double *ribbon_onsite(const ribbon *r)
{
  const qt_system *s = &r->system;
  double *onsite = NULL;

  bench_must(weir_alloc(s->n, sizeof *onsite, (void **)&onsite));
  for (int64_t i = 0; i < s->n; i++) {
    onsite[i] = qt_sparse_get(&s->h.matrix[0], i, i).re;
  }
  return onsite;
}

/* Exits with 6 where a reference's transmission differs by more than `tolerance`. */
static inline void ribbon_must_agree(const char *work, const ribbon *r, const char *reference,
                                     const double *t, double tolerance)
{
  enum { WRONG = 6 };

  for (int64_t i = 0; i < r->n_energies; i++) {
    if (!(fabs(t[i] - r->transmission[i]) < tolerance)) {
      fprintf(stderr, "%s: at %g eV T is %.12g, by %s %.12g\n", work, r->energy[i],
              r->transmission[i], reference, t[i]);
      exit(WRONG);
    }
  }
}

#endif
