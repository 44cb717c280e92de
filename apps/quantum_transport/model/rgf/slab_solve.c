/* slab_solve.c - a job goes through slabs and the separators between them: see slabs.h. */
#include <math.h>
#include <string.h>

#include "device/weir_parallel.h"
#include "model/rgf/slabs_priv.h"

static void copy(int64_t count, const weir_c128 *from, weir_c128 *to)
{
  memcpy(to, from, (size_t)count * sizeof *to);
}

qt_rgf_space qt_slab_space(const qt_slabs_run *r, int thread)
{
  qt_rgf_space space;

  qt_rgf_lay_out(r->s->spec.layout->max, r->job->sigma.read != NULL, r->s->scratch[thread], &space);
  space.first = qt_slabs_own(r->s).first_element;
  return space;
}

static void eliminate_slab(void *context, int64_t item, int thread)
{
  const qt_slabs_run *r = context;
  qt_rgf_space space = qt_slab_space(r, thread);

  r->s->singular[r->s->lo + item] = !qt_slab_eliminate(r->s, r->job, r->s->lo + item, &space);
}

/* ---- The matrix of the separators ---- */

static void sum(int64_t count, const weir_c128 *a, double sign, const weir_c128 *b, weir_c128 *out)
{
  for (int64_t i = 0; i < count; i++) {
    out[i] = (weir_c128){a[i].re + sign * b[i].re, a[i].im + sign * b[i].im};
  }
}

/* qt_blocks.read: A of the separators. */
static void read_separators(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const qt_slabs *s = context;
  const int64_t count = qt_layout_rows(&s->reduced, row) * qt_layout_rows(&s->reduced, column);
  const weir_c128 *from = s->shared;

  if (row == column) {
    sum(count, from + s->offsets[row].right, -1, from + s->offsets[row + 1].left, out);
  } else {
    copy(count, from + (row < column ? s->offsets[column].up : s->offsets[row].down), out);
  }
}

/* The same of Sigma^<. */
static void read_separators_lesser(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const qt_slabs *s = context;
  const int64_t count = qt_layout_rows(&s->reduced, row) * qt_layout_rows(&s->reduced, column);
  const weir_c128 *from = s->shared;

  if (row == column) {
    sum(count, from + s->offsets[row].right_lesser, 1, from + s->offsets[row + 1].left_lesser, out);
  } else {
    copy(count, from + s->offsets[column].up_lesser, out);
  }
}

/* What the slab after separator k begins with: all but what that slab itself adds. */
static void start_after(qt_slabs *s, int64_t k, bool lesser, const qt_rgf_space *space)
{
  const int64_t rows = qt_layout_rows(&s->reduced, k), at = s->reduced.diagonal[k];

  if (space->has_carry) {
    sum(rows * rows, s->shared + s->offsets[k].right, -1, space->carry, s->start + at);
  } else {
    copy(rows * rows, s->shared + s->offsets[k].right, s->start + at);
  }
  if (lesser && space->has_carry) {
    sum(rows * rows, s->shared + s->offsets[k].right_lesser, 1, space->lost, s->start_lesser + at);
  } else if (lesser) {
    copy(rows * rows, s->shared + s->offsets[k].right_lesser, s->start_lesser + at);
  }
}

/* Blocks of G of the separators, where wanted, and start; corner: of the first and the last one. */
static bool solve_separators(const qt_slabs_run *r)
{
  qt_slabs *s = r->s;
  const qt_layout *l = &s->reduced;
  const bool blocks = r->job->g.data != NULL, lesser = r->job->sigma.read != NULL;
  const int64_t last = l->n_blocks - 1, rows = qt_layout_rows(l, last);
  const qt_rgf_job job = {.layout = l,
                          .a = {read_separators, s},
                          .sigma = {lesser ? read_separators_lesser : NULL, s},
                          .tridiagonal = true,
                          .g = {blocks ? s->g : NULL, 1},
                          .lesser = {s->lesser, 1},
                          .corner = r->job->corner != NULL ? s->corner : NULL};
  qt_rgf_space space = qt_slab_space(r, 0);

  space.first = 0;
  for (int64_t k = 0; k <= last; k++) {
    const int64_t next = k < last ? k + 1 : NO_BLOCK;

    start_after(s, k, lesser, &space);
    qt_rgf_load(&job, k, &space);
    if (!(blocks ? qt_rgf_forward(&job, k, next, &space)
                 : qt_rgf_eliminate(&job, k, next, false, NULL, 0, &space))) {
      return false;
    }
    if (job.corner != NULL) {
      qt_rgf_extend_row(l, k, next, qt_layout_rows(l, 0), &space, job.corner);
    }
  }
  if (!blocks) {
    return true;
  }
  copy(rows * rows, space.stack, space.last);
  if (lesser) {
    copy(rows * rows, space.gl, space.l_last);
  }
  for (int64_t k = last - 1; k >= 0; k--) {
    qt_rgf_go_back(&job, k, k + 1, &space);
  }
  return true;
}

/* ---- From the separators back ---- */

void qt_slab_begin_back(const qt_slabs_run *r, int64_t k, qt_rgf_space *space)
{
  const qt_slabs *s = r->s;
  const int64_t rows = qt_layout_rows(&s->reduced, k), at = s->reduced.offset[k];

  copy(rows * rows, s->g + at, space->last);
  if (r->job->sigma.read != NULL) {
    copy(rows * rows, s->lesser + at, space->l_last);
  }
}

static bool are_near(int64_t count, const weir_c128 *a, const weir_c128 *b, double limit)
{
  double max = 0, difference = 0;

  for (int64_t i = 0; i < count; i++) {
    const double apart = hypot(a[i].re - b[i].re, a[i].im - b[i].im);

    max = fmax(max, hypot(b[i].re, b[i].im));
    difference = fmax(difference, apart);
    if (isnan(apart)) {
      return false;
    }
  }
  return difference <= limit * max;
}

/* Whether the recursion comes to the separator after a slab with what the separators say: A less
 * the carry and Sigma^< differ by max_error of the largest element at most. Blocks of G differ
 * about as much; those of G^< up to a hundred times as much where the slab has a Sigma^< of its
 * own. */
static bool is_accurate(const qt_slabs_run *r, int64_t slab, qt_rgf_space *space)
{
  const qt_slabs *s = r->s;
  const int64_t rows = qt_layout_rows(&s->reduced, slab), at = s->reduced.diagonal[slab];
  const int64_t left = qt_layout_rows(&s->reduced, slab - 1);

  qt_rgf_load(r->job, qt_slab_right(s, slab), space);
  if (!are_near(rows * rows, s->start + at, space->factors, s->spec.max_error)) {
    return false;
  }
  if (r->job->sigma.read == NULL) {
    return true;
  }
  const bool own =
      qt_rgf_largest(left, left, qt_factor(s->shared + s->offsets[slab].left_lesser, left)) > 0;

  return are_near(rows * rows, s->start_lesser + at, space->s,
                  own ? 0.1 * s->spec.max_error : s->spec.max_error);
}

/* The recursion through a slab between two others, from its left separator on. */
static bool enter_slab(const qt_slabs_run *r, int64_t slab, qt_rgf_space *space)
{
  qt_slabs *s = r->s;
  const int64_t left = qt_slab_left(s, slab), right = qt_slab_right(s, slab);
  const int64_t rows = qt_rows_of(s->spec.layout, left), at = s->reduced.diagonal[slab - 1];

  copy(rows * rows, s->start + at, space->factors);
  if (r->job->sigma.read != NULL) {
    copy(rows * rows, s->start_lesser + at, space->s);
  }
  space->outside = left;
  for (int64_t n = left; n < right; n++) {
    if (n > left) {
      qt_rgf_load(r->job, n, space);
    }
    if (!qt_slab_forward(r->job, n, n + 1, &s->growth[slab], space)) {
      return false;
    }
  }
  return is_accurate(r, slab, space);
}

static void solve_slab(void *context, int64_t item, int thread)
{
  const qt_slabs_run *r = context;
  const qt_slabs *s = r->s;
  const int64_t slab = s->lo + item, left = qt_slab_left(s, slab), right = qt_slab_right(s, slab);
  const bool is_last = slab == s->spec.n_slabs - 1;
  qt_rgf_space space = qt_slab_space(r, thread);

  s->singular[slab] =
      (slab > 0 && !is_last && !enter_slab(r, slab, &space)) || !qt_slab_is_stable(s, slab);
  if (s->singular[slab]) {
    return;
  }
  if (is_last) {
    qt_slab_begin_back(r, slab - 1, &space);
    for (int64_t n = left + 1; n < s->spec.layout->n_blocks; n++) {
      qt_rgf_go_back(r->job, n, n - 1, &space);
    }
    return;
  }
  qt_slab_begin_back(r, slab, &space);
  qt_rgf_store_last(r->job, right, &space);
  for (int64_t n = right - 1; n >= (slab > 0 ? left : 0); n--) {
    qt_rgf_go_back(r->job, n, n + 1, &space);
  }
}

static void multiply_corner(const qt_slabs_run *r)
{
  const qt_slabs *s = r->s;
  const qt_layout *l = s->spec.layout, *separators = &s->reduced;
  const int64_t rows = qt_rows_of(l, 0), columns = qt_rows_of(l, l->n_blocks - 1);
  const int64_t first = qt_rows_of(separators, 0), last = s->spec.n_slabs - 1;
  const int64_t final = qt_rows_of(separators, separators->n_blocks - 1);

  weir_linear_multiply(rows, final, first, 1, qt_factor(s->shared + s->offsets[0].end, first),
                       qt_factor(s->corner, final), 0, s->row, final);
  weir_linear_multiply(rows, columns, final, 1, qt_factor(s->row, final),
                       qt_factor(s->shared + s->offsets[last].end, columns), 0, r->job->corner,
                       columns);
}

/* ---- A job ---- */

/* Where no slab of any rank is singular. Collective. */
static weir_status agree_on_slabs(const qt_slabs *s, bool regular)
{
  for (int64_t k = s->lo; k < s->hi && regular; k++) {
    regular = !s->singular[k];
  }
  return qt_slabs_agree(s, regular ? WEIR_OK : weir_fail(WEIR_ERR_NUMERIC, "a slab is singular"));
}

static void spoil(const qt_slabs_run *r)
{
  const qt_rgf_job *job = r->job;
  const qt_layout *l = r->s->spec.layout;
  const qt_bank *banks[] = {&job->g, &job->lesser, &job->greater};
  const weir_c128 none = {NAN, NAN};
  const int64_t count = qt_slabs_own(r->s).n_elements;

  for (int b = 0; b < 3; b++) {
    for (int64_t i = 0; i < count && banks[b]->data != NULL; i++) {
      banks[b]->data[i * banks[b]->step] = none;
    }
  }
  for (int64_t i = 0; i < qt_rows_of(l, 0) * qt_rows_of(l, l->n_blocks - 1); i++) {
    if (job->corner != NULL) {
      job->corner[i] = none;
    }
  }
}

weir_status qt_slabs_wait(const qt_slabs *s, weir_request *request)
{
  const weir_status status = weir_request_run(request);

  return status == WEIR_OK ? WEIR_OK : weir_comm_abort(s->spec.comm, status);
}

/* All slabs at the same time. Fails: WEIR_ERR_NUMERIC where one, cut off, is singular. */
static weir_status solve_at_once(qt_slabs_run *r)
{
  qt_slabs *s = r->s;
  const int64_t own = s->hi - s->lo;
  bool regular;

  weir_parallel(own, s->threads, eliminate_slab, r);
  WEIR_TRY(agree_on_slabs(s, true));
  if (s->allgather != NULL) { /* all ranks have what the slabs of all share */
    WEIR_TRY(qt_slabs_wait(s, s->allgather));
  }
  regular = solve_separators(r);
  if (regular && r->job->g.data != NULL) {
    weir_parallel(own, s->threads, solve_slab, r);
  }
  WEIR_TRY(agree_on_slabs(s, regular));
  if (r->job->corner != NULL) {
    multiply_corner(r);
  }
  return WEIR_OK;
}

weir_status qt_slabs_solve(qt_slabs *s, const qt_rgf_job *job)
{
  qt_slabs_run r = {s, job};
  weir_status status = WEIR_ERR_NUMERIC;

  if (job->sigma.read != NULL && (!s->spec.lesser || job->g.data == NULL)) {
    return weir_fail(WEIR_ERR_SHAPE, "slabs made without memory for G^< got a job with Sigma^<");
  }
  if (s->spec.n_slabs > 1) {
    status = solve_at_once(&r);
  }
  if (status == WEIR_ERR_NUMERIC) {
    s->n_in_order += s->spec.n_slabs > 1;
    status = qt_slabs_solve_in_order(&r);
  }
  if (status != WEIR_OK) {
    spoil(&r);
  }
  return status;
}
