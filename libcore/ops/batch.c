/* batch.c - points of a batch, and the matrices that they read and write. */
#include <math.h>
#include <string.h>

#include "ops/weir_batch.h"

weir_status weir_batch_need_dtype(const char *op, weir_dtype dtype)
{
  const weir_dtype part = weir_dtype_part(dtype);

  return part == WEIR_F32 || part == WEIR_F64
             ? WEIR_OK
             : weir_fail(WEIR_ERR_SHAPE, "%s: arrays of %s: f32, f64, c64 and c128 are supported",
                         op, weir_dtype_name(dtype));
}

weir_status weir_batch_shape(const char *op, const weir_array_desc *in, const int *dims, int n,
                             weir_array_desc *batch)
{
  weir_array_desc outer[WEIR_MAX_OPERANDS];

  for (int i = 0; i < n; i++) {
    outer[i] = in[i];
    outer[i].rank = in[i].rank - dims[i];
    if (outer[i].rank < 0) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: input %d has rank %d, at least %d is needed", op, i,
                       in[i].rank, dims[i]);
    }
    for (int d = outer[i].rank; d < in[i].rank; d++) {
      WEIR_TRY(weir_need_bounded(op, &in[i], d, "place it before these"));
    }
  }
  return weir_common_shape(op, outer, n, batch);
}

void weir_batch_map(const weir_access *a, weir_operand *o, const weir_array_desc *d, int dims,
                    const int *whole)
{
  const int outer = d->rank - dims;
  int parallel = 0;

  weir_map_operand(o, d);
  while (parallel < a->n_dims && a->dim[parallel].kind == WEIR_PARALLEL) {
    parallel++;
  }
  for (int k = 0; k < outer; k++) {
    const int dim = parallel - outer + k;

    o->index[k].coef[dim] = d->shape[k] == a->dim[dim].hi;
  }
  for (int k = 0; k < dims; k++) {
    o->index[outer + k].coef[whole[k]] = 1;
  }
}

int64_t weir_batch_count(const weir_access *a, const weir_box *box)
{
  int64_t n = !weir_box_empty(box);

  for (int k = 0; k < a->n_dims; k++) {
    n *= a->dim[k].kind != WEIR_PARALLEL ? 1
         : box->hi[k] > box->lo[k]       ? box->hi[k] - box->lo[k]
                                         : 0;
  }
  return n;
}

void weir_batch_point(const weir_access *a, const weir_box *box, int64_t number, int64_t *iteration)
{
  for (int k = a->n_dims - 1; k >= 0; k--) {
    iteration[k] = a->dim[k].lo;
    if (a->dim[k].kind == WEIR_PARALLEL) {
      const int64_t n = box->hi[k] - box->lo[k];

      iteration[k] = box->lo[k] + number % n;
      number /= n;
    }
  }
}

int64_t weir_batch_number(const weir_access *a, const weir_box *box, const int64_t *iteration)
{
  int64_t number = 0;

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_PARALLEL) {
      number = number * (box->hi[k] - box->lo[k]) + iteration[k] - box->lo[k];
    }
  }
  return number;
}

weir_matrix weir_batch_matrix(const weir_operand *o, int n_dims, const weir_view *v,
                              const int64_t *iteration, int dims)
{
  const int row = o->rank - dims;
  int64_t at[WEIR_MAX_RANK] = {0};
  weir_matrix m = {.dtype = v->dtype, .rows = o->extent[row], .columns = 1};

  for (int d = 0; d < row; d++) {
    at[d] = weir_index_raw(&o->index[d], n_dims, iteration, 0);
  }
  m.data = m.rows > 0 && (dims < 2 || o->extent[row + 1] > 0) ? weir_view_at(v, at) : NULL;
  m.down = v->stride[row];
  if (dims > 1) {
    m.columns = o->extent[row + 1];
    m.across = v->stride[row + 1];
  }
  return m;
}

weir_matrix weir_matrix_transposed(const weir_matrix *m)
{
  weir_matrix t = *m;

  t.rows = m->columns;
  t.columns = m->rows;
  t.down = m->across;
  t.across = m->down;
  return t;
}

/* Elements of one size, `apart` of them from one to the next on one side, side by side on the
 * other; out: away from the matrix. */
#define COPY_ROW(type)                                                       \
  for (int64_t j = 0; j < n; j++) {                                          \
    memcpy(out ? (type *)memory + j : (type *)at + j * apart,                \
           out ? (type *)at + j * apart : (type *)memory + j, sizeof(type)); \
  }

static void copy_row(char *at, char *memory, int64_t n, int64_t apart, size_t size, bool out)
{
  if (apart == 1) {
    memcpy(out ? memory : at, out ? at : memory, (size_t)n * size);
  } else if (size == 4) {
    COPY_ROW(uint32_t)
  } else if (size == 8) {
    COPY_ROW(uint64_t)
  } else {
    COPY_ROW(weir_c128)
  }
}

static void copy(const weir_matrix *m, char *memory, bool out)
{
  const size_t size = weir_dtype_size(m->dtype);

  for (int64_t i = 0; i < m->rows && m->columns > 0; i++) {
    copy_row(m->data + i * m->down * (int64_t)size, memory + i * m->columns * (int64_t)size,
             m->columns, m->across, size, out);
  }
}

void weir_matrix_load(const weir_matrix *m, weir_dtype dtype, void *to)
{
  weir_c128 *z = to;

  if (dtype == m->dtype) {
    copy(m, to, true);
    return;
  }
  WEIR_ASSERT(dtype == WEIR_C128);
  for (int64_t i = 0; i < m->rows; i++) {
    for (int64_t j = 0; j < m->columns; j++) {
      *z++ = weir_dtype_load_complex(m->dtype, m->data, i * m->down + j * m->across);
    }
  }
}

void weir_matrix_store(const weir_matrix *m, weir_dtype dtype, const void *from)
{
  const weir_c128 *z = from;

  if (dtype == m->dtype) {
    copy(m, (char *)from, false);
    return;
  }
  WEIR_ASSERT(dtype == WEIR_C128);
  for (int64_t i = 0; i < m->rows; i++) {
    for (int64_t j = 0; j < m->columns; j++, z++) {
      const int64_t at = i * m->down + j * m->across;

      if (weir_dtype_is_complex(m->dtype)) {
        weir_dtype_store_complex(m->dtype, m->data, at, *z);
      } else {
        weir_dtype_store_real(m->dtype, m->data, at, z->re);
      }
    }
  }
}

bool weir_matrix_is_finite(const weir_matrix *m)
{
  for (int64_t i = 0; i < m->rows; i++) {
    for (int64_t j = 0; j < m->columns; j++) {
      const weir_c128 z = weir_dtype_load_complex(m->dtype, m->data, i * m->down + j * m->across);

      if (!isfinite(z.re) || !isfinite(z.im)) {
        return false;
      }
    }
  }
  return true;
}

void weir_matrix_spoil(const weir_matrix *m)
{
  const weir_c128 none = {NAN, NAN};
  weir_matrix one = *m;

  one.rows = one.columns = 1;
  for (int64_t i = 0; i < m->rows; i++) {
    for (int64_t j = 0; j < m->columns; j++) {
      one.data = m->data + (i * m->down + j * m->across) * (int64_t)weir_dtype_size(m->dtype);
      weir_matrix_store(&one, WEIR_C128, &none);
    }
  }
}

double weir_batch_eps(weir_dtype dtype)
{
  return weir_dtype_part(dtype) == WEIR_F32 ? 0x1p-24 : 0x1p-53;
}

bool weir_batch_is_finite(weir_dtype dtype, const void *data, int64_t n)
{
  const int64_t parts = weir_dtype_is_complex(dtype) ? 2 * n : n;
  const float *f = data;
  const double *d = data;
  bool finite = true;

  if (weir_dtype_part(dtype) == WEIR_F32) {
    for (int64_t i = 0; i < parts; i++) {
      finite &= f[i] - f[i] == 0;
    }
  } else {
    for (int64_t i = 0; i < parts; i++) {
      finite &= d[i] - d[i] == 0;
    }
  }
  return finite;
}

/* Rows of a matrix that a library takes: n n elements are then below 2^31. */
enum { MAX_ROWS = 46340 };

bool weir_batch_claims(const weir_graph *g, const weir_group *group, const weir_op_desc *op)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  bool yes = group->n_nodes == 1 && node->op == op && node->access.maker == WEIR_MADE_BY_LIBRARY;

  for (int k = 0; k < node->access.n_dims && yes; k++) {
    yes = node->access.dim[k].kind == WEIR_PARALLEL || node->access.dim[k].hi <= MAX_ROWS;
  }
  return yes;
}

double weir_batch_seconds(const weir_graph *g, const weir_group *group, const weir_op_desc *op,
                          double rate)
{
  if (!weir_batch_claims(g, group, op)) {
    return -1;
  }
  const weir_access *a = &weir_graph_node(g, group->nodes[0])->access;
  const weir_box whole = weir_iterations(a);

  return weir_flops(a, &whole) / rate;
}

int weir_batch_arrays(const weir_graph *g, const weir_group *group, int32_t *arrays, int n)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);

  WEIR_ASSERT(n >= node->n_in + node->n_out);
  for (int k = 0; k < node->n_in + node->n_out; k++) {
    arrays[k] = k < node->n_in ? node->in[k] : node->out[k - node->n_in];
  }
  return node->n_in + node->n_out;
}

weir_status weir_batch_prepare(const weir_graph *g, const weir_group *group, void **context)
{
  *context = (void *)weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  return WEIR_OK;
}

void weir_batch_release(void *context)
{
  (void)context; /* the graph's */
}

/* Pieces of a run, at most: enough that threads end at about the same time. */
enum { MAX_PIECES = 64 };

static int64_t pieces_of(const weir_access *a)
{
  const weir_box whole = weir_iterations(a);
  int64_t n = 1;

  for (int k = 0; k < a->n_dims && n < MAX_PIECES; k++) {
    const int64_t extent = whole.hi[k] - whole.lo[k];

    n *= a->dim[k].kind != WEIR_PARALLEL ? 1 : extent < MAX_PIECES ? extent : MAX_PIECES;
  }
  return n < MAX_PIECES ? n : MAX_PIECES;
}

int64_t weir_batch_stage(const void *context, int stage)
{
  return stage == 0 ? pieces_of(&((const weir_node *)context)->access) : 0;
}

void weir_batch_piece(const weir_access *a, const weir_box *box, int64_t number, int64_t unit,
                      int64_t *from, int64_t *to)
{
  const int64_t count = weir_batch_count(a, box), units = (count + unit - 1) / unit;
  const int64_t pieces = pieces_of(a), each = units / pieces, more = units % pieces;
  const int64_t first = number * each + (number < more ? number : more);
  const int64_t end = first + each + (number < more);

  *from = first * unit < count ? first * unit : count;
  *to = end * unit < count ? end * unit : count;
}
