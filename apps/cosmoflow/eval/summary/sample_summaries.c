/* sample_summaries.c - see sample_summaries.h. */
#include "eval/summary/sample_summaries.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "data/volume/volume_format.h"

#define PI 3.14159265358979323846

/* Keeps B, P_l and S themselves, of which the summaries have functions. */
static void keep(const cf_summaries *of, cf_sample_summaries *out, const cf_summary_slot *r,
                 int64_t c)
{
  const double *const kept[CF_SUMMARIES] = {[CF_SUMMARY_BISPECTRUM] = r->bispectrum.b,
                                            [CF_SUMMARY_MULTIPOLES] = r->multipoles.p,
                                            [CF_SUMMARY_SCATTERING] = r->scattering.s};
  const int64_t n = of->each[CF_SUMMARY_BISPECTRUM];

  for (int k = CF_SUMMARY_BISPECTRUM; k < CF_SUMMARIES; k++) {
    for (int64_t i = 0; i < of->each[k]; i++) {
      out->x[k][c * of->each[k] + i] = kept[k][i];
    }
  }
  for (int64_t t = 0; t < n; t++) {
    out->q[c * n + t] = r->bispectrum.q[t];
    out->sigma[c * n + t] = r->bispectrum.sigma[t];
  }
}

/* Linear theory in redshift space, where the sample states its cosmology. */
static weir_status compare(const cf_sample_summaries *out, const cf_facts *facts)
{
  const int64_t n = out->of.each[CF_SUMMARY_MULTIPOLES];
  const double *const x = facts->cosmology; /* CF_COSMOLOGY_NAMES */
  cf_linear l;

  for (int64_t i = 0; i < out->of.channels * n; i++) {
    out->kaiser[i] = NAN;
  }
  if (n == 0 || !facts->has_cosmology || !(out->of.cell > 0)) {
    return WEIR_OK;
  }
  WEIR_TRY(cf_linear_init(
      &(cf_cosmology){.omega_m = x[0], .omega_b = x[1], .h = x[2], .n_s = x[3], .sigma_8 = x[4]},
      CF_TRANSFER_FULL, &l));
  for (int64_t c = 0; c < out->of.channels; c++) {
    if (!isnan(out->redshift[c])) {
      cf_multipoles_kaiser(&out->of.multipoles, &l, 1 / (1 + out->redshift[c]),
                           (double)out->of.n * out->of.cell, out->kaiser + c * n);
    }
  }
  return WEIR_OK;
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
    keep(of, out, slot, c);
  }
  return WEIR_OK;
}

static weir_status make(const cf_summary_opts *opts, cf_source *s, cf_sample_summaries *out)
{
  const cf_volume_info *const info = cf_source_info(s);
  cf_summary_slot slot = {.rho = NULL};
  cf_facts facts;
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
  WEIR_TRY_GOTO(weir_alloc(out->of.channels * out->of.each[CF_SUMMARY_MULTIPOLES],
                           sizeof *out->kaiser, (void **)&out->kaiser),
                done);
  WEIR_TRY_GOTO(cf_source_read(s, opts->sample, 0, info->lengths[0], WEIR_F32, voxels), done);
  WEIR_TRY_GOTO(measure(&out->of, out, voxels, &slot), done);
  WEIR_TRY_GOTO(cf_source_facts(s, opts->sample, &facts), done);
  WEIR_TRY_GOTO(compare(out, &facts), done);
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
  weir_free(&s->kaiser);
  cf_summaries_fini(&s->of);
}

void cf_count_edges(const cf_count_opts *o, int64_t b, double *from, double *to)
{
  const double width = (o->hi - o->lo) / (double)o->bins;

  *from = b == 0 ? -INFINITY : o->lo + width * (double)(b - 1);
  *to = b > o->bins ? INFINITY : b == o->bins ? o->hi : o->lo + width * (double)b;
}

double cf_sample_cell(const cf_sample_summaries *s)
{
  return s->of.cell > 0 ? s->of.cell : 1;
}

double cf_sample_wave(const cf_sample_summaries *s, double waves)
{
  return waves * 2 * PI / ((double)s->of.n * cf_sample_cell(s));
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
      [CF_SUMMARY_MULTIPOLES] = {"channel", "redshift", "k_h_per_Mpc", "modes", "P0_Mpc3_h-3",
                                 "P2_Mpc3_h-3", "P4_Mpc3_h-3", "kaiser_P0", "kaiser_P2",
                                 "kaiser_P4"},
      [CF_SUMMARY_SCATTERING] = {"channel", "redshift", "order", "width_1_Mpc_per_h",
                                 "width_2_Mpc_per_h", "l", "power", "S"},
  };
  static const char *const in_voxels[CF_SUMMARIES][COLUMNS] = {
      [CF_SUMMARY_BISPECTRUM] = {"channel", "redshift", "triangle", "k1_per_voxel", "k2_per_voxel",
                                 "k3_per_voxel", "triangles", "B_voxel6", "sigma_B", "Q"},
      [CF_SUMMARY_MULTIPOLES] = {"channel", "redshift", "k_per_voxel", "modes", "P0_voxel3",
                                 "P2_voxel3", "P4_voxel3", "kaiser_P0", "kaiser_P2", "kaiser_P4"},
      [CF_SUMMARY_SCATTERING] = {"channel", "redshift", "order", "width_1_voxels", "width_2_voxels",
                                 "l", "power", "S"},
  };
  const char *const *const of =
      which >= CF_SUMMARY_BISPECTRUM && !(s->of.cell > 0) ? in_voxels[which] : head[which];

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
    put(out, cf_sample_wave(s, b->k[of->first]));
    put(out, cf_sample_wave(s, b->k[of->other]));
    put(out, cf_sample_wave(s, b->k[of->other]));
    weir_table_add_number(out, "%.9g", b->closed[t], "");
    put(out, pow(cf_sample_cell(s), 6) * s->x[CF_SUMMARY_BISPECTRUM][i]);
    put(out, pow(cf_sample_cell(s), 6) * s->sigma[i]);
    put(out, s->q[i]);
  }
}

static void put_multipoles(const cf_sample_summaries *s, int64_t c, weir_table *out)
{
  const cf_multipoles *const of = &s->of.multipoles;
  const int64_t first = c * CF_MULTIPOLES * of->bins;

  for (int64_t b = 0; b < of->bins; b++) {
    weir_table_add(out, "%lld", (long long)c);
    put(out, s->redshift[c]);
    put(out, cf_sample_wave(s, of->k[b]));
    weir_table_add_number(out, "%.9g", of->modes[b], "");
    for (int l = 0; l < CF_MULTIPOLES; l++) {
      put(out, pow(cf_sample_cell(s), 3) * s->x[CF_SUMMARY_MULTIPOLES][first + l * of->bins + b]);
    }
    for (int l = 0; l < CF_MULTIPOLES; l++) {
      put(out, s->kaiser[first + l * of->bins + b]);
    }
  }
}

static void put_scattering(const cf_sample_summaries *s, int64_t c, weir_table *out)
{
  const cf_scattering *const of = &s->of.scattering;
  const int64_t powers = of->opts->powers.count, of_path = (of->opts->orders + 1) * powers;
  const double width = of->opts->sigma * cf_sample_cell(s);

  for (int64_t i = 0; i < of->n_numbers; i++) {
    const cf_scattering_path *const path = &of->path[i / of_path];

    weir_table_add(out, "%lld", (long long)c);
    put(out, s->redshift[c]);
    weir_table_add(out, path->second < 0 ? "1" : "2");
    put(out, width * pow(2, (double)path->first));
    put(out, path->second < 0 ? (double)NAN : width * pow(2, (double)path->second));
    weir_table_add(out, "%lld", (long long)(i % of_path / powers));
    put(out, of->opts->powers.items[i % powers]);
    put(out, s->x[CF_SUMMARY_SCATTERING][c * of->n_numbers + i]);
  }
}

void cf_sample_summary_table(const cf_sample_summaries *s, cf_summary_kind which, weir_table *out)
{
  for (int64_t c = 0; c < s->of.channels; c++) {
    switch (which) {
    case CF_SUMMARY_BISPECTRUM:
      put_triangles(s, c, out);
      break;
    case CF_SUMMARY_MULTIPOLES:
      put_multipoles(s, c, out);
      break;
    case CF_SUMMARY_SCATTERING:
      put_scattering(s, c, out);
      break;
    default:
      put_counts(s, which, c, out);
    }
  }
}
