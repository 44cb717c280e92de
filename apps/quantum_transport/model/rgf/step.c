/* step.c - see rgf_priv.h. */
#include "model/rgf/rgf_priv.h"

#include <math.h>
#include <string.h>

enum { MATRICES = 13, LESSER_MATRICES = 9 };

int64_t qt_rgf_scratch(int64_t max_rows, bool lesser)
{
  const int64_t matrices = MATRICES + (lesser ? LESSER_MATRICES : 0);

  return matrices * max_rows * max_rows * (int64_t)sizeof(weir_c128) +
         2 * qt_coupling_workspace(max_rows) * (int64_t)sizeof(qt_element) +
         weir_linear_solve_work(max_rows, 2 * max_rows);
}

void qt_rgf_lay_out(int64_t max, bool lesser, void *scratch, qt_rgf_space *s)
{
  *s = (qt_rgf_space){.outside = NO_BLOCK};
  weir_c128 **const matrix[] = {&s->stack,    &s->factors,    &s->y,       &s->x,     &s->carry,
                                &s->g,        &s->upper,      &s->lower,   &s->last,  &s->row,
                                &s->up.dense, &s->down.dense, /* without lesser */
                                &s->lost,     &s->s,          &s->t,       &s->gl,    &s->z,
                                &s->p,        &s->v,          &s->l_upper, &s->l_last};
  const size_t n = MATRICES - 1 + (lesser ? LESSER_MATRICES : 0);
  weir_c128 *at = scratch;

  for (size_t i = 0; i < n; i++) {
    *matrix[i] = at;
    at += (i == 0 ? 2 : 1) * max * max;
  }
  s->up.list = (qt_element *)at;
  s->down.list = s->up.list + qt_coupling_workspace(max);
  s->work = s->down.list + qt_coupling_workspace(max);
}

double qt_rgf_largest(int64_t rows, int64_t columns, weir_linear_factor y)
{
  enum { LANES = 8 };
  double maxima[LANES] = {0};

  for (int64_t i = 0; i < rows; i++) {
    const weir_c128 *row = y.data + i * y.stride;
    int64_t j = 0;

    for (; j + LANES / 2 <= columns; j += LANES / 2) {
      double x[LANES];

      memcpy(x, row + j, sizeof x);
      for (int l = 0; l < LANES; l++) {
        const double size = fabs(x[l]);

        maxima[l] = size > maxima[l] ? size : maxima[l];
      }
    }
    for (; j < columns; j++) {
      maxima[0] = fmax(maxima[0], fmax(fabs(row[j].re), fabs(row[j].im)));
    }
  }
  for (int l = 1; l < LANES; l++) {
    maxima[0] = fmax(maxima[0], maxima[l]);
  }
  return maxima[0];
}

/* Elements of y_n beyond this leave no digits of G: the part of the device on the left, cut off
 * after block n, has a state of that energy. */
static const double max_growth = 1e10;

void qt_rgf_load(const qt_rgf_job *job, int64_t n, qt_rgf_space *s)
{
  const int64_t count = qt_rows_of(job->layout, n) * qt_rows_of(job->layout, n);

  job->a.read(job->a.context, n, n, s->factors);
  for (int64_t i = 0; i < count && s->has_carry; i++) {
    s->factors[i].re -= s->carry[i].re;
    s->factors[i].im -= s->carry[i].im;
  }
  if (job->sigma.read == NULL) {
    return;
  }
  job->sigma.read(job->sigma.context, n, n, s->s);
  for (int64_t i = 0; i < count && s->has_carry; i++) {
    s->s[i].re += s->lost[i].re;
    s->s[i].im += s->lost[i].im;
  }
}

/* Writes [right | A[n,m]] or what is wanted of it, the identity where right is NULL. */
static void stack_right_sides(int64_t rows, int64_t own, const weir_c128 *right, int64_t next,
                              qt_rgf_space *s)
{
  const int64_t sides = own + next;

  memset(s->stack, 0, (size_t)(rows * sides) * sizeof *s->stack);
  for (int64_t i = 0; i < rows; i++) {
    if (right != NULL) {
      memcpy(s->stack + i * sides, right + i * own, (size_t)own * sizeof *right);
    } else if (own > 0) {
      s->stack[i * sides + i].re = 1;
    }
    if (next > 0) {
      memcpy(s->stack + i * sides + own, s->up.dense + i * next, (size_t)next * sizeof *s->stack);
    }
  }
}

bool qt_rgf_eliminate(const qt_rgf_job *job, int64_t n, int64_t m, bool wants_g,
                      const weir_c128 *right, int64_t columns, qt_rgf_space *s)
{
  const int64_t rows = qt_rows_of(job->layout, n), next = qt_rows_of(job->layout, m);

  s->up.count = 0;
  if (next > 0) {
    qt_coupling_read(&job->a, n, m, rows, next, &s->up);
  }
  const bool dense = s->up.count < 0 || right != NULL;
  const int64_t own = right != NULL ? columns : wants_g || !dense ? rows : 0;
  const int64_t sides = own + (dense ? next : 0);

  if (!dense) {
    if (!weir_linear_invert(rows, s->factors, s->stack, s->work)) {
      return false;
    }
  } else {
    stack_right_sides(rows, own, right, next, s);
    if (!weir_linear_solve(rows, sides, s->factors, s->stack, s->work)) {
      return false;
    }
  }
  s->from_g = qt_factor(s->stack, sides);
  s->from_y = dense ? qt_factor(s->stack + own, sides) : qt_factor(s->y, next);
  if (!dense && next > 0) {
    qt_coupling_right(rows, s->stack, sides, &s->up, false, s->y);
  }
  if (next > 0) {
    if (qt_rgf_largest(rows, next, s->from_y) > max_growth) {
      return false;
    }
    qt_coupling_read(&job->a, m, n, next, rows, &s->down);
    qt_coupling_left(&s->down, next, s->from_y.data, s->from_y.stride, s->carry);
  }
  s->has_carry = true;
  return true;
}

/* row *= by, with a sign; the first factor starts it. */
static void extend(bool starts, int64_t first, int64_t rows, int64_t columns, double sign,
                   weir_linear_factor by, const weir_c128 *row, weir_c128 *to)
{
  if (!starts) {
    weir_linear_multiply(first, columns, rows, sign, qt_factor(row, rows), by, 0, to, columns);
    return;
  }
  for (int64_t i = 0; i < rows * columns; i++) {
    const weir_c128 x = by.data[i / columns * by.stride + i % columns];

    to[i] = (weir_c128){sign * x.re, sign * x.im};
  }
}

void qt_rgf_extend_row(const qt_layout *l, int64_t n, int64_t m, int64_t first, qt_rgf_space *s,
                       weir_c128 *corner)
{
  const int64_t rows = qt_rows_of(l, n), next = qt_rows_of(l, m);
  weir_c128 *swap = s->row;

  if (next == 0) {
    extend(n == 0, first, rows, rows, 1, s->from_g, s->row, corner);
    return;
  }
  extend(n == 0, first, rows, next, -1, s->from_y, s->row, s->upper);
  s->row = s->upper;
  s->upper = swap;
}

void qt_rgf_extend_column(const qt_layout *l, int64_t n, int64_t m, bool starts, int64_t columns,
                          qt_rgf_space *s)
{
  const int64_t rows = qt_rows_of(l, n), next = qt_rows_of(l, m);
  weir_c128 *swap = s->row;

  if (starts) {
    extend(true, 0, next, rows, -1, qt_factor(s->x, rows), NULL, s->upper);
  } else {
    weir_linear_multiply(next, columns, rows, -1, qt_factor(s->x, rows), qt_factor(s->row, columns),
                         0, s->upper, columns);
  }
  s->row = s->upper;
  s->upper = swap;
}

static void store(const qt_bank *b, int64_t at, int64_t rows, int64_t columns,
                  const weir_c128 *from, int64_t stride)
{
  for (int64_t i = 0; i < rows; i++) {
    weir_c128 *to = b->data + (at + i * columns) * b->step;

    if (b->step == 1) {
      memcpy(to, from + i * stride, (size_t)columns * sizeof *to);
    }
    for (int64_t j = 0; j < columns && b->step != 1; j++) {
      to[j * b->step] = from[i * stride + j];
    }
  }
}

/* `count` numbers of a bank: where they lie, or gathered in `packed`. */
static const weir_c128 *load(const qt_bank *b, int64_t at, int64_t count, weir_c128 *packed)
{
  if (b->step == 1) {
    return b->data + at;
  }
  for (int64_t i = 0; i < count; i++) {
    packed[i] = b->data[(at + i) * b->step];
  }
  return packed;
}

/* (m - m^H) / 2. */
void qt_make_antihermitian(int64_t n, weir_c128 *m)
{
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j <= i; j++) {
      weir_c128 *x = &m[i * n + j], *y = &m[j * n + i];
      const weir_c128 mean = {(x->re - y->re) / 2, (x->im + y->im) / 2};

      *x = mean;
      *y = (weir_c128){-mean.re, mean.im};
    }
  }
}

/* to [rows, columns] += from^H, from [columns, rows]. */
void qt_add_adjoint(int64_t rows, int64_t columns, const weir_c128 *from, weir_c128 *to)
{
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      to[i * columns + j].re += from[j * rows + i].re;
      to[i * columns + j].im -= from[j * rows + i].im;
    }
  }
}

void qt_sigma_read(const qt_rgf_job *job, int64_t row, int64_t column, weir_c128 *memory,
                   weir_c128 *out)
{
  const int64_t rows = qt_rows_of(job->layout, row), columns = qt_rows_of(job->layout, column);

  if (row <= column) {
    job->sigma.read(job->sigma.context, row, column, out);
    return;
  }
  job->sigma.read(job->sigma.context, column, row, memory);
  for (int64_t i = 0; i < rows * columns; i++) {
    const weir_c128 x = memory[i % columns * rows + i / columns];

    out[i] = (weir_c128){-x.re, x.im};
  }
}

void qt_rgf_eliminate_lesser(const qt_rgf_job *job, int64_t n, int64_t m, qt_rgf_space *s)
{
  const int64_t rows = qt_rows_of(job->layout, n), next = qt_rows_of(job->layout, m);
  const weir_linear_factor back = {s->from_g.data, s->from_g.stride, true};

  weir_linear_multiply(rows, rows, rows, 1, qt_factor(s->s, rows), back, 0, s->t, rows);
  weir_linear_multiply(rows, rows, rows, 1, s->from_g, qt_factor(s->t, rows), 0, s->gl, rows);
  qt_make_antihermitian(rows, s->gl);
  if (next == 0) {
    return;
  }
  qt_coupling_left(&s->down, rows, s->gl, rows, s->z);
  if (job->tridiagonal) {
    qt_sigma_read(job, n, m, s->v, s->s);
    weir_linear_multiply(rows, next, rows, 1, s->from_g, qt_factor(s->s, next), 0, s->p, next);
    qt_add_adjoint(next, rows, s->p, s->z);
  }
  qt_coupling_right(next, s->z, rows, &s->down, true, s->lost);
  if (job->tridiagonal) {
    qt_coupling_left(&s->down, next, s->p, next, s->t);
    for (int64_t i = 0; i < next * next; i++) {
      s->lost[i].re -= s->t[i].re;
      s->lost[i].im -= s->t[i].im;
    }
  }
}

static int64_t offset_of(const qt_rgf_job *job, int64_t row, int64_t column, const qt_rgf_space *s)
{
  return qt_layout_at(job->layout, row, column) - s->first;
}

/* Where G[n,n], or G^<[n,n], lies: from *at of a bank; without data: nowhere. */
static qt_bank diagonal_bank(const qt_rgf_job *job, const qt_bank *bank, weir_c128 *outside,
                             int64_t n, const qt_rgf_space *s, int64_t *at)
{
  *at = n == s->outside ? 0 : offset_of(job, n, n, s);
  return n == s->outside ? (qt_bank){outside, 1} : *bank;
}

static void store_diagonal(const qt_rgf_job *job, int64_t n, const weir_c128 *g, int64_t stride,
                           const weir_c128 *lesser, const qt_rgf_space *s)
{
  const int64_t rows = qt_rows_of(job->layout, n);
  int64_t at;
  qt_bank bank = diagonal_bank(job, &job->g, s->outside_g, n, s, &at);

  if (bank.data != NULL) {
    store(&bank, at, rows, rows, g, stride);
  }
  bank = diagonal_bank(job, &job->lesser, s->outside_lesser, n, s, &at);
  if (bank.data != NULL && job->sigma.read != NULL) {
    store(&bank, at, rows, rows, lesser, rows);
  }
}

bool qt_rgf_forward(const qt_rgf_job *job, int64_t n, int64_t m, qt_rgf_space *s)
{
  const int64_t rows = qt_rows_of(job->layout, n), next = qt_rows_of(job->layout, m);

  if (!qt_rgf_eliminate(job, n, m, true, NULL, 0, s)) {
    return false;
  }
  if (next > 0) {
    qt_coupling_left(&s->down, rows, s->from_g.data, s->from_g.stride, s->x);
    store(&job->g, offset_of(job, n, m, s), rows, next, s->from_y.data, s->from_y.stride);
    store(&job->g, offset_of(job, m, n, s), next, rows, s->x, rows);
  }
  if (job->sigma.read != NULL) {
    qt_rgf_eliminate_lesser(job, n, m, s);
    if (next > 0) {
      store(&job->lesser, offset_of(job, m, n, s), next, rows, s->z, rows);
    }
  }
  store_diagonal(job, n, s->from_g.data, s->from_g.stride, s->gl, s);
  return true;
}

/* G^< + G^R - (G^R of the mirrored block)^H, [rows, columns], and minus its adjoint mirrored. */
static void store_greater(const qt_rgf_job *job, int64_t row, int64_t column, const qt_rgf_space *s,
                          const weir_c128 *lesser, const weir_c128 *g, const weir_c128 *mirror)
{
  const int64_t rows = qt_rows_of(job->layout, row), columns = qt_rows_of(job->layout, column);
  const int64_t at = offset_of(job, row, column, s), back = offset_of(job, column, row, s);
  const qt_bank *b = &job->greater;

  for (int64_t i = 0; i < rows && b->data != NULL; i++) {
    for (int64_t j = 0; j < columns; j++) {
      const weir_c128 x = lesser[i * columns + j], y = g[i * columns + j];
      const weir_c128 turned = mirror[j * rows + i];
      const weir_c128 sum = {x.re + (y.re - turned.re), x.im + (y.im + turned.im)};

      b->data[(at + i * columns + j) * b->step] = sum;
      if (row != column) {
        b->data[(back + j * rows + i) * b->step] = (weir_c128){-sum.re, sum.im};
      }
    }
  }
}

void qt_rgf_store_last(const qt_rgf_job *job, int64_t m, qt_rgf_space *s)
{
  store_diagonal(job, m, s->last, qt_rows_of(job->layout, m), s->l_last, s);
  if (job->sigma.read != NULL) {
    store_greater(job, m, m, s, s->l_last, s->last, s->last);
  }
}

/* The part of qt_rgf_go_back on G^<, with G^R[n,m], G^R[m,n] and G^R[n,n] in upper, lower and g. */
static void go_back_lesser(const qt_rgf_job *job, int64_t n, int64_t m, const weir_c128 *y,
                           qt_rgf_space *s)
{
  const int64_t rows = qt_rows_of(job->layout, n), next = qt_rows_of(job->layout, m);
  const int64_t up = offset_of(job, n, m, s), down = offset_of(job, m, n, s);
  const weir_c128 *z = load(&job->lesser, down, rows * next, s->z);
  int64_t here;
  const qt_bank own = diagonal_bank(job, &job->lesser, s->outside_lesser, n, s, &here);

  weir_linear_multiply(next, rows, next, 1, qt_factor(s->last, next), qt_factor(z, rows), 0, s->v,
                       rows);
  weir_linear_multiply(rows, next, next, -1, qt_factor(y, next), qt_factor(s->l_last, next), 0,
                       s->l_upper, next);
  qt_add_adjoint(rows, next, s->v, s->l_upper);
  if (own.data != NULL) {
    const weir_c128 *gl = load(&own, here, rows * rows, s->t);

    memcpy(s->gl, gl, (size_t)(rows * rows) * sizeof *gl);
    weir_linear_multiply(rows, rows, next, -1, qt_factor(s->l_upper, next), qt_adjoint(y, next), 1,
                         s->gl, rows);
    weir_linear_multiply(rows, rows, next, 1, qt_factor(y, next), qt_factor(s->v, rows), 1, s->gl,
                         rows);
    qt_make_antihermitian(rows, s->gl);
    memcpy(s->l_last, s->gl, (size_t)(rows * rows) * sizeof *s->gl);
  }
  for (int64_t i = 0; i < rows * next; i++) { /* v: minus the adjoint */
    const weir_c128 w = s->l_upper[i % rows * next + i / rows];

    s->v[i] = (weir_c128){-w.re, w.im};
  }
  store(&job->lesser, up, rows, next, s->l_upper, next);
  store(&job->lesser, down, next, rows, s->v, rows);
  store_greater(job, n, m, s, s->l_upper, s->upper, s->lower);
  if (n != s->outside) {
    store_greater(job, n, n, s, s->gl, s->g, s->g);
  }
}

void qt_rgf_go_back(const qt_rgf_job *job, int64_t n, int64_t m, qt_rgf_space *s)
{
  const int64_t rows = qt_rows_of(job->layout, n), next = qt_rows_of(job->layout, m);
  const int64_t up = offset_of(job, n, m, s), down = offset_of(job, m, n, s);
  const weir_c128 *y = load(&job->g, up, rows * next, s->y);
  const weir_c128 *x = load(&job->g, down, rows * next, s->x);
  weir_c128 *swap = s->last;
  int64_t here;
  const qt_bank own = diagonal_bank(job, &job->g, s->outside_g, n, s, &here);

  weir_linear_multiply(rows, next, next, -1, qt_factor(y, next), qt_factor(s->last, next), 0,
                       s->upper, next);
  weir_linear_multiply(next, rows, next, -1, qt_factor(s->last, next), qt_factor(x, rows), 0,
                       s->lower, rows);
  if (own.data != NULL) {
    const weir_c128 *g = load(&own, here, rows * rows, s->factors);

    memcpy(s->g, g, (size_t)(rows * rows) * sizeof *g);
    weir_linear_multiply(rows, rows, next, -1, qt_factor(s->upper, next), qt_factor(x, rows), 1,
                         s->g, rows);
  }
  if (job->sigma.read != NULL) {
    go_back_lesser(job, n, m, y, s);
  }
  store(&job->g, up, rows, next, s->upper, next);
  store(&job->g, down, next, rows, s->lower, rows);
  if (own.data != NULL) {
    store_diagonal(job, n, s->g, rows, s->gl, s);
    s->last = s->g;
    s->g = swap;
  }
}
