/* fisher.c - see fisher.h. */
#include "eval/fisher.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/simulation/power.h"
#include "data/simulation/universe.h"
#include "ops/eigen/weir_eigen.h"

#define PI 3.14159265358979323846

const weir_opt cf_fisher_options[] = {
    WEIR_OPT_REAL(cf_fisher_opts, box, 0, 0, 1e5, "Mpc/h",
                  "side of a sample, for the Fisher bound of the linear power spectrum, up to "
                  "eval.features.reach times the Nyquist wave number; 0: none"),
    WEIR_OPT_REAL(cf_fisher_opts, n_s, 0.9667, 0, 2, "1", "slope, where it is no label"),
    WEIR_OPT_REAL(cf_fisher_opts, h, 0.6774, 0.2, 2, "1",
                  "H0 / (100 km/s/Mpc), where it is no label"),
    WEIR_OPT_REAL(cf_fisher_opts, baryons, 0.0224, 1e-4, 1, "1", "Omega_b h^2"),
    WEIR_OPT_END,
};

struct cf_fisher {
  const cf_fisher_opts *opts;
  const cf_predictions *p;
  int64_t side;
  int which[CF_MAX_LABELS]; /* cf_parameter */
  cf_power power;           /* for the bins and their waves */
  double *slope;            /* [n_labels, n_bins] dlnP / d(unit) */
};

static weir_status find_labels(cf_fisher *f)
{
  for (int64_t k = 0; k < f->p->n_labels; k++) {
    int at = 0;

    while (at < CF_PARAMETERS && strcmp(f->p->label[k], cf_parameter_name[at]) != 0) {
      at++;
    }
    if (at == CF_PARAMETERS) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "fisher.box: linear theory knows no parameter '%s'; labels it knows are "
                       "%s, %s, %s and %s",
                       f->p->label[k], cf_parameter_name[0], cf_parameter_name[1],
                       cf_parameter_name[2], cf_parameter_name[3]);
    }
    f->which[k] = at;
  }
  return WEIR_OK;
}

weir_status cf_fisher_create(const cf_fisher_opts *opts, const cf_predictions *p, int64_t side,
                             double reach, cf_fisher **out)
{
  cf_fisher *f = NULL;
  cf_mesh *mesh = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  if (side == 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "eval.fisher.box: the bound is of P(k) of cubes, and the samples are maps: "
                     "leave it out");
  }
  WEIR_TRY(weir_alloc(1, sizeof *f, (void **)&f));
  f->opts = opts;
  f->p = p;
  f->side = side;
  WEIR_TRY_GOTO(find_labels(f), done);
  WEIR_TRY_GOTO(cf_mesh_create(side, &mesh), done);
  WEIR_TRY_GOTO(cf_power_init(&f->power, mesh, opts->box, cf_power_reach(mesh, reach)), done);
  WEIR_TRY_GOTO(weir_alloc(p->n_labels * f->power.n_bins, sizeof *f->slope, (void **)&f->slope),
                done);
  *out = f;
  f = NULL;
done:
  cf_mesh_destroy(&mesh);
  cf_fisher_destroy(&f);
  return status;
}

int64_t cf_fisher_bins(const cf_fisher *f, double *k_max)
{
  const double edge = (double)f->power.n_bins + 0.5, corner = sqrt(3) * (double)f->side / 2;

  *k_max = fmin(edge, corner) * 2 * PI / f->opts->box;
  return f->power.n_bins;
}

void cf_fisher_destroy(cf_fisher **f)
{
  if (*f == NULL) {
    return;
  }
  cf_power_fini(&(*f)->power);
  weir_free(&(*f)->slope);
  weir_free(f);
}

/* ln P(k) of the bins today times `by`, added to out. */
static weir_status add_spectrum(const cf_fisher *f, const double *value, double by, double *out)
{
  double parameter[CF_PARAMETERS] = {[CF_N_S] = f->opts->n_s, [CF_H] = f->opts->h};
  cf_cosmology c;
  cf_linear l;

  parameter[CF_OMEGA_M] = 0.3089; /* of a set in which it is not estimated: Planck's */
  parameter[CF_SIGMA_8] = 0.8159;
  for (int64_t k = 0; k < f->p->n_labels; k++) {
    parameter[f->which[k]] = value[k];
  }
  c = (cf_cosmology){.omega_m = parameter[CF_OMEGA_M],
                     .omega_b = f->opts->baryons / (parameter[CF_H] * parameter[CF_H]),
                     .h = parameter[CF_H],
                     .n_s = parameter[CF_N_S],
                     .sigma_8 = parameter[CF_SIGMA_8]};
  WEIR_TRY(cf_linear_init(&c, CF_TRANSFER_FULL, &l));
  for (int64_t b = 0; b < f->power.n_bins; b++) {
    out[b] += by * log(cf_linear_power(&l, f->power.k[b]));
  }
  return WEIR_OK;
}

/* Central differences over a thousandth of the range of each label. */
static weir_status take_slopes(cf_fisher *f, const double *value)
{
  const double step = 1e-3;
  double moved[CF_MAX_LABELS];

  memset(f->slope, 0, (size_t)(f->p->n_labels * f->power.n_bins) * sizeof *f->slope);
  for (int64_t k = 0; k < f->p->n_labels; k++) {
    const double half = 0.5 * (f->p->hi[k] - f->p->lo[k]);

    for (int side = -1; side <= 1; side += 2) {
      memcpy(moved, value, (size_t)f->p->n_labels * sizeof *moved);
      moved[k] += side * step * half;
      WEIR_TRY(add_spectrum(f, moved, side / (2 * step), f->slope + k * f->power.n_bins));
    }
  }
  return WEIR_OK;
}

weir_status cf_fisher_bound(cf_fisher *f, const double *value, double *sigma)
{
  const int64_t n = f->p->n_labels, bins = f->power.n_bins;
  double matrix[CF_MAX_LABELS * CF_MAX_LABELS] = {0};
  double eigenvalue[CF_MAX_LABELS], vector[CF_MAX_LABELS * CF_MAX_LABELS];

  WEIR_TRY(take_slopes(f, value));
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      for (int64_t b = 0; b < bins; b++) {
        matrix[i * n + j] +=
            f->power.modes[b] / 2 * f->slope[i * bins + b] * f->slope[j * bins + b];
      }
    }
    matrix[i * n + i] += 3; /* of [-1, 1] */
  }
  WEIR_TRY(weir_eigen_leading(matrix, n, n, eigenvalue, vector));
  for (int64_t i = 0; i < n; i++) {
    double variance = 0;

    for (int64_t k = 0; k < n; k++) {
      variance += vector[k * n + i] * vector[k * n + i] / eigenvalue[k];
    }
    sigma[i] = sqrt(variance) * 0.5 * (f->p->hi[i] - f->p->lo[i]);
  }
  return WEIR_OK;
}
