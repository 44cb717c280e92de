/* grid_device.c - the grid of a device: atoms in a box of semiconductor, oxide around it along y
 * and z, vacuum around that, metal of gates on the surface of the oxide. */
#include <math.h>
#include <stdlib.h>

#include "base/weir_alloc.h"
#include "base/weir_sort.h"
#include "model/electrostatics/grid.h"

/* Ends along an axis, of the semiconductor, of the oxide and of the grid. */
typedef struct ends {
  double atom[2], inner[2], oxide[2], outer[2];
} ends;

static void find_ends(const qt_electrostatics_opts *o, const qt_system *s, ends e[3])
{
  for (int d = 0; d < 3; d++) {
    e[d].atom[0] = INFINITY;
    e[d].atom[1] = -INFINITY;
    for (int64_t a = 0; a < s->n_atoms; a++) {
      e[d].atom[0] = fmin(e[d].atom[0], s->atom[a].position[d]);
      e[d].atom[1] = fmax(e[d].atom[1], s->atom[a].position[d]);
    }
    const bool filled = d == 0 || s->periodic[d]; /* by the semiconductor, from end to end */
    const double middle = (e[d].atom[0] + e[d].atom[1]) / 2;

    for (int side = 0; side < 2; side++) {
      const double sign = side ? 1 : -1;
      const double more = filled ? 0 : o->oxide.thickness;

      e[d].inner[side] = filled ? middle + sign * s->cell[d][d] / 2
                                : e[d].atom[side] + sign * o->semiconductor.margin;
      e[d].oxide[side] = e[d].inner[side] + sign * more;
      e[d].outer[side] = e[d].oxide[side] + sign * (filled ? 0 : o->vacuum);
    }
  }
}

/* Sorts breakpoints and drops those that coincide. */
static int unique(int count, double *x)
{
  const double min_distance = 1e-6; /* Angstrom */
  int n = 0;

  qsort(x, (size_t)count, sizeof *x, weir_compare_f64);
  for (int i = 0; i < count; i++) {
    if (n == 0 || x[i] - x[n - 1] > min_distance) {
      x[n++] = x[i];
    }
  }
  return n;
}

static bool covers(const qt_gate_opts *gate, const ends e[3], double y, double z)
{
  const double near = 1e-6;
  const bool on[] = {y >= e[1].oxide[1] - near, y <= e[1].oxide[0] + near,
                     z >= e[2].oxide[1] - near, z <= e[2].oxide[0] + near};

  switch (gate->sides) {
  case QT_SIDES_Y:
    return on[0] || on[1];
  case QT_SIDES_Z:
    return on[2] || on[3];
  case QT_SIDES_AROUND:
    return on[0] || on[1] || on[2] || on[3];
  default:
    return on[gate->sides - QT_SIDES_Y_MAX];
  }
}

static weir_status check_gate(const qt_gate_opts *gate, int64_t number, const qt_system *s)
{
  const double length = s->cell[0][0];
  const bool y = gate->sides == QT_SIDES_Y || gate->sides == QT_SIDES_Y_MAX ||
                 gate->sides == QT_SIDES_Y_MIN || gate->sides == QT_SIDES_AROUND;
  const bool z = gate->sides == QT_SIDES_Z || gate->sides == QT_SIDES_Z_MAX ||
                 gate->sides == QT_SIDES_Z_MIN || gate->sides == QT_SIDES_AROUND;

  if (!(gate->from < gate->to) || gate->to <= 0 || gate->from >= length) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "electrostatics.gates[%lld]: from %g to %g Angstrom is no part of the device, "
                     "which is %g Angstrom long",
                     (long long)number, gate->from, gate->to, length);
  }
  if ((y && s->periodic[1]) || (z && s->periodic[2])) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "electrostatics.gates[%lld].sides: the device is periodic along %c and has no "
                     "surface there: name the sides of the other axis",
                     (long long)number, y && s->periodic[1] ? 'y' : 'z');
  }
  return WEIR_OK;
}

static void fill(const qt_electrostatics_opts *o, const ends e[3], qt_grid *g)
{
  const qt_gate_opts *gate = o->gates.items;
  const double near = 1e-6;

  for (int64_t k = 0; k < g->n[2]; k++) {
    for (int64_t j = 0; j < g->n[1]; j++) {
      for (int64_t i = 0; i < g->n[0]; i++) {
        const int64_t node = (k * g->n[1] + j) * g->n[0] + i;
        const double x = g->x[0][i] - g->origin;

        for (int64_t t = 0; t < o->gates.count; t++) {
          if (x >= gate[t].from - near && x <= gate[t].to + near &&
              covers(&gate[t], e, g->x[1][j], g->x[2][k])) {
            g->gate[node] = (int)t;
          }
        }
        if (j < g->cells[1] && k < g->cells[2] && i < g->cells[0]) {
          const double y = g->x[1][j], z = g->x[2][k];
          const bool inner = y >= e[1].inner[0] - near && y < e[1].inner[1] - near &&
                             z >= e[2].inner[0] - near && z < e[2].inner[1] - near;
          const bool oxide = y >= e[1].oxide[0] - near && y < e[1].oxide[1] - near &&
                             z >= e[2].oxide[0] - near && z < e[2].oxide[1] - near;

          g->permittivity[(k * g->cells[1] + j) * g->cells[0] + i] =
              inner   ? o->semiconductor.permittivity
              : oxide ? o->oxide.permittivity
                      : 1;
        }
      }
    }
  }
}

/* Breakpoints of all axes into at[3]; those along x are the ends of the device and of gates. */
static void list_breaks(const qt_electrostatics_opts *o, const ends e[3], double *const at[3],
                        int count[3])
{
  const qt_gate_opts *gate = o->gates.items;

  for (int d = 0; d < 3; d++) {
    count[d] = 0;
    for (int side = 0; side < 2; side++) {
      at[d][count[d]++] = e[d].outer[side];
      at[d][count[d]++] = e[d].oxide[side];
      at[d][count[d]++] = e[d].inner[side];
    }
  }
  for (int64_t t = 0; t < o->gates.count; t++) {
    const double ends_of_gate[] = {gate[t].from, gate[t].to};

    for (int side = 0; side < 2; side++) {
      const double x = e[0].inner[0] + ends_of_gate[side];

      if (x > e[0].inner[0] && x < e[0].inner[1]) {
        at[0][count[0]++] = x;
      }
    }
  }
  for (int d = 0; d < 3; d++) {
    count[d] = unique(count[d], at[d]);
  }
}

static weir_status assign_atoms(const qt_system *s, qt_grid *g)
{
  double(*point)[3] = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(s->n_atoms, sizeof *point, (void **)&point));
  for (int64_t a = 0; a < s->n_atoms; a++) {
    for (int d = 0; d < 3; d++) {
      point[a][d] = s->atom[a].position[d];
    }
  }
  status = qt_grid_assign(g, s->n_atoms, (const double(*)[3])point);
  weir_free(&point);
  return status;
}

weir_status qt_grid_of_device(const qt_electrostatics_opts *o, const qt_system *s, qt_grid *out)
{
  double *x = NULL, yz[2][6];
  int count[3];
  weir_status status = WEIR_OK;
  ends e[3];

  *out = (qt_grid){.n_atoms = 0};
  if (s->is_schematic) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "electrostatics: the positions of the atoms of this device are not known: "
                     "give a device with a geometry, such as a seed with its _centres.xyz");
  }
  if (s->periodic[2] && fabs(s->cell[2][1]) > 1e-6 * s->cell[2][2]) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "electrostatics: the lattice vectors across the current are not at right "
                     "angles (%g Angstrom along y, %g along z): give a rectangular cell",
                     s->cell[2][1], s->cell[2][2]);
  }
  for (int64_t t = 0; t < o->gates.count; t++) {
    WEIR_TRY(check_gate((const qt_gate_opts *)o->gates.items + t, t, s));
  }
  find_ends(o, s, e);
  WEIR_TRY(weir_alloc(6 + 2 * o->gates.count, sizeof *x, (void **)&x));
  list_breaks(o, e, (double *const[3]){x, yz[0], yz[1]}, count);
  const bool periodic[3] = {false, s->periodic[1], s->periodic[2]};

  WEIR_TRY_GOTO(
      qt_grid_create((const double *const[3]){x, yz[0], yz[1]}, count, periodic, o->spacing, out),
      done);
  out->origin = e[0].inner[0];
  out->volume = (e[0].inner[1] - e[0].inner[0]) * (e[1].inner[1] - e[1].inner[0]) *
                (e[2].inner[1] - e[2].inner[0]) / (double)s->n_atoms;
  fill(o, e, out);
  status = assign_atoms(s, out);
done:
  weir_free(&x);
  if (status != WEIR_OK) {
    qt_grid_fini(out);
  }
  return status;
}
