/* born_iterate.c - see born_priv.h: steps, and simple mixing. */
#include <math.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "model/ranks.h"
#include "model/scattering/born_priv.h"
#include "model/scattering/power.h"
#include "model/units.h"

weir_status qt_born_start(const qt_scattering_opts *o, const weir_string_list *petsc)
{
  return o->method != QT_BORN_SIMPLE ? born_start_petsc(petsc) : WEIR_OK;
}

static double largest(const weir_c128 *x, const weir_c128 *less, int64_t n)
{
  double max = 0;

  for (int64_t i = 0; i < n; i++) {
    const double re = x[i].re - (less != NULL ? less[i].re : 0);
    const double im = x[i].im - (less != NULL ? less[i].im : 0);
    const double size = hypot(re, im);

    max = size > max || isnan(size) ? size : max;
    if (isnan(max)) {
      break;
    }
  }
  return max;
}

void born_mix(born_job *j)
{
  const double m = j->spec->opts->mixing;

  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    const weir_c128 *from = j->t[i].data;
    weir_c128 *to = j->used[i].data;

    for (int64_t n = 0; to != NULL && n < weir_tensor_numel(&j->used[i]); n++) {
      to[n].re = m == 1 ? from[n].re : (1 - m) * to[n].re + m * from[n].re;
      to[n].im = m == 1 ? from[n].im : (1 - m) * to[n].im + m * from[n].im;
    }
  }
  j->scatters = true;
}

static double sum_of(int64_t n, const double *x)
{
  double sum = 0;

  for (int64_t i = 0; i < n; i++) {
    sum += x[i];
  }
  return sum;
}

/* Bytes that this rank has sent by exchanges and sums. */
static double sent_so_far(const weir_comm *c)
{
  return c == NULL ? 0
                   : (double)(weir_comm_counted(c, WEIR_COMM_EXCHANGE).sent_bytes +
                              weir_comm_counted(c, WEIR_COMM_REDUCE).sent_bytes);
}

/* New self-energies, the time of them, and what they send. */
static weir_status compute(born_job *j)
{
  const double began = born_clock(j), sent = sent_so_far(j->spec->comm);

  WEIR_TRY(qt_self_energy_run(&j->self, j->t));
  j->out->seconds[QT_BORN_SELF_ENERGIES] += born_clock(j) - began;
  j->out->seconds[QT_BORN_EXCHANGE] = qt_self_energy_waited(&j->self);
  j->out->sent_bytes = sent_so_far(j->spec->comm) - sent;
  return WEIR_OK;
}

weir_status born_renew(born_job *j, qt_born_step *step)
{
  const qt_self_energy_spec *s = &j->self.spec;
  const int64_t half = weir_tensor_numel(&j->t[QT_SIGMA]) / 2, atoms = j->list.n_atoms;
  const weir_c128 *sigma = j->t[QT_SIGMA].data;
  const double *energy = j->energy[BORN_ELECTRONS];
  const double middle = (energy[0] + energy[s->n_energies - 1]) / 2;
  double *const scratch = j->out->gain_of_electrons;

  WEIR_TRY(compute(j));
  double max[] = {largest(sigma, NULL, half), largest(sigma, j->used[QT_SIGMA].data, half)};

  WEIR_TRY(qt_ranks_max(j->spec->comm, "change", max, 2));
  step->change = max[0] > 0 ? max[1] / max[0] : max[1];
  if (!isfinite(step->change)) {
    return weir_fail(WEIR_ERR_NUMERIC, "scattering: self-energies are not finite; a smaller "
                                       "scattering.mixing may help");
  }
  double gain[] = {0, NAN, j->out->sent_bytes};

  qt_power_of_electrons(s, energy, middle, j->t[QT_GREEN].data, sigma, scratch);
  gain[0] = sum_of(atoms, scratch);
  if (s->phonons) {
    qt_power_of_phonons(s, j->t[QT_PHONON_SELF].data, j->t[QT_PHONON_PAIR].data,
                        j->t[QT_PI_SELF].data, j->t[QT_PI_PAIR].data, scratch);
    gain[1] = sum_of(atoms, scratch);
  }
  WEIR_TRY(qt_ranks_sum(j->spec->comm, "power", gain, 3));
  j->out->sent_bytes = gain[2];
  step->gain_of_electrons = gain[0];
  step->gain_of_phonons = gain[1];
  return WEIR_OK;
}

void born_tell_step(const born_job *j)
{
  const qt_born_step *s = &j->out->step[j->out->n_steps - 1];

  if (!j->spec->quiet) {
    weir_info("scattering",
              "iteration %lld: change %.2e, current %.8g A, relative errors: current %.1e, energy "
              "%.1e, identity %.1e",
              (long long)(j->out->n_steps - 1), s->change, s->current[QT_LEFT], s->current_error,
              s->energy_error, s->identity_error);
  }
}

weir_status born_add_step(born_job *j, const qt_born_step *step)
{
  qt_born *out = j->out;

  WEIR_TRY(qt_ranks_agree(
      j->spec->comm, weir_reserve(&out->step, &j->capacity, out->n_steps + 1, sizeof *out->step)));
  out->step[out->n_steps++] = *step;
  return WEIR_OK;
}

/* Injected current of the contacts, in either direction: what rounding of a current is of. */
static double gross_current(const born_job *j)
{
  const int64_t n = born_points(j, BORN_ELECTRONS) * QT_LEADS;

  return j->self.spec.spin * QT_CONDUCTANCE * j->self.spec.step / (double)j->spec->n_k *
         sum_of(n, j->gross[BORN_ELECTRONS]);
}

/* Whether contacts give no energy, but for what is asked and rounding. */
static bool is_balanced(const born_job *j, const qt_born_step *last)
{
  const double rounding = 1e-12, asked = j->spec->opts->energy_tolerance;
  const double width = j->self.spec.step * (double)j->spec->n_energies;
  double sum;
  const double largest = born_largest_energy(j, last, &sum);

  return asked == 0 || fabs(sum) <= asked * largest + rounding * gross_current(j) * width;
}

bool born_is_converged(const born_job *j)
{
  const qt_scattering_opts *o = j->spec->opts;
  const qt_born_step *last = &j->out->step[j->out->n_steps - 1];
  const double change = fabs(last[0].current[QT_LEFT] - last[-1].current[QT_LEFT]);

  return last->change < o->tolerance && is_balanced(j, last) &&
         change <=
             o->current_tolerance * fabs(last->current[QT_LEFT]) + o->tolerance * gross_current(j);
}

static weir_status solve_own(born_job *j)
{
  const double began = born_clock(j);

  WEIR_TRY(born_solve_electrons(j));
  const double between = born_clock(j);

  j->out->seconds[QT_BORN_ELECTRONS] += between - began;
  if (!j->has_phonons || j->self.spec.phonons) {
    WEIR_TRY(born_solve_phonons(j));
    j->has_phonons = true;
    j->out->seconds[QT_BORN_PHONONS] += born_clock(j) - between;
  }
  return WEIR_OK;
}

weir_status born_solve(born_job *j)
{
  return qt_ranks_agree(j->spec->comm, solve_own(j));
}

weir_status born_fail(born_job *j)
{
  const qt_born_step *last = &j->out->step[j->out->n_steps - 1];

  WEIR_TRY(born_save(j));
  return weir_fail(WEIR_ERR_NUMERIC,
                   "scattering.max_iterations: after %lld iterations the self-energy changes by "
                   "%.3g (scattering.tolerance: %.3g), the current by %.3g A, and energies balance "
                   "to %.3g: set scattering.method=anderson (needs PETSc), or raise max_iterations "
                   "where these still fall; where they grow set a smaller scattering.mixing",
                   (long long)(j->out->n_steps - 1), last->change, j->spec->opts->tolerance,
                   last->current[QT_LEFT] - last[-1].current[QT_LEFT], last->energy_error);
}

static weir_status iterate_simply(born_job *j)
{
  qt_born_step step;

  while (j->out->n_steps <= j->spec->opts->max_iterations) {
    WEIR_TRY(born_renew(j, &step));
    born_mix(j);
    WEIR_TRY(born_solve(j));
    WEIR_TRY(born_measure(j, &step));
    WEIR_TRY(born_add_step(j, &step));
    born_tell_step(j);
    if (born_is_converged(j)) {
      return WEIR_OK;
    }
    WEIR_TRY(born_pause(j));
  }
  return born_fail(j);
}

weir_status born_iterate(born_job *j)
{
  const bool simple = j->spec->opts->method == QT_BORN_SIMPLE;
  qt_born_step step = {.change = 1};

  WEIR_TRY(born_load(j));
  if (simple || j->n_earlier == 0) { /* else PETSc asks for other Green's functions next */
    WEIR_TRY(born_solve(j));
  }
  if (j->out->n_steps == 0) {
    WEIR_TRY(born_measure(j, &step));
    WEIR_TRY(born_add_step(j, &step));
    born_tell_step(j);
    WEIR_TRY(born_pause(j));
  }
  const double began = born_clock(j);
  const weir_status status = simple ? iterate_simply(j) : born_accelerate(j);

  j->out->seconds[QT_BORN_STEPS] += born_clock(j) - began;
  return status;
}
