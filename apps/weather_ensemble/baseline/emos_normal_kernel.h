/* emos_normal_kernel.h - sums of the CRPS of normal distributions and of its derivatives, for the
 * instruction set that the including file is compiled for, as emos_normal_sums NAME. Loops have a
 * fixed length and no branches, so that compilers make vectors of them.
 *
 * With z = (y - mu) / sigma, a = |z|, f the density at a and s the probability above it (Gneiting
 * et al., MWR 133 (2005) 1098, eq. 5): CRPS = sigma h,  h = a + 2 (f - a s) - 1 / sqrt(pi),  dh/dz
 * = sign(z) (1 - 2 s),  d2h/dz2 = 2 f s = f R(a) with Mills' ratio R: (1 + a) R(a) is a polynomial
 * in t = (a - 5) / (a + 5) (the transformation of Shepherd and Laframboise, Math. Comp. 36 (1981)
 * 249), interpolated at the Chebyshev points of degree 24 in 60 digits; its relative error
 * is 1.1e-17, with roundings 5e-16. */
#include <math.h>
#include <string.h>
#include "baseline/emos_priv.h"
#include "eval/score/normal.h"

#define INV_SQRT_2PI 0.39894228040143267794
enum { LANES = 8, BLOCK = 64 };

typedef struct block {
  double weight[BLOCK], count[BLOCK], x[BLOCK], y[BLOCK], v[BLOCK];
  double f[BLOCK], f_m[BLOCK], f_u[BLOCK], f_mm[BLOCK], f_mu[BLOCK], f_uu[BLOCK], g_uu[BLOCK];
} block;

/* Cases [from, from + BLOCK) in units of the chunk; those that do not count weigh 0. */
static void load_block(const emos_chunk *c, int64_t from, block *b)
{
  const size_t n = (size_t)(c->n - from < BLOCK ? c->n - from : BLOCK);
  const double per = 1 / c->scale, x0 = c->x0, y0 = c->y0, v0 = c->v0;
  float x[BLOCK] = {0}, y[BLOCK] = {0}, v[BLOCK] = {0};
  double weight[BLOCK] = {0};

  memcpy(x, c->mean + from, n * sizeof *x);
  memcpy(y, c->truth + from, n * sizeof *y);
  memcpy(v, c->variance + from, n * sizeof *v);
  for (size_t i = 0; c->weight == NULL && i < n; i++) {
    weight[i] = 1;
  }
  if (c->weight != NULL) {
    memcpy(weight, c->weight + from, n * sizeof *weight);
  }
  for (int i = 0; i < BLOCK; i++) {
    b->x[i] = (double)x[i];
    b->y[i] = (double)y[i];
    b->v[i] = (double)v[i];
  }
  for (int i = 0; i < BLOCK; i++) {
    const double xi = b->x[i], yi = b->y[i], vi = b->v[i], w = weight[i];
    double counts = w > 0 ? 1 : 0;

    counts = fabs(xi) < INFINITY ? counts : 0;
    counts = fabs(yi) < INFINITY ? counts : 0;
    counts = vi >= 0 ? counts : 0;
    counts = vi < INFINITY ? counts : 0;
    b->count[i] = counts;
    b->weight[i] = counts > 0 ? w : 0;
    b->x[i] = counts > 0 ? (xi - x0) * per : 0;
    b->y[i] = counts > 0 ? (yi - y0) * per : 0;
    b->v[i] = counts > 0 ? (vi - v0) * per * per : 0;
  }
}

/* Horner's scheme, written out: compilers make vectors of no loop with a loop in it. */
#define HORNER(factor) p = p * r + (factor);
// clang-format off
#define TAYLOR(X) \
  X(1.0 / 479001600) X(1.0 / 39916800) X(1.0 / 3628800) X(1.0 / 362880) X(1.0 / 40320) \
  X(1.0 / 5040) X(1.0 / 720) X(1.0 / 120) X(1.0 / 24) X(1.0 / 6) X(1.0 / 2) X(1) X(1)
#define MILLS(X) \
  X(-0x1.06604bdfc2367p-30) X(-0x1.2813136c720b6p-30) X(0x1.7aab97ece4858p-27) \
  X(0x1.59c118e8d1e3ap-27) X(-0x1.4d1aaaf6f1d08p-24) X(-0x1.2146e03cf7eefp-24) \
  X(0x1.081de258f01aap-21) X(0x1.59ae9e10975d0p-22) X(-0x1.b7dd7f8a4b209p-19) \
  X(-0x1.7c91237560505p-23) X(0x1.7d00f3e31cfe6p-16) X(-0x1.a02aaafc15178p-16) \
  X(-0x1.19cda3195ba7dp-13) X(0x1.df3ec430dc66fp-12) X(0x1.47ab71c7af824p-16) \
  X(-0x1.1355f47cb1702p-8) X(0x1.0bd973acd94f4p-6) X(-0x1.37838b3a62f43p-5) \
  X(0x1.f7d96e0d84e67p-5) X(-0x1.0f103e712d2f0p-4) X(0x1.9ac85788f59cbp-6) \
  X(0x1.3e97eaf5f2eefp-4) X(-0x1.d5fd8ffd0f1abp-3) X(0x1.28273b50efa76p+0)
// clang-format on

/* e^-x, 0 <= x <= 705: Taylor's series about the nearest multiple of ln 2. */
static inline double exp_minus(double x)
{
  const double log2_e = 1.44269504088896340736, whole = 0x1.8p52; /* + whole rounds to integers */
  const double ln2_hi = 0x1.62e42fee00000p-1, ln2_lo = 0x1.a39ef35793c76p-33;
  const double shifted = whole - x * log2_e, k = shifted - whole;
  const double r = (-x - k * ln2_hi) - k * ln2_lo;
  double p = 1.0 / 6227020800, power;
  int64_t bits;

  TAYLOR(HORNER)
  memcpy(&bits, &shifted, sizeof bits);
  bits = (int64_t)((uint64_t)(bits + 1023) << 52); /* 2^k */
  memcpy(&power, &bits, sizeof power);
  return p * power;
}

/* Mills' ratio, the probability above a over the density, 0 <= a <= 40. */
static inline double mills(double a)
{
  const double both = 1 / ((a + 5) * (1 + a)), r = (a - 5) * ((1 + a) * both);
  double p = 0x1.0f111617e66aap-34;

  MILLS(HORNER)
  return p * ((a + 5) * both);
}

static void slopes(const double *at, block *b)
{
  const double at_a = at[EMOS_A], at_b = at[EMOS_B], at_c = at[EMOS_C], at_d = at[EMOS_D];
  const double far = 37.5; /* scales, beyond which f and s are nothing */

  for (int i = 0; i < BLOCK; i++) {
    const double raw = at_c + at_d * b->v[i], u = raw > 1e-200 ? raw : 1e-200;
    const double per = 1 / sqrt(u), w = b->weight[i];
    const double z = (b->y[i] - (at_a + at_b * b->x[i])) * per, a = fabs(z);
    const double near = a < far ? a : far;
    const double f = INV_SQRT_2PI * exp_minus(0.5 * near * near), s = f * mills(near);
    const double h = a + 2 * (f - near * s) - WX_INV_SQRT_PI;
    const double h_z = copysign(1 - 2 * s, z), q = 0.5 * per;
    const double mm = 2 * f * per, ms = z * mm, ss = z * ms, f_u = w * (h - z * h_z) * q;

    b->f[i] = w * (u * per * h);
    b->f_m[i] = -w * h_z;
    b->f_u[i] = f_u;
    b->f_mm[i] = w * mm;
    b->f_mu[i] = w * ms * q;
    b->g_uu[i] = w * ss * q * q;
    b->f_uu[i] = b->g_uu[i] - f_u * 0.5 * per * per;
  }
}

static void add_block(const block *b, double sum[EMOS_SUMS][LANES])
{
  for (int i = 0; i < BLOCK; i += LANES) {
    for (int l = 0; l < LANES; l++) {
      const double x = b->x[i + l], v = b->v[i + l], f_m = b->f_m[i + l], f_u = b->f_u[i + l];
      const double f_mm = b->f_mm[i + l], f_mu = b->f_mu[i + l], f_uu = b->f_uu[i + l];

      sum[EMOS_WEIGHT][l] += b->weight[i + l];
      sum[EMOS_COUNT][l] += b->count[i + l];
      sum[EMOS_F][l] += b->f[i + l];
      sum[EMOS_F_M][l] += f_m;
      sum[EMOS_F_M_X][l] += f_m * x;
      sum[EMOS_F_U][l] += f_u;
      sum[EMOS_F_U_V][l] += f_u * v;
      sum[EMOS_F_MM][l] += f_mm;
      sum[EMOS_F_MM_X][l] += f_mm * x;
      sum[EMOS_F_MM_XX][l] += f_mm * x * x;
      sum[EMOS_F_MU][l] += f_mu;
      sum[EMOS_F_MU_X][l] += f_mu * x;
      sum[EMOS_F_MU_V][l] += f_mu * v;
      sum[EMOS_F_MU_XV][l] += f_mu * x * v;
      sum[EMOS_F_UU][l] += f_uu;
      sum[EMOS_F_UU_V][l] += f_uu * v;
      sum[EMOS_F_UU_VV][l] += f_uu * v * v;
      sum[EMOS_G_UU][l] += b->g_uu[i + l];
      sum[EMOS_G_UU_VV][l] += b->g_uu[i + l] * v * v;
    }
  }
}

void NAME(const emos_chunk *c, double *sum)
{
  double lane[EMOS_SUMS][LANES] = {{0}};
  block b;

  for (int64_t from = 0; from < c->n; from += BLOCK) {
    load_block(c, from, &b);
    slopes(c->at, &b);
    add_block(&b, lane);
  }
  for (int k = 0; k < EMOS_SUMS; k++) {
    const double *const l = lane[k];

    sum[k] = ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]));
  }
}
