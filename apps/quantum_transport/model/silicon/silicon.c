/* silicon.c - see silicon.h. */
#include "model/silicon/silicon.h"

weir_status qt_silicon_create(const qt_silicon_opts *o, bool is_periodic, qt_system *out)
{
  const int64_t cells[3] = {1, o->height, is_periodic ? 1 : o->width};
  const bool periodic[3] = {true, false, is_periodic};
  const double lattice[3] = {o->lattice * (1 + o->strain.x), o->lattice * (1 + o->strain.y),
                             o->lattice * (1 + o->strain.z)};
  qt_crystal crystal;
  qt_wire wire = {.n = 0};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(qt_crystal_create(cells, periodic, lattice, &crystal), done);
  if (o->particle == QT_ELECTRONS) {
    WEIR_TRY_GOTO(qt_sp3d5s_wire(&crystal, &o->electrons, &wire), done);
  } else {
    WEIR_TRY_GOTO(qt_force_wire(&crystal, &o->phonons, &wire), done);
  }
  WEIR_TRY_GOTO(qt_wire_create(&wire, o->length, NULL, (const double[QT_LEADS]){0, 0}, out), done);
  out->has_spin = o->particle == QT_ELECTRONS && o->electrons.spin_orbit;
done:
  qt_wire_fini(&wire);
  qt_crystal_fini(&crystal);
  return status;
}

int64_t qt_silicon_rows(const qt_silicon_opts *o, bool is_periodic)
{
  const int64_t atoms = 8 * o->height * (is_periodic ? 1 : o->width) - 2; /* of a cubic cell: 8 */
  const int64_t of_atom = o->particle == QT_PHONONS ? 3
                          : o->electrons.spin_orbit ? 2 * QT_ORBITALS
                                                    : QT_ORBITALS;

  return atoms * of_atom;
}
