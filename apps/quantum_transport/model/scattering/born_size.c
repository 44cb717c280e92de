/* born_size.c - see born.h: what an iteration takes. */
#include "model/scattering/born_priv.h"

static double bytes_of(const born_job *j)
{
  double bytes = 0;

  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    if (born_has(j, (qt_self_energy_array)i)) {
      const weir_array_desc d = qt_self_energy_desc(&j->self.spec, (qt_self_energy_array)i);

      bytes += (double)weir_desc_bytes(&d) * (born_mixes((qt_self_energy_array)i) ? 2 : 1);
    }
  }
  return bytes;
}

/* Of the recursion, for so many points. */
static weir_status recursion_flops(const qt_system *s, bool tridiagonal, int64_t points,
                                   double *out)
{
  qt_layout l;

  WEIR_TRY(qt_layout_create(s->n_blocks, s->block, &l));
  *out = (double)points * qt_rgf_flops(&l, true, tridiagonal);
  qt_layout_fini(&l);
  return WEIR_OK;
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
  j.self.spec = born_self_energy(&j);
  WEIR_TRY_GOTO(qt_self_energy_size_of(&j.self.spec, &size.self_energy), done);
  WEIR_TRY_GOTO(recursion_flops(s->electrons, false, s->n_k * s->n_energies, &size.electron_flops),
                done);
  WEIR_TRY_GOTO(recursion_flops(s->phonons, j.self.spec.phonons,
                                s->n_k * s->opts->phonons.frequencies, &size.phonon_flops),
                done);
  size.bytes = bytes_of(&j) + size.self_energy.memory;
  for (int64_t i = 0; i < j.list.n_atoms * j.list.n_neighbours; i++) {
    size.n_pairs +=
        qt_neighbours_is_pair(&j.list, i / j.list.n_neighbours, i % j.list.n_neighbours);
  }
  *out = size;
done:
  qt_neighbours_fini(&j.list);
  return status;
}
