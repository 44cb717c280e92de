/* rgf.c - see rgf.h: the recursion over the blocks of one matrix. */
#include "model/rgf/rgf_priv.h"

#include <math.h>
#include <string.h>

static void spoil(const qt_rgf_job *job)
{
  const qt_bank *banks[] = {&job->g, &job->lesser, &job->greater};
  const weir_c128 none = {NAN, NAN};
  const int64_t first = qt_rows_of(job->layout, 0);

  for (int b = 0; b < 3; b++) {
    for (int64_t i = 0; i < job->layout->count && banks[b]->data != NULL; i++) {
      banks[b]->data[i * banks[b]->step] = none;
    }
  }
  for (int64_t i = 0; i < first * qt_rows_of(job->layout, job->layout->n_blocks - 1); i++) {
    if (job->corner != NULL) {
      job->corner[i] = none;
    }
  }
}

bool qt_rgf_solve(const qt_rgf_job *job, void *scratch)
{
  const qt_layout *l = job->layout;
  const bool lesser = job->sigma.read != NULL;
  const int64_t last = l->n_blocks - 1, rows = qt_rows_of(l, last);
  qt_rgf_space s;

  qt_rgf_lay_out(l->max, lesser, scratch, &s);
  for (int64_t n = 0; n <= last; n++) {
    const int64_t m = n < last ? n + 1 : NO_BLOCK;

    qt_rgf_load(job, n, &s);
    if (!qt_rgf_forward(job, n, m, &s)) {
      spoil(job);
      return false;
    }
    if (job->corner != NULL) {
      qt_rgf_extend_row(l, n, m, qt_rows_of(l, 0), &s, job->corner);
    }
  }
  memcpy(s.last, s.stack, (size_t)(rows * rows) * sizeof *s.last);
  if (lesser) {
    memcpy(s.l_last, s.gl, (size_t)(rows * rows) * sizeof *s.gl);
  }
  qt_rgf_store_last(job, last, &s);
  for (int64_t n = last - 1; n >= 0; n--) {
    qt_rgf_go_back(job, n, n + 1, &s);
  }
  return true;
}

bool qt_rgf_corner(const qt_layout *l, const qt_blocks *a, weir_c128 *corner, void *scratch)
{
  const qt_rgf_job job = {.layout = l, .a = *a, .corner = corner};
  qt_rgf_space s;

  qt_rgf_lay_out(l->max, false, scratch, &s);
  for (int64_t n = 0; n < l->n_blocks; n++) {
    const int64_t m = n + 1 < l->n_blocks ? n + 1 : NO_BLOCK;

    qt_rgf_load(&job, n, &s);
    if (!qt_rgf_eliminate(&job, n, m, false, NULL, 0, &s)) {
      spoil(&job);
      return false;
    }
    qt_rgf_extend_row(l, n, m, qt_rows_of(l, 0), &s, corner);
  }
  return true;
}

double qt_rgf_flops(const qt_layout *l, bool lesser, bool tridiagonal)
{
  double multiplications = 0;

  for (int64_t n = 0; n < l->n_blocks; n++) {
    const double a = (double)qt_rows_of(l, n), b = (double)qt_rows_of(l, n + 1);

    multiplications += a * a * a / 3 + a * a * (a + b);       /* factors, g and y              */
    multiplications += a * b * (a + b) + a * b * (a + 2 * b); /* x, carry; the three of G^R    */
    if (lesser) {
      multiplications += 2 * a * a * a + a * b * (a + b);   /* g<, z, lost                   */
      multiplications += a * b * (2 * b + 2 * a);           /* v, -y G<, G< y^H, y v         */
      multiplications += tridiagonal ? a * b * (a + b) : 0; /* p, A p                        */
    }
  }
  return 8 * multiplications;
}

double qt_rgf_corner_flops(const qt_layout *l)
{
  const double first = (double)qt_rows_of(l, 0);
  double multiplications = 0;

  for (int64_t n = 0; n < l->n_blocks; n++) {
    const double a = (double)qt_rows_of(l, n), b = (double)qt_rows_of(l, n + 1),
                 sides = b > 0 ? b : a;

    multiplications += a * a * a / 3 + a * a * sides + a * b * b; /* factors, y or g; carry */
    multiplications += n > 0 ? first * a * sides : 0;             /* the row               */
  }
  return 8 * multiplications;
}

double qt_rgf_trace(int64_t m, int64_t n, const weir_c128 *gamma_l, const weir_c128 *g,
                    const weir_c128 *gamma_r, weir_c128 *memory)
{
  weir_c128 *left = memory, *right = memory + m * n;
  double sum = 0;

  weir_linear_multiply(m, n, m, 1, qt_factor(gamma_l, m), qt_factor(g, n), 0, left, n);
  weir_linear_multiply(m, n, n, 1, qt_factor(g, n), qt_factor(gamma_r, n), 0, right, n);
  for (int64_t i = 0; i < m * n; i++) { /* (Gamma_R G^H)_ji is the conjugate of (G Gamma_R)_ij */
    sum += left[i].re * right[i].re + left[i].im * right[i].im;
  }
  return sum;
}
