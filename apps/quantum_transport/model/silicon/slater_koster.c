/* slater_koster.c - blocks of two-centre integrals and their derivatives. A d orbital q stands for
 * a symmetric traceless matrix Q with angular part u.Q.u; its parts along and across the bond u
 * are sg = sqrt(3/2) u.Q.u and pi = sqrt(2) (Q.u - u (u.Q.u)). */
#include <math.h>

#include "model/silicon/sp3d5s.h"

enum { S, P, D = 4, S_STAR = 9, N = QT_ORBITALS };
enum {
#define X(name, value, published, corrected) name,
  QT_TWO_CENTRE(X)
#undef X
      INTEGRALS
};

#define ROOT_HALF 0.70710678118654752
#define ROOT_SIXTH 0.40824829046386302
static const double quadratic[5][3][3] = {
    {{0, ROOT_HALF, 0}, {ROOT_HALF, 0, 0}, {0, 0, 0}},
    {{0, 0, 0}, {0, 0, ROOT_HALF}, {0, ROOT_HALF, 0}},
    {{0, 0, ROOT_HALF}, {0, 0, 0}, {ROOT_HALF, 0, 0}},
    {{ROOT_HALF, 0, 0}, {0, -ROOT_HALF, 0}, {0, 0, 0}},
    {{-ROOT_SIXTH, 0, 0}, {0, -ROOT_SIXTH, 0}, {0, 0, 2 * ROOT_SIXTH}},
};

/* A number and its derivative. */
typedef struct dual {
  double value, slope;
} dual;

static dual sum(dual a, dual b)
{
  return (dual){a.value + b.value, a.slope + b.slope};
}

static dual scaled(double factor, dual a)
{
  return (dual){factor * a.value, factor * a.slope};
}

static dual product(dual a, dual b)
{
  return (dual){a.value * b.value, a.value * b.slope + a.slope * b.value};
}

/* The bond's unit vector and what the orbitals are along it. */
typedef struct frame {
  dual u[3], sg[5], pi[5][3], v[INTEGRALS];
} frame;

/* ab sigma + (delta_ab - ab) pi */
static dual split(dual ab, bool same, dual sigma, dual pi)
{
  const dual rest = sum((dual){same, 0}, scaled(-1, ab));

  return sum(product(ab, sigma), product(rest, pi));
}

/* Derivatives along axis; -1: all 0. */
static void orient(const qt_sp3d5s_opts *o, const double r[3], int axis, frame *f)
{
  static const double exponent[2][INTEGRALS] = {
#define X(name, value, published, corrected) [name] = published,
      {QT_TWO_CENTRE(X)},
#undef X
#define X(name, value, published, corrected) [name] = corrected,
      {QT_TWO_CENTRE(X)},
#undef X
  };
  const double v[INTEGRALS] = {
#define X(name, value, published, corrected) [name] = o->v.name,
      QT_TWO_CENTRE(X)
#undef X
  };
  const double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
  const double along = axis < 0 ? 0 : r[axis] / length; /* derivative of the length */

  for (int i = 0; i < INTEGRALS; i++) {
    const double eta = exponent[o->exponents][i];

    f->v[i].value = v[i] * pow(o->bond / length, eta);
    f->v[i].slope = -eta * f->v[i].value * along / length;
  }
  for (int i = 0; i < 3; i++) {
    f->u[i].value = r[i] / length;
    f->u[i].slope = ((i == axis) - along * f->u[i].value) / length;
  }
  for (int q = 0; q < 5; q++) {
    dual form = {0, 0}, qu[3];

    for (int i = 0; i < 3; i++) {
      qu[i] = (dual){0, 0};
      for (int j = 0; j < 3; j++) {
        qu[i] = sum(qu[i], scaled(quadratic[q][i][j], f->u[j]));
      }
      form = sum(form, product(f->u[i], qu[i]));
    }
    f->sg[q] = scaled(sqrt(1.5), form);
    for (int i = 0; i < 3; i++) {
      f->pi[q][i] = scaled(sqrt(2), sum(qu[i], scaled(-1, product(f->u[i], form))));
    }
  }
}

/* <a|b>, and <b|a>, which has the other sign where one is odd. */
static void put(dual out[N * N], int a, int b, bool is_odd, dual x)
{
  out[b * N + a] = scaled(is_odd ? -1 : 1, x);
  out[a * N + b] = x;
}

static void fill_d(const frame *f, int q, dual out[N * N])
{
  put(out, S, D + q, false, product(f->sg[q], f->v[sd_sigma]));
  put(out, S_STAR, D + q, false, product(f->sg[q], f->v[sstar_d_sigma]));
  for (int i = 0; i < 3; i++) {
    put(out, P + i, D + q, true,
        sum(product(product(f->u[i], f->sg[q]), f->v[pd_sigma]),
            product(f->pi[q][i], f->v[pd_pi])));
  }
  for (int r = q; r < 5; r++) {
    const dual sigma = product(f->sg[q], f->sg[r]);
    dual pi = {0, 0};

    for (int i = 0; i < 3; i++) {
      pi = sum(pi, product(f->pi[q][i], f->pi[r][i]));
    }
    const dual delta = sum((dual){q == r, 0}, scaled(-1, sum(sigma, pi)));

    put(out, D + q, D + r, false,
        sum(sum(product(sigma, f->v[dd_sigma]), product(pi, f->v[dd_pi])),
            product(delta, f->v[dd_delta])));
  }
}

static void fill(const qt_sp3d5s_opts *o, const double r[3], int axis, dual out[N * N])
{
  frame f;

  orient(o, r, axis, &f);
  put(out, S, S, false, f.v[ss_sigma]);
  put(out, S, S_STAR, false, f.v[s_sstar_sigma]);
  put(out, S_STAR, S_STAR, false, f.v[sstar_sstar_sigma]);
  for (int i = 0; i < 3; i++) {
    put(out, S, P + i, true, product(f.u[i], f.v[sp_sigma]));
    put(out, S_STAR, P + i, true, product(f.u[i], f.v[sstar_p_sigma]));
    for (int j = i; j < 3; j++) {
      put(out, P + i, P + j, false,
          split(product(f.u[i], f.u[j]), i == j, f.v[pp_sigma], f.v[pp_pi]));
    }
  }
  for (int q = 0; q < 5; q++) {
    fill_d(&f, q, out);
  }
}

void qt_sp3d5s_block(const qt_sp3d5s_opts *o, const double r[3], double out[N * N])
{
  dual block[N * N];

  fill(o, r, -1, block);
  for (int i = 0; i < N * N; i++) {
    out[i] = block[i].value;
  }
}

void qt_sp3d5s_gradient(const qt_sp3d5s_opts *o, const double r[3], double out[3][N * N])
{
  dual block[N * N];

  for (int axis = 0; axis < 3; axis++) {
    fill(o, r, axis, block);
    for (int i = 0; i < N * N; i++) {
      out[axis][i] = block[i].slope;
    }
  }
}
