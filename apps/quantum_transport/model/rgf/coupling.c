/* coupling.c - see coupling.h. */
#include "model/rgf/coupling.h"

#include <string.h>

#include "ops/linear/weir_linear.h"

/* A product by list costs as much as a dense one of so many times its elements, about. */
enum { DENSE_SHARE = 16 };

int64_t qt_coupling_workspace(int64_t max_rows)
{
  return max_rows * max_rows / DENSE_SHARE + 1;
}

enum { RUN = 4 };

/* Whether RUN elements are 0, or -0: a cache line at a time, as most are. */
static bool is_zero(const weir_c128 *x)
{
  uint64_t bits[2 * RUN], any = 0;

  memcpy(bits, x, sizeof bits);
  for (int i = 0; i < 2 * RUN; i++) {
    any |= bits[i];
  }
  return any << 1 == 0;
}

void qt_coupling_read(const qt_blocks *m, int64_t row, int64_t column, int64_t rows,
                      int64_t columns, qt_coupling *c)
{
  const int64_t max_count = rows * columns / DENSE_SHARE;

  m->read(m->context, row, column, c->dense);
  c->rows = rows;
  c->columns = columns;
  c->count = 0;
  for (int64_t i = 0; i < rows && c->count >= 0; i++) {
    for (int64_t j = 0; j < columns; j++) {
      if (j + RUN <= columns && is_zero(c->dense + i * columns + j)) {
        j += RUN - 1;
        continue;
      }
      const weir_c128 x = c->dense[i * columns + j];

      if (x.re == 0 && x.im == 0) {
        continue;
      }
      if (c->count == max_count) {
        c->count = -1;
        break;
      }
      c->list[c->count++] = (qt_element){(int32_t)i, (int32_t)j, x};
    }
  }
  c->diagonal = rows == columns && c->count == rows;
  for (int64_t e = 0; e < c->count && c->diagonal; e++) {
    c->diagonal = c->list[e].row == e && c->list[e].column == e;
  }
}

static weir_c128 times(weir_c128 x, weir_c128 y)
{
  return (weir_c128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

void qt_coupling_left(const qt_coupling *c, int64_t n, const weir_c128 *b, int64_t stride,
                      weir_c128 *out)
{
  if (c->count < 0) {
    weir_linear_multiply(c->rows, n, c->columns, 1,
                         (weir_linear_factor){c->dense, c->columns, false},
                         (weir_linear_factor){b, stride, false}, 0, out, n);
    return;
  }
  for (int64_t i = 0; i < c->rows && c->diagonal; i++) {
    for (int64_t j = 0; j < n; j++) {
      out[i * n + j] = times(c->list[i].value, b[i * stride + j]);
    }
  }
  if (c->diagonal) {
    return;
  }
  memset(out, 0, (size_t)(c->rows * n) * sizeof *out);
  for (int64_t e = 0; e < c->count; e++) {
    const weir_c128 x = c->list[e].value, *from = b + c->list[e].column * stride;
    weir_c128 *to = out + c->list[e].row * n;

    for (int64_t j = 0; j < n; j++) {
      to[j].re += x.re * from[j].re - x.im * from[j].im;
      to[j].im += x.re * from[j].im + x.im * from[j].re;
    }
  }
}

void qt_coupling_right(int64_t m, const weir_c128 *a, int64_t stride, const qt_coupling *c,
                       bool adjoint, weir_c128 *out)
{
  const int64_t n = adjoint ? c->rows : c->columns;

  if (c->count < 0) {
    weir_linear_multiply(m, n, adjoint ? c->columns : c->rows, 1,
                         (weir_linear_factor){a, stride, false},
                         (weir_linear_factor){c->dense, c->columns, adjoint}, 0, out, n);
    return;
  }
  for (int64_t i = 0; i < m && c->diagonal; i++) {
    for (int64_t j = 0; j < n; j++) {
      const weir_c128 x = c->list[j].value;

      out[i * n + j] = times(a[i * stride + j], (weir_c128){x.re, adjoint ? -x.im : x.im});
    }
  }
  if (c->diagonal) {
    return;
  }
  memset(out, 0, (size_t)(m * n) * sizeof *out);
  for (int64_t i = 0; i < m; i++) {
    const weir_c128 *from = a + i * stride;
    weir_c128 *to = out + i * n;

    for (int64_t e = 0; e < c->count; e++) {
      const qt_element *x = &c->list[e];
      const weir_c128 y = from[adjoint ? x->column : x->row];
      const double im = adjoint ? -x->value.im : x->value.im;
      weir_c128 *z = &to[adjoint ? x->row : x->column];

      z->re += y.re * x->value.re - y.im * im;
      z->im += y.re * im + y.im * x->value.re;
    }
  }
}
