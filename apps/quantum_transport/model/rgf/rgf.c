/* rgf.c - see rgf.h: the recursion over the blocks of one matrix. */
#include "model/rgf/rgf.h"

#include <math.h>
#include <string.h>

#include "model/rgf/coupling.h"
#include "ops/linear/weir_linear.h"

/* Memory of a recursion: each as large as the largest block, stack twice that. */
typedef struct space {
  weir_c128 *stack, *factors;          /* right sides and matrix of an elimination      */
  weir_c128 *y, *x, *carry;            /* carry: what the next diagonal block loses     */
  weir_c128 *g, *upper, *lower, *last; /* blocks of G^R on the way back; last: G[m,m]   */
  weir_c128 *row;                      /* the product that becomes the corner           */
  qt_coupling up, down;                /* A[n,m], A[m,n]                                */
  weir_c128 *lost, *s, *t, *gl, *z, *p, *v, *l_upper, *l_last; /* of G^<; lost: as carry */
  void *work;
  weir_linear_factor from_g, from_y; /* g_n and y_n after an elimination */
} space;

enum { MATRICES = 13, LESSER_MATRICES = 9 };

int64_t qt_rgf_scratch(int64_t max_rows, bool lesser)
{
  const int64_t matrices = MATRICES + (lesser ? LESSER_MATRICES : 0);

  return matrices * max_rows * max_rows * (int64_t)sizeof(weir_c128) +
         2 * qt_coupling_room(max_rows) * (int64_t)sizeof(qt_element) +
         weir_linear_solve_work(max_rows, 2 * max_rows);
}

static void lay_out(int64_t max, bool lesser, void *scratch, space *s)
{
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
  s->down.list = s->up.list + qt_coupling_room(max);
  s->work = s->down.list + qt_coupling_room(max);
}

static weir_linear_factor plain(const weir_c128 *data, int64_t stride)
{
  return (weir_linear_factor){data, stride, false};
}

static weir_linear_factor adjoint(const weir_c128 *data, int64_t stride)
{
  return (weir_linear_factor){data, stride, true};
}

static int64_t rows_of(const qt_layout *l, int64_t block)
{
  return block < l->n_blocks ? qt_layout_rows(l, block) : 0;
}

/* Elements of y_n beyond this leave no digits of G: the part of the device on the left, cut off
 * behind block n, has a state of that energy. */
static const double max_growth = 1e10;

static bool has_grown(int64_t rows, int64_t columns, weir_linear_factor y)
{
  double most = 0;

  for (int64_t i = 0; i < rows * columns; i++) {
    const weir_c128 x = y.data[i / columns * y.stride + i % columns];

    most = fmax(most, fmax(fabs(x.re), fabs(x.im)));
  }
  return most > max_growth;
}

/* Eliminates block n: g_n (where wanted, and of the last block) and y_n. False where it cannot. */
static bool eliminate(const qt_layout *l, const qt_blocks *a, bool wants_g, int64_t n, space *s)
{
  const int64_t rows = rows_of(l, n), next = rows_of(l, n + 1);

  a->read(a->context, n, n, s->factors);
  for (int64_t i = 0; i < rows * rows && n > 0; i++) {
    s->factors[i].re -= s->carry[i].re;
    s->factors[i].im -= s->carry[i].im;
  }
  s->up.count = 0;
  if (next > 0) {
    qt_coupling_read(a, n, n + 1, rows, next, &s->up);
  }
  const bool dense = s->up.count < 0;
  const int64_t own = wants_g || !dense ? rows : 0, sides = own + (dense ? next : 0);

  memset(s->stack, 0, (size_t)(rows * sides) * sizeof *s->stack);
  for (int64_t i = 0; i < rows; i++) {
    if (own > 0) {
      s->stack[i * sides + i].re = 1;
    }
    if (dense) {
      memcpy(s->stack + i * sides + own, s->up.dense + i * next, (size_t)next * sizeof *s->stack);
    }
  }
  if (!weir_linear_solve(rows, sides, s->factors, s->stack, s->work)) {
    return false;
  }
  s->from_g = plain(s->stack, sides);
  s->from_y = dense ? plain(s->stack + own, sides) : plain(s->y, next);
  if (!dense && next > 0) {
    qt_coupling_behind(rows, s->stack, sides, &s->up, false, s->y);
  }
  if (next > 0) {
    if (has_grown(rows, next, s->from_y)) {
      return false;
    }
    qt_coupling_read(a, n + 1, n, next, rows, &s->down);
    qt_coupling_before(&s->down, next, s->from_y.data, s->from_y.stride, s->carry);
  }
  return true;
}

/* row: (-y_0) (-y_1) ... as far as block n; with the last block's g the corner. */
static void extend_corner(const qt_layout *l, int64_t n, space *s, weir_c128 *corner)
{
  const int64_t first = rows_of(l, 0), rows = rows_of(l, n), next = rows_of(l, n + 1);
  const weir_linear_factor by = next > 0 ? s->from_y : s->from_g;
  const int64_t columns = next > 0 ? next : rows;
  weir_c128 *to = next > 0 ? s->upper : corner;
  const double sign = next > 0 ? -1 : 1;

  if (n == 0) {
    for (int64_t i = 0; i < rows * columns; i++) {
      const weir_c128 x = by.data[i / columns * by.stride + i % columns];

      to[i] = (weir_c128){sign * x.re, sign * x.im};
    }
  } else {
    weir_linear_multiply(first, columns, rows, sign, plain(s->row, rows), by, 0, to, columns);
  }
  if (next > 0) {
    s->upper = s->row;
    s->row = to;
  }
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

/* `count` numbers of a bank: where they lie, or gathered in `room`. */
static const weir_c128 *load(const qt_bank *b, int64_t at, int64_t count, weir_c128 *room)
{
  if (b->step == 1) {
    return b->data + at;
  }
  for (int64_t i = 0; i < count; i++) {
    room[i] = b->data[(at + i) * b->step];
  }
  return room;
}

/* (m - m^H) / 2. */
static void make_antihermitian(int64_t n, weir_c128 *m)
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
static void add_adjoint(int64_t rows, int64_t columns, const weir_c128 *from, weir_c128 *to)
{
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      to[i * columns + j].re += from[j * rows + i].re;
      to[i * columns + j].im -= from[j * rows + i].im;
    }
  }
}

/* gl = g<_n; z_n into the place of G<[m,n]; lost: what Sigma^<[m,m] gains. */
static void eliminate_lesser(const qt_rgf_job *job, int64_t n, space *s)
{
  const qt_layout *l = job->layout;
  const int64_t rows = rows_of(l, n), next = rows_of(l, n + 1);
  const weir_linear_factor back = {s->from_g.data, s->from_g.stride, true};

  job->sigma.read(job->sigma.context, n, n, s->s);
  for (int64_t i = 0; i < rows * rows && n > 0; i++) {
    s->s[i].re += s->lost[i].re;
    s->s[i].im += s->lost[i].im;
  }
  weir_linear_multiply(rows, rows, rows, 1, plain(s->s, rows), back, 0, s->t, rows);
  weir_linear_multiply(rows, rows, rows, 1, s->from_g, plain(s->t, rows), 0, s->gl, rows);
  make_antihermitian(rows, s->gl);
  store(&job->lesser, qt_layout_at(l, n, n), rows, rows, s->gl, rows);
  if (next == 0) {
    return;
  }
  qt_coupling_before(&s->down, rows, s->gl, rows, s->z);
  if (job->tridiagonal) {
    job->sigma.read(job->sigma.context, n, n + 1, s->s);
    weir_linear_multiply(rows, next, rows, 1, s->from_g, plain(s->s, next), 0, s->p, next);
    add_adjoint(next, rows, s->p, s->z);
  }
  qt_coupling_behind(next, s->z, rows, &s->down, true, s->lost);
  if (job->tridiagonal) {
    qt_coupling_before(&s->down, next, s->p, next, s->t);
    for (int64_t i = 0; i < next * next; i++) {
      s->lost[i].re -= s->t[i].re;
      s->lost[i].im -= s->t[i].im;
    }
  }
  store(&job->lesser, qt_layout_at(l, n + 1, n), next, rows, s->z, rows);
}

/* G^< + G^R - (G^R of the mirrored block)^H, [rows, columns], and minus its adjoint mirrored. */
static void store_greater(const qt_rgf_job *job, int64_t row, int64_t column,
                          const weir_c128 *lesser, const weir_c128 *g, const weir_c128 *mirror)
{
  const int64_t rows = rows_of(job->layout, row), columns = rows_of(job->layout, column);
  const int64_t at = qt_layout_at(job->layout, row, column);
  const int64_t back = qt_layout_at(job->layout, column, row);
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

/* G[n,m], G[m,n] and G[n,n] from G[m,m] in last, in the bank in place of y_n, x_n and g_n, and of
 * G^< likewise. */
static void go_back(const qt_rgf_job *job, int64_t n, space *s)
{
  const qt_layout *l = job->layout;
  const int64_t rows = rows_of(l, n), next = rows_of(l, n + 1);
  const int64_t here = qt_layout_at(l, n, n), up = qt_layout_at(l, n, n + 1);
  const int64_t down = qt_layout_at(l, n + 1, n);
  const weir_c128 *y = load(&job->g, up, rows * next, s->y);
  const weir_c128 *x = load(&job->g, down, rows * next, s->x);
  const weir_c128 *g = load(&job->g, here, rows * rows, s->factors);
  weir_c128 *swap = s->last;

  memcpy(s->g, g, (size_t)(rows * rows) * sizeof *g);
  weir_linear_multiply(rows, next, next, -1, plain(y, next), plain(s->last, next), 0, s->upper,
                       next);
  weir_linear_multiply(next, rows, next, -1, plain(s->last, next), plain(x, rows), 0, s->lower,
                       rows);
  weir_linear_multiply(rows, rows, next, -1, plain(s->upper, next), plain(x, rows), 1, s->g, rows);
  if (job->sigma.read != NULL) {
    const weir_c128 *z = load(&job->lesser, down, rows * next, s->z);
    const weir_c128 *gl = load(&job->lesser, here, rows * rows, s->t);

    memcpy(s->gl, gl, (size_t)(rows * rows) * sizeof *gl);
    weir_linear_multiply(next, rows, next, 1, plain(s->last, next), plain(z, rows), 0, s->v, rows);
    weir_linear_multiply(rows, next, next, -1, plain(y, next), plain(s->l_last, next), 0,
                         s->l_upper, next);
    add_adjoint(rows, next, s->v, s->l_upper);
    weir_linear_multiply(rows, rows, next, -1, plain(s->l_upper, next), adjoint(y, next), 1, s->gl,
                         rows);
    weir_linear_multiply(rows, rows, next, 1, plain(y, next), plain(s->v, rows), 1, s->gl, rows);
    make_antihermitian(rows, s->gl);
    memcpy(s->l_last, s->gl, (size_t)(rows * rows) * sizeof *s->gl);
    for (int64_t i = 0; i < rows * next; i++) { /* v: minus the adjoint */
      const weir_c128 w = s->l_upper[i % rows * next + i / rows];

      s->v[i] = (weir_c128){-w.re, w.im};
    }
    store(&job->lesser, here, rows, rows, s->gl, rows);
    store(&job->lesser, up, rows, next, s->l_upper, next);
    store(&job->lesser, down, next, rows, s->v, rows);
    store_greater(job, n, n, s->gl, s->g, s->g);
    store_greater(job, n, n + 1, s->l_upper, s->upper, s->lower);
  }
  store(&job->g, here, rows, rows, s->g, rows);
  store(&job->g, up, rows, next, s->upper, next);
  store(&job->g, down, next, rows, s->lower, rows);
  s->last = s->g;
  s->g = swap;
}

static void spoil(const qt_rgf_job *job)
{
  const qt_bank *banks[] = {&job->g, &job->lesser, &job->greater};
  const weir_c128 none = {NAN, NAN};
  const int64_t first = rows_of(job->layout, 0);

  for (int b = 0; b < 3; b++) {
    for (int64_t i = 0; i < job->layout->count && banks[b]->data != NULL; i++) {
      banks[b]->data[i * banks[b]->step] = none;
    }
  }
  for (int64_t i = 0; i < first * rows_of(job->layout, job->layout->n_blocks - 1); i++) {
    if (job->corner != NULL) {
      job->corner[i] = none;
    }
  }
}

bool qt_rgf_solve(const qt_rgf_job *job, void *scratch)
{
  const qt_layout *l = job->layout;
  const bool lesser = job->sigma.read != NULL;
  const int64_t last = l->n_blocks - 1, rows = rows_of(l, last);
  space s;

  lay_out(l->max, lesser, scratch, &s);
  for (int64_t n = 0; n <= last; n++) {
    const int64_t here = rows_of(l, n), next = rows_of(l, n + 1);

    if (!eliminate(l, &job->a, true, n, &s)) {
      spoil(job);
      return false;
    }
    store(&job->g, qt_layout_at(l, n, n), here, here, s.from_g.data, s.from_g.stride);
    if (next > 0) {
      qt_coupling_before(&s.down, here, s.from_g.data, s.from_g.stride, s.x);
      store(&job->g, qt_layout_at(l, n, n + 1), here, next, s.from_y.data, s.from_y.stride);
      store(&job->g, qt_layout_at(l, n + 1, n), next, here, s.x, here);
    }
    if (job->corner != NULL) {
      extend_corner(l, n, &s, job->corner);
    }
    if (lesser) {
      eliminate_lesser(job, n, &s);
    }
  }
  memcpy(s.last, s.stack, (size_t)(rows * rows) * sizeof *s.last);
  if (lesser) {
    memcpy(s.l_last, s.gl, (size_t)(rows * rows) * sizeof *s.gl);
    store_greater(job, last, last, s.gl, s.last, s.last);
  }
  for (int64_t n = last - 1; n >= 0; n--) {
    go_back(job, n, &s);
  }
  return true;
}

bool qt_rgf_corner(const qt_layout *l, const qt_blocks *a, weir_c128 *corner, void *scratch)
{
  const int64_t count = rows_of(l, 0) * rows_of(l, l->n_blocks - 1);
  space s;

  lay_out(l->max, false, scratch, &s);
  for (int64_t n = 0; n < l->n_blocks; n++) {
    if (!eliminate(l, a, false, n, &s)) {
      for (int64_t i = 0; i < count; i++) {
        corner[i] = (weir_c128){NAN, NAN};
      }
      return false;
    }
    extend_corner(l, n, &s, corner);
  }
  return true;
}

double qt_rgf_flops(const qt_layout *l, bool lesser, bool tridiagonal)
{
  double multiplications = 0;

  for (int64_t n = 0; n < l->n_blocks; n++) {
    const double a = (double)rows_of(l, n), b = (double)rows_of(l, n + 1);

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
  const double first = (double)rows_of(l, 0);
  double multiplications = 0;

  for (int64_t n = 0; n < l->n_blocks; n++) {
    const double a = (double)rows_of(l, n), b = (double)rows_of(l, n + 1), sides = b > 0 ? b : a;

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

  weir_linear_multiply(m, n, m, 1, plain(gamma_l, m), plain(g, n), 0, left, n);
  weir_linear_multiply(m, n, n, 1, plain(g, n), plain(gamma_r, n), 0, right, n);
  for (int64_t i = 0; i < m * n; i++) { /* (Gamma_R G^H)_ji is the conjugate of (G Gamma_R)_ij */
    sum += left[i].re * right[i].re + left[i].im * right[i].im;
  }
  return sum;
}
