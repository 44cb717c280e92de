/* overlap.c - see overlap.h. */
#include "model/overlap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "ops/linear/weir_linear.h"

enum { QUARTERS = 4, PANEL = 64 };

static double largest_diagonal(int64_t n, const weir_c128 *s)
{
  double max = 0;

  for (int64_t i = 0; i < n; i++) {
    max = fmax(max, s[i * (n + 1)].re);
  }
  return max;
}

/* Two blocks and the one between them: matrices of up to `max_rows` rows; and what check_positive
 * needs. */
typedef struct workspace {
  weir_c128 *now, *next, *between, *solved;
  weir_c128 *corner[2], *panel; /* [PANEL, PANEL] each, [PANEL, max_rows] */
  void *work;
} workspace;

static void free_workspace(workspace *r)
{
  weir_free(&r->now);
  weir_free(&r->next);
  weir_free(&r->between);
  weir_free(&r->solved);
  weir_free(&r->corner[0]);
  weir_free(&r->corner[1]);
  weir_free(&r->panel);
  weir_free(&r->work);
}

static weir_status make_workspace(int64_t max_rows, workspace *r)
{
  weir_c128 **const matrices[] = {&r->now, &r->next, &r->between, &r->solved};

  for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
    WEIR_TRY(weir_alloc(max_rows * max_rows, sizeof **matrices[i], (void **)matrices[i]));
  }
  for (int i = 0; i < 2; i++) {
    WEIR_TRY(weir_alloc(PANEL * PANEL, sizeof *r->corner[i], (void **)&r->corner[i]));
  }
  WEIR_TRY(weir_alloc(PANEL * max_rows, sizeof *r->panel, (void **)&r->panel));
  const int64_t wide = max_rows > PANEL ? max_rows : PANEL;

  return weir_alloc(weir_linear_solve_work(wide, wide), 1, &r->work);
}

/* Eliminates the upper triangle of a Hermitian matrix s [n, n] in place;
 * returns the first pivot that is not above `min_pivot`, or n. All are positive where the matrix is
 * positive definite (Golub and Van Loan, Matrix Computations, 4.2). */
static int64_t eliminate(int64_t n, weir_c128 *s, double min_pivot)
{
  for (int64_t j = 0; j < n; j++) {
    const weir_c128 *const row = s + j * n;

    if (!(row[j].re > min_pivot)) {
      return j;
    }
    for (int64_t i = j + 1; i < n; i++) {
      const weir_c128 f = {row[i].re / row[j].re, -row[i].im / row[j].re};

      for (int64_t k = i; k < n && (f.re != 0 || f.im != 0); k++) {
        s[i * n + k].re -= f.re * row[k].re - f.im * row[k].im;
        s[i * n + k].im -= f.re * row[k].im + f.im * row[k].re;
      }
    }
  }
  return n;
}

/* Refuses a Hermitian matrix s [n, n] that has a pivot which is not above rounding; s is lost. By
 * panels: less what a corner leaves, S[i,i] - S[i,0] S[0,0]^-1 S[0,i]. scale: its largest diagonal
 * element before others were eliminated. */
static weir_status check_positive(const char *name, int64_t n, weir_c128 *s, double scale,
                                  workspace *r)
{
  const double min_pivot = (double)n * DBL_EPSILON * scale;

  for (int64_t first = 0; first < n; first += PANEL) {
    const int64_t rows = n - first < PANEL ? n - first : PANEL, end = first + rows, rest = n - end;
    weir_c128 *const upper = s + first * n + (rest > 0 ? end : first);

    for (int64_t i = 0; i < rows; i++) {
      const size_t row = (size_t)rows * sizeof *s;

      memcpy(r->corner[0] + i * rows, s + (first + i) * n + first, row);
      memcpy(r->corner[1] + i * rows, s + (first + i) * n + first, row);
      memcpy(r->panel + i * rest, upper + i * n, (size_t)rest * sizeof *s);
    }
    const int64_t bad = eliminate(rows, r->corner[0], min_pivot);

    if (bad < rows ||
        (rest > 0 && !weir_linear_solve(rows, rest, r->corner[1], r->panel, r->work))) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s is not positive definite: orbital %lld of it depends on those before it "
                       "(pivot %g): give the overlap of the basis that the Hamiltonian is in",
                       name, (long long)(first + (bad < rows ? bad : rows - 1)),
                       bad < rows ? r->corner[0][bad * (rows + 1)].re : 0);
    }
    if (rest == 0) {
      break;
    }
    weir_linear_multiply(rest, rest, rows, -1, (weir_linear_factor){upper, n, true},
                         (weir_linear_factor){r->panel, rest, false}, 1, s + end * n + end, n);
  }
  return WEIR_OK;
}

/* " at k = (ky, kz)", or nothing at 0. */
static const char *say(const double k[2], char text[64])
{
  text[0] = 0;
  if (k[0] != 0 || k[1] != 0) {
    (void)snprintf(text, 64, " at k = (%g, %g)", k[0], k[1]);
  }
  return text;
}

/* Block by block: each less what those before it leave, S[n,n] - S[n,n-1] (...)^-1 S[n-1,n]. */
static weir_status check_device(const qt_system *s, const double k[2], workspace *r)
{
  char name[128], where[64];

  for (int64_t b = 0; b < s->n_blocks; b++) {
    const int64_t n = s->block[b + 1] - s->block[b];

    memset(r->next, 0, (size_t)(n * n) * sizeof *r->next);
    qt_system_add_block(s, &s->s, k, b, b, (weir_c128){1, 0}, r->next);
    const double scale = largest_diagonal(n, r->next);

    (void)snprintf(name, sizeof name, "block %lld of the overlap matrix%s", (long long)b,
                   say(k, where));
    if (b > 0) {
      const int64_t m = s->block[b] - s->block[b - 1];
      const weir_linear_factor up = {r->between, n, true}, x = {r->solved, n, false};

      memset(r->between, 0, (size_t)(m * n) * sizeof *r->between);
      qt_system_add_block(s, &s->s, k, b - 1, b, (weir_c128){1, 0}, r->between);
      memcpy(r->solved, r->between, (size_t)(m * n) * sizeof *r->solved);
      if (!weir_linear_solve(m, n, r->now, r->solved, r->work)) {
        return weir_fail(WEIR_ERR_DATA, "%s: the blocks before it are singular", name);
      }
      weir_linear_multiply(n, n, m, -1, up, x, 1, r->next, n);
    }
    memcpy(r->now, r->next, (size_t)(n * n) * sizeof *r->now);
    WEIR_TRY(check_positive(name, n, r->next, scale, r));
  }
  return WEIR_OK;
}

/* A cell of a lead, and the wire of such cells at Bloch phases of `step` quarters and multiples. */
static weir_status check_lead(const qt_lead *lead, int side, const double k[2], int step,
                              workspace *r)
{
  const int64_t n = lead->n;
  const char *const text = side == QT_LEFT ? "left" : "right";
  char name[128], where[64];

  memset(r->now, 0, (size_t)(n * n) * sizeof *r->now);
  memset(r->between, 0, (size_t)(n * n) * sizeof *r->between);
  qt_bloch_add(&lead->overlap, k, (weir_c128){1, 0}, r->now);
  qt_bloch_add(&lead->next_overlap, k, (weir_c128){1, 0}, r->between);
  const double scale = largest_diagonal(n, r->now);

  (void)snprintf(name, sizeof name, "cell overlap of the %s lead%s", text, say(k, where));
  memcpy(r->next, r->now, (size_t)(n * n) * sizeof *r->next);
  WEIR_TRY(check_positive(name, n, r->next, scale, r));
  for (int phase = 0; phase < QUARTERS && lead->next_overlap.count > 0; phase += step) {
    const double c = (phase == 0) - (phase == 2), sine = (phase == 1) - (phase == 3);

    for (int64_t i = 0; i < n * n; i++) {
      const weir_c128 x = r->between[i], y = r->between[i % n * n + i / n];

      r->next[i].re = r->now[i].re + c * (x.re + y.re) - sine * (x.im + y.im);
      r->next[i].im = r->now[i].im + c * (x.im - y.im) + sine * (x.re - y.re);
    }
    (void)snprintf(name, sizeof name, "overlap of the wire of the %s lead at k_x = %g%s", text,
                   phase / (double)QUARTERS, say(k, where));
    WEIR_TRY(check_positive(name, n, r->next, scale, r));
  }
  return WEIR_OK;
}

/* Whether an overlap varies along a transverse direction. */
static bool varies(const qt_system *s, int direction)
{
  const qt_bloch *const all[] = {&s->s, &s->lead[QT_LEFT].overlap, &s->lead[QT_RIGHT].overlap,
                                 &s->lead[QT_LEFT].next_overlap, &s->lead[QT_RIGHT].next_overlap};
  bool found = false;

  for (size_t m = 0; m < sizeof all / sizeof *all; m++) {
    for (int64_t i = 0; i < all[m]->count; i++) {
      found = found || all[m]->image[i][direction] != 0;
    }
  }
  return found;
}

static int64_t largest_block(const qt_system *s)
{
  int64_t max_rows =
      s->lead[QT_LEFT].n > s->lead[QT_RIGHT].n ? s->lead[QT_LEFT].n : s->lead[QT_RIGHT].n;

  for (int64_t b = 0; b < s->n_blocks; b++) {
    max_rows = s->block[b + 1] - s->block[b] > max_rows ? s->block[b + 1] - s->block[b] : max_rows;
  }
  return max_rows;
}

weir_status qt_overlap_check(const qt_system *s)
{
  const int64_t max_rows = largest_block(s);
  const int step = max_rows > QT_OVERLAP_LARGE ? 2 : 1;
  const bool y_varies = varies(s, 0), z_varies = varies(s, 1);
  const int last[2] = {y_varies ? QUARTERS / 2 : 0, !z_varies  ? 0
                                                    : y_varies ? QUARTERS - 1
                                                               : QUARTERS / 2};
  workspace r = {.now = NULL};
  weir_status status = WEIR_OK;

  weir_linear_start();
  WEIR_TRY_GOTO(make_workspace(max_rows, &r), done);
  for (int y = 0; y <= last[0] && status == WEIR_OK; y += step) {
    for (int z = 0; z <= last[1] && status == WEIR_OK; z += step) {
      const double k[2] = {y / (double)QUARTERS, z / (double)QUARTERS};

      WEIR_TRY_GOTO(check_device(s, k, &r), done);
      for (int c = 0; c < QT_LEADS; c++) {
        WEIR_TRY_GOTO(check_lead(&s->lead[c], c, k, step, &r), done);
      }
    }
  }
done:
  free_workspace(&r);
  return status;
}

void qt_overlap_add_population(int64_t rows, int64_t columns, const weir_c128 *x,
                               const weir_c128 *turned, const weir_c128 *overlap, int64_t i,
                               weir_c128 *sum)
{
  for (int64_t j = 0; j < columns; j++) {
    const weir_c128 y = x[i * columns + j], w = turned[j * rows + i];
    const weir_c128 z = overlap[j * rows + i]; /* conj: S[i,j] */

    sum->re += 0.5 * ((y.re + w.re) * z.re - (y.im - w.im) * z.im);
    sum->im += 0.5 * ((y.re - w.re) * z.im + (y.im + w.im) * z.re);
  }
}
