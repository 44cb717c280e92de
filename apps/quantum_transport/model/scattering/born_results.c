/* born_results.c - see born_priv.h: currents, powers and temperatures of the Green's functions. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/ranks.h"
#include "model/scattering/born_priv.h"
#include "model/scattering/power.h"
#include "model/units.h"

/* ---- A step ---- */

/* A / eV of electrons at an energy of a wave vector; W / eV^2 of phonons. */
static double unit_of(const born_job *j, int particle)
{
  return QT_CONDUCTANCE / (double)j->spec->n_k *
         (particle == BORN_ELECTRONS ? j->self.spec.spin : 1);
}

static double fraction(double error, double of)
{
  return of > 0 ? error / of : error > 0 ? INFINITY : 0;
}

/* Sums over points: flows of electrons, and flows times energy of either. */
static void integrate(const born_job *j, qt_born_step *step)
{
  const double width = j->self.spec.step;

  for (int c = 0; c < QT_LEADS; c++) {
    step->current[c] = step->energy[c] = step->heat[c] = 0;
    for (int p = 0; p < 2; p++) {
      double *const power = p == BORN_ELECTRONS ? &step->energy[c] : &step->heat[c];

      for (int64_t i = 0; i < born_points(j, p); i++) {
        const double flow = unit_of(j, p) * width * j->flow[p][i * QT_LEADS + c];

        /* what phonons take in is -tr(Pi^< D^> - Pi^> D^<) */
        *power += (p == BORN_ELECTRONS ? 1 : -1) * flow * j->energy[p][i % born_energies(j, p)];
        step->current[c] += p == BORN_ELECTRONS ? flow : 0;
      }
    }
  }
}

/* Electrons that scattering adds at point i of this rank, less those it takes. */
static double scattered(const born_job *j, int64_t i)
{
  const int64_t n = j->list.n_orbitals, atoms = j->list.n_atoms;
  const int64_t half = weir_tensor_numel(&j->t[QT_GREEN]) / 2;
  const weir_c128 *sigma = j->used[QT_SIGMA].data, *green = j->t[QT_GREEN].data;
  double sum = 0;

  for (int64_t at = i * atoms * n * n; at < (i + 1) * atoms * n * n && j->scatters; at += n * n) {
    sum += qt_trace_of_product(n, n, sigma + at, green + half + at) -
           qt_trace_of_product(n, n, sigma + half + at, green + at);
  }
  return sum;
}

double born_largest_energy(const born_job *j, const qt_born_step *step, double *sum)
{
  const bool coupled = j->spec->opts->phonons.state == QT_PHONONS_COUPLED;
  const qt_reservoir *r = j->spec->reservoir;
  const double mu = (r[QT_LEFT].mu + r[QT_RIGHT].mu) / 2;
  const double current = step->current[QT_LEFT] + step->current[QT_RIGHT];
  const double in[] = {step->energy[QT_LEFT] + step->energy[QT_RIGHT] - mu * current,
                       coupled ? step->heat[QT_LEFT] : step->gain_of_electrons,
                       coupled ? step->heat[QT_RIGHT] : 0};
  double largest = 0;

  *sum = 0;
  for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
    *sum += in[i];
    largest = fmax(largest, fabs(in[i]));
  }
  return largest;
}

/* Those of other ranks are 0, so that adding them changes nothing. */
static weir_status complete(const born_job *j, int particle, int64_t of_point, double *values)
{
  const qt_point_box *own = &j->own[particle];
  const int64_t n = born_energies(j, particle);

  for (int64_t i = 0; i < born_points(j, particle) * of_point; i++) {
    const int64_t k = i / of_point / n, e = i / of_point % n;

    if (k < own->k[0] || k >= own->k[1] || e < own->e[0] || e >= own->e[1]) {
      values[i] = 0;
    }
  }
  return qt_ranks_sum(j->spec->comm, "points", values, born_points(j, particle) * of_point);
}

static weir_status complete_all(const born_job *j)
{
  for (int p = 0; p < 2; p++) {
    WEIR_TRY(complete(j, p, QT_LEADS, j->flow[p]));
    WEIR_TRY(complete(j, p, QT_LEADS, j->gross[p]));
  }
  for (int64_t i = 0; i < qt_point_box_count(&j->own[BORN_ELECTRONS]); i++) {
    j->scattered[born_point(j, BORN_ELECTRONS, i)] = scattered(j, i);
  }
  return complete(j, BORN_ELECTRONS, 1, j->scattered);
}

weir_status born_measure(born_job *j, qt_born_step *step)
{
  const int64_t points = born_points(j, BORN_ELECTRONS);
  double worst = 0, max = 0, sum = 0;

  WEIR_TRY(complete_all(j));
  integrate(j, step);
  for (int64_t i = 0; i < points; i++) {
    const double *flow = j->flow[BORN_ELECTRONS] + i * QT_LEADS;
    const double *gross = j->gross[BORN_ELECTRONS] + i * QT_LEADS;

    worst = fmax(worst, fabs(flow[QT_LEFT] + flow[QT_RIGHT] + j->scattered[i]));
    max = fmax(max, fmax(gross[QT_LEFT], gross[QT_RIGHT]));
  }
  step->identity_error = fraction(worst, max);
  step->current_error = fraction(fabs(step->current[QT_LEFT] + step->current[QT_RIGHT]),
                                 fabs(step->current[QT_LEFT]));
  const double largest = born_largest_energy(j, step, &sum);

  step->energy_error = fraction(fabs(sum), largest);
  return WEIR_OK;
}

/* ---- The last Green's functions ---- */

/* Electrons that go from l to a = pair `at` with a phonon of this rank, less those that come back:
 * A. */
static double hop_of(const born_job *j, const weir_c128 *c, const weir_c128 *t, int64_t at)
{
  const int64_t n = j->list.n_directions, pairs = j->list.n_atoms * j->list.n_neighbours;
  const int64_t points = qt_point_box_count(&j->own[BORN_PHONONS]), half = points * pairs * n * n;
  const int64_t reverse = j->list.reverse[at];
  double sum = 0;

  for (int64_t i = 0; i < points * n * n; i++) {
    const int64_t point = i / n / n, ij = i % (n * n), ji = ij % n * n + ij / n;
    const weir_c128 *here = t + (point * pairs + at) * n * n;
    const weir_c128 *there = t + (point * pairs + reverse) * n * n;
    const weir_c128 *couple = c + (point * pairs + at) * n * n;
    const weir_c128 product[4][2] = {{couple[ij], there[half + ji]},
                                     {couple[half + ji], here[ij]},
                                     {couple[half + ij], there[ji]},
                                     {couple[ji], here[half + ij]}};

    for (int p = 0; p < 4; p++) { /* the real part of i times it */
      const weir_c128 x = product[p][0], y = product[p][1];

      sum -= (p < 2 ? 1 : -1) * (x.re * y.im + x.im * y.re);
    }
  }
  return QT_CONDUCTANCE * j->self.spec.step / (double)j->spec->n_k * sum;
}

/* Currents over the cuts: by coupling, and by hops from any atom to one beyond the cut. */
static weir_status find_cuts(const born_job *j, const weir_tensor *t)
{
  qt_born *out = j->out;
  const int64_t cuts = out->n_cuts, n_e = out->n_energies, width = j->list.n_neighbours;
  const int64_t *block = j->of_electrons.block;

  WEIR_TRY(complete(j, BORN_ELECTRONS, cuts, j->cut));
  for (int64_t i = 0; i < j->spec->n_k * n_e; i++) {
    for (int c = 0; c < QT_LEADS; c++) {
      out->flow[c][i % n_e] +=
          unit_of(j, BORN_ELECTRONS) * j->flow[BORN_ELECTRONS][i * QT_LEADS + c];
    }
    for (int64_t n = 0; n < cuts; n++) {
      const double current = unit_of(j, BORN_ELECTRONS) * j->cut[i * cuts + n];

      out->cut[i % n_e * cuts + n] += current;
      out->elastic[n] += j->self.spec.step * current;
    }
  }
  for (int64_t at = 0; at < j->list.n_atoms * width; at++) {
    const int64_t a = at / width, l = j->list.atom[at];

    if (block[l] < block[a]) {
      const double current = hop_of(j, t[QT_COUPLING].data, t[QT_EMISSION].data, at);

      for (int64_t n = block[l]; n < block[a]; n++) {
        out->hop[n] += current;
      }
    }
  }
  return qt_ranks_sum(j->spec->comm, "hops", out->hop, cuts);
}

/* Occupied states of an atom's vibrations, and all of them, at each frequency. */
typedef struct vibrations {
  const double *energy;      /* [n] hbar omega                       */
  double *occupied, *states; /* [n] tr iD^<, tr i(D^> - D^<)        */
  int64_t n;
} vibrations;

/* int w^2 tr A N(w, T), less int w^2 tr iD^<. */
static double excess(const vibrations *v, double temperature)
{
  double sum = 0;

  for (int64_t w = 0; w < v->n; w++) {
    sum += v->energy[w] * v->energy[w] *
           (v->states[w] * qt_bose(v->energy[w], temperature) - v->occupied[w]);
  }
  return sum;
}

/* By bisection; NaN where no temperature is that of the vibrations. */
static double temperature_of(const vibrations *v)
{
  double low = 0, high = 1;

  while (excess(v, high) < 0 && high < 1e6) {
    low = high;
    high *= 2;
  }
  if (!(excess(v, high) >= 0) || !(excess(v, 0) <= 0)) {
    return NAN;
  }
  for (int i = 0; i < 100 && high - low > 1e-12 * high; i++) {
    const double middle = (low + high) / 2;

    *(excess(v, middle) < 0 ? &low : &high) = middle;
  }
  return (low + high) / 2;
}

/* Adds those of this rank's points to sums [atoms, occupied and all states, frequencies]. */
static void add_vibrations(const born_job *j, double *sums)
{
  const int64_t n = j->list.n_directions, atoms = j->list.n_atoms;
  const int64_t n_w = born_energies(j, BORN_PHONONS),
                points = qt_point_box_count(&j->own[BORN_PHONONS]);
  const weir_c128 *d = j->t[QT_PHONON_SELF].data;
  const int64_t half = points * atoms * n * n;

  for (int64_t i = 0; i < points * atoms * n; i++) {
    const int64_t a = i / n % atoms, w = born_point(j, BORN_PHONONS, i / n / atoms) % n_w;
    const int64_t at = i / n * n * n + i % n * (n + 1);

    sums[2 * n_w * a + w] -= d[at].im;
    sums[2 * n_w * a + n_w + w] += d[at].im - d[half + at].im;
  }
}

static weir_status find_temperatures(const born_job *j)
{
  const int64_t atoms = j->list.n_atoms, n_w = born_energies(j, BORN_PHONONS);
  double *memory = NULL;
  weir_status status =
      qt_ranks_agree(j->spec->comm, weir_alloc(2 * n_w * atoms, sizeof *memory, (void **)&memory));

  if (status == WEIR_OK) {
    add_vibrations(j, memory);
    status = qt_ranks_sum(j->spec->comm, "vibrations", memory, 2 * n_w * atoms);
  }
  for (int64_t a = 0; a < atoms && status == WEIR_OK; a++) {
    double *occupied = memory + 2 * n_w * a;
    const vibrations v = {j->energy[BORN_PHONONS], occupied, occupied + n_w, n_w};

    j->out->temperature[a] = temperature_of(&v);
  }
  weir_free(&memory);
  return status;
}

/* Whether phonons enter from a lead at the last frequency as they do at others. */
static bool is_truncated(const born_job *j)
{
  const int64_t n = born_energies(j, BORN_PHONONS);
  const double little = 1e-3, *gross = j->gross[BORN_PHONONS];
  double last = 0, max = 0;

  for (int64_t i = 0; i < born_points(j, BORN_PHONONS) * QT_LEADS; i++) {
    const bool is_last = i / QT_LEADS % n == n - 1;

    max = fmax(max, gross[i]);
    last = is_last ? fmax(last, gross[i]) : last;
  }
  return last > little * max;
}

/* What is summed. */
static void clear(qt_born *out)
{
  for (int c = 0; c < QT_LEADS; c++) {
    memset(out->flow[c], 0, (size_t)out->n_energies * sizeof(double));
  }
  memset(out->cut, 0, (size_t)(out->n_energies * out->n_cuts) * sizeof(double));
  memset(out->elastic, 0, (size_t)out->n_cuts * sizeof(double));
  memset(out->hop, 0, (size_t)out->n_cuts * sizeof(double));
}

/* Of atoms, what all ranks give. */
static weir_status find_powers(const born_job *j, const qt_self_energy_spec *s,
                               const weir_tensor *t)
{
  qt_born *out = j->out;

  qt_power_of_electrons(s, j->energy[BORN_ELECTRONS], 0, t[QT_GREEN].data, t[QT_SIGMA].data,
                        out->gain_of_electrons);
  qt_power_of_phonons(s, t[QT_PHONON_SELF].data, t[QT_PHONON_PAIR].data, t[QT_PI_SELF].data,
                      t[QT_PI_PAIR].data, out->gain_of_phonons);
  WEIR_TRY(qt_ranks_sum(j->spec->comm, "power", out->gain_of_electrons, out->n_atoms));
  return qt_ranks_sum(j->spec->comm, "power", out->gain_of_phonons, out->n_atoms);
}

/* Green's functions are those of j; self-energies have memory of their own. */
static weir_status allocate_last(const born_job *j, const qt_self_energy_spec *s, weir_tensor *t)
{
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    const weir_array_desc d = qt_self_energy_own_desc(s, (qt_self_energy_array)i);

    if (i < QT_SIGMA) {
      t[i] = j->t[i];
    } else {
      WEIR_TRY(weir_tensor_init(&t[i], d.dtype, d.rank, d.shape));
    }
  }
  return WEIR_OK;
}

weir_status born_finish(born_job *j)
{
  qt_self_energy_spec spec = j->self.spec;
  weir_tensor t[QT_SELF_ENERGY_ARRAYS] = {{.data = NULL}};
  qt_self_energy all = {.plan = NULL};
  weir_status status = WEIR_OK;

  spec.phonons = true;
  clear(j->out);
  j->out->truncated = is_truncated(j);
  WEIR_TRY(qt_self_energy_create(&spec, &all));
  WEIR_TRY_GOTO(qt_ranks_agree(j->spec->comm, allocate_last(j, &spec, t)), done);
  WEIR_TRY_GOTO(qt_self_energy_run(&all, t), done);
  WEIR_TRY_GOTO(find_cuts(j, t), done);
  WEIR_TRY_GOTO(find_powers(j, &spec, t), done);
  status = find_temperatures(j);
done:
  for (int i = QT_SIGMA; i < QT_SELF_ENERGY_ARRAYS; i++) {
    weir_tensor_fini(&t[i]);
  }
  qt_self_energy_fini(&all);
  return status;
}
