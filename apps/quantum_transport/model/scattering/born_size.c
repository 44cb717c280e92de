/* born_size.c - see born.h: what an iteration takes. */
#include <math.h>

#include "model/ranks.h"
#include "model/scattering/born_priv.h"

static double array_bytes(const born_job *j, qt_self_energy_array which)
{
  const weir_array_desc d = qt_self_energy_desc(&j->self.spec, which);

  return born_has(j, which) ? (double)weir_desc_bytes(&d) / j->tiles.ranks : 0;
}

/* Of all arrays, the second ones of what is mixed, and the results of born_finish. */
static double bytes_of(const born_job *j)
{
  double bytes = 0;

  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    const qt_self_energy_array which = (qt_self_energy_array)i;

    bytes += array_bytes(j, which) * (born_mixes(which) ? 3 : i > QT_SIGMA ? 2 : 1);
  }
  return bytes;
}

/* Of the self-energies that PETSc combines. */
static double vector_bytes(const born_job *j)
{
  return j->spec->opts->method == QT_BORN_SIMPLE
             ? 0
             : array_bytes(j, QT_SIGMA) + array_bytes(j, QT_PI_SELF) + array_bytes(j, QT_PI_PAIR);
}

/* Of PETSc: its vectors, two of each that it remembers and some more. */
static double petsc_bytes(const born_job *j)
{
  const double more = 8;

  return (2 * (double)j->spec->opts->history + more) * vector_bytes(j);
}

/* Flops of the recursion for so many points; adds the bytes of a rank. */
static weir_status size_points(const qt_system *s, bool tridiagonal, int64_t points, int ranks,
                               int threads, double *flops, double *bytes)
{
  qt_layout l;
  double more;

  WEIR_TRY(qt_open_points_bytes(s, (points + ranks - 1) / ranks, threads, tridiagonal, &more));
  WEIR_TRY(qt_layout_create(s->n_blocks, s->block, &l));
  *flops = (double)points * qt_rgf_flops(&l, true, tridiagonal);
  *bytes += more;
  qt_layout_fini(&l);
  return WEIR_OK;
}

static int ranks_of(const qt_born_spec *s)
{
  const int64_t asked = s->opts->tiles.ranks;

  return s->comm != NULL ? qt_ranks_size(s->comm) : asked > 0 ? (int)asked : 1;
}

/* What moves among ranks. */
static weir_status size_volume(const born_job *j, qt_born_size *out)
{
  const qt_self_energy_spec *s = &j->self.spec;
  const qt_volume_sizes n = qt_volume_sizes_of(s);

  out->tiles = j->tiles;
  out->of_tiles = qt_volume_formula(&n, j->tiles.atoms, j->tiles.energies);
  out->of_points = qt_volume_of_points(&n, j->tiles.ranks);
  for (int i = 0; i < QT_TENSORS; i++) {
    out->volume.bytes[i] = NAN;
  }
  return j->tiles.ranks <= QT_VOLUME_MAX_RANKS ? qt_volume_of_tiles(s, &j->tiles, &out->volume)
                                               : WEIR_OK;
}

weir_status qt_born_size_of(const qt_born_spec *s, qt_born_size *out)
{
  born_job j = {.spec = s};
  qt_born_size size = {.n_pairs = 0};
  weir_status status = WEIR_OK;

  *out = size;
  WEIR_TRY(born_check(s));
  WEIR_TRY(
      qt_neighbours_create(s->electrons, s->gradient, s->phonons->atom[0].n_orbitals, &j.list));
  WEIR_TRY_GOTO(born_find_tiles(&j, ranks_of(s)), done);
  j.self.spec = born_self_energy(&j);
  WEIR_TRY_GOTO(qt_self_energy_size_of(&j.self.spec, &size.self_energy), done);
  WEIR_TRY_GOTO(size_volume(&j, &size), done);
  WEIR_TRY_GOTO(size_points(s->electrons, false, s->n_k * s->n_energies, j.tiles.ranks, s->threads,
                            &size.electron_flops, &size.bytes),
                done);
  WEIR_TRY_GOTO(size_points(s->phonons, j.self.spec.phonons, s->n_k * s->opts->phonons.frequencies,
                            j.tiles.ranks, s->threads, &size.phonon_flops, &size.bytes),
                done);
  size.bytes += bytes_of(&j) + size.self_energy.memory;
  size.petsc_bytes = petsc_bytes(&j);
  size.saved_bytes = vector_bytes(&j) / 2; /* anti-Hermitian */
  for (int64_t i = 0; i < j.list.n_atoms * j.list.n_neighbours; i++) {
    size.n_pairs +=
        qt_neighbours_is_pair(&j.list, i / j.list.n_neighbours, i % j.list.n_neighbours);
  }
  *out = size;
done:
  qt_neighbours_fini(&j.list);
  return status;
}
