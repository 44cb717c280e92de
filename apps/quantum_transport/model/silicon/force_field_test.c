/* force_field_test.c - force constants against the energy they are derivatives of, and its
 * symmetries. */
#include "model/silicon/force_field.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/units.h"

static const double lattice[3] = {5.431, 5.431, 5.431};

/* A wire of 2 x 2 cells with all constants different from 0. */
static void create(qt_crystal *c, qt_force_opts *o, qt_wire *w)
{
  weir_opts_default(qt_force_options, sizeof *o, o);
  o->model = 2;
  o->custom.gamma = 3.1;
  assert_ok(qt_crystal_create((const int64_t[3]){1, 2, 2}, (const bool[3]){true, false, false},
                              lattice, c));
  assert_ok(qt_force_wire(c, o, w));
}

/* From atom i to the end of a bond, both displaced; u repeats from cell to cell. */
static void bond_vector(const qt_crystal *c, const double *u, int64_t i, const qt_bond *b,
                        double out[3])
{
  for (int x = 0; x < 3; x++) {
    out[x] = b->vector[x] + u[3 * b->atom + x] - u[3 * i + x];
  }
}

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double chains(const qt_crystal *c, const qt_force_constants *f, const double *u, int64_t i,
                     const qt_bond *j, const qt_bond *k, double t_jik)
{
  const double at_rest = dot(lattice, lattice) / 16 / 3; /* d_ik.d_kl */
  double d_ik[3], d_kl[3], sum = 0;

  bond_vector(c, u, i, k, d_ik);
  for (int b = 0; b < 4; b++) {
    const qt_bond *l = &c->atom[k->atom].bond[b];
    const double cross[3] = {j->vector[1] * k->vector[2] - j->vector[2] * k->vector[1],
                             j->vector[2] * k->vector[0] - j->vector[0] * k->vector[2],
                             j->vector[0] * k->vector[1] - j->vector[1] * k->vector[0]};

    if (l->atom < 0 || fabs(dot(cross, l->vector)) > 1e-9 ||
        fabs(dot(k->vector, l->vector) - at_rest) > 1e-9) {
      continue; /* not in the plane, or k-i again */
    }
    bond_vector(c, u, k->atom, l, d_kl);
    sum += f->nu * t_jik * (-dot(d_ik, d_kl) + at_rest);
  }
  return sum;
}

/* The energy of a cell in N/m Angstrom^2, written down anew from the displaced positions. */
static double energy(const qt_crystal *c, const qt_force_constants *f, const double *u)
{
  const double d2 = dot(lattice, lattice) / 16;
  double sum = 0;

  for (int64_t i = 0; i < c->n; i++) {
    for (int a = 0; a < 4; a++) {
      const qt_bond *j = &c->atom[i].bond[a];
      double d_ij[3], d_ik[3];

      if (j->atom < 0) {
        continue;
      }
      bond_vector(c, u, i, j, d_ij);
      const double s_ij = dot(d_ij, d_ij) - d2;

      sum += f->alpha * s_ij * s_ij;
      for (int b = 0; b < 4; b++) {
        const qt_bond *k = &c->atom[i].bond[b];

        if (b == a || k->atom < 0) {
          continue;
        }
        bond_vector(c, u, i, k, d_ik);
        const double s_ik = dot(d_ik, d_ik) - d2, t_jik = dot(d_ij, d_ik) + d2 / 3;

        sum += f->beta * t_jik * t_jik + f->delta * s_ij * s_ik + f->gamma * s_ij * t_jik;
        sum += chains(c, f, u, i, j, k, t_jik);
      }
    }
  }
  return 3 / (16 * d2) * sum;
}

/* Displacements that repeat in each cell: u K u / 2 is the energy of small ones. */
static void force_constants_are_second_derivatives_of_the_energy(void **state)
{
  qt_force_opts o;
  qt_crystal c;
  qt_wire w;

  create(&c, &o, &w);
  for (uint32_t repeat = 0; repeat < 5; repeat++) {
    double u[2][90], harmonic = 0;

    assert_int_equal(w.n, 90);
    for (int64_t i = 0; i < w.n; i++) {
      u[0][i] = 1e-3 * (weir_random_uniform(3, repeat, 0, (uint64_t)i) - 0.5);
      u[1][i] = -u[0][i]; /* odd orders cancel */
    }
    for (int64_t i = 0; i < w.elements.count; i++) {
      const qt_element *e = &w.elements.item[i];

      harmonic +=
          e->value.re * o.mass / (QT_VIBRATION * QT_NEWTON) * u[0][e->row] * u[0][e->column] / 2;
    }
    const double full = (energy(&c, &o.custom, u[0]) + energy(&c, &o.custom, u[1])) / 2;

    assert_true(fabs(harmonic / full - 1) < 1e-6);
  }
  qt_wire_fini(&w);
  qt_crystal_fini(&c);
}

/* A shift of all atoms along any axis, and a rotation about x, cost no energy. */
static void rigid_motions_cost_no_energy(void **state)
{
  qt_force_opts o;
  qt_crystal c;
  qt_wire w;

  create(&c, &o, &w);
  for (int motion = 0; motion < 4; motion++) {
    double force[90] = {0}, largest = 0;

    for (int64_t i = 0; i < w.elements.count; i++) {
      const qt_element *e = &w.elements.item[i];
      const double *at = w.atom[e->column / 3].position;
      const int64_t x = e->column % 3;
      const double u = motion < 3 ? x == motion : x == 1 ? -at[2] : x == 2 ? at[1] : 0;

      force[e->row] += e->value.re * u;
      largest = fmax(largest, fabs(e->value.re * u));
    }
    for (int64_t i = 0; i < w.n; i++) {
      assert_true(fabs(force[i]) < 1e-13 * largest);
    }
  }
  qt_wire_fini(&w);
  qt_crystal_fini(&c);
}

static void forces_reach_third_neighbours_at_most(void **state)
{
  const double d2 = dot(lattice, lattice) / 16;
  qt_force_opts o;
  qt_crystal c;
  qt_wire w;
  bool found = false;

  create(&c, &o, &w);
  for (int64_t i = 0; i < w.elements.count; i++) {
    const qt_element *e = &w.elements.item[i];
    const double *a = w.atom[e->row / 3].position, *b = w.atom[e->column / 3].position;
    const double r[3] = {b[0] + (double)e->offset[0] * lattice[0] - a[0], b[1] - a[1], b[2] - a[2]};

    assert_true(dot(r, r) < d2 * 19 / 3 + 1e-9);
    found = found || dot(r, r) > d2 * 19 / 3 - 1e-9;
  }
  assert_true(found);
  qt_wire_fini(&w);
  qt_crystal_fini(&c);
}

static weir_status make(void *context)
{
  qt_wire w;
  qt_force_opts o;

  weir_opts_default(qt_force_options, sizeof o, &o);
  const weir_status status = qt_force_wire(context, &o, &w);

  qt_wire_fini(&w);
  return status;
}

static void missing_memory_is_reported(void **state)
{
  qt_crystal c;

  assert_ok(qt_crystal_create((const int64_t[3]){1, 1, 1}, (const bool[3]){true}, lattice, &c));
  assert_true(weir_check_faults(make, &c) > 3);
  qt_crystal_fini(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(force_constants_are_second_derivatives_of_the_energy),
      cmocka_unit_test(rigid_motions_cost_no_energy),
      cmocka_unit_test(forces_reach_third_neighbours_at_most),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
