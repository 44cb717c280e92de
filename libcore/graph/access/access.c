/* access.c - accesses as data; boxes, regions, and the definition of one index. */
#include "graph/weir_access.h"

#include <string.h>

#include "base/weir_alloc.h"

void weir_access_init(weir_access *a)
{
  memset(a, 0, sizeof *a);
}

static void free_tables(weir_access *a)
{
  weir_free(&a->in);
  weir_free(&a->out);
  weir_free(&a->state);
}

void weir_access_fini(weir_access *a)
{
  free_tables(a);
  weir_body_fini(&a->body);
  a->n_dims = a->n_in = a->n_out = a->n_states = a->n_values = 0;
}

/* A table of n that begins as `from`, a table of `had`; the rest is zero. */
static weir_status make_table(const void *from, int had, int n, size_t size, void **out)
{
  const int kept = had < n ? had : n;

  WEIR_TRY(weir_alloc(n, size, out));
  if (kept > 0) {
    memcpy(*out, from, (size_t)kept * size);
  }
  return WEIR_OK;
}

/* Tables for `to`, which may be a copy of `from` that shares them; untouched on failure. */
static weir_status make_tables(const weir_access *from, int n_in, int n_out, int n_states,
                               weir_access *to)
{
  weir_status status = WEIR_OK;
  void *in = NULL, *out = NULL, *state = NULL;

  WEIR_TRY_GOTO(make_table(from->in, from->n_in, n_in, sizeof *to->in, &in), failed);
  WEIR_TRY_GOTO(make_table(from->out, from->n_out, n_out, sizeof *to->out, &out), failed);
  WEIR_TRY_GOTO(make_table(from->state, from->n_states, n_states, sizeof *to->state, &state),
                failed);
  to->n_in = n_in;
  to->n_out = n_out;
  to->n_states = n_states;
  to->in = in;
  to->out = out;
  to->state = state;
  return WEIR_OK;
failed:
  weir_free(&in);
  weir_free(&out);
  weir_free(&state);
  return status;
}

weir_status weir_access_copy(const weir_access *from, weir_access *to)
{
  weir_access copy = *from;

  WEIR_TRY(make_tables(from, from->n_in, from->n_out, from->n_states, &copy));
  const weir_status status = weir_body_copy(&from->body, &copy.body);

  if (status != WEIR_OK) {
    free_tables(&copy);
    return status;
  }
  *to = copy;
  return WEIR_OK;
}

weir_status weir_access_resize(weir_access *a, int n_in, int n_out, int n_states)
{
  weir_access resized = *a;

  WEIR_TRY(make_tables(a, n_in, n_out, n_states, &resized));
  free_tables(a);
  *a = resized;
  return WEIR_OK;
}

void weir_access_renumber(weir_access *a, const int32_t *number)
{
  for (int k = 0; k < a->n_values; k++) {
    a->value[k] = number[a->value[k]];
  }
  for (int s = 0; s < a->n_states; s++) {
    a->state[s].next = number[a->state[s].next];
  }
}

weir_status weir_access_shift_index(weir_access *a, int k, int64_t by)
{
  weir_body to = {.n = 0};
  void *memory;

  WEIR_TRY(weir_alloc(a->body.n + 1, sizeof(int32_t), &memory));
  int32_t *at = memory;

  for (int32_t i = 0; i < a->body.n; i++) {
    const weir_expr e = weir_expr_renumber(a->body.exprs[i], at);

    at[i] = weir_body_push(&to, e);
    if (e.code == WEIR_CODE_INDEX && e.integer == k) {
      at[i] = weir_body_binary(&to, WEIR_CODE_ADD, at[i], weir_body_int(&to, WEIR_I64, by));
    }
  }
  const weir_status status = to.failed;

  if (status == WEIR_OK) {
    weir_access_renumber(a, at);
    const weir_body old = a->body;

    a->body = to;
    to = old;
  }
  weir_free(&memory);
  weir_body_fini(&to);
  WEIR_TRY(status);
  return WEIR_OK;
}

weir_box weir_iterations(const weir_access *a)
{
  weir_box b = {.rank = a->n_dims};

  for (int k = 0; k < a->n_dims; k++) {
    b.lo[k] = a->dim[k].lo;
    b.hi[k] = a->dim[k].hi;
  }
  return b;
}

bool weir_box_empty(const weir_box *b)
{
  for (int k = 0; k < b->rank; k++) {
    if (b->lo[k] >= b->hi[k]) {
      return true;
    }
  }
  return false;
}

/* Product of two counts, at most INT64_MAX. */
int64_t weir_box_volume(const weir_box *b)
{
  int64_t volume = 1;

  if (weir_box_empty(b)) {
    return 0;
  }
  for (int k = 0; k < b->rank; k++) {
    volume = weir_saturating_mul(volume, b->hi[k] - b->lo[k]);
  }
  return volume;
}

int64_t weir_box_bytes(const weir_box *b, weir_dtype dtype)
{
  return weir_saturating_mul(weir_box_volume(b), (int64_t)weir_dtype_size(dtype));
}

weir_box weir_box_intersect(const weir_box *a, const weir_box *b)
{
  weir_box c = {.rank = a->rank};

  WEIR_ASSERT(a->rank == b->rank);
  for (int k = 0; k < a->rank; k++) {
    c.lo[k] = a->lo[k] > b->lo[k] ? a->lo[k] : b->lo[k];
    c.hi[k] = a->hi[k] < b->hi[k] ? a->hi[k] : b->hi[k];
  }
  return c;
}

void weir_box_grow(weir_box *box, const weir_box *more, bool *any)
{
  if (!*any) {
    *box = *more;
  }
  *any = true;
  for (int d = 0; d < box->rank; d++) {
    box->lo[d] = more->lo[d] < box->lo[d] ? more->lo[d] : box->lo[d];
    box->hi[d] = more->hi[d] > box->hi[d] ? more->hi[d] : box->hi[d];
  }
}

bool weir_box_within(const weir_box *inner, const weir_box *outer)
{
  bool yes = true;

  for (int d = 0; d < inner->rank && yes; d++) {
    yes = inner->lo[d] >= inner->hi[d] ||
          (outer->lo[d] <= inner->lo[d] && inner->hi[d] <= outer->hi[d]);
  }
  return yes;
}

weir_box weir_region_hull(const weir_region *r)
{
  weir_box b = {.rank = r->rank};

  for (int d = 0; d < r->rank; d++) {
    if (r->n[d] > 0) {
      b.lo[d] = r->interval[d][0].lo;
      b.hi[d] = r->interval[d][r->n[d] - 1].hi;
    }
  }
  return b;
}

int64_t weir_region_volume(const weir_region *r)
{
  int64_t volume = 1;

  if (weir_region_empty(r)) {
    return 0;
  }
  for (int d = 0; d < r->rank; d++) {
    int64_t length = 0;
    for (int k = 0; k < r->n[d]; k++) {
      length += r->interval[d][k].hi - r->interval[d][k].lo;
    }
    volume = weir_saturating_mul(volume, length);
  }
  return volume;
}

bool weir_region_empty(const weir_region *r)
{
  for (int d = 0; d < r->rank; d++) {
    if (r->n[d] == 0) {
      return true;
    }
  }
  return false;
}

int64_t weir_index_raw(const weir_index *x, int n_dims, const int64_t *iteration, int64_t gathered)
{
  int64_t sum = x->offset + gathered;

  for (int k = 0; k < n_dims; k++) {
    sum += x->coef[k] * iteration[k];
  }
  return x->div > 1 ? weir_floor_div(sum, x->div) : sum;
}

bool weir_index_same(const weir_index *a, const weir_index *b, int n_dims)
{
  return memcmp(a->coef, b->coef, (size_t)n_dims * sizeof a->coef[0]) == 0 &&
         a->offset == b->offset && weir_index_divisor(a) == weir_index_divisor(b) &&
         a->border == b->border && memcmp(&a->fill, &b->fill, sizeof a->fill) == 0 &&
         a->gather == b->gather && a->gather_lo == b->gather_lo && a->gather_hi == b->gather_hi;
}

int weir_index_follows(const weir_index *x, int n_dims)
{
  int found = -1;

  if (x->offset != 0 || x->div > 1 || x->gather != 0) {
    return -1;
  }
  for (int k = 0; k < n_dims; k++) {
    if (x->coef[k] != 0) {
      if (x->coef[k] != 1 || found >= 0) {
        return -1;
      }
      found = k;
    }
  }
  return found;
}

double weir_index_advance(const weir_index *x, int n_dims, const double *step)
{
  double sum = 0;

  for (int k = 0; k < n_dims; k++) {
    sum += x->coef[k] != 0 ? (double)x->coef[k] * step[k] : 0;
  }
  return sum / (double)weir_index_divisor(x);
}

weir_step_rate weir_operand_step_rate(const weir_operand *x, int k)
{
  for (int d = x->role == WEIR_ROLE_STATE ? 1 : 0; d < x->rank && k >= 0; d++) {
    if (x->index[d].coef[k] != 0) {
      return (weir_step_rate){d, x->index[d].coef[k], weir_index_divisor(&x->index[d])};
    }
  }
  return (weir_step_rate){.dim = -1, .down = 1};
}

int64_t weir_index_border(const weir_index *x, int64_t raw, int64_t extent, bool *inside)
{
  *inside = raw >= 0 && raw < extent;
  if (*inside) {
    return raw;
  }
  if (extent <= 0) {
    return 0;
  }
  switch (x->border) {
  case WEIR_BORDER_WRAP:
    *inside = true;
    return weir_floor_mod(raw, extent);
  case WEIR_BORDER_REPLICATE:
    *inside = true;
    return raw < 0 ? 0 : extent - 1;
  case WEIR_BORDER_REFLECT: {
    *inside = true;
    const int64_t period = extent > 1 ? 2 * (extent - 1) : 1;
    const int64_t folded = extent > 1 ? weir_floor_mod(raw, period) : 0;
    return folded < extent ? folded : period - folded;
  }
  case WEIR_BORDER_NEVER:
  case WEIR_BORDER_ABSENT:
  case WEIR_BORDER_ZERO:
  case WEIR_BORDER_VALUE:
    break;
  }
  return 0;
}
