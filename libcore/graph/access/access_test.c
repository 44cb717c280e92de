/* access_test.c - everything derived from an access, against enumeration of random accesses. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "graph/weir_access.h"

enum { CELLS = 16 * 16 * 16 }; /* enough for rank 3 and extents up to 16 */

static uint64_t run_seed;

/* Stream of random numbers of one case. */
struct dice {
  uint32_t number, at;
};

static int64_t roll(struct dice *d, int64_t lo, int64_t hi)
{
  return lo +
         (int64_t)(weir_random_bits(run_seed, d->number, 0, d->at++) % (uint64_t)(hi - lo + 1));
}

/* Values of the gather operand in every test: a hash of the element, in its range. */
static int64_t gathered_value(const weir_access *a, const weir_index *x, const int64_t *iteration)
{
  uint64_t h = 7;

  if (x->gather == 0) {
    return 0;
  }
  const weir_operand *g = &a->in[x->gather - 1];
  for (int d = 0; d < g->rank; d++) {
    bool inside;
    const int64_t raw = weir_index_raw(&g->index[d], a->n_dims, iteration, 0);
    h = h * 31 + (uint64_t)weir_index_border(&g->index[d], raw, g->extent[d], &inside);
  }
  return x->gather_lo + (int64_t)(h % (uint64_t)(x->gather_hi - x->gather_lo));
}

/* Element of one iteration; false when the load gives its fill or the iteration is dropped. */
static bool element(const weir_access *a, const weir_operand *x, const int64_t *iteration,
                    int64_t *index)
{
  bool all = true;

  for (int d = 0; d < x->rank; d++) {
    bool inside;
    const int64_t g = gathered_value(a, &x->index[d], iteration);
    index[d] = weir_index_border(
        &x->index[d], weir_index_raw(&x->index[d], a->n_dims, iteration, g), x->extent[d], &inside);
    all = all && inside;
  }
  return all;
}

static bool survives(const weir_access *a, const int64_t *iteration)
{
  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      bool inside = true;
      const weir_index *x = &a->in[k].index[d];
      const int64_t g = gathered_value(a, x, iteration);
      if (x->border == WEIR_BORDER_ABSENT) {
        (void)weir_index_border(x, weir_index_raw(x, a->n_dims, iteration, g), a->in[k].extent[d],
                                &inside);
      }
      if (!inside) {
        return false;
      }
    }
  }
  return true;
}

static bool next(const weir_box *box, int64_t *at)
{
  for (int k = box->rank - 1; k >= 0; k--) {
    if (++at[k] < box->hi[k]) {
      return true;
    }
    at[k] = box->lo[k];
  }
  return false;
}

static bool first(const weir_box *box, int64_t *at)
{
  memcpy(at, box->lo, sizeof box->lo);
  return !weir_box_empty(box);
}

static int64_t flat(const weir_operand *x, const int64_t *index)
{
  int64_t position = 0;

  for (int d = 0; d < x->rank; d++) {
    position = position * 16 + index[d];
  }
  return position;
}

/* Marks what the operand touches over the box. */
static void touch(const weir_access *a, int operand, const weir_box *box, bool *marks)
{
  const weir_operand *x = operand >= 0 ? &a->in[operand] : &a->out[-1 - operand];
  int64_t at[WEIR_MAX_DIMS], index[WEIR_MAX_RANK];

  for (bool more = first(box, at); more; more = next(box, at)) {
    if ((operand < 0 || survives(a, at)) && element(a, x, at, index)) {
      marks[flat(x, index)] = true;
    }
  }
}

static int64_t count(const bool *marks)
{
  int64_t n = 0;

  for (int i = 0; i < CELLS; i++) {
    n += marks[i];
  }
  return n;
}

static void random_index(struct dice *d, const weir_access *a, weir_index *x, int64_t *extent)
{
  int64_t lo = 0, hi = 0;

  *x = (weir_index){.div = roll(d, 0, 4), .border = (weir_border)roll(d, 0, 6)};
  for (int k = 0; k < a->n_dims; k++) {
    x->coef[k] = roll(d, 0, 2) == 0 ? 0 : roll(d, -3, 3);
    const int64_t n = a->dim[k].hi - a->dim[k].lo;
    const int64_t one = x->coef[k] * a->dim[k].lo, two = x->coef[k] * (a->dim[k].hi - 1);
    lo += n > 0 ? (one < two ? one : two) : 0;
    hi += n > 0 ? (one < two ? two : one) : 0;
  }
  const int64_t div = x->div > 1 ? x->div : 1;
  *extent = roll(d, 0, 5);
  x->offset = roll(d, -6, 6) - (roll(d, 0, 1) == 0 ? lo : 0);
  if (x->border == WEIR_BORDER_NEVER) {
    x->offset = roll(d, 0, 3) - lo;
    *extent = weir_floor_div(hi + x->offset, div) + 1;
    if (*extent > 16) { /* too long for the table of marks */
      x->border = WEIR_BORDER_ZERO;
      *extent = 5;
    }
  }
}

static void random_operand(struct dice *d, const weir_access *a, weir_operand *x)
{
  *x = (weir_operand){.dtype = WEIR_F32, .rank = (int)roll(d, 0, 3)};
  for (int k = 0; k < x->rank; k++) {
    random_index(d, a, &x->index[k], &x->extent[k]);
  }
}

static void random_access(struct dice *d, weir_access *a, bool gathers)
{
  weir_access_init(a);
  a->n_dims = (int)roll(d, 0, 4);
  for (int k = 0; k < a->n_dims; k++) {
    const int64_t lo = roll(d, -2, 2);
    a->dim[k] = (weir_dim){WEIR_PARALLEL, lo, lo + (roll(d, 0, 9) == 0 ? 0 : roll(d, 1, 5)), false};
  }
  assert_ok(weir_access_resize(a, (int)roll(d, 1, 3), 1, 0));
  for (int k = 0; k < a->n_in; k++) {
    random_operand(d, a, &a->in[k]);
    if (k > 0 && roll(d, 0, 2) == 0) { /* as x and its presence: the same map */
      a->in[k] = a->in[0];
    }
  }
  random_operand(d, a, &a->out[0]);
  for (int k = 0; k < a->out[0].rank; k++) {
    while (a->out[0].index[k].border != WEIR_BORDER_NEVER) {
      random_index(d, a, &a->out[0].index[k], &a->out[0].extent[k]);
    }
  }
  if (gathers && a->in[0].rank > 0 && a->n_in > 1) {
    weir_index *x = &a->in[0].index[roll(d, 0, a->in[0].rank - 1)];
    a->in[a->n_in - 1].dtype = WEIR_I32;
    x->gather = a->n_in;
    x->gather_lo = roll(d, -2, 2);
    x->gather_hi = x->gather_lo + roll(d, 1, 4);
    x->border = x->border == WEIR_BORDER_NEVER ? WEIR_BORDER_REPLICATE : x->border;
  }
}

static weir_box random_box(struct dice *d, const weir_box *whole)
{
  weir_box b = *whole;

  for (int k = 0; k < b.rank; k++) {
    if (b.hi[k] > b.lo[k] && roll(d, 0, 2) == 0) {
      b.lo[k] = roll(d, b.lo[k], b.hi[k] - 1);
      b.hi[k] = roll(d, b.lo[k] + (roll(d, 0, 9) != 0), b.hi[k]);
    }
  }
  return b;
}

static bool holds(const weir_region *r, int d, int64_t i)
{
  for (int k = 0; k < r->n[d]; k++) {
    if (i >= r->interval[d][k].lo && i < r->interval[d][k].hi) {
      return true;
    }
  }
  return false;
}

/* Wrong elements of the region, dimension by dimension: it must hold the image of every raw index
 * between the least and the greatest that occur. */
static int64_t region_errors(const weir_access *a, const weir_operand *x, const weir_box *box,
                             const weir_region *r)
{
  int64_t errors = 0, at[WEIR_MAX_DIMS];

  for (int d = 0; d < x->rank; d++) {
    bool expected[16] = {false}, inside;
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    const int64_t g_lo = x->index[d].gather > 0 ? x->index[d].gather_lo : 0;
    const int64_t g_hi = x->index[d].gather > 0 ? x->index[d].gather_hi - 1 : 0;
    for (bool more = first(box, at); more; more = next(box, at)) {
      const int64_t low = weir_index_raw(&x->index[d], a->n_dims, at, g_lo);
      const int64_t high = weir_index_raw(&x->index[d], a->n_dims, at, g_hi);
      lo = low < lo ? low : lo;
      hi = high > hi ? high : hi;
    }
    for (int64_t raw = lo; raw <= hi; raw++) {
      const int64_t i = weir_index_border(&x->index[d], raw, x->extent[d], &inside);
      expected[i] = expected[i] || inside;
    }
    for (int64_t i = 0; i < 16; i++) {
      errors += holds(r, d, i) != expected[i];
    }
    errors += r->n[d] == 2 && r->interval[d][0].hi >= r->interval[d][1].lo;
  }
  return errors;
}

static void fail_case(const char *what, uint32_t number)
{
  print_message("%s: case %u of seed %llu\n", what, number, (unsigned long long)run_seed);
  fail();
}

static void needed_and_written_hold_the_images_of_all_raw_indices(void **state)
{
  for (uint32_t n = 0; n < 20000; n++) {
    struct dice d = {n, 0};
    weir_access a;
    random_access(&d, &a, n % 4 == 0);
    const weir_box whole = weir_iterations(&a), box = random_box(&d, &whole);
    const weir_region r = weir_needed(&a, 0, &box), w = weir_written(&a, 0, &box);
    if (region_errors(&a, &a.in[0], &box, &r) != 0 || region_errors(&a, &a.out[0], &box, &w) != 0) {
      fail_case("needed", n);
    }
    weir_access_fini(&a);
  }
}

/* Differences between claimed and enumerated counts of one case. */
static int count_errors(const weir_access *claimed, const weir_access *real, const weir_box *box)
{
  bool marks[CELLS] = {false};
  int64_t at[WEIR_MAX_DIMS], alive = 0;
  bool gathers = false;

  for (int d = 0; d < real->in[0].rank; d++) {
    gathers = gathers || real->in[0].index[d].gather > 0;
  }
  touch(real, 0, box, marks);
  for (bool more = first(box, at); more; more = next(box, at)) {
    alive += survives(real, at);
  }
  const int64_t distinct = weir_distinct(claimed, 0, box), surviving = weir_surviving(claimed, box);
  return gathers ? distinct < count(marks) || surviving < alive
                 : (distinct != count(marks)) + (surviving != alive);
}

static void distinct_and_surviving_equal_enumeration(void **state)
{
  for (uint32_t n = 0; n < 20000; n++) {
    struct dice d = {n, 1000};
    weir_access a;
    random_access(&d, &a, n % 4 == 0);
    const weir_box whole = weir_iterations(&a), box = random_box(&d, &whole);
    if (count_errors(&a, &a, &box) != 0) {
      fail_case("distinct", n);
    }
    weir_access_fini(&a);
  }
}

/* A flat array and its positions in one of three dimensions, some of which do not fit: the count is
 * that of the enumeration. */
static void flattened_arrays_are_counted(void **state)
{
  for (uint32_t n = 0; n < 2000; n++) {
    struct dice d = {n, 1000};
    const int64_t e[] = {roll(&d, 1, 5), roll(&d, 1, 4), roll(&d, 1, 4)};
    const int64_t div[] = {e[1] * e[2] + (roll(&d, 0, 9) == 0), e[2], 1};
    const int64_t all = e[0] * e[1] * e[2];
    const int64_t lo = roll(&d, 0, (int)all - 1), hi = roll(&d, (int)lo, (int)all);
    weir_access a;

    weir_access_init(&a);
    assert_ok(weir_access_resize(&a, 1, 0, 0));
    a.n_dims = 1;
    a.dim[0].hi = all;
    a.in[0] = (weir_operand){.dtype = WEIR_F32, .rank = 3};
    for (int k = 0; k < 3; k++) {
      a.in[0].extent[k] = e[k];
      a.in[0].index[k] = (weir_index){.coef = {1},
                                      .div = div[k],
                                      .offset = div[k] * roll(&d, 0, k == 0 ? 1 : 3),
                                      .border = k == 0 ? WEIR_BORDER_ZERO : WEIR_BORDER_WRAP};
    }
    const weir_box box = {.rank = 1, .lo = {lo}, .hi = {hi}};
    bool marks[CELLS] = {false};

    touch(&a, 0, &box, marks);
    if (weir_distinct(&a, 0, &box) != count(marks)) {
      fail_case("digits", n);
    }
    weir_access_fini(&a);
  }
}

static void planted_off_by_one_is_caught(void **state)
{
  int caught = 0, tried = 0;

  for (uint32_t n = 0; n < 2000; n++) {
    struct dice d = {n, 2000};
    weir_access a, wrong;
    random_access(&d, &a, false);
    const weir_box box = weir_iterations(&a);
    assert_ok(weir_access_copy(&a, &wrong));
    if (a.in[0].rank > 0 && !weir_box_empty(&box)) {
      wrong.in[0].index[0].offset += n % 2 == 0 ? 1 : -1;
      const weir_region r = weir_needed(&wrong, 0, &box);
      tried++;
      caught += count_errors(&wrong, &a, &box) != 0 || region_errors(&a, &a.in[0], &box, &r) != 0;
    }
    weir_access_fini(&wrong);
    weir_access_fini(&a);
  }
  assert_true(tried > 500 && caught > tried / 4);
}

static void union_of_uses_equals_enumeration(void **state)
{
  for (uint32_t n = 0; n < 10000; n++) {
    struct dice d = {n, 3000};
    weir_access a[3];
    const weir_access *access[6];
    weir_box box[6];
    int operand[6], uses = 0;
    bool marks[CELLS] = {false};
    random_access(&d, &a[0], false);
    for (int i = 0; i < 3; i++) {
      if (i > 0) {
        assert_ok(weir_access_copy(&a[0], &a[i]));
      }
      weir_operand *x = &a[i].in[0];
      for (int k = 0; k < x->rank && i > 0; k++) { /* another map into the same array */
        const int64_t extent = x->extent[k];
        if (roll(&d, 0, 1) == 0) {
          x->index[k].offset += roll(&d, -2, 2);
          x->index[k].coef[roll(&d, 0, 3)] += roll(&d, -1, 1);
        }
        x->index[k].border =
            x->index[k].border == WEIR_BORDER_NEVER ? WEIR_BORDER_ZERO : x->index[k].border;
        x->extent[k] = extent;
      }
      const weir_box whole = weir_iterations(&a[i]);
      for (int k = 0; k < 1 + (int)roll(&d, 0, 1); k++) {
        access[uses] = &a[i];
        operand[uses] = 0;
        box[uses] = random_box(&d, &whole);
        touch(&a[i], 0, &box[uses], marks);
        uses++;
      }
    }
    if (weir_distinct_union(access, operand, box, uses) != count(marks)) {
      fail_case("union", n);
    }
    for (int i = 0; i < 3; i++) {
      weir_access_fini(&a[i]);
    }
  }
}

/* Compares an inverse with the hull of the iterations that reach `elements`. exact: must be equal.
 */
static bool inverse_is_right(const weir_access *a, const weir_operand *x, const weir_box *elements,
                             const weir_box *got, bool exact)
{
  const weir_box box = weir_iterations(a);
  int64_t at[WEIR_MAX_DIMS], index[WEIR_MAX_RANK];
  weir_box hull = {.rank = box.rank};
  bool any = false;

  for (bool more = first(&box, at); more; more = next(&box, at)) {
    bool in = element(a, x, at, index);
    for (int d = 0; d < x->rank; d++) {
      in = in && index[d] >= elements->lo[d] && index[d] < elements->hi[d];
    }
    for (int k = 0; in && k < box.rank; k++) {
      hull.lo[k] = !any || at[k] < hull.lo[k] ? at[k] : hull.lo[k];
      hull.hi[k] = !any || at[k] >= hull.hi[k] ? at[k] + 1 : hull.hi[k];
    }
    any = any || in;
  }
  if (!any) {
    return !exact || box.rank == 0 || weir_box_empty(got); /* rank 0: one iteration, never none */
  }
  for (int k = 0; k < box.rank; k++) {
    if (got->lo[k] > hull.lo[k] || got->hi[k] < hull.hi[k] ||
        (exact && (got->lo[k] != hull.lo[k] || got->hi[k] != hull.hi[k]))) {
      return false;
    }
  }
  return true;
}

/* One array dimension whose sums have no holes, so that the hull is attained. */
static bool without_holes(const weir_access *a, const weir_operand *x)
{
  int terms = 0, steps = 0;

  for (int k = 0; k < a->n_dims; k++) {
    terms += x->rank == 1 && x->index[0].coef[k] != 0;
    steps += x->rank == 1 && llabs(x->index[0].coef[k]) > 1;
  }
  return x->rank == 0 || (x->rank == 1 && x->index[0].gather == 0 && (terms <= 1 || steps == 0));
}

static void affected_and_iterations_of_hold_every_user(void **state)
{
  int exact_cases = 0;

  for (uint32_t n = 0; n < 20000; n++) {
    struct dice d = {n, 4000};
    weir_access a;
    weir_box elements[2];
    random_access(&d, &a, n % 4 == 0);
    for (int side = 0; side < 2; side++) {
      const weir_operand *x = side == 0 ? &a.in[0] : &a.out[0];
      elements[side] = (weir_box){.rank = x->rank};
      for (int k = 0; k < x->rank; k++) {
        elements[side].lo[k] = roll(&d, 0, x->extent[k]);
        elements[side].hi[k] = roll(&d, elements[side].lo[k], x->extent[k]);
      }
    }
    const weir_box users = weir_affected(&a, 0, &elements[0]);
    const weir_box writers = weir_iterations_of(&a, 0, &elements[1]);
    exact_cases += without_holes(&a, &a.in[0]);
    if (!inverse_is_right(&a, &a.in[0], &elements[0], &users, without_holes(&a, &a.in[0])) ||
        !inverse_is_right(&a, &a.out[0], &elements[1], &writers, without_holes(&a, &a.out[0]))) {
      fail_case("affected", n);
    }
    weir_access_fini(&a);
  }
  assert_true(exact_cases > 2000);
}

/* Whether iteration `at` of `a` is iteration `there` of what was narrowed, element by element, but
 * for dimension 0 of input 0, which begins at `lo`. */
static bool is_the_same(const weir_access *a, const weir_access *narrowed, const int64_t *at,
                        const int64_t *there, int64_t lo)
{
  for (int k = 0; k < a->n_in + a->n_out; k++) {
    const weir_operand *x = k < a->n_in ? &a->in[k] : &a->out[k - a->n_in];
    const weir_operand *y = k < a->n_in ? &narrowed->in[k] : &narrowed->out[k - a->n_in];

    for (int d = 0; d < x->rank; d++) {
      if (weir_index_raw(&x->index[d], a->n_dims, at, 1) - (k == 0 && d == 0 ? lo : 0) !=
          weir_index_raw(&y->index[d], a->n_dims, there, 1)) {
        return false;
      }
    }
  }
  return true;
}

static void narrowed_accesses_touch_what_they_did(void **state)
{
  for (uint32_t n = 0; n < 2000; n++) {
    struct dice d = {n, 5000};
    weir_access a, narrowed = {.n_dims = 0};
    int64_t at[WEIR_MAX_DIMS], there[WEIR_MAX_DIMS];

    random_access(&d, &a, n % 4 == 0);
    const weir_box whole = weir_iterations(&a), box = random_box(&d, &whole);
    const int64_t lo = roll(&d, -3, 3);

    assert_ok(weir_access_copy(&a, &narrowed));
    assert_ok(weir_access_narrow(&narrowed, &box));
    if (a.in[0].rank > 0) {
      weir_operand_narrow(&narrowed.in[0], 0, lo, 7);
      assert_int_equal(narrowed.in[0].extent[0], 7);
    }
    for (bool more = first(&box, at); more; more = next(&box, at)) {
      for (int k = 0; k < a.n_dims; k++) {
        there[k] = at[k] - box.lo[k] + a.dim[k].lo;
        assert_in_range(there[k] - narrowed.dim[k].lo, 0,
                        narrowed.dim[k].hi - narrowed.dim[k].lo - 1);
      }
      if (!is_the_same(&a, &narrowed, at, there, lo)) {
        fail_case("narrow", n);
      }
    }
    weir_access_fini(&narrowed);
    weir_access_fini(&a);
  }
}

/* Index after the border rule by walking one step at a time. */
static int64_t walk(weir_border border, int64_t raw, int64_t extent)
{
  int64_t at = 0, step = 1;

  for (int64_t i = 0; i != raw; i += raw > 0 ? 1 : -1) {
    if (border == WEIR_BORDER_WRAP) {
      at += raw > 0 ? 1 : -1;
      at = at == extent ? 0 : at < 0 ? extent - 1 : at;
    } else if (extent > 1) {
      step = at == extent - 1 ? -1 : at == 0 ? 1 : step;
      at += step;
    }
  }
  return at;
}

static void borders_are_what_a_walk_finds(void **state)
{
  for (int64_t extent = 0; extent < 6; extent++) {
    for (int64_t raw = -25; raw < 25; raw++) {
      for (int b = 0; b <= WEIR_BORDER_REFLECT; b++) {
        const weir_index x = {.border = (weir_border)b};
        const bool within = raw >= 0 && raw < extent;
        bool inside;
        const int64_t i = weir_index_border(&x, raw, extent, &inside);
        assert_int_equal(inside, extent > 0 && (within || b >= WEIR_BORDER_WRAP));
        if (!inside || within) {
          assert_int_equal(i, within ? raw : 0);
        } else if (b == WEIR_BORDER_REPLICATE) {
          assert_int_equal(i, raw < 0 ? 0 : extent - 1);
        } else {
          assert_int_equal(i, walk((weir_border)b, raw, extent));
        }
      }
    }
  }
}

static void raw_index_is_a_floor_division(void **state)
{
  for (int64_t div = 1; div < 5; div++) {
    for (int64_t i = -20; i < 20; i++) {
      const weir_index x = {.coef = {3, -1}, .offset = 2, .div = div};
      const int64_t raw = weir_index_raw(&x, 2, (int64_t[]){i, 4}, 1), sum = 3 * i - 4 + 2 + 1;
      assert_true(raw * div <= sum && sum < (raw + 1) * div);
      assert_int_equal(raw * div + weir_floor_mod(sum, div), sum);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(borders_are_what_a_walk_finds),
      cmocka_unit_test(raw_index_is_a_floor_division),
      cmocka_unit_test(needed_and_written_hold_the_images_of_all_raw_indices),
      cmocka_unit_test(distinct_and_surviving_equal_enumeration),
      cmocka_unit_test(union_of_uses_equals_enumeration),
      cmocka_unit_test(affected_and_iterations_of_hold_every_user),
      cmocka_unit_test(narrowed_accesses_touch_what_they_did),
      cmocka_unit_test(flattened_arrays_are_counted),
      cmocka_unit_test(planted_off_by_one_is_caught),
  };
  run_seed = (uint64_t)time(NULL); /* fresh cases every run; a failure names seed and case */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
