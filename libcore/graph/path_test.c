/* path_test.c - how arrays of random stream graphs follow their input, against the input slots that
 * each slot of them is made of. */
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "graph/weir_path.h"

enum { MEMBERS = 4, ARRAYS = MEMBERS + 1, CASES = 2000, FAR = 5000, SLOTS = 80 };

/* Stream of random numbers of one case. */
struct dice {
  uint32_t number, at;
};

static int64_t roll(struct dice *d, int64_t lo, int64_t hi)
{
  return lo + (int64_t)(weir_random_bits(3, d->number, 0, d->at++) % (uint64_t)(hi - lo + 1));
}

/* Member k writes array k + 1, slot by slot, from windows of two earlier arrays of one rate; array
 * 0 is the input. `plain`: of the array before it alone. */
struct chain {
  weir_access access[MEMBERS];
  int32_t in[MEMBERS][2], out[MEMBERS][1];
  weir_member member[MEMBERS];
  int64_t up[ARRAYS], down[ARRAYS]; /* slots per slot of the input */
  weir_path path[ARRAYS];
};

static void draw_input(struct dice *d, struct chain *c, int k, int i)
{
  weir_operand *x = &c->access[k].in[i], *first = &c->access[k].in[0];
  int32_t from = (int32_t)roll(d, 0, k);

  if (i > 0 && c->up[from] * c->down[c->in[k][0]] != c->up[c->in[k][0]] * c->down[from]) {
    from = c->in[k][0];
  }
  c->in[k][i] = from;
  *x = (weir_operand){.dtype = WEIR_F32, .rank = 1, .extent = {WEIR_UNBOUNDED}};
  x->index[0] =
      (weir_index){.coef = {i > 0 ? first->index[0].coef[0] : roll(d, 1, 3), roll(d, -2, 2)},
                   .offset = roll(d, -5, 5),
                   .div = i > 0 ? first->index[0].div : roll(d, 0, 3),
                   .border = WEIR_BORDER_ZERO};
}

static void drop_chain(struct chain *c)
{
  for (int k = 0; k < MEMBERS; k++) {
    weir_access_fini(&c->access[k]);
  }
}

static void draw_chain(struct dice *d, struct chain *c)
{
  *c = (struct chain){.up = {1}, .down = {1}};
  c->path[0] = weir_path_start();
  for (int k = 0; k < MEMBERS; k++) {
    weir_access *a = &c->access[k];

    assert_int_equal(weir_access_resize(a, 2, 1, 0), WEIR_OK);
    a->n_dims = 2;
    a->dim[0] = (weir_dim){.hi = WEIR_UNBOUNDED, .time = true};
    a->dim[1] = (weir_dim){.kind = WEIR_REDUCED, .hi = roll(d, 1, 3)};
    draw_input(d, c, k, 0);
    draw_input(d, c, k, 1);
    a->out[0] = (weir_operand){.dtype = WEIR_F32, .rank = 1, .extent = {WEIR_UNBOUNDED}};
    a->out[0].index[0].coef[0] = 1;
    c->out[k][0] = k + 1;
    c->up[k + 1] = c->up[c->in[k][0]] * weir_index_divisor(&a->in[0].index[0]);
    c->down[k + 1] = c->down[c->in[k][0]] * a->in[0].index[0].coef[0];
    c->member[k] = (weir_member){a, c->in[k], c->out[k]};
    weir_path_through(&c->member[k], c->path);
  }
}

/* First and last input slot that slot t of an array is made of. */
static weir_interval made_of(const struct chain *c, int32_t array, int64_t t)
{
  if (array == 0) {
    return (weir_interval){t, t};
  }
  const weir_access *a = c->member[array - 1].access;
  weir_interval all = {INT64_MAX, INT64_MIN};

  for (int i = 0; i < 2; i++) {
    for (int64_t tap = 0; tap < a->dim[1].hi; tap++) {
      const int64_t at = weir_index_raw(&a->in[i].index[0], 2, (int64_t[]){t, tap}, 0);
      const weir_interval more = made_of(c, c->in[array - 1][i], at);

      all.lo = more.lo < all.lo ? more.lo : all.lo;
      all.hi = more.hi > all.hi ? more.hi : all.hi;
    }
  }
  return all;
}

/* Every slot lies within the path's reach; of what reads the input itself, some slot at its ends.
 */
static void check(const struct chain *c, int32_t array)
{
  const weir_path *p = &c->path[array];
  const double ratio = (double)c->up[array] / (double)c->down[array];
  double behind = 0, ahead = 0;

  assert_true(p->reached);
  assert_near(p->ratio, ratio, 1e-12);
  for (int64_t t = FAR; t < FAR + SLOTS; t++) {
    const weir_interval made = made_of(c, array, t);
    const double at = (double)t / ratio;

    behind = at - (double)made.lo > behind ? at - (double)made.lo : behind;
    ahead = (double)made.hi - at > ahead ? (double)made.hi - at : ahead;
  }
  assert_true(p->behind >= behind - 1e-6 && p->ahead >= ahead - 1e-6);
  assert_true(p->settle >= behind - 1e-6);
  if (c->in[array - 1][0] == 0 && c->in[array - 1][1] == 0) {
    assert_near(p->behind, behind, 1e-6);
    assert_near(p->ahead, ahead, 1e-6);
  }
}

static void reach_holds_every_slot_that_is_read(void **state)
{
  for (uint32_t n = 0; n < CASES; n++) {
    struct dice d = {n, 0};
    static struct chain c;

    draw_chain(&d, &c);
    for (int32_t a = 1; a < ARRAYS; a++) {
      check(&c, a);
    }
    assert_true(weir_path_margin(c.path, ARRAYS) >=
                weir_path_behind(&c.path[MEMBERS]) + weir_path_ahead(&c.path[MEMBERS]));
    drop_chain(&c);
  }
}

static void assert_same(const weir_path *a, const weir_path *b)
{
  assert_true(a->reached == b->reached && a->ratio == b->ratio && a->behind == b->behind &&
              a->ahead == b->ahead && a->settle == b->settle && a->hold == b->hold);
}

/* A graph split in two: the path of the array that crosses starts the second half. */
static void paths_go_on_in_another_graph(void **state)
{
  for (uint32_t n = 0; n < CASES; n++) {
    struct dice d = {n, 0};
    static struct chain c;
    weir_path there[ARRAYS] = {{.reached = false}};
    const int split = 1 + (int)(n % (MEMBERS - 1));

    draw_chain(&d, &c);
    there[split] = c.path[split];
    for (int k = split; k < MEMBERS; k++) {
      weir_path_through(&c.member[k], there);
      if (c.in[k][0] == split && c.in[k][1] == split) {
        assert_same(&there[k + 1], &c.path[k + 1]);
      }
      assert_true(there[k + 1].behind <= c.path[k + 1].behind);
    }
    drop_chain(&c);
  }
}

/* A scan with a presence settles, one without never does. */
static void scans_settle_as_they_promise(void **state)
{
  for (int presence = 0; presence < 2; presence++) {
    const int32_t in[] = {0, 1}, out[] = {2};
    weir_access a;
    weir_path path[3] = {weir_path_start(), weir_path_start()};

    weir_access_init(&a);
    assert_int_equal(weir_access_resize(&a, 2, 1, 1), WEIR_OK);
    a.n_dims = 1;
    a.dim[0] = (weir_dim){.kind = WEIR_FORWARD, .hi = WEIR_UNBOUNDED, .time = true};
    a.presence = 2 * presence;
    a.settle = 7;
    for (int i = 0; i < 2; i++) {
      a.in[i] = (weir_operand){.dtype = WEIR_F32, .rank = 1, .extent = {WEIR_UNBOUNDED}};
      a.in[i].index[0].coef[0] = 1;
    }
    a.out[0] = a.in[0];
    weir_path_through(&(weir_member){&a, in, out}, path);
    assert_near(path[2].hold, 7, 0);
    assert_near(path[2].settle, presence ? 8 : -1, 0);
    assert_int_equal(weir_path_settle(path, 3), presence ? 10 : -1);
    assert_int_equal(weir_path_margin(path, 3), 11);
    weir_access_fini(&a);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reach_holds_every_slot_that_is_read),
      cmocka_unit_test(paths_go_on_in_another_graph),
      cmocka_unit_test(scans_settle_as_they_promise),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
