/* rows_run.c - the loops over results that are sums of rows. */
#include "device/weir_parallel.h"
#include "ops/interpolate/rows.h"

static rows_entries entries_in(const rows_plan *p, const void *workspace)
{
  const int64_t points = p->form.points, n = points * p->form.terms;
  int64_t *count = (int64_t *)(uintptr_t)workspace, *offset = count + points;
  float *coefficient = (float *)(offset + n);

  return (rows_entries){p->form.terms, count, offset, coefficient, coefficient + n};
}

int64_t rows_workspace(const rows_plan *p)
{
  return (p->form.points + p->form.points * p->form.terms) *
         (int64_t)(sizeof(int64_t) + sizeof(float));
}

static int64_t offset_of(const weir_view *v, const int64_t *index)
{
  int64_t at = 0;

  for (int d = 0; d < v->rank; d++) {
    at += (index[d] - v->origin[d]) * v->stride[d];
  }
  return at;
}

static float coefficient_of(const weir_view *table, const int64_t *index)
{
  return table->rank > 0 && index[0] < 0 ? 0
                                         : ((const float *)table->data)[offset_of(table, index)];
}

void rows_fill(const rows_plan *p, const weir_view *x, const weir_view *table, void *workspace)
{
  const rows_entries e = entries_in(p, workspace);
  const int64_t terms = p->form.terms;

  for (int64_t q = 0; q < p->form.points; q++) {
    int64_t n = 0;
    float others = 0;

    for (int64_t i = q * terms; i < (q + 1) * terms; i++) {
      const float c = coefficient_of(table, p->table + i * table->rank);

      if (p->x[i * x->rank] >= 0) {
        e.offset[q * terms + n] = offset_of(x, p->x + i * x->rank);
        e.coefficient[q * terms + n++] = c;
      } else if (p->x[i * x->rank] == ROWS_OUTSIDE) {
        others += c * 0;
      }
    }
    e.count[q] = n;
    e.others[q] = others;
  }
}

/* Loops of a box: dimensions of the result before the first that is a point; points; others, of
 * which the innermost is walked by steps; the innermost of all, if it is a point; the row. */
enum { OUTER, POINTS, INNER, LOOPS };
typedef struct loops {
  const rows_plan *p;
  rows_sum *sum;
  rows_entries e;
  int n[LOOPS], dim[LOOPS][WEIR_MAX_RANK];
  int64_t count[LOOPS];
  int64_t lo[WEIR_MAX_RANK], size[WEIR_MAX_RANK];
  int64_t x_step[WEIR_MAX_RANK], out_step[WEIR_MAX_RANK]; /* by dimension of the result, in bytes */
  const char *x;
  char *out; /* where iteration `lo` begins; x: but for what entries add */
  int tail;  /* the innermost dimension that is a point, or -1 */
  int64_t row;
} loops;

/* Bytes that x moves along dimension d of the result, which is no point. */
static int64_t step_of(const rows_plan *p, const weir_view *x, int d)
{
  const weir_operand *o = &p->access.in[p->form.x];
  int64_t step = 0;

  for (int k = 0; k < o->rank && !p->form.point[d]; k++) {
    step += o->index[k].coef[p->form.dim[d]] * x->stride[k];
  }
  return step * (int64_t)weir_dtype_size(p->form.of);
}

static loops loops_of(const rows_plan *p, const weir_view *x, const weir_view *out,
                      const void *workspace, const int64_t *lo, const int64_t *hi)
{
  const rows_form *f = &p->form;
  loops l = {.p = p,
             .sum = rows_sum_get(f->of, f->out),
             .e = entries_in(p, workspace),
             .count = {1, 1, 1},
             .x = x->data,
             .out = out->data,
             .row = hi[f->rank - 1] - lo[f->rank - 1]};
  const int64_t size = (int64_t)weir_dtype_size(f->out);
  const int64_t x_size = (int64_t)weir_dtype_size(f->of);
  int last = f->rank - 1, part = OUTER;

  for (int d = 0; d < f->rank; d++) {
    l.lo[d] = lo[d];
    l.size[d] = hi[d] - lo[d];
    l.x_step[d] = step_of(p, x, d);
    l.out_step[d] = out->stride[d] * size;
    l.x += lo[d] * l.x_step[d];
    l.out += (lo[d] - out->origin[d]) * l.out_step[d];
  }
  while (last > 0 && !f->point[last - 1] && l.x_step[last - 1] == l.row * x_size &&
         l.out_step[last - 1] == l.row * size) {
    l.row *= l.size[--last];
  }
  l.tail = last > 0 && f->point[last - 1] ? --last : -1;
  for (int d = 0; d < last; d++) {
    part = f->point[d] ? POINTS : part == POINTS ? INNER : part;
    const int of = f->point[d] ? POINTS : part;

    l.dim[of][l.n[of]++] = d;
    l.count[of] *= l.size[d];
    part = part == POINTS || part == INNER ? INNER : OUTER;
  }
  return l;
}

/* Moves *x and *out to combination `number` of the dimensions of a part. */
static void move(const loops *l, int part, int64_t number, const char **x, char **out)
{
  for (int i = l->n[part] - 1; i >= 0; i--) {
    const int d = l->dim[part][i];

    *x += number % l->size[d] * l->x_step[d];
    *out += number % l->size[d] * l->out_step[d];
    number /= l->size[d];
  }
}

/* The first point of combination `number` of the dimensions of points, among all of the result. */
static int64_t point_of(const loops *l, int64_t number)
{
  int64_t point = 0, step = 1;

  for (int i = l->n[POINTS] - 1; i >= 0; i--) {
    const int d = l->dim[POINTS][i];

    point += (l->lo[d] + number % l->size[d]) * step;
    step *= l->p->extent[d];
    number /= l->size[d];
  }
  return l->tail < 0 ? point : point * l->p->extent[l->tail] + l->lo[l->tail];
}

/* Combinations [from, to) of the inner dimensions at one point, or those of the tail from it on. */
static void run_point(const loops *l, int64_t point, const char *x, char *out, int64_t from,
                      int64_t to)
{
  const int last = l->n[INNER] > 0 ? l->dim[INNER][l->n[INNER] - 1] : -1;
  const int64_t size = last >= 0 ? l->size[last] : 1;
  const int64_t end = point + (l->tail < 0 ? 1 : l->size[l->tail]);
  const int64_t tail_step = l->tail < 0 ? 0 : l->out_step[l->tail];

  for (int64_t i = from, run; i < to; i += run) {
    const char *x_row = x;
    char *out_row = out;

    run = size - i % size < to - i ? size - i % size : to - i;
    move(l, INNER, i, &x_row, &out_row);
    for (int64_t j = 0; j < run; j++) {
      l->sum(out_row, tail_step, x_row, &l->e, point, end, l->row);
      x_row += last >= 0 ? l->x_step[last] : 0;
      out_row += last >= 0 ? l->out_step[last] : 0;
    }
  }
}

/* Combinations of the inner dimensions that are run together for all points: what these read of
 * them stays in L2. */
static int64_t chunk_of(const loops *l)
{
  const int64_t bytes = weir_cpu_get()->constants.l2_bytes / 2;
  const int64_t each = (l->p->form.terms + 1) * l->row * (int64_t)sizeof(float);
  const int64_t fit = bytes / (each > 0 ? each : 1);

  return fit < 1 ? 1 : fit > l->count[INNER] ? l->count[INNER] : fit;
}

static void run_chunk(const loops *l, int64_t outer, int64_t from, int64_t to)
{
  const char *x_outer = l->x;
  char *out_outer = l->out;

  move(l, OUTER, outer, &x_outer, &out_outer);
  for (int64_t q = 0; q < l->count[POINTS]; q++) {
    const char *x = x_outer;
    char *out = out_outer;

    move(l, POINTS, q, &x, &out);
    run_point(l, point_of(l, q), x, out, from, to);
  }
}

void rows_box(const rows_plan *p, const weir_view *x, const weir_view *out, const void *workspace,
              const int64_t *lo, const int64_t *hi)
{
  const loops l = loops_of(p, x, out, workspace, lo, hi);
  const int64_t chunk = chunk_of(&l);

  for (int64_t outer = 0; outer < l.count[OUTER]; outer++) {
    for (int64_t from = 0; from < l.count[INNER]; from += chunk) {
      run_chunk(&l, outer, from, from + chunk < l.count[INNER] ? from + chunk : l.count[INNER]);
    }
  }
}

/* Pieces: parts of the first dimensions, until there are enough. Elements of a piece are neighbours
 * as far as that goes: one position of an inner dimension at a time would be read line by line. */
enum { MIN_PIECES = 64 };

static int64_t pieces_by(const rows_plan *p, int64_t *parts)
{
  int64_t n = 1;

  for (int d = 0; d < p->form.rank; d++) {
    const int64_t lacking = (MIN_PIECES + n - 1) / n;

    parts[d] = d < p->form.rank - 1 && lacking < p->extent[d] ? lacking
               : d < p->form.rank - 1 && p->extent[d] > 0     ? p->extent[d]
                                                              : 1;
    n *= parts[d];
  }
  return n;
}

int64_t rows_pieces(const rows_plan *p)
{
  int64_t parts[WEIR_MAX_RANK];

  return pieces_by(p, parts);
}

void rows_piece(const rows_plan *p, const weir_view *x, const weir_view *out, const void *workspace,
                int64_t piece)
{
  int64_t lo[WEIR_MAX_RANK] = {0}, hi[WEIR_MAX_RANK], parts[WEIR_MAX_RANK];

  (void)pieces_by(p, parts);
  for (int d = p->form.rank - 1; d >= 0; d--) {
    const int64_t part = piece % parts[d];

    lo[d] = p->extent[d] * part / parts[d];
    hi[d] = p->extent[d] * (part + 1) / parts[d];
    piece /= parts[d];
  }
  rows_box(p, x, out, workspace, lo, hi);
}
