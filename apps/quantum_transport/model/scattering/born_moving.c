/* born_moving.c - see born.h: scattering in an electrostatic potential that is iterated. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/scattering/born_priv.h"

struct qt_born_moving {
  qt_born_spec spec;
  qt_reservoir reservoir[QT_LEADS]; /* of the last count */
  born_job job;
  qt_born out;
  double *coherent, *scattered; /* [n_atoms] electrons less holes by the sum over energies */
};

void qt_born_moving_destroy(qt_born_moving **m)
{
  if (*m != NULL) {
    born_fini(&(*m)->job);
    qt_born_fini(&(*m)->out);
    weir_free(&(*m)->coherent);
    weir_free(&(*m)->scattered);
    weir_free(m);
  }
}

static weir_status open_moving(qt_born_moving *m)
{
  const int64_t atoms = m->spec.electrons->n_atoms;

  m->out = born_empty(&m->spec);
  m->job = (born_job){.spec = &m->spec, .out = &m->out};
  WEIR_TRY(born_open(&m->job));
  WEIR_TRY(weir_alloc(atoms, sizeof *m->coherent, (void **)&m->coherent));
  return weir_alloc(atoms, sizeof *m->scattered, (void **)&m->scattered);
}

weir_status qt_born_moving_create(const qt_born_spec *s, qt_born_moving **out)
{
  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof **out, (void **)out));
  (*out)->spec = *s;
  (*out)->spec.quiet = true; /* steps are those of the potential */
  const weir_status status = open_moving(*out);

  if (status != WEIR_OK) {
    qt_born_moving_destroy(out);
  }
  return status;
}

void qt_born_moving_begin(qt_born_moving *m)
{
  born_job *j = &m->job;

  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    if (j->used[i].data != NULL) {
      memset(j->used[i].data, 0, (size_t)weir_tensor_numel(&j->used[i]) * sizeof(weir_c128));
    }
  }
  j->scatters = false;
  m->out.n_steps = 0;
}

/* Electrons above the reference, less holes below it, of the Green's functions there are. */
static void count_atoms(const born_job *j, double reference, double *out)
{
  const int64_t n = j->list.n_orbitals, atoms = j->list.n_atoms, n_e = j->spec->n_energies;
  const int64_t half = weir_tensor_numel(&j->t[QT_GREEN]) / 2;
  const weir_c128 *green = j->t[QT_GREEN].data;
  const double unit = j->self.spec.spin * j->self.spec.step / (2 * M_PI * (double)j->spec->n_k);

  memset(out, 0, (size_t)atoms * sizeof *out);
  for (int64_t i = 0; i < j->spec->n_k * n_e * atoms; i++) {
    const bool is_hole = j->spec->energy[i / atoms % n_e] < reference;
    const weir_c128 *block = green + (is_hole ? half : 0) + i * n * n;

    for (int64_t o = 0; o < n; o++) { /* G^< = i f A, G^> = -i (1 - f) A */
      out[i % atoms] += unit * block[o * (n + 1)].im;
    }
  }
}

/* Without scattering, whose self-energies stay. */
static weir_status count_coherent(qt_born_moving *m, double reference)
{
  born_job *j = &m->job;
  const bool scatters = j->scatters;

  j->scatters = false;
  const weir_status status = born_solve_electrons(j);

  j->scatters = scatters;
  WEIR_TRY(status);
  count_atoms(j, reference, m->coherent);
  return WEIR_OK;
}

/* An iteration, whose self-energies are those that the charge is with where they are near enough
 * to those that follow. */
static weir_status step_once(qt_born_moving *m, double reference, bool *settled)
{
  born_job *j = &m->job;
  qt_born_step step;

  WEIR_TRY(born_solve(j));
  count_atoms(j, reference, m->scattered);
  WEIR_TRY(born_renew(j, &step));
  WEIR_TRY(born_measure(j, &step));
  WEIR_TRY(born_add_step(j, &step));
  *settled = m->out.n_steps > 1 && born_is_converged(j);
  if (!*settled) {
    born_mix(j);
  }
  return WEIR_OK;
}

weir_status qt_born_moving_count(qt_born_moving *m, const qt_system *electrons,
                                 const qt_reservoir *reservoir, double reference, bool once,
                                 double *count, bool *settled)
{
  memcpy(m->reservoir, reservoir, sizeof m->reservoir);
  m->spec.reservoir = m->reservoir;
  if (electrons != NULL) {
    m->spec.electrons = electrons;
    WEIR_TRY(born_move(&m->job));
    WEIR_TRY(count_coherent(m, reference));
  }
  if (once) {
    WEIR_TRY(step_once(m, reference, settled));
  } else {
    qt_born_moving_begin(m);
    WEIR_TRY(born_iterate(&m->job));
    count_atoms(&m->job, reference, m->scattered);
    *settled = true;
  }
  for (int64_t a = 0; a < m->out.n_atoms; a++) {
    count[a] += m->scattered[a] - m->coherent[a];
  }
  return WEIR_OK;
}

weir_status qt_born_moving_finish(qt_born_moving *m, const qt_born **out)
{
  *out = &m->out;
  return born_finish(&m->job);
}
