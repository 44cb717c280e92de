/* response.c - how electrons answer to a change of the potential: as those of the perfect lead. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/electrostatics/scf_priv.h"
#include "model/units.h"

weir_status scf_response_create(const qt_scf *scf, scf_response *out)
{
  const int64_t n = scf->s->n_atoms;
  double **const arrays[] = {&out->n, &out->u, &out->share, &out->mu, &out->before};
  weir_status status = WEIR_OK;

  *out = (scf_response){.scf = scf, .kt = QT_BOLTZMANN * scf->spec.temperature};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    WEIR_TRY_GOTO(weir_alloc(n, sizeof **arrays[i], (void **)arrays[i]), done);
  }
done:
  if (status != WEIR_OK) {
    scf_response_fini(out);
  }
  return status;
}

void scf_response_fini(scf_response *r)
{
  weir_free(&r->n);
  weir_free(&r->u);
  weir_free(&r->share);
  weir_free(&r->mu);
  weir_free(&r->before);
}

/* Electrons of a block, and the mean potential of its atoms. */
typedef struct block_sum {
  double electrons, positive, u, atoms;
} block_sum;

static block_sum sum_block(const scf_response *r, int64_t block)
{
  const qt_scf *scf = r->scf;
  block_sum sum = {0, 0, 0, 0};

  for (int64_t a = 0; a < scf->s->n_atoms; a++) {
    if (scf->block_of_atom[a] == block) {
      sum.electrons += r->n[a];
      sum.positive += fmax(0, r->n[a]);
      sum.u += r->u[a];
      sum.atoms++;
    }
  }
  sum.u /= fmax(1, sum.atoms);
  return sum;
}

/* The chemical potential of so many electrons in a cell of the lead, between low and high, beyond
 * which electrons few as rounding errors would lead. */
static double find_mu(const scf_response *r, double electrons, double low, double high)
{
  const qt_bands *b = &r->scf->bands[QT_LEFT];
  double slope;

  for (int step = 0; step < 50; step++) {
    const double middle = (low + high) / 2;

    if (qt_bands_electrons(b, middle, r->kt, &slope) < electrons) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return (low + high) / 2;
}

void scf_response_set(scf_response *r, const double *n, const double *u, double low, double high)
{
  const double margin = 0.1, few = 1e-6; /* eV, electrons */
  const qt_system *s = r->scf->s;
  int64_t a = 0;

  memcpy(r->n, n, (size_t)s->n_atoms * sizeof *n);
  memcpy(r->u, u, (size_t)s->n_atoms * sizeof *u);
  while (a < s->n_atoms) { /* atoms of a block follow one another */
    const int64_t block = r->scf->block_of_atom[a];
    const block_sum sum = sum_block(r, block);
    const double cells =
        (double)(s->block[block + 1] - s->block[block]) / (double)r->scf->s->lead[QT_LEFT].n;
    const double mu =
        find_mu(r, sum.electrons / cells, low - sum.u - margin, high - sum.u + margin);
    double slope;
    const double before = qt_bands_electrons(&r->scf->bands[QT_LEFT], mu, r->kt, &slope);

    for (; a < s->n_atoms && r->scf->block_of_atom[a] == block; a++) {
      r->mu[a] = mu;
      r->before[a] = before;
      r->share[a] = cells * (sum.positive > few ? fmax(0, n[a]) / sum.positive : 1 / sum.atoms);
    }
  }
}

/* The lead that is nearer to an atom. */
static int nearer(const scf_response *r, int64_t atom)
{
  const qt_system *s = r->scf->s;

  return s->atom[atom].position[0] < r->scf->grid.origin + s->cell[0][0] / 2 ? QT_LEFT : QT_RIGHT;
}

void scf_response_begin(scf_response *r, const double mu[QT_LEADS])
{
  const qt_system *s = r->scf->s;
  double slope;

  for (int64_t a = 0; a < s->n_atoms; a++) {
    r->u[a] = 0;
    r->mu[a] = mu[nearer(r, a)];
    r->before[a] = qt_bands_electrons(&r->scf->bands[QT_LEFT], r->mu[a], r->kt, &slope);
    r->share[a] = (double)s->atom[a].n_orbitals / (double)s->lead[QT_LEFT].n;
    r->n[a] = r->share[a] * r->before[a];
  }
}

void scf_response_shift(scf_response *r, const double by[QT_LEADS])
{
  for (int64_t a = 0; a < r->scf->s->n_atoms; a++) {
    r->mu[a] += by[nearer(r, a)];
  }
}

void scf_response_electrons(const void *context, int64_t atom, double u, double *n, double *slope)
{
  const scf_response *r = context;
  const double now =
      qt_bands_electrons(&r->scf->bands[QT_LEFT], r->mu[atom] - u + r->u[atom], r->kt, slope);

  *n = r->n[atom] + r->share[atom] * (now - r->before[atom]);
  *slope *= -r->share[atom];
}
