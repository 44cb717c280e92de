/* slab_eliminate.c - a slab eliminates its blocks towards its separators: see slabs.h.
 *
 * Between two separators, with W_i = A[i,n] g_n for i = L and m = n + 1, u = g_n A[n,L] and
 * y = g_n A[n,m], block n leaves
 *   A[L,L] -= A[L,n] u, A[m,L] = -A[m,n] u, A[L,m] = -A[L,n] y, A[m,m] -= A[m,n] y,
 *   Sigma^<[i,j] += W_i Sigma^<[n,n] W_j^H - W_i Sigma^<[n,j] - Sigma^<[i,n] W_j^H. */
#include <string.h>

#include "model/rgf/slabs_priv.h"

static void copy(int64_t count, const weir_c128 *from, weir_c128 *to)
{
  memcpy(to, from, (size_t)count * sizeof *to);
}

/* What remains of A and Sigma^< at the separator on the right. */
static void share_right(qt_slabs *s, const qt_rgf_job *job, int64_t slab, qt_rgf_space *space)
{
  const int64_t right = qt_slab_right(s, slab), rows = qt_rows_of(job->layout, right);

  qt_rgf_load(job, right, space);
  copy(rows * rows, space->factors, s->shared + s->offsets[slab].right);
  if (job->sigma.read != NULL) {
    copy(rows * rows, space->s, s->shared + s->offsets[slab].right_lesser);
  }
}

static bool eliminate_first(qt_slabs *s, const qt_rgf_job *job, qt_rgf_space *space)
{
  const qt_layout *l = job->layout;
  const int64_t right = qt_slab_right(s, 0), rows = qt_rows_of(l, 0);
  weir_c128 *end = s->shared + s->offsets[0].end;

  for (int64_t n = 0; n < right; n++) {
    qt_rgf_load(job, n, space);
    if (!(job->g.data != NULL ? qt_slab_forward(job, n, n + 1, &s->growth[0], space)
                              : qt_rgf_eliminate(job, n, n + 1, false, NULL, 0, space))) {
      return false;
    }
    if (job->corner != NULL) {
      qt_rgf_extend_row(l, n, n + 1, rows, space, NULL);
    }
  }
  share_right(s, job, 0, space);
  if (job->corner != NULL && right > 0) {
    copy(rows * qt_rows_of(l, right), space->row, end);
  } else if (job->corner != NULL) {
    memset(end, 0, (size_t)(rows * rows) * sizeof *end);
    for (int64_t i = 0; i < rows; i++) {
      end[i * (rows + 1)].re = 1;
    }
  }
  return true;
}

/* Block n of the last slab where the corner alone is wanted: row becomes -A[m,n] g_n row. */
static bool eliminate_to_left(const qt_rgf_job *job, int64_t n, bool starts, int64_t columns,
                              qt_rgf_space *s)
{
  const int64_t next = qt_rows_of(job->layout, n - 1);
  weir_c128 *swap = s->row;

  if (!qt_rgf_eliminate(job, n, n - 1, true, starts ? NULL : s->row, columns, s)) {
    return false;
  }
  qt_coupling_left(&s->down, columns, s->from_g.data, s->from_g.stride, s->upper);
  for (int64_t i = 0; i < next * columns; i++) {
    s->upper[i] = (weir_c128){-s->upper[i].re, -s->upper[i].im};
  }
  s->row = s->upper;
  s->upper = swap;
  return true;
}

static bool eliminate_last(qt_slabs *s, const qt_rgf_job *job, qt_rgf_space *space)
{
  const qt_layout *l = job->layout;
  const int64_t slab = s->spec.n_slabs - 1, left = qt_slab_left(s, slab), last = l->n_blocks - 1;
  const int64_t rows = qt_rows_of(l, left), columns = qt_rows_of(l, last);
  const qt_slab_offsets *to = &s->offsets[slab];

  for (int64_t n = last; n > left; n--) {
    qt_rgf_load(job, n, space);
    if (!(job->g.data != NULL ? qt_slab_forward(job, n, n - 1, &s->growth[slab], space)
                              : eliminate_to_left(job, n, n == last, columns, space))) {
      return false;
    }
    if (job->g.data != NULL && job->corner != NULL) {
      qt_rgf_extend_column(l, n, n - 1, n == last, columns, space);
    }
  }
  copy(rows * rows, space->carry, s->shared + to->left);
  if (job->sigma.read != NULL) {
    copy(rows * rows, space->lost, s->shared + to->left_lesser);
  }
  if (job->corner != NULL) {
    copy(rows * columns, space->row, s->shared + to->end);
  }
  return true;
}

/* Blocks that a slab between two separators fills, in memory that the way back uses later. */
typedef struct fill {
  int64_t rows;            /* of L                                            */
  double max_growth;       /* elements of u and y beyond it leave too few digits, which are lost in
                              proportion to it */
  weir_c128 *down, *right; /* A[n,L], A[L,n]                                  */
  weir_c128 *down_lesser;  /* Sigma^<[n,L]                                    */
  weir_c128 *next_down, *next_right, *next_lesser; /* of m; lesser: Sigma^<[L,m] */
  weir_c128 *left, *left_lesser;                   /* what A[L,L] loses, Sigma^<[L,L] gains     */
} fill;

/* After qt_rgf_eliminate_lesser of block n. */
static void fill_lesser(const qt_rgf_job *job, int64_t n, fill *f, qt_rgf_space *s)
{
  const int64_t rows = qt_rows_of(job->layout, n), next = qt_rows_of(job->layout, n + 1);
  const int64_t left = f->rows;
  weir_c128 *p = s->l_upper, *h = s->x; /* p = g Sigma^<[n,L]; h = A[L,n] g<_n + p^H */

  weir_linear_multiply(rows, left, rows, 1, s->from_g, qt_factor(f->down_lesser, left), 0, p, left);
  weir_linear_multiply(left, rows, rows, 1, qt_factor(f->right, rows), qt_factor(s->gl, rows), 0, h,
                       rows);
  qt_add_adjoint(left, rows, p, h);
  weir_linear_multiply(left, left, rows, 1, qt_factor(h, rows), qt_adjoint(f->right, rows), 1,
                       f->left_lesser, left);
  weir_linear_multiply(left, left, rows, -1, qt_factor(f->right, rows), qt_factor(p, left), 1,
                       f->left_lesser, left);
  qt_coupling_right(left, h, rows, &s->down, true, f->next_lesser);
  if (job->tridiagonal) {
    weir_linear_multiply(left, next, rows, -1, qt_factor(f->right, rows), qt_factor(s->p, next), 1,
                         f->next_lesser, next);
  }
  for (int64_t i = 0; i < next * left; i++) {
    const weir_c128 x = f->next_lesser[i % left * next + i / left];

    f->down_lesser[i] = (weir_c128){-x.re, x.im};
  }
}

/* Eliminates block n, whose diagonal blocks are loaded. */
static bool fill_next(const qt_rgf_job *job, int64_t n, fill *f, qt_rgf_space *s)
{
  const bool lesser = job->sigma.read != NULL;
  const int64_t rows = qt_rows_of(job->layout, n), next = qt_rows_of(job->layout, n + 1);
  const int64_t left = f->rows;
  weir_linear_factor u = qt_factor(s->upper, left);
  weir_c128 *swap;

  if (!qt_rgf_eliminate(job, n, n + 1, lesser, lesser ? NULL : f->down, left, s)) {
    return false;
  }
  if (lesser) {
    weir_linear_multiply(rows, left, rows, 1, s->from_g, qt_factor(f->down, left), 0, s->upper,
                         left);
  } else {
    u = s->from_g;
  }
  if (qt_rgf_largest(rows, left, u) > f->max_growth ||
      qt_rgf_largest(rows, next, s->from_y) > f->max_growth) {
    return false;
  }
  weir_linear_multiply(left, left, rows, 1, qt_factor(f->right, rows), u, 1, f->left, left);
  weir_linear_multiply(left, next, rows, -1, qt_factor(f->right, rows), s->from_y, 0, f->next_right,
                       next);
  qt_coupling_left(&s->down, left, u.data, u.stride, f->next_down);
  for (int64_t i = 0; i < next * left; i++) {
    f->next_down[i] = (weir_c128){-f->next_down[i].re, -f->next_down[i].im};
  }
  if (lesser) {
    qt_rgf_eliminate_lesser(job, n, n + 1, s);
    fill_lesser(job, n, f, s);
  }
  swap = f->down;
  f->down = f->next_down;
  f->next_down = swap;
  swap = f->right;
  f->right = f->next_right;
  f->next_right = swap;
  return true;
}

/* Sigma^<[L,m] of the block m after L, and Sigma^<[m,L]. */
static void begin_lesser(const qt_rgf_job *job, int64_t left, fill *f)
{
  const int64_t next = qt_rows_of(job->layout, left + 1);

  memset(f->next_lesser, 0, (size_t)(f->rows * next) * sizeof *f->next_lesser);
  if (job->tridiagonal) {
    job->sigma.read(job->sigma.context, left, left + 1, f->next_lesser);
  }
  for (int64_t i = 0; i < next * f->rows; i++) {
    const weir_c128 x = f->next_lesser[i % f->rows * next + i / f->rows];

    f->down_lesser[i] = (weir_c128){-x.re, x.im};
  }
}

static bool eliminate_between(qt_slabs *s, const qt_rgf_job *job, int64_t slab, qt_rgf_space *space)
{
  const bool lesser = job->sigma.read != NULL;
  const int64_t left = qt_slab_left(s, slab), right = qt_slab_right(s, slab);
  const int64_t rows = qt_rows_of(job->layout, left), columns = qt_rows_of(job->layout, right);
  const qt_slab_offsets *to = &s->offsets[slab];
  const double rounding = 1e-16;
  fill f = {.rows = rows,
            .max_growth = s->spec.max_error / rounding,
            .down = space->last,
            .right = space->row,
            .next_down = space->g,
            .next_right = space->lower,
            .down_lesser = space->l_last,
            .next_lesser = space->v,
            .left = s->shared + to->left,
            .left_lesser = s->shared + to->left_lesser};

  job->a.read(job->a.context, left + 1, left, f.down);
  job->a.read(job->a.context, left, left + 1, f.right);
  memset(f.left, 0, (size_t)(rows * rows) * sizeof *f.left);
  if (lesser) {
    memset(f.left_lesser, 0, (size_t)(rows * rows) * sizeof *f.left_lesser);
    begin_lesser(job, left, &f);
  }
  for (int64_t n = left + 1; n < right; n++) {
    qt_rgf_load(job, n, space);
    if (!fill_next(job, n, &f, space)) {
      return false;
    }
  }
  share_right(s, job, slab, space);
  copy(columns * rows, f.down, s->shared + to->down);
  copy(columns * rows, f.right, s->shared + to->up);
  if (lesser) {
    qt_make_antihermitian(rows, f.left_lesser);
    copy(columns * rows, f.next_lesser, s->shared + to->up_lesser);
  }
  return true;
}

bool qt_slab_eliminate(qt_slabs *s, const qt_rgf_job *job, int64_t slab, qt_rgf_space *space)
{
  s->growth[slab] = (qt_slab_growth){.fills = false};
  return slab == 0                     ? eliminate_first(s, job, space)
         : slab == s->spec.n_slabs - 1 ? eliminate_last(s, job, space)
                                       : eliminate_between(s, job, slab, space);
}
