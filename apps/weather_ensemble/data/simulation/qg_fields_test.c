/* qg_fields_test.c - fields of a few waves by hand, and the vertical wind from the vorticity of
 * both layers. */
#include <math.h>
#include <string.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "data/simulation/qg_fields.h"
#include "ops/fft/weir_fft_plan.h"

#define PI 3.14159265358979323846
enum { NX = 32, NY = 24, CELLS = NX * NY };

static const wx_qg_scale scale = {750e3, 25, 1e-4};

/* psi1 = cos(a x + b y), psi2 = 0.3 sin(2 a x - b y) and their derivatives, at cell i (row from the
 * south). */
typedef struct point {
  double y, psi[2], x_of[2], y_of[2], lap[2], lap_x[2], lap_y[2];
} point;

static point at(const wx_qg_params *p, int64_t i)
{
  const double a = 2 * PI / p->lx, b = 2 * PI / p->ly;
  const double x = p->lx * (double)(i % NX) / NX, y = p->ly * (double)(i / NX) / NY;
  const double c1 = cos(a * x + b * y), s1 = sin(a * x + b * y);
  const double c2 = 0.3 * cos(2 * a * x - b * y), s2 = 0.3 * sin(2 * a * x - b * y);
  const double k1 = a * a + b * b, k2 = 4 * a * a + b * b;

  return (point){.y = y - p->ly / 2,
                 .psi = {c1, s2},
                 .x_of = {-a * s1, 2 * a * c2},
                 .y_of = {-b * s1, -b * c2},
                 .lap = {-k1 * c1, -k2 * s2},
                 .lap_x = {k1 * a * s1, -k2 * 2 * a * c2},
                 .lap_y = {k1 * b * s1, k2 * b * c2}};
}

typedef struct bench {
  wx_qg *m;
  wx_qg_workspace *workspace;
  wx_qg_solver *solver;
  void *state, *rate;
  double psi[2 * CELLS];
} bench;

static void set_up(bench *b)
{
  const wx_qg_params p = {.dtype = WEIR_F64,
                          .nx = NX,
                          .ny = NY,
                          .lx = 36,
                          .ly = 12,
                          .coupling = 1.2,
                          .beta = 0.3,
                          .u = {0.5, 0.1},
                          .tau_d = 20,
                          .tau_f = 8,
                          .jet = 1.4,
                          .width = 2,
                          .dt = 0.05};

  if (!weir_fft_plan_available()) {
    printf("skipped: this build has no FFTW\n");
    skip();
  }
  assert_ok(wx_qg_create(&p, &b->m));
  assert_ok(wx_qg_workspace_create(b->m, &b->workspace));
  assert_ok(wx_qg_solver_create(b->m, &(wx_qg_solver_opts){.threads = 1}, &b->solver));
  assert_ok(weir_alloc(wx_qg_state_bytes(b->m), 1, &b->state));
  assert_ok(weir_alloc(wx_qg_state_bytes(b->m), 1, &b->rate));
  for (int64_t i = 0; i < CELLS; i++) {
    const point w = at(&p, i);

    b->psi[i] = w.psi[0];
    b->psi[CELLS + i] = w.psi[1];
  }
  wx_qg_set_psi(b->m, b->workspace, b->psi, b->state);
}

static void tear_down(bench *b)
{
  weir_free(&b->state);
  weir_free(&b->rate);
  wx_qg_solver_destroy(&b->solver);
  wx_qg_workspace_destroy(&b->workspace);
  wx_qg_destroy(&b->m);
}

/* The field of that name, rows from the south. */
static void field(bench *b, const char *name, float *out)
{
  float flipped[CELLS];
  int i = 0;

  assert_ok(wx_qg_quantity_find(name, &i));
  assert_ok(wx_qg_field(b->m, b->m, &scale, b->workspace, b->solver, b->state, i, flipped));
  for (int64_t j = 0; j < NY; j++) {
    memcpy(out + j * NX, flipped + (NY - 1 - j) * NX, NX * sizeof *out);
  }
}

static double by_hand(const wx_qg_params *p, const char *name, const point *w)
{
  const double u = (p->u[0] + p->u[1]) / 2, shear = p->u[0] - p->u[1];

  if (strcmp(name, "z250") == 0) {
    return 1875 * (w->psi[0] - p->u[0] * w->y) + 54000 + 287 * 255 * log(2);
  } else if (strcmp(name, "z500") == 0) {
    return 1875 * ((w->psi[0] + w->psi[1]) / 2 - u * w->y) + 54000;
  } else if (strcmp(name, "t500") == 0) {
    return 1875 / (287 * log(3)) * (w->psi[0] - w->psi[1] - shear * w->y) + 255;
  } else if (strcmp(name, "u500") == 0) {
    return 25 * (u - (w->y_of[0] + w->y_of[1]) / 2);
  } else if (strcmp(name, "v750") == 0) {
    return 25 * w->x_of[1];
  } else if (strcmp(name, "vo500") == 0) {
    return 25 / 750e3 * (w->lap[0] + w->lap[1]) / 2;
  }
  return 1e-4 + 25 / 750e3 *
                    (w->lap[0] - p->coupling * (w->psi[0] - w->psi[1]) +
                     (p->beta + p->coupling * shear) * w->y);
}

static void fields_are_those_of_the_waves(void **state)
{
  static const struct {
    const char *name;
    double unit;
  } rows[] = {{"z250", 1e5}, {"z500", 1e5},   {"t500", 300},  {"u500", 50},
              {"v750", 50},  {"vo500", 1e-4}, {"pv250", 1e-4}};
  float got[CELLS];
  bench b;

  set_up(&b);
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    field(&b, rows[r].name, got);
    for (int64_t i = 0; i < CELLS; i++) {
      const point w = at(wx_qg_get(b.m), i);

      assert_near((double)got[i] / rows[r].unit,
                  by_hand(wx_qg_get(b.m), rows[r].name, &w) / rows[r].unit, 3e-7);
    }
  }
  tear_down(&b);
}

/* What stretches the upper layer shrinks the lower one:
 *   d(lap psi)/dt + J(psi, lap psi) + U d(lap psi)/dx + beta dpsi/dx = +-W (- lap psi2 / tau_f). */
static void the_vertical_wind_stretches_both_layers(void **state)
{
  double q[2 * CELLS], rate[2 * CELLS];
  float got[CELLS];
  bench b;

  set_up(&b);
  const wx_qg_params *const p = wx_qg_get(b.m);

  field(&b, "w500", got);
  assert_ok(wx_qg_tendency(b.solver, b.state, b.rate));
  wx_qg_q(b.m, b.workspace, b.rate, q);
  wx_qg_psi(b.m, b.workspace, b.rate, rate);
  for (int64_t i = 0; i < CELLS; i++) {
    const double unit = pow(25 / 750e3, 2) * 5e4 / 1e-4;
    const point w = at(p, i);

    for (int l = 0; l < 2; l++) {
      const double sign = l == 0 ? 1 : -1;
      const double change = q[l * CELLS + i] + sign * p->coupling * (rate[i] - rate[CELLS + i]);
      double sum = change + w.x_of[l] * w.lap_y[l] - w.y_of[l] * w.lap_x[l] + p->u[l] * w.lap_x[l] +
                   p->beta * w.x_of[l];

      sum += l == 1 ? w.lap[1] / p->tau_f : 0;
      assert_near(sign * sum, (double)got[i] / unit, 1e-6);
    }
  }
  tear_down(&b);
}

static void speed_precipitation_and_cloud_follow_from_the_winds(void **state)
{
  float u[CELLS], v[CELLS], w[CELLS], speed[CELLS], rain[CELLS], cover[CELLS];
  const wx_qg_scale strong = {750e3, 150, 1e-4};
  int64_t dry = 0, clear = 0, overcast = 0;
  int cloud = 0;
  bench b;

  set_up(&b);
  field(&b, "u250", u);
  field(&b, "v250", v);
  field(&b, "ws250", speed);
  field(&b, "w500", w);
  field(&b, "tprate", rain);
  field(&b, "tcc", cover);
  for (int64_t i = 0; i < CELLS; i++) {
    assert_near((double)speed[i], hypot((double)u[i], (double)v[i]), 1e-4);
    assert_near((double)rain[i], fmax(0, -(double)w[i] * 4e-3 / 9.80665), 1e-9);
    assert_near((double)cover[i], fmin(1, fmax(0, 0.5 - (double)w[i] / 0.2)), 1e-6);
    dry += rain[i] == 0;
  }
  assert_true(dry > CELLS / 4 && dry < 3 * CELLS / 4);
  assert_ok(wx_qg_quantity_find("tcc", &cloud));
  assert_ok(wx_qg_field(b.m, b.m, &strong, b.workspace, b.solver, b.state, cloud, cover));
  for (int64_t i = 0; i < CELLS; i++) {
    assert_true(cover[i] >= 0 && cover[i] <= 1);
    clear += cover[i] == 0;
    overcast += cover[i] == 1;
  }
  assert_true(clear > 0 && overcast > 0 && clear + overcast < CELLS);
  tear_down(&b);
}

static void quantities_are_known_by_name(void **state)
{
  int found = 0;

  for (int i = 0; i < wx_qg_quantities(); i++) {
    wx_quantity q;

    wx_qg_quantity(i, &q);
    assert_ok(wx_qg_quantity_find(q.name, &found));
    assert_int_equal(found, i);
    assert_true(q.standard_name[0] != 0 || strcmp(q.variable, "pv") == 0);
  }
  assert_int_equal(wx_qg_quantity_find("t850", &found), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "w500"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_are_those_of_the_waves),
      cmocka_unit_test(the_vertical_wind_stretches_both_layers),
      cmocka_unit_test(speed_precipitation_and_cloud_follow_from_the_winds),
      cmocka_unit_test(quantities_are_known_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
