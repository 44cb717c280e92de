/* born.c - see born.h: what is computed, and its memory. */
#include "model/scattering/born.h"

#include <math.h>

#include "base/weir_alloc.h"
#include "model/ranks.h"
#include "model/scattering/born_priv.h"
#include "model/units.h"

void qt_born_fini(qt_born *b)
{
  weir_free(&b->step);
  weir_free(&b->flow[QT_LEFT]);
  weir_free(&b->flow[QT_RIGHT]);
  weir_free(&b->cut);
  weir_free(&b->elastic);
  weir_free(&b->hop);
  weir_free(&b->gain_of_electrons);
  weir_free(&b->gain_of_phonons);
  weir_free(&b->temperature);
  *b = (qt_born){.n_steps = 0};
}

void born_fini(born_job *j)
{
  qt_neighbours_fini(&j->list);
  qt_self_energy_fini(&j->self);
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    weir_tensor_fini(&j->t[i]);
    weir_tensor_fini(&j->used[i]);
  }
  qt_open_points_fini(&j->electrons);
  qt_open_points_fini(&j->phonons);
  born_atoms_fini(&j->of_electrons);
  born_atoms_fini(&j->of_phonons);
  weir_free(&j->mass_factor);
  for (int p = 0; p < 2; p++) {
    weir_free(&j->energy[p]);
    weir_free(&j->flow[p]);
    weir_free(&j->gross[p]);
  }
  weir_free(&j->cut);
  weir_free(&j->scattered);
  weir_free(&j->scratch);
  weir_free(&j->residual);
  weir_free(&j->earlier);
}

/* ---- What cannot be computed ---- */

static weir_status check_atoms(const qt_system *electrons, const qt_system *phonons)
{
  const double apart = 1e-3; /* Angstrom */

  if (electrons->particle != QT_ELECTRONS || phonons->particle != QT_PHONONS) {
    return weir_fail(WEIR_ERR_CONFIG, "scattering: `device` needs electrons and "
                                      "scattering.phonons.device phonons");
  }
  if (electrons->n_atoms != phonons->n_atoms) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "scattering.phonons.device has %lld atoms, the device %lld: give the same "
                     "device as phonons",
                     (long long)phonons->n_atoms, (long long)electrons->n_atoms);
  }
  for (int64_t a = 0; a < phonons->n_atoms; a++) {
    const qt_atom *x = &electrons->atom[a], *y = &phonons->atom[a];

    if (y->n_orbitals != phonons->atom[0].n_orbitals || !(y->mass > 0)) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "scattering.phonons.device: atom %lld has %lld displacements and mass %g "
                       "amu; all need as many as the first one, and a mass",
                       (long long)a, (long long)y->n_orbitals, y->mass);
    }
    for (int i = 0; i < 3; i++) {
      if (!(fabs(x->position[i] - y->position[i]) <= apart)) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "scattering.phonons.device: atom %lld is %g Angstrom from that of the "
                         "device along %c: give both the same geometry (spacing, lattice constant, "
                         "strain)",
                         (long long)a, y->position[i] - x->position[i], "xyz"[i]);
      }
    }
  }
  return WEIR_OK;
}

static weir_status check_grids(const qt_born_spec *s)
{
  const int64_t n = s->n_energies;
  const double rounding = 1e-9;

  if (n < 2) {
    return weir_fail(WEIR_ERR_CONFIG, "energy.points: scattering needs at least 2 energies");
  }
  const double step = (s->energy[n - 1] - s->energy[0]) / (double)(n - 1);

  for (int64_t e = 0; e < n; e++) {
    if (!(step > 0) ||
        !(fabs(s->energy[e] - s->energy[0] - step * (double)e) <= rounding * step * (double)n)) {
      return weir_fail(WEIR_ERR_CONFIG, "scattering: energies are not at equal distances");
    }
  }
  for (int64_t k = 1; k < s->n_k; k++) {
    if (s->k[k][0] != s->k[0][0] && s->k[k][1] != s->k[0][1]) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "k.ny, k.nz: scattering has wave vectors along one direction alone; set one "
                       "of them to 1");
    }
  }
  return WEIR_OK;
}

static weir_status check_periods(const qt_system *electrons, const qt_system *phonons)
{
  const double apart = 1e-3; /* Angstrom */

  for (int d = 1; d < 3; d++) {
    bool same = electrons->periodic[d] == phonons->periodic[d];

    for (int i = 0; i < 3 && electrons->periodic[d]; i++) {
      same = same && fabs(electrons->cell[d][i] - phonons->cell[d][i]) <= apart;
    }
    if (!same) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "scattering.phonons.device: its period along %c is not that of the device: "
                       "give the same device as phonons",
                       "xyz"[d]);
    }
  }
  return WEIR_OK;
}

/* Whether block (a, a) of a matrix holds more than zeros. */
static bool couples(const qt_sparse *m, const qt_atom *a)
{
  for (int64_t e = m->start[a->first]; e < m->start[a->first + a->n_orbitals]; e++) {
    if (m->column[e] >= a->first && m->column[e] < a->first + a->n_orbitals &&
        (m->value[e].re != 0 || m->value[e].im != 0)) {
      return true;
    }
  }
  return false;
}

/* nabla H between an atom and its own image is not known (gradient.h). Where q = 0 alone is
 * computed both move alike, and nothing couples. */
static weir_status check_images(const qt_born_spec *s)
{
  const qt_system *e = s->electrons;

  for (int64_t m = 0; m < e->h.count && s->n_k > 1; m++) {
    const int64_t *image = e->h.image[m];

    for (int64_t a = 0; a < e->n_atoms && (image[0] != 0 || image[1] != 0); a++) {
      if (couples(&e->h.matrix[m], &e->atom[a])) {
        return weir_fail(WEIR_ERR_UNSUPPORTED,
                         "scattering: H couples atom %lld to its own image (%lld, %lld), whose "
                         "nabla H is not known: give a cell of two periods, or one wave vector",
                         (long long)a, (long long)image[0], (long long)image[1]);
      }
    }
  }
  return WEIR_OK;
}

weir_status born_check(const qt_born_spec *s)
{
  WEIR_TRY(check_atoms(s->electrons, s->phonons));
  WEIR_TRY(check_periods(s->electrons, s->phonons));
  WEIR_TRY(check_grids(s));
  return check_images(s);
}

/* Pairs whose blocks of D are computed. */
static weir_status check_pairs(const born_job *j)
{
  const int64_t width = j->list.n_neighbours, *block = j->of_phonons.block;

  for (int64_t i = 0; i < j->list.n_atoms * width; i++) {
    const int64_t a = i / width, l = j->list.atom[i];

    if (block[a] - block[l] > 1 || block[l] - block[a] > 1) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "scattering.phonons.device: atoms %lld and %lld, which electrons couple, "
                       "are in blocks %lld and %lld; use blocks of more atoms",
                       (long long)a, (long long)l, (long long)block[a], (long long)block[l]);
    }
  }
  return WEIR_OK;
}

/* ---- Memory and points ---- */

qt_self_energy_spec born_self_energy(const born_job *j)
{
  const qt_born_spec *s = j->spec;

  return (qt_self_energy_spec){
      .neighbours = &j->list,
      .n_k = s->n_k,
      .n_energies = s->n_energies,
      .n_frequencies = s->opts->phonons.frequencies,
      .step = (s->energy[s->n_energies - 1] - s->energy[0]) / (double)(s->n_energies - 1),
      .spin = qt_system_spin(s->electrons),
      .retarded = (qt_retarded)s->opts->retarded,
      .phonons = s->opts->phonons.state == QT_PHONONS_COUPLED,
      .threads = s->threads,
      .exec = s->exec,
      .fission = s->opts->fission,
      .window = s->opts->window,
      .precision = s->opts->precision,
      .unscaled = !s->opts->normalise,
      .memory = s->opts->memory * 0x1p20,
      .tiles = j->tiles.ranks > 1 ? &j->tiles : NULL,
  };
}

weir_status born_find_tiles(born_job *j, int ranks)
{
  const qt_born_spec *s = j->spec;
  const int64_t asked = s->opts->tiles.atoms;
  const qt_self_energy_spec self = born_self_energy(j);

  if (asked > ranks || (asked > 0 && ranks % asked != 0)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "scattering.tiles.atoms: %lld does not divide the number of ranks, %d",
                     (long long)asked, ranks);
  }
  const bool points = s->opts->tiles.scheme == QT_SCHEME_POINTS;

  if (points && asked > 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "scattering.tiles.atoms: %lld, with scattering.tiles.scheme=points there are "
                     "no ranges of atoms: set it to 0, or the scheme to tiles",
                     (long long)asked);
  }
  if (points || asked > 0) {
    j->tiles =
        qt_tiles_of(ranks, points ? 1 : (int)asked, self.n_k, self.n_energies, self.n_frequencies);
  } else {
    WEIR_TRY(qt_tiles_search(&self, ranks, &j->tiles));
  }
  j->tiles.comm = s->comm;
  j->tiles.by_frequency = points && ranks > 1;
  return WEIR_OK;
}

bool born_mixes(qt_self_energy_array which)
{
  return which >= QT_SIGMA && which < QT_COUPLING;
}

static weir_status allocate_results(const born_job *j, qt_born *out)
{
  const int64_t atoms = j->list.n_atoms, cuts = out->n_cuts, n_e = out->n_energies;

  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY(weir_alloc(n_e, sizeof *out->flow[c], (void **)&out->flow[c]));
  }
  WEIR_TRY(weir_alloc(n_e * cuts, sizeof *out->cut, (void **)&out->cut));
  WEIR_TRY(weir_alloc(cuts, sizeof *out->elastic, (void **)&out->elastic));
  WEIR_TRY(weir_alloc(cuts, sizeof *out->hop, (void **)&out->hop));
  WEIR_TRY(weir_alloc(atoms, sizeof *out->gain_of_electrons, (void **)&out->gain_of_electrons));
  WEIR_TRY(weir_alloc(atoms, sizeof *out->gain_of_phonons, (void **)&out->gain_of_phonons));
  return weir_alloc(atoms, sizeof *out->temperature, (void **)&out->temperature);
}

static weir_status allocate(born_job *j)
{
  const qt_layout *l = &j->electrons.layout;

  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    const qt_self_energy_array which = (qt_self_energy_array)i;
    const weir_array_desc d = qt_self_energy_own_desc(&j->self.spec, which);

    if (born_has(j, which)) {
      WEIR_TRY(weir_tensor_init(&j->t[i], d.dtype, d.rank, d.shape));
    }
    if (born_has(j, which) && born_mixes(which)) {
      WEIR_TRY(weir_tensor_init(&j->used[i], d.dtype, d.rank, d.shape));
    }
  }
  for (int p = 0; p < 2; p++) {
    const int64_t points = born_points(j, p);

    WEIR_TRY(weir_alloc(points * QT_LEADS, sizeof *j->flow[p], (void **)&j->flow[p]));
    WEIR_TRY(weir_alloc(points * QT_LEADS, sizeof *j->gross[p], (void **)&j->gross[p]));
  }
  const int64_t points = born_points(j, BORN_ELECTRONS);

  WEIR_TRY(weir_alloc(points * j->out->n_cuts, sizeof *j->cut, (void **)&j->cut));
  WEIR_TRY(weir_alloc(points, sizeof *j->scattered, (void **)&j->scattered));
  return weir_alloc(j->electrons.threads * 2 * l->max * l->max, sizeof *j->scratch,
                    (void **)&j->scratch);
}

/* Points of this rank, and energies of all: hbar omega = n steps. */
static weir_status find_points(born_job *j, double step)
{
  const qt_born_spec *s = j->spec;

  for (int p = 0; p < 2; p++) {
    const int64_t n = born_energies(j, p);

    j->own[p] = qt_tiles_points(&j->tiles, p, qt_ranks_rank(s->comm), s->n_k, n);
    WEIR_TRY(weir_alloc(n, sizeof *j->energy[p], (void **)&j->energy[p]));
    for (int64_t e = 0; e < n; e++) {
      j->energy[p][e] = p == BORN_ELECTRONS ? s->energy[e] : step * (double)(e + 1);
    }
  }
  return WEIR_OK;
}

/* Leads of the points of this rank; wave vectors of phonons are differences. */
static weir_status open_points(born_job *j)
{
  const qt_born_spec *s = j->spec;
  qt_open_points *const points[] = {&j->electrons, &j->phonons};
  double(*q)[2] = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(s->n_k, sizeof *q, (void **)&q));
  for (int p = 0; p < 2 && status == WEIR_OK; p++) {
    const qt_point_box *own = &j->own[p];
    const qt_open_points_spec spec = {.system = p == BORN_ELECTRONS ? s->electrons : s->phonons,
                                      .lead = s->lead,
                                      .n_k = own->k[1] - own->k[0],
                                      .n_energies = own->e[1] - own->e[0],
                                      .k = (const double(*)[2])q + own->k[0],
                                      .energy = j->energy[p] + own->e[0],
                                      .reservoir = s->reservoir,
                                      .shift = s->shift,
                                      .threads = s->threads,
                                      .exec = s->exec};

    for (int64_t k = 0; k < s->n_k; k++) {
      q[k][0] = s->k[k][0] - (p == BORN_PHONONS ? s->k[0][0] : 0);
      q[k][1] = s->k[k][1] - (p == BORN_PHONONS ? s->k[0][1] : 0);
    }
    status = qt_open_points_create(&spec, points[p]);
    j->out->n_shifted += points[p]->n_shifted;
  }
  weir_free(&q);
  return status;
}

/* Atoms, pairs and tiles. Local. */
static weir_status find_all(born_job *j)
{
  const qt_born_spec *s = j->spec;

  WEIR_TRY(born_check(s));
  WEIR_TRY(
      qt_neighbours_create(s->electrons, s->gradient, s->phonons->atom[0].n_orbitals, &j->list));
  WEIR_TRY(born_find_atoms(s->electrons, &j->of_electrons));
  WEIR_TRY(born_find_atoms(s->phonons, &j->of_phonons));
  WEIR_TRY(check_pairs(j));
  WEIR_TRY(weir_alloc(j->list.n_atoms, sizeof *j->mass_factor, (void **)&j->mass_factor));
  for (int64_t a = 0; a < j->list.n_atoms; a++) {
    j->mass_factor[a] = sqrt(QT_VIBRATION / s->phonons->atom[a].mass);
  }
  return born_find_tiles(j, qt_ranks_size(s->comm));
}

/* Leads at the points of this rank, and memory for results. Local. */
static weir_status open_own(born_job *j)
{
  WEIR_TRY(find_points(j, born_self_energy(j).step));
  const double began = born_clock(j);

  WEIR_TRY(open_points(j));
  j->out->seconds[QT_BORN_LEADS] = born_clock(j) - began;
  return allocate_results(j, j->out);
}

qt_born born_empty(const qt_born_spec *s)
{
  return (qt_born){.n_energies = s->n_energies,
                   .n_cuts = s->electrons->n_blocks - 1,
                   .n_atoms = s->electrons->n_atoms};
}

weir_status born_move(born_job *j)
{
  const qt_born_spec *s = j->spec;
  const qt_point_box *own = &j->own[BORN_ELECTRONS];
  const qt_open_points_spec spec = {.system = s->electrons,
                                    .lead = s->lead,
                                    .n_k = own->k[1] - own->k[0],
                                    .n_energies = own->e[1] - own->e[0],
                                    .k = s->k + own->k[0],
                                    .energy = s->energy + own->e[0],
                                    .reservoir = s->reservoir,
                                    .shift = s->shift,
                                    .threads = s->threads,
                                    .exec = s->exec};

  j->out->n_shifted -= j->electrons.n_shifted;
  qt_open_points_fini(&j->electrons);
  WEIR_TRY(qt_open_points_create(&spec, &j->electrons));
  j->out->n_shifted += j->electrons.n_shifted;
  return WEIR_OK;
}

weir_status born_open(born_job *j)
{
  weir_comm *comm = j->spec->comm;

  WEIR_TRY(qt_ranks_agree(comm, find_all(j)));
  /* Bytes of plans, and so the best tiles, may differ with the threads of a rank. */
  WEIR_TRY(qt_ranks_broadcast(comm, "tiles", &j->tiles, sizeof j->tiles));
  j->tiles.comm = comm;
  WEIR_TRY(qt_ranks_agree(comm, open_own(j)));
  const qt_self_energy_spec self = born_self_energy(j);
  double shifted = (double)j->out->n_shifted;

  WEIR_TRY(qt_ranks_sum(comm, "leads", &shifted, 1));
  j->out->n_shifted = (int64_t)shifted;
  WEIR_TRY(qt_self_energy_create(&self, &j->self));
  j->out->tiles = j->tiles;
  j->out->volume = qt_volume_of_plans(&j->self);
  WEIR_TRY(qt_ranks_sum(comm, "volume", j->out->volume.bytes, QT_TENSORS));
  return qt_ranks_agree(comm, allocate(j));
}

weir_status qt_born_create(const qt_born_spec *s, qt_born *out)
{
  qt_born b = born_empty(s);
  born_job j = {.spec = s, .out = &b};
  weir_status status = WEIR_OK;

  *out = (qt_born){.n_steps = 0};
  WEIR_TRY_GOTO(born_open(&j), done);
  WEIR_TRY_GOTO(born_iterate(&j), done);
  status = born_finish(&j);
done:
  born_fini(&j);
  if (status != WEIR_OK) {
    qt_born_fini(&b);
    return status;
  }
  *out = b;
  return WEIR_OK;
}
