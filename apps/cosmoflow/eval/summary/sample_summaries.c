/* sample_summaries.c - see sample_summaries.h. */
#include "eval/summary/sample_summaries.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "data/volume/volume_format.h"

#define PI 3.14159265358979323846

/* Keeps B itself, of which the summaries have a function. */
static void keep_bispectrum(const cf_summaries *of, cf_sample_summaries *out,
                            const cf_bispectrum_slot *r, int64_t c)
{
  const int64_t n = of->each[CF_SUMMARY_BISPECTRUM];

  for (int64_t t = 0; t < n; t++) {
    out->x[CF_SUMMARY_BISPECTRUM][c * n + t] = r->b[t];
    out->q[c * n + t] = r->q[t];
    out->sigma[c * n + t] = r->sigma[t];
  }
}

static weir_status measure(const cf_summaries *of, cf_sample_summaries *out, const float *voxels,
                           cf_summary_slot *slot)
{
  cf_summary_fault fault;

  for (int64_t c = 0; c < of->channels; c++) {
    double *x[CF_SUMMARIES];

    for (int k = 0; k < CF_SUMMARIES; k++) {
      x[k] = out->x[k] + c * of->each[k];
    }
    if (!cf_summaries_measure(of, slot, voxels, c, x, &fault)) {
      return cf_summary_refuse(&fault, out->where);
    }
    keep_bispectrum(of, out, &slot->bispectrum, c);
  }
  return WEIR_OK;
}

static weir_status make(const cf_summary_opts *opts, cf_source *s, cf_sample_summaries *out)
{
  const cf_volume_info *const info = cf_source_info(s);
  cf_summary_slot slot = {.rho = NULL};
  float *voxels = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_summaries_find(&opts->use, "summaries.use", &out->which));
  WEIR_TRY(cf_summaries_init(opts, out->which, info, &out->of));
  WEIR_TRY_GOTO(cf_summary_slot_init(&out->of, &slot), done);
  WEIR_TRY_GOTO(weir_alloc(cf_volume_elements(info), sizeof *voxels, (void **)&voxels), done);
  for (int k = 0; k < CF_SUMMARIES; k++) {
    WEIR_TRY_GOTO(
        weir_alloc(out->of.channels * out->of.each[k], sizeof *out->x[k], (void **)&out->x[k]),
        done);
  }
  const int64_t triangles = out->of.channels * out->of.each[CF_SUMMARY_BISPECTRUM];

  WEIR_TRY_GOTO(weir_alloc(triangles, sizeof *out->q, (void **)&out->q), done);
  WEIR_TRY_GOTO(weir_alloc(triangles, sizeof *out->sigma, (void **)&out->sigma), done);
  WEIR_TRY_GOTO(cf_source_read(s, opts->sample, 0, out->of.n, WEIR_F32, voxels), done);
  WEIR_TRY_GOTO(measure(&out->of, out, voxels, &slot), done);
done:
  weir_free(&voxels);
  cf_summary_slot_fini(&out->of, &slot);
  return status;
}

weir_status cf_sample_summaries_make(const cf_summary_opts *opts, cf_source *s,
                                     cf_sample_summaries *out)
{
  const cf_volume_info *const info = cf_source_info(s);

  *out = (cf_sample_summaries){.of = {.opts = opts}};
  if (opts->sample >= cf_source_count(s) || info->lengths[3] > CF_MAX_LABELS) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "summaries.sample: %lld: there are %lld samples, numbered from 0, of %lld channels (%d at "
        "most)",
        (long long)opts->sample, (long long)cf_source_count(s), (long long)info->lengths[3],
        CF_MAX_LABELS);
  }
  cf_source_locate(s, opts->sample, out->where, sizeof out->where);
  for (int64_t c = 0; c < info->lengths[3]; c++) {
    out->redshift[c] = c < info->n_redshifts ? info->redshift[c] : (double)NAN;
  }
  const weir_status status = make(opts, s, out);

  if (status != WEIR_OK) {
    cf_sample_summaries_fini(out);
  }
  return status;
}

void cf_sample_summaries_fini(cf_sample_summaries *s)
{
  for (int k = 0; k < CF_SUMMARIES; k++) {
    weir_free(&s->x[k]);
  }
  weir_free(&s->q);
  weir_free(&s->sigma);
  cf_summaries_fini(&s->of);
}

void cf_count_edges(const cf_count_opts *o, int64_t b, double *from, double *to)
{
  const double width = (o->hi - o->lo) / (double)o->bins;

  *from = b == 0 ? -INFINITY : o->lo + width * (double)(b - 1);
  *to = b > o->bins ? INFINITY : b == o->bins ? o->hi : o->lo + width * (double)b;
}

double cf_sample_wave(const cf_sample_summaries *s, int64_t shell)
{
  const double side = (double)s->of.n * (s->of.cell > 0 ? s->of.cell : 1);

  return s->of.bispectrum.k[shell] * 2 * PI / side;
}

double cf_sample_bispectrum(const cf_sample_summaries *s, double b)
{
  return b * pow(s->of.cell > 0 ? s->of.cell : 1, 6);
}

enum { COLUMNS = 12 };

const char *const *cf_sample_summary_head(const cf_sample_summaries *s, cf_summary_kind which,
                                          int *columns)
{
  static const char *const head[CF_SUMMARIES][COLUMNS] = {
      [CF_SUMMARY_ONE_POINT] = {"channel", "redshift", "smoothing_Mpc_per_h", "ln_from", "ln_to",
                                "share"},
      [CF_SUMMARY_PEAKS] = {"channel", "redshift", "smoothing_Mpc_per_h", "ln_from", "ln_to",
                            "peaks"},
      [CF_SUMMARY_BISPECTRUM] = {"channel", "redshift", "triangle", "k1_h_per_Mpc", "k2_h_per_Mpc",
                                 "k3_h_per_Mpc", "triangles", "B_Mpc6_h-6", "sigma_B", "Q"},
  };
  static const char *const in_voxels[COLUMNS] = {
      "channel",      "redshift",  "triangle", "k1_per_voxel", "k2_per_voxel",
      "k3_per_voxel", "triangles", "B_voxel6", "sigma_B",      "Q"};
  const char *const *const of =
      which == CF_SUMMARY_BISPECTRUM && !(s->of.cell > 0) ? in_voxels : head[which];

  for (*columns = 0; of[*columns] != NULL; ++*columns) {
  }
  return of;
}

static void put(weir_table *t, double x)
{
  weir_table_add_number(t, "%.7g", x, "");
}

static void put_counts(const cf_sample_summaries *s, cf_summary_kind which, int64_t c,
                       weir_table *out)
{
  const cf_count_opts *const o = cf_summary_counts(s->of.opts, which);
  const int64_t n = o->bins + 2;

  for (int64_t i = 0; i < s->of.each[which]; i++) {
    double from, to;

    cf_count_edges(o, i % n, &from, &to);
    weir_table_add(out, "%lld", (long long)c);
    put(out, s->redshift[c]);
    put(out, o->smoothing.items[i / n]);
    weir_table_add(out, "%.7g", from);
    weir_table_add(out, "%.7g", to);
    weir_table_add_number(out, "%.9g", s->x[which][c * s->of.each[which] + i], "");
  }
}

static void put_triangles(const cf_sample_summaries *s, int64_t c, weir_table *out)
{
  const cf_bispectrum *const b = &s->of.bispectrum;

  for (int64_t t = 0; t < b->n_triangles; t++) {
    const cf_triangle *const of = &b->triangle[t];
    const int64_t i = c * b->n_triangles + t;

    weir_table_add(out, "%lld", (long long)c);
    put(out, s->redshift[c]);
    weir_table_add(out, of->first == of->other ? "equilateral" : "squeezed");
    put(out, cf_sample_wave(s, of->first));
    put(out, cf_sample_wave(s, of->other));
    put(out, cf_sample_wave(s, of->other));
    weir_table_add_number(out, "%.9g", b->closed[t], "");
    put(out, cf_sample_bispectrum(s, s->x[CF_SUMMARY_BISPECTRUM][i]));
    put(out, cf_sample_bispectrum(s, s->sigma[i]));
    put(out, s->q[i]);
  }
}

void cf_sample_summary_table(const cf_sample_summaries *s, cf_summary_kind which, weir_table *out)
{
  for (int64_t c = 0; c < s->of.channels; c++) {
    if (which == CF_SUMMARY_BISPECTRUM) {
      put_triangles(s, c, out);
    } else {
      put_counts(s, which, c, out);
    }
  }
}
