/* energies.c - see energies.h. */
#include "model/energies.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/ranks.h"

/* A step of the refinement: the grid so far and the energies to add, each in the middle of an
 * interval. Rank 0 alone has means and intervals. */
typedef struct step {
  const qt_system *s;
  const qt_transport_spec *transport;
  const qt_energies_spec *spec;
  bool leads;            /* rank 0 */
  double *energy;        /* [n] */
  double *mean;          /* [n] transmission, mean over wave vectors */
  double *open;          /* [n] the larger one of T and modes        */
  bool *done;            /* [n] the interval from energy i on        */
  bool *given;           /* [n] whether that is of the first grid    */
  bool is_short;         /* intervals too narrow to be halved may change an integral by too much */
  int64_t n, added;      /* energies of the grid, and to add          */
  double *middle;        /* [added] */
  int64_t *at;           /* [added] interval of each                 */
  int64_t initial_bytes; /* bytes of this rank before the first step */
} step;

/* ---- Integrals ---- */

static double integral_of(const qt_integral *f, int64_t n, const double *energy, const double *t)
{
  const qt_reservoir *lead = f->lead;

  switch (f->kind) {
  case QT_ELECTRON_CURRENT:
    return qt_electron_current(n, energy, t, lead, 1);
  case QT_ELECTRON_CONDUCTANCE:
    return qt_electron_conductance(n, energy, t, lead[0].mu, lead[0].temperature, 1);
  case QT_PHONON_CURRENT:
    return qt_phonon_current(n, energy, t, lead) - qt_phonon_current(1, energy, t, lead);
  default:
    return qt_phonon_conductance(n, energy, t, lead[0].temperature) -
           qt_phonon_conductance(1, energy, t, lead[0].temperature);
  }
}

static double of_interval(const qt_integral *f, const double ends[2], double first, double last)
{
  return integral_of(f, 2, ends, (const double[]){first, last});
}

/* What an integral is compared with: the sum over intervals, whatever their signs, and at least
 * what a transmission of 1e-12 gives. */
static double size_of(const step *s, const qt_integral *f)
{
  const double absolute = 1e-12;
  double sum = 0;

  for (int64_t i = 0; i + 1 < s->n; i++) {
    sum += fmax(fabs(of_interval(f, s->energy + i, s->mean[i], s->mean[i + 1])),
                absolute * fabs(of_interval(f, s->energy + i, 1, 1)));
  }
  return sum;
}

/* ---- Which intervals ---- */

/* Change of an integral that an interval is allowed which gives it `contribution`: half of the
 * tolerance is shared out by the contributions, half to all intervals alike, so that all together
 * do not exceed it. */
static double allowed(const step *s, double contribution, double size)
{
  return s->spec->tolerance / 2 * (contribution + size / (double)s->n);
}

static bool is_narrow(const step *s, int64_t i)
{
  return s->energy[i + 1] - s->energy[i] < 2 * s->spec->min_width;
}

/* What an interval gives an integral if it transmits t all along. */
static double contribution_of(const step *s, int64_t i, int f, double t)
{
  return fabs(of_interval(&s->spec->integral[f], s->energy + i, t, t));
}

/* Whether an interval may change an integral by more than it is allowed: were it open to all waves
 * that its ends have, and to one more. */
static bool may_matter(const step *s, int64_t i, const double *size)
{
  const double open = 1 + fmax(s->open[i], s->open[i + 1]);
  bool matters = false;

  for (int f = 0; f < s->spec->n_integrals; f++) {
    matters = matters || contribution_of(s, i, f, open) > allowed(s, 0, size[f]);
  }
  return matters;
}

/* Whether halving the open intervals that are too narrow for it would change an integral by more
 * than the tolerance: in the middle of one of the first grid, one wave more or less than at its
 * ends may be open; halves of another transmit between what their ends do, which they were made
 * for. */
static bool lacks_narrow(const step *s, const double *size)
{
  bool lacks = false;

  for (int f = 0; f < s->spec->n_integrals; f++) {
    double sum = 0;

    for (int64_t i = 0; i + 1 < s->n; i++) {
      const double off = fabs(s->mean[i + 1] - s->mean[i]) / 2 + (s->given[i] ? 1 : 0);

      sum += !s->done[i] && is_narrow(s, i) ? contribution_of(s, i, f, off) / 2 : 0;
    }
    lacks = lacks || sum > s->spec->tolerance * size[f];
  }
  return lacks;
}

static weir_status sizes_of(const step *s, double **size)
{
  WEIR_TRY(weir_alloc(s->spec->n_integrals, sizeof **size, (void **)size));
  for (int f = 0; f < s->spec->n_integrals; f++) {
    (*size)[f] = size_of(s, &s->spec->integral[f]);
  }
  return WEIR_OK;
}

/* Chooses the energies to add. */
static weir_status choose(step *s)
{
  double *size = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(sizes_of(s, &size));
  WEIR_TRY_GOTO(weir_alloc(s->n, sizeof *s->middle, (void **)&s->middle), done);
  WEIR_TRY_GOTO(weir_alloc(s->n, sizeof *s->at, (void **)&s->at), done);
  s->added = 0;
  for (int64_t i = 0; i + 1 < s->n; i++) {
    s->done[i] = s->done[i] || !may_matter(s, i, size);
    if (!s->done[i] && !is_narrow(s, i)) {
      s->middle[s->added] = s->energy[i] + (s->energy[i + 1] - s->energy[i]) / 2;
      s->at[s->added++] = i;
    }
  }
  s->is_short = lacks_narrow(s, size);
done:
  weir_free(&size);
  return status;
}

/* Whether the halves of an interval change an integral by more than it is allowed. */
static bool differs(const step *s, int64_t a, double middle, double t, const double *size)
{
  const double energy[] = {s->energy[a], middle, s->energy[a + 1]};
  const double value[] = {s->mean[a], t, s->mean[a + 1]}, ends[] = {energy[0], energy[2]};
  bool changes = false;

  for (int f = 0; f < s->spec->n_integrals; f++) {
    const qt_integral *integral = &s->spec->integral[f];
    const double halves = integral_of(integral, 3, energy, value);
    const double whole = of_interval(integral, ends, value[0], value[2]);

    changes = changes || fabs(halves - whole) > allowed(s, fabs(halves), size[f]);
  }
  return changes;
}

/* ---- One grid of two ---- */

/* *a [n_k, n, bytes] becomes [n_k, n + added, bytes]: items of b after the first ends of their
 * intervals. */
static weir_status weave(const step *s, int64_t n_k, size_t bytes, const void *b, void *ptr_to_a)
{
  const int64_t all = s->n + s->added;
  char **const a = ptr_to_a, *to = NULL, *out;
  const char *from = *a, *more = b;

  if (*a == NULL || bytes == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(n_k * all, bytes, (void **)&to));
  out = to;
  for (int64_t k = 0; k < n_k; k++) {
    for (int64_t i = 0, j = 0; i < s->n; i++) {
      memcpy(out, from, bytes);
      out += bytes;
      from += bytes;
      if (j < s->added && s->at[j] == i) {
        memcpy(out, more, bytes);
        out += bytes;
        more += bytes;
        j++;
      }
    }
  }
  weir_free(a);
  *a = to;
  return WEIR_OK;
}

/* What is added to the results, array by array. */
static weir_status weave_results(const step *s, const qt_transport *more, qt_transport *t)
{
  const size_t word = sizeof(double), orbitals = word * (size_t)t->n;
  const size_t bonds = word * (size_t)qt_sparse_count(&t->bonds);

  WEIR_TRY(weave(s, t->n_k, word, more->transmission, &t->transmission));
  WEIR_TRY(weave(s, t->n_k, word * (size_t)t->n_channels, more->channel, &t->channel));
  WEIR_TRY(weave(s, t->n_k, orbitals, more->dos, &t->dos));
  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY(weave(s, t->n_k, sizeof(int64_t), more->n_modes[c], &t->n_modes[c]));
    WEIR_TRY(weave(s, t->n_k, orbitals, more->lead_dos[c], &t->lead_dos[c]));
    WEIR_TRY(weave(s, t->n_k, bonds, more->bond_current[c], &t->bond_current[c]));
  }
  return WEIR_OK;
}

static void add_totals(const qt_transport *more, qt_transport *t)
{
  t->residual = fmax(t->residual, more->residual);
  t->n_shifted += more->n_shifted;
  t->n_in_order += more->n_in_order;
  t->flops += more->flops;
  t->leads_flops += more->leads_flops;
  for (int p = 0; p < QT_PHASES; p++) {
    t->seconds[p] += more->seconds[p];
  }
}

/* Means over wave vectors at n energies. */
static void means(const step *s, const qt_transport *t, int64_t n, double *mean, double *open)
{
  qt_transport_average(t->n_k, s->spec->weight, n, t->transmission, mean);
  memset(open, 0, (size_t)n * sizeof *open);
  for (int64_t i = 0; i < t->n_k * n; i++) {
    const int64_t n_modes =
        t->n_modes[0][i] > t->n_modes[1][i] ? t->n_modes[0][i] : t->n_modes[1][i];

    open[i % n] = fmax(open[i % n], fmax(t->transmission[i], (double)n_modes));
  }
}

/* The grid, its means and intervals with what was computed; those that it leaves alone are done. */
static weir_status extend(step *s, const qt_transport *more, qt_transport *t)
{
  double *mean = NULL, *open = NULL, *size = NULL;
  bool *done = NULL, *given = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(s->added, sizeof *mean, (void **)&mean), done);
  WEIR_TRY_GOTO(weir_alloc(s->added, sizeof *open, (void **)&open), done);
  WEIR_TRY_GOTO(weir_alloc(s->added, sizeof *done, (void **)&done), done);
  WEIR_TRY_GOTO(weir_alloc(s->added, sizeof *given, (void **)&given), done);
  WEIR_TRY_GOTO(sizes_of(s, &size), done);
  means(s, more, s->added, mean, open);
  for (int64_t j = 0; j < s->added; j++) {
    done[j] = !differs(s, s->at[j], s->middle[j], mean[j], size);
    s->done[s->at[j]] = done[j];
    s->given[s->at[j]] = false;
  }
  WEIR_TRY_GOTO(weave_results(s, more, t), done);
  WEIR_TRY_GOTO(weave(s, 1, sizeof *mean, mean, &s->mean), done);
  WEIR_TRY_GOTO(weave(s, 1, sizeof *open, open, &s->open), done);
  WEIR_TRY_GOTO(weave(s, 1, sizeof *done, done, &s->done), done);
  status = weave(s, 1, sizeof *given, given, &s->given);
done:
  weir_free(&mean);
  weir_free(&open);
  weir_free(&size);
  weir_free(&done);
  weir_free(&given);
  return status;
}

/* ---- All ranks ---- */

static weir_status agree(const step *s, weir_status status)
{
  return qt_ranks_agree(s->transport->comm, status);
}

/* Items of rank 0, each of 8 bytes, to all. */
static weir_status share(const step *s, void *data, int64_t count)
{
  return qt_ranks_broadcast(s->transport->comm, "energies to add", data, 8 * count);
}

/* What to add, on all ranks. */
static weir_status choose_all(step *s)
{
  int64_t found[] = {0, 0};

  weir_free(&s->middle);
  weir_free(&s->at);
  WEIR_TRY(agree(s, s->leads ? choose(s) : WEIR_OK));
  if (s->leads) {
    found[0] = s->added;
    found[1] = s->is_short;
  }
  WEIR_TRY(share(s, found, 2));
  const int64_t added = found[0];

  s->added = added;
  s->is_short = found[1] != 0;
  WEIR_TRY(
      agree(s, s->leads ? WEIR_OK : weir_alloc(added, sizeof *s->middle, (void **)&s->middle)));
  WEIR_TRY(agree(s, s->leads ? WEIR_OK : weir_alloc(added, sizeof *s->at, (void **)&s->at)));
  WEIR_TRY(share(s, s->middle, added));
  return share(s, s->at, added);
}

/* What a limit of memory leaves after what has been added and the longest array anew. */
static double memory_left(const step *s, const qt_transport *t)
{
  const int64_t bonds = qt_sparse_count(&t->bonds), longest = bonds > t->n ? bonds : t->n;
  const double woven = sizeof(double) * (double)(t->n_k * (s->n + s->added) * longest);

  return fmax(s->transport->memory - (double)(weir_alloc_bytes() - s->initial_bytes) - woven, 1);
}

static weir_status add_energies(step *s, qt_transport *t)
{
  qt_transport_spec spec = *s->transport;
  qt_transport more = {.n = 0};
  weir_status status = WEIR_OK;

  spec.n_energies = s->added;
  spec.energy = s->middle;
  spec.save = NULL;
  spec.memory = spec.memory > 0 ? memory_left(s, t) : 0;
  WEIR_TRY(qt_transport_create(s->s, &spec, &more));
  WEIR_TRY_GOTO(agree(s, s->leads ? extend(s, &more, t) : WEIR_OK), done);
  WEIR_TRY_GOTO(agree(s, weave(s, 1, sizeof *s->energy, s->middle, &s->energy)), done);
  add_totals(&more, t);
  s->n += s->added;
  t->n_energies = s->n;
done:
  qt_transport_fini(&more);
  return status;
}

static weir_status begin(step *s, const qt_transport *t)
{
  if (!s->leads) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(s->n, sizeof *s->mean, (void **)&s->mean));
  WEIR_TRY(weir_alloc(s->n, sizeof *s->open, (void **)&s->open));
  WEIR_TRY(weir_alloc(s->n, sizeof *s->done, (void **)&s->done));
  WEIR_TRY(weir_alloc(s->n, sizeof *s->given, (void **)&s->given));
  memset(s->given, true, (size_t)s->n * sizeof *s->given);
  means(s, t, s->n, s->mean, s->open);
  return WEIR_OK;
}

weir_status qt_energies_refine(const qt_system *s, const qt_transport_spec *t_spec,
                               const qt_energies_spec *spec, double **energy, int64_t *n,
                               qt_transport *t, qt_energies_end *end)
{
  step at = {.s = s,
             .transport = t_spec,
             .spec = spec,
             .leads = qt_ranks_rank(t_spec->comm) == 0,
             .energy = *energy,
             .n = *n,
             .initial_bytes = weir_alloc_bytes()};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(agree(&at, begin(&at, t)), done);
  WEIR_TRY_GOTO(choose_all(&at), done);
  while (at.added > 0 && at.n + at.added <= spec->max_points) {
    WEIR_TRY_GOTO(add_energies(&at, t), done);
    WEIR_TRY_GOTO(choose_all(&at), done);
  }
  *end = at.added > 0  ? QT_ENERGIES_MAX_POINTS
         : at.is_short ? QT_ENERGIES_MIN_WIDTH
                       : QT_ENERGIES_MET;
done:
  *energy = at.energy;
  *n = at.n;
  weir_free(&at.mean);
  weir_free(&at.open);
  weir_free(&at.done);
  weir_free(&at.given);
  weir_free(&at.middle);
  weir_free(&at.at);
  return status;
}
