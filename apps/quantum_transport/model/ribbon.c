/* ribbon.c - see ribbon.h. */
#include "model/ribbon.h"

#include <math.h>
#include <stdio.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "model/wire.h"

enum { DISORDER = 1, FAR = 3 };

const weir_opt qt_barrier_options[] = {
    WEIR_OPT_INT(qt_barrier, first, 0, 0, 1e6, "1", "first cell, counted from 0"),
    WEIR_OPT_INT(qt_barrier, last, 0, 0, 1e6, "1", "last cell"),
    WEIR_OPT_REAL(qt_barrier, height, 0, -1e3, 1e3, "eV", "energy added to its sites"),
    WEIR_OPT_END,
};

static weir_status check(const qt_ribbon_lattice *lattice, const qt_ribbon_opts *o)
{
  if (o->hopping == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "device.%s.hopping is 0: sites would not be connected",
                     lattice->device);
  }
  for (int64_t i = 0; i < o->barriers.count; i++) {
    const qt_barrier *b = (const qt_barrier *)o->barriers.items + i;

    if (b->first > b->last || b->last >= o->length) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "device.%s.barriers[%lld]: cells %lld to %lld of a device of %lld cells",
                       lattice->device, (long long)i, (long long)b->first, (long long)b->last,
                       (long long)o->length);
    }
  }
  return WEIR_OK;
}

static void list_atoms(const qt_ribbon_lattice *lattice, double bond, int64_t n, qt_atom *atom)
{
  for (int64_t i = 0; i < n; i++) {
    double at[2];

    lattice->locate(i, at);
    atom[i] = (qt_atom){.position = {bond * at[0], bond * at[1], 0},
                        .first = i,
                        .n_orbitals = 1,
                        .mass = lattice->mass};
    (void)snprintf(atom[i].symbol, sizeof atom[i].symbol, "%s", lattice->symbol);
  }
}

/* Neighbours of a site in its cell and the two next to it. */
static void couple(const qt_ribbon_lattice *lattice, const qt_ribbon_opts *o, int64_t n,
                   int64_t site, qt_elements *out)
{
  double from[2], to[2];

  lattice->locate(site, from);
  for (int64_t other = site < FAR ? 0 : site - FAR; other < n && other <= site + FAR; other++) {
    for (int64_t cell = -1; cell <= 1; cell++) {
      const int64_t offset[3] = {cell, 0, 0};

      lattice->locate(other, to);
      const double dx = to[0] + (double)cell * lattice->period - from[0], dy = to[1] - from[1];

      if (fabs(hypot(dx, dy) - 1) < 1e-6) {
        const double angle = -M_PI * o->flux / lattice->area * (from[1] + to[1]) * dx;

        qt_elements_add(out, site, other, offset,
                        (weir_c128){o->hopping * cos(angle), o->hopping * sin(angle)});
      }
    }
  }
  qt_elements_add(out, site, site, (const int64_t[3]){0, 0, 0}, (weir_c128){o->onsite, 0});
}

/* Energies on top of those of the left lead, [length n]. */
static void fill_profile(const qt_ribbon_lattice *lattice, const qt_ribbon_opts *o, uint64_t seed,
                         int64_t n, double *energy)
{
  for (int64_t i = 0; i < o->length * n; i++) {
    double at[2];

    lattice->locate(i % n, at);
    const double x = (double)(i / n) + at[0] / lattice->period;

    energy[i] = o->drop * x / (double)o->length +
                o->disorder * (weir_random_uniform(seed, DISORDER, 0, (uint64_t)i) - 0.5);
  }
  for (int64_t k = 0; k < o->barriers.count; k++) {
    const qt_barrier *b = (const qt_barrier *)o->barriers.items + k;

    for (int64_t i = b->first * n; i < (b->last + 1) * n; i++) {
      energy[i] += b->height;
    }
  }
}

weir_status qt_ribbon_create(const qt_ribbon_lattice *lattice, const qt_ribbon_opts *o,
                             uint64_t seed, qt_system *out)
{
  const int64_t n = o->width * lattice->sites;
  qt_wire wire = {.particle = QT_ELECTRONS, .n = n, .n_atoms = n};
  double *energy = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(check(lattice, o));
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *wire.atom, (void **)&wire.atom), done);
  WEIR_TRY_GOTO(weir_alloc(o->length * n, sizeof *energy, (void **)&energy), done);
  list_atoms(lattice, o->bond, n, wire.atom);
  for (int64_t i = 0; i < n; i++) {
    couple(lattice, o, n, i, &wire.elements);
  }
  wire.cell[0][0] = o->bond * lattice->period;
  wire.cell[1][1] = o->bond + wire.atom[n - 1].position[1];
  wire.cell[2][2] = o->bond;
  fill_profile(lattice, o, seed, n, energy);
  WEIR_TRY_GOTO(qt_wire_create(&wire, o->length, energy, (const double[QT_LEADS]){0, o->drop}, out),
                done);
done:
  weir_free(&energy);
  qt_wire_fini(&wire);
  return status;
}
