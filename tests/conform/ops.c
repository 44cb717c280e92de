/* ops.c [OPERATOR] - every operator of the registry, or the one named: random cases, each dtype,
 * each engine, against the oracle; what the access claims against what the counting interpreter
 * marks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_clock.h"
#include "batch.h"
#include "direct.h"
#include "graph/weir_kernel.h"
#include "conf/weir_opt.h"
#include "plant.h"

#define MAX_OPS 128
#define BATCH 12
/* Seeds are fresh in every run: under the sanitizers fewer cases a run will do. */
#if defined(__SANITIZE_ADDRESS__)
#define BATCHES 6
#define POINTS 20
#define PLANTED 4             /* cases an operator */
#define LAST WEIR_TIER_VECTOR /* the compiler's code has no sanitizer in it */
#else
#define BATCHES 16
#define POINTS 100
#define PLANTED 25
#define LAST WEIR_TIER_NATIVE
#endif

/* Cases per op x dtype: accesses checked, and per engine. */
typedef struct row {
  int64_t accesses, tier[BATCH_TIERS];
} row;

static row table[MAX_OPS][WEIR_DTYPE_COUNT];
static const char *only;      /* name of the operator that is tested; NULL: all */
static bool quiet;            /* while errors are planted */
static int64_t kernel_groups; /* claimed by kernels */
static bool native_works;     /* there is a compiler */
static int64_t tight_claims;  /* claims whose bounds were compared with the elements touched */

static bool is_tested(int i)
{
  return only == NULL || strcmp(weir_op_table[i]->name, only) == 0;
}

/* Numbers of the operators to test. */
#define EVERY_OP(i)                              \
  for (int i = 0; weir_op_table[i] != NULL; i++) \
    if (is_tested(i))

/* Fresh cases in every run; WEIR_SEED repeats one. */
static uint64_t first_seed(void)
{
  const char *text = weir_env("WEIR_SEED");
  const uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : (uint64_t)(weir_clock() * 1e6);

  return seed;
}

/* The marked elements of one operand. */
typedef struct marked {
  int64_t count;
  int64_t lo[WEIR_MAX_RANK], hi[WEIR_MAX_RANK];
} marked;

static marked measure(const weir_operand *o, const uint8_t *marks, const weir_region *r,
                      int *outside)
{
  marked m = {.count = 0};
  int64_t n = 1;

  for (int d = 0; d < o->rank; d++) {
    m.lo[d] = INT64_MAX;
    n *= o->extent[d];
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = i;

    if (!marks[i]) {
      continue;
    }
    m.count++;
    for (int d = o->rank - 1; d >= 0; d--) {
      const int64_t at = rest % o->extent[d];
      bool inside = false;

      rest /= o->extent[d];
      m.lo[d] = at < m.lo[d] ? at : m.lo[d];
      m.hi[d] = at + 1 > m.hi[d] ? at + 1 : m.hi[d];
      for (int p = 0; p < r->n[d]; p++) {
        inside = inside || (at >= r->interval[d][p].lo && at < r->interval[d][p].hi);
      }
      *outside += !inside;
    }
  }
  return m;
}

static bool gathers(const weir_operand *o)
{
  bool found = false;

  for (int d = 0; d < o->rank; d++) {
    found = found || o->index[d].gather > 0;
  }
  return found;
}

/* Whether the numerators of an index over a box leave no hole: then, and where no other operand
 * drops iterations, the bounds of a region are elements that are touched. */
static bool is_dense(const weir_index *x, const weir_box *box)
{
  int64_t reach = x->div > 1 ? x->div : 1, least = 0;

  do {
    int64_t length = 0;

    least = INT64_MAX;
    for (int k = 0; k < box->rank; k++) {
      const int64_t c = llabs(x->coef[k]), n = box->hi[k] - box->lo[k];

      if (c > reach && n > 1) {
        least = c < least ? c : least; /* not reached yet */
      } else if (c > 0 && n > 1) {
        length += c * (n - 1);
      }
    }
    if (length + (x->div > 1 ? x->div : 1) <= reach) {
      return least == INT64_MAX;
    }
    reach = length + (x->div > 1 ? x->div : 1);
  } while (least != INT64_MAX);
  return true;
}

static bool same_map(const weir_index *x, const weir_index *y)
{
  return memcmp(x->coef, y->coef, sizeof x->coef) == 0 && x->offset == y->offset &&
         x->div == y->div;
}

/* Whether iterations that read nothing, as they leave the array along dimension d, may be all those
 * that reach an element along another dimension. */
static bool drops_others(const weir_access *a, const weir_operand *o, int d)
{
  const weir_border border = o->index[d].border;

  if (border != WEIR_BORDER_ZERO && border != WEIR_BORDER_VALUE && border != WEIR_BORDER_ABSENT) {
    return false;
  }
  for (int e = 0; e < o->rank; e++) {
    for (int k = 0; e != d && k < a->n_dims; k++) {
      if (o->index[d].coef[k] != 0 && o->index[e].coef[k] != 0) {
        return true;
      }
    }
  }
  return false;
}

static bool is_tight(const weir_access *a, int operand, const weir_box *box)
{
  const weir_operand *o = operand >= 0 ? &a->in[operand] : &a->out[-1 - operand];

  for (int d = 0; d < o->rank; d++) {
    if (!is_dense(&o->index[d], box) || o->index[d].gather > 0 || drops_others(a, o, d)) {
      return false;
    }
  }
  for (int k = 0; k < a->n_in && operand >= 0; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      const weir_index *x = &a->in[k].index[d];
      const bool own = d < o->rank && same_map(x, &o->index[d]) && a->in[k].rank == o->rank;

      if (x->border == WEIR_BORDER_ABSENT && !own) {
        return false;
      }
    }
  }
  return true;
}

/* Claims about one operand (-1 - k: output) over a box against the marks. Returns how many claims
 * are wrong, and says which. */
static int check_claims(const batch_case *k, const weir_access *a, int operand, const weir_box *box,
                        const uint8_t *marks)
{
  const weir_operand *o = operand >= 0 ? &a->in[operand] : &a->out[-1 - operand];
  const weir_region r =
      operand >= 0 ? weir_needed(a, operand, box) : weir_written(a, -1 - operand, box);
  const weir_box hull = weir_region_hull(&r);
  const int64_t claimed = weir_distinct_union(&a, &operand, box, 1);
  int outside = 0, loose = 0;
  const marked m = measure(o, marks, &r, &outside);

  if (is_tight(a, operand, box)) {
    for (int d = 0; d < o->rank && m.count > 0; d++) {
      loose += hull.lo[d] != m.lo[d] || hull.hi[d] != m.hi[d];
    }
    loose += m.count == 0 && o->rank > 0 && !weir_region_empty(&r);
    tight_claims++;
  }
  const bool miscounted = gathers(o) ? claimed < m.count : claimed != m.count;

  if ((outside > 0 || loose > 0 || miscounted) && !quiet) {
    fprintf(stderr,
            "FAIL %s seed %llu %s %d: %lld elements touched, %lld claimed; %d outside the region, "
            "%d bounds not tight\n",
            k->op->name, (unsigned long long)k->seed, operand >= 0 ? "input" : "output",
            operand >= 0 ? operand : -1 - operand, (long long)m.count, (long long)claimed, outside,
            loose);
  }
  return (outside > 0) + (loose > 0) + miscounted;
}

/* All operands over one box. `marks` hold what an access touched that should be `a`. */
static int check_box(const batch_case *k, const weir_access *a, const weir_box *box,
                     uint8_t *const *in_marks, uint8_t *const *out_marks)
{
  int wrong = 0;

  for (int i = 0; i < a->n_in; i++) {
    if (a->in[i].role == WEIR_ROLE_DATA) {
      wrong += check_claims(k, a, i, box, in_marks[i]);
    }
  }
  for (int i = 0; i < a->n_out; i++) {
    if (a->out[i].role == WEIR_ROLE_DATA &&
        !(weir_box_empty(box) && a->maker != WEIR_MADE_BY_CALL)) {
      wrong += check_claims(k, a, -1 - i, box, out_marks[i]);
    }
  }
  return wrong;
}

/* Marks of the operands over a box by the oracle, compared with the claims of `claims`. */
static int mark_and_check(const batch_case *k, const weir_access *claims, const weir_box *box)
{
  oracle_run run = {.access = k->access, .box = *box, .in = k->in};
  int wrong = 0;

  for (int i = 0; i < k->c.n_in; i++) {
    assert_ok(weir_alloc(weir_tensor_numel(&k->in[i]) + 1, 1, (void **)&run.in_marks[i]));
  }
  for (int i = 0; i < k->n_out; i++) {
    assert_ok(weir_alloc(weir_tensor_numel(&k->expected[i]) + 1, 1, (void **)&run.out_marks[i]));
  }
  oracle_mark(&run);
  wrong = check_box(k, claims, box, run.in_marks, run.out_marks);
  for (int i = 0; i < k->c.n_in; i++) {
    weir_free(&run.in_marks[i]);
  }
  for (int i = 0; i < k->n_out; i++) {
    weir_free(&run.out_marks[i]);
  }
  return wrong;
}

static weir_box random_box(const weir_access *a, weir_draw *w)
{
  weir_box box = weir_iterations(a);

  for (int d = 0; d < box.rank; d++) {
    if (box.hi[d] > 0 && !weir_draw_one_in(w, 3)) {
      const int64_t lo = weir_draw_int(w, 0, box.hi[d] - 1);

      box.hi[d] = weir_draw_int(w, lo + 1, box.hi[d]);
      box.lo[d] = lo;
    }
  }
  return box;
}

/* Every iteration alone, of the first POINTS: where the errors of plant.h are seen. */
static int check_points(const batch_case *k)
{
  const weir_box all = weir_iterations(k->access);
  weir_box box = {.rank = all.rank};
  int wrong = 0;

  for (int64_t i = 0; i < POINTS && i < weir_box_volume(&all); i++) {
    int64_t left = i;

    for (int d = all.rank - 1; d >= 0; d--) {
      box.lo[d] = all.lo[d] + left % (all.hi[d] - all.lo[d]);
      box.hi[d] = box.lo[d] + 1;
      left /= all.hi[d] - all.lo[d];
    }
    wrong += mark_and_check(k, k->access, &box);
  }
  return wrong;
}

static int check_access(const batch_case *k)
{
  weir_draw w = {.seed = k->seed + 1};
  const weir_box whole = weir_iterations(k->access);
  int wrong = check_box(k, k->access, &whole, k->in_marks, k->out_marks);

  for (int i = 0; i < 3; i++) {
    const weir_box box = random_box(k->access, &w);

    wrong += mark_and_check(k, k->access, &box);
  }
  return wrong;
}

static int op_number(const weir_op_desc *op)
{
  for (int i = 0; weir_op_table[i] != NULL && i < MAX_OPS; i++) {
    if (weir_op_table[i] == op) {
      return i;
    }
  }
  fail_msg("%s is not in the table", op->name);
  return 0;
}

static void every_access_says_what_is_touched(void **state)
{
  const uint64_t seed = first_seed();
  int wrong = 0;

  print_message("seed %llu\n", (unsigned long long)seed);
  EVERY_OP(i)
  {
    for (uint64_t n = 0; n < BATCHES; n++) {
      batch b;

      assert_ok(batch_make(weir_op_table[i], seed + n * BATCH, BATCH, &b));
      for (int k = 0; k < b.n; k++) {
        wrong += check_access(&b.cases[k]) + (n == 0 ? check_points(&b.cases[k]) : 0);
        table[i][batch_dtype(&b.cases[k])].accesses++;
      }
      batch_fini(&b);
    }
  }
  assert_int_equal(wrong, 0);
}

/* In every operand and dimension: an access that says something else is refused, or is seen by its
 * claims about one iteration or by the results. */
static void planted_errors_by_one_are_caught(void **state)
{
  const uint64_t seed = first_seed() + 500;
  int64_t missed = 0;

  printf("%-16s %8s %8s %8s %8s %8s %8s\n", "errors by one", "planted", "same", "refused", "claims",
         "values", "missed");
  quiet = true;
  EVERY_OP(i)
  {
    plant_count n = {.planted = 0};

    /* A few cases may all be empty, or have one element: then there is nothing to see. */
    for (uint64_t more = 0; more < BATCH && n.claims + n.values == 0; more++) {
      batch b;

      assert_ok(batch_make(weir_op_table[i], seed + more * PLANTED, PLANTED, &b));
      for (int k = 0; k < b.n; k++) {
        plant_all(&b.cases[k], mark_and_check, &n);
      }
      batch_fini(&b);
    }
    printf("%-16s %8lld %8lld %8lld %8lld %8lld %8lld\n", weir_op_table[i]->name,
           (long long)n.planted, (long long)n.same, (long long)n.refused, (long long)n.claims,
           (long long)n.values, (long long)n.missed);
    missed += n.missed;
    assert_true(n.claims + n.values > 0);
  }
  quiet = false;
  assert_int_equal(missed, 0);
}

/* The oracle executes what the access says; here stands what the operator means. */
static void moved_elements_come_from_where_the_operator_says(void **state)
{
  const uint64_t seed = first_seed() + 1000;
  int64_t wrong = 0, compared = 0;

  EVERY_OP(i)
  {
    batch b;

    assert_ok(batch_make(weir_op_table[i], seed, 8 * BATCH, &b));
    for (int k = 0; k < b.n; k++) {
      if (direct_compute(&b.cases[k], WEIR_TIER_REFERENCE)) {
        wrong += batch_wrong(&b.cases[k], WEIR_TIER_REFERENCE);
        compared++;
      }
    }
    batch_fini(&b);
  }
  assert_int_equal(wrong, 0);
  assert_true(only != NULL || compared > 100);
}

static void check_engines(const batch *b, const bool *have, int64_t *wrong)
{
  for (int k = 0; k < b->n; k++) {
    const batch_case *c = &b->cases[k];

    for (int t = WEIR_TIER_REFERENCE; t < BATCH_TIERS; t++) {
      if (have[t]) {
        *wrong += batch_wrong(c, t);
        table[op_number(c->op)][batch_dtype(c)].tier[t]++;
      }
    }
    if (have[WEIR_TIER_VECTOR] && have[WEIR_TIER_NATIVE]) {
      *wrong += batch_differ(c, WEIR_TIER_VECTOR, WEIR_TIER_NATIVE);
    }
  }
}

/* Fresh cases of one operator in every engine, native where asked: how many outputs are wrong. */
static int64_t wrong_of_batch(const weir_op_desc *op, uint64_t seed, bool native, const char *cache)
{
  bool have[BATCH_TIERS] = {false};
  int64_t wrong = 0;
  batch b;

  assert_ok(batch_make(op, seed, BATCH, &b));
  for (int t = WEIR_TIER_REFERENCE; t < BATCH_TIERS; t++) {
    if (t == WEIR_TIER_NATIVE && !native) {
      continue;
    }
    const weir_status status = batch_run(&b, t, cache);

    if (status != WEIR_ERR_UNSUPPORTED) {
      assert_ok(status);
    }
    have[t] = status == WEIR_OK;
    native_works = native_works || (t == WEIR_TIER_NATIVE && have[t]);
  }
  check_engines(&b, have, &wrong);
  kernel_groups += b.claimed;
  batch_fini(&b);
  return wrong;
}

static bool has_kernel(const char *name)
{
  for (int i = 0; weir_kernel_table[i] != NULL; i++) {
    if (strcmp(weir_kernel_table[i]->name, name) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_claimed_by_kernels(const weir_op_desc *op)
{
  return strcmp(op->name, "contract") == 0 && has_kernel("contract.cblas");
}

static const weir_dtype floating[] = {WEIR_F32, WEIR_F64, WEIR_C64, WEIR_C128};
enum { FLOATING = sizeof floating / sizeof *floating };

/* Whether an engine has had no case of the operator in a dtype that it has. */
static bool lacks(int op, weir_dtype dtype)
{
  const row *r = &table[op][dtype];
  bool any = false;

  for (int t = WEIR_TIER_REFERENCE; t <= (native_works ? WEIR_TIER_NATIVE : WEIR_TIER_VECTOR);
       t++) {
    any = any || (r->accesses > 0 && r->tier[t] == 0);
  }
  return any;
}

/* Of the floating-point ones. */
static bool lacks_a_case(int op)
{
  bool any = false;

  for (int d = 0; d < FLOATING; d++) {
    any = any || lacks(op, floating[d]);
  }
  return any;
}

/* Whether these cases have a dtype that an engine lacks: others are not worth compiling. */
static bool adds_a_case(int op, uint64_t seed)
{
  bool any = false;
  batch b;

  assert_ok(batch_make(weir_op_table[op], seed, BATCH, &b));
  for (int k = 0; k < b.n; k++) {
    for (int d = 0; d < FLOATING; d++) {
      any = any || (batch_dtype(&b.cases[k]) == floating[d] && lacks(op, floating[d]));
    }
  }
  batch_fini(&b);
  return any;
}

static void every_engine_gives_what_the_oracle_gives(void **state)
{
  const uint64_t seed = first_seed() + 2000;
  char cache[256];
  int64_t wrong = 0;

  weir_check_mkdir(cache, sizeof cache);

  EVERY_OP(i)
  {
    for (uint64_t n = 0; n < BATCHES; n++) {
      /* Compiling takes its time: one batch an operator. */
      wrong += wrong_of_batch(weir_op_table[i], seed + n * BATCH,
                              n == 0 && LAST == WEIR_TIER_NATIVE, cache);
    }
    for (uint64_t n = BATCHES; lacks_a_case(i); n++) {
      assert_true(n < 200 + BATCHES);
      wrong += adds_a_case(i, seed + n * BATCH)
                   ? wrong_of_batch(weir_op_table[i], seed + n * BATCH, native_works, cache)
                   : 0;
    }
    /* Shapes as small as these are claimed by luck: of the products of matrices, one in a dozen. */
    for (uint64_t n = BATCHES; is_claimed_by_kernels(weir_op_table[i]) && kernel_groups == 0; n++) {
      assert_true(n < 200 + BATCHES);
      wrong += wrong_of_batch(weir_op_table[i], seed + n * BATCH, false, cache);
    }
  }
  weir_check_rmdir(cache);
  assert_int_equal(wrong, 0);
}

static void table_of_cases(void **state)
{
  int64_t least = INT64_MAX;

  printf("%-12s %-5s %9s %9s %9s %9s %9s\n", "operator", "dtype", "access", "reference", "vector",
         "native", "kernels");
  EVERY_OP(i)
  {
    int64_t all = 0;

    for (int d = 0; d < WEIR_DTYPE_COUNT; d++) {
      const row *r = &table[i][d];

      all += r->accesses;
      if (r->accesses + r->tier[WEIR_TIER_REFERENCE] > 0) {
        printf("%-12s %-5s %9lld %9lld %9lld %9lld %9lld\n", weir_op_table[i]->name,
               weir_dtype_name((weir_dtype)d), (long long)r->accesses,
               (long long)r->tier[WEIR_TIER_REFERENCE], (long long)r->tier[WEIR_TIER_VECTOR],
               (long long)r->tier[WEIR_TIER_NATIVE], (long long)r->tier[BATCH_KERNELS]);
      }
    }
    least = all < least ? all : least;
  }
  printf("operators:");
  for (int i = 0; weir_op_table[i] != NULL; i++) {
    printf(" %s", weir_op_table[i]->name);
  }
  printf("\n");
  assert_true(least >= BATCH && least < INT64_MAX);
  if (only != NULL) {
    return;
  }
  assert_true(tight_claims > 60 * BATCHES);
}

int main(int argc, char **argv)
{
  only = argc > 1 ? argv[1] : NULL;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_access_says_what_is_touched),
      cmocka_unit_test(planted_errors_by_one_are_caught),
      cmocka_unit_test(moved_elements_come_from_where_the_operator_says),
      cmocka_unit_test(every_engine_gives_what_the_oracle_gives),
      cmocka_unit_test(table_of_cases),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
