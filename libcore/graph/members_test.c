/* members_test.c - composed boxes, distinct elements and maps of random members, against marking
 * elements one by one. */
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "graph/weir_reach.h"

enum { MEMBERS = 4, ARRAYS = MEMBERS + 1, MAX = 8, CASES = 4000 };

static const uint64_t run_seed = 16;

/* Stream of random numbers of one case. */
struct dice {
  uint32_t number, at;
};

static int64_t roll(struct dice *d, int64_t lo, int64_t hi)
{
  return lo +
         (int64_t)(weir_random_bits(run_seed, d->number, 0, d->at++) % (uint64_t)(hi - lo + 1));
}

/* Member k writes array k + 1, element by element, from windows of arrays 0 to k. Its iterations
 * are those of the array's two dimensions and one reduced. */
struct chain {
  weir_access access[MEMBERS];
  int32_t in[MEMBERS][2], out[MEMBERS][1];
  weir_member member[MEMBERS];
  weir_box boxes[MEMBERS];
  int64_t extent[ARRAYS][2];
  bool loose; /* boxes hold more than what is read: iterations are dropped, or elements left out */
};

static void draw_input(struct dice *d, struct chain *c, int k, int i)
{
  weir_operand *x = &c->access[k].in[i];

  c->in[k][i] = i == 0 ? k : (int32_t)roll(d, 0, k);
  x->dtype = WEIR_F32;
  x->rank = 2;
  for (int e = 0; e < 2; e++) {
    x->extent[e] = c->extent[c->in[k][i]][e];
    x->index[e] = (weir_index){.offset = roll(d, -2, 2),
                               .div = roll(d, 0, 2),
                               .border = (weir_border)roll(d, roll(d, 0, 9) == 0 ? 1 : 2, 6)};
    x->index[e].coef[e] = roll(d, -1, roll(d, 0, 9) == 0 ? 2 : 1);
    x->index[e].coef[2] = e == 0 ? roll(d, 0, 1) : 0;
    c->loose = c->loose || x->index[e].border == WEIR_BORDER_ABSENT || x->index[e].coef[e] > 1;
  }
}

static void draw_chain(struct dice *d, struct chain *c)
{
  for (int k = 0; k < MEMBERS; k++) { /* of the chain before */
    weir_access_fini(&c->access[k]);
  }
  memset(c, 0, sizeof *c);
  for (int k = 0; k < ARRAYS; k++) {
    c->extent[k][0] = roll(d, 1, MAX);
    c->extent[k][1] = roll(d, 1, MAX);
  }
  for (int k = 0; k < MEMBERS; k++) {
    weir_access *a = &c->access[k];

    a->n_dims = 3;
    assert_ok(weir_access_resize(a, (int)roll(d, 1, 2), 1, 0));
    a->combine = WEIR_COMBINE_SUM;
    a->dim[2] = (weir_dim){WEIR_REDUCED, 0, roll(d, 1, 3), false};
    a->out[0] = (weir_operand){.dtype = WEIR_F32, .rank = 2};
    for (int e = 0; e < 2; e++) {
      a->dim[e] = (weir_dim){WEIR_PARALLEL, 0, c->extent[k + 1][e], false};
      a->out[0].extent[e] = c->extent[k + 1][e];
      a->out[0].index[e].coef[e] = 1;
    }
    for (int i = 0; i < a->n_in; i++) {
      draw_input(d, c, k, i);
    }
    c->out[k][0] = k + 1;
    c->member[k] = (weir_member){a, c->in[k], c->out[k]};
  }
  weir_box *last = &c->boxes[MEMBERS - 1];

  *last = weir_iterations(&c->access[MEMBERS - 1]);
  for (int e = 0; e < 2; e++) {
    last->lo[e] = roll(d, 0, last->hi[e] - 1);
    last->hi[e] = roll(d, last->lo[e], last->hi[e]);
  }
}

/* Element of one iteration; false when the load gives its fill or the iteration is dropped. */
static bool element(const weir_access *a, const weir_operand *x, const int64_t *at, int64_t *index)
{
  bool all = true;

  for (int d = 0; d < x->rank; d++) {
    bool inside;
    const int64_t raw = weir_index_raw(&x->index[d], a->n_dims, at, 0);

    index[d] = weir_index_border(&x->index[d], raw, x->extent[d], &inside);
    all = all && inside;
  }
  return all;
}

static bool survives(const weir_access *a, const int64_t *at)
{
  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      const weir_index *x = &a->in[k].index[d];
      bool inside;

      (void)weir_index_border(x, weir_index_raw(x, a->n_dims, at, 0), a->in[k].extent[d], &inside);
      if (x->border == WEIR_BORDER_ABSENT && !inside) {
        return false;
      }
    }
  }
  return true;
}

/* Marks what the members from `from` on read of the array over their boxes; returns how much. */
static int64_t mark(const struct chain *c, int from, int32_t array, bool marks[MAX][MAX])
{
  int64_t n = 0, at[WEIR_MAX_DIMS], index[2];

  memset(marks, 0, sizeof(bool[MAX][MAX]));
  for (int k = from; k < MEMBERS; k++) {
    const weir_access *a = &c->access[k];
    const weir_box *b = &c->boxes[k];

    for (at[0] = b->lo[0]; at[0] < b->hi[0]; at[0]++) {
      for (at[1] = b->lo[1]; at[1] < b->hi[1]; at[1]++) {
        for (at[2] = b->lo[2]; at[2] < b->hi[2]; at[2]++) {
          for (int i = 0; i < a->n_in; i++) {
            if (c->in[k][i] == array && survives(a, at) && element(a, &a->in[i], at, index)) {
              n += !marks[index[0]][index[1]];
              marks[index[0]][index[1]] = true;
            }
          }
        }
      }
    }
  }
  return n;
}

/* The hull of the marks is the box, or lies in it where that is loose. */
static void check_hull(const struct chain *c, bool marks[MAX][MAX], const weir_box *box)
{
  int64_t lo[2] = {MAX, MAX}, hi[2] = {0, 0};

  for (int64_t i = 0; i < MAX; i++) {
    for (int64_t j = 0; j < MAX; j++) {
      const int64_t at[2] = {i, j};

      for (int e = 0; e < 2 && marks[i][j]; e++) {
        lo[e] = at[e] < lo[e] ? at[e] : lo[e];
        hi[e] = at[e] + 1 > hi[e] ? at[e] + 1 : hi[e];
      }
    }
  }
  for (int e = 0; e < 2; e++) {
    assert_true(c->loose ? box->lo[e] <= lo[e] && box->hi[e] >= hi[e]
                         : box->lo[e] == lo[e] && box->hi[e] == hi[e]);
  }
  assert_true(box->lo[2] == 0);
}

static void composed_boxes_hold_what_later_members_read(void **state)
{
  int64_t met = 0, none = 0, exact = 0;

  for (uint32_t number = 0; number < CASES; number++) {
    struct dice d = {number, 0};
    static struct chain c;
    bool marks[MAX][MAX];

    draw_chain(&d, &c);
    weir_members_compose(c.member, MEMBERS, c.boxes);
    for (int k = 0; k < MEMBERS - 1; k++) {
      weir_box asked;
      const int64_t n = mark(&c, k + 1, k + 1, marks);
      const bool any = weir_members_asked(c.member, MEMBERS, k, c.boxes, &asked);

      assert_true(any || n == 0);
      assert_true(any || weir_box_empty(&asked));
      assert_memory_equal(&asked, &c.boxes[k], sizeof asked);
      if (n > 0) {
        check_hull(&c, marks, &asked);
      }
      met += n > 0;
      none += n == 0;
      exact += n > 0 && !c.loose;
    }
  }
  assert_true(met > CASES / 8 && none > CASES / 8 && exact > CASES / 20);
}

static void distinct_elements_of_members_equal_marks(void **state)
{
  for (uint32_t number = 0; number < CASES; number++) {
    struct dice d = {number, 1u << 20};
    static struct chain c;
    bool marks[MAX][MAX];

    draw_chain(&d, &c);
    weir_members_compose(c.member, MEMBERS, c.boxes);
    for (int32_t array = 0; array < ARRAYS; array++) {
      int times = 0, uses = 0;

      assert_int_equal(weir_members_distinct(NULL, c.member, MEMBERS, c.boxes, array, false),
                       mark(&c, 0, array, marks));
      assert_int_equal(weir_members_writers(c.member, MEMBERS, array), array > 0);
      for (int32_t k = 0; k < MEMBERS; k++) {
        for (int i = 0; i < c.access[k].n_in; i++) {
          uses += c.in[k][i] == array;
          times += c.in[k][i] == array && weir_members_first(c.member, k, i, false);
        }
      }
      assert_int_equal(times, uses > 0);
    }
  }
}

static void maps_say_of_operands_what_marking_finds(void **state)
{
  int64_t identities = 0, once = 0;

  for (uint32_t number = 0; number < 4 * CASES; number++) {
    struct dice d = {number, 2u << 20};
    static struct chain c;

    draw_chain(&d, &c);
    weir_access *a = &c.access[0];
    weir_operand *x = &a->in[0];
    int reads[MAX][MAX] = {{0}};
    int64_t at[3], index[2];

    for (int e = 0; e < 2; e++) { /* as maps are where the rules of borders do not act */
      x->index[e].border = WEIR_BORDER_ABSENT;
      x->index[e].offset = x->index[e].coef[e] >= 0 ? 0 : x->index[e].offset;
      x->extent[e] = roll(&d, 0, 1) == 0 ? a->dim[e].hi : x->extent[e];
    }
    a->n_in = 1;
    for (at[0] = 0; at[0] < a->dim[0].hi; at[0]++) {
      for (at[1] = 0; at[1] < a->dim[1].hi; at[1]++) {
        for (at[2] = 0; at[2] < a->dim[2].hi; at[2]++) {
          const bool inside = element(a, x, at, index);

          reads[inside ? index[0] : 0][inside ? index[1] : 0] += inside;
        }
      }
    }
    if (weir_operand_reads_once(x, a)) {
      once++;
      for (int i = 0; i < MAX * MAX; i++) {
        assert_true(reads[i / MAX][i % MAX] <= 1);
      }
    }
    a->n_dims = 2; /* without the reduced dimension */
    if (weir_operand_is_identity(x, a)) {
      int order[WEIR_MAX_RANK];

      identities++;
      x->index[0].coef[2] = x->index[1].coef[2] = 0;
      assert_true(weir_operand_is_one_to_one(x, a, order) && order[0] == 0 && order[1] == 1);
      assert_true(weir_operand_follows(x, a, 0) == 0 && weir_operand_follows(x, a, 1) == 1);
      for (at[0] = 0; at[0] < a->dim[0].hi; at[0]++) {
        for (at[1] = 0; at[1] < a->dim[1].hi; at[1]++) {
          assert_true(element(a, x, at, index) && index[0] == at[0] && index[1] == at[1]);
        }
      }
    }
  }
  assert_true(identities > 20 && once > 20);
}

/* Of one operand over the box of its member: what it reads lies inside, whole where an index turns
 * at an end. */
static void check_needed_box(const struct chain *c, int k, int i)
{
  const weir_access *a = &c->access[k];
  const weir_operand *x = &a->in[i];
  const weir_box *run = &c->boxes[k], box = weir_needed_box(a, i, run);
  int64_t at[3], index[2];

  for (at[0] = run->lo[0]; at[0] < run->hi[0]; at[0]++) {
    for (at[1] = run->lo[1]; at[1] < run->hi[1]; at[1]++) {
      for (at[2] = run->lo[2]; at[2] < run->hi[2]; at[2]++) {
        const bool inside = element(a, x, at, index);

        for (int d = 0; d < 2; d++) {
          const int64_t raw = weir_index_raw(&x->index[d], a->n_dims, at, 0);
          const bool out = raw < 0 || raw >= x->extent[d];

          assert_true(!inside || (index[d] >= box.lo[d] && index[d] < box.hi[d]));
          assert_true(!out || x->index[d].border < WEIR_BORDER_WRAP ||
                      x->index[d].border == WEIR_BORDER_REPLICATE ||
                      (box.lo[d] == 0 && box.hi[d] == x->extent[d]));
        }
      }
    }
  }
  assert_true(!weir_box_empty(run) || weir_box_empty(&box));
}

/* Pieces of an iteration dimension read pieces of one of the array, and all of the other. */
static void check_pieces(const struct chain *c, int k, int i, int64_t *met)
{
  const weir_access *a = &c->access[k];
  const weir_operand *x = &a->in[i];

  for (int e = 0; e < 3; e++) {
    const int d = weir_operand_pieces(x, a, e);

    met[d + 2]++;
    for (int f = 0; f < 2 && d >= -1; f++) {
      assert_int_equal(x->index[f].coef[e] != 0, f == d);
    }
    if (d >= 0) {
      const int whole = weir_operand_dim(x, a, d);
      int64_t at[3] = {0};

      assert_true(x->extent[d] == a->dim[e].hi && whole == e);
      for (; at[e] < a->dim[e].hi; at[e]++) {
        assert_true(weir_index_raw(&x->index[d], a->n_dims, at, 0) == at[e]);
      }
    }
  }
}

static void needed_boxes_and_pieces_are_what_marking_finds(void **state)
{
  int64_t met[4] = {0};

  for (uint32_t number = 0; number < CASES; number++) {
    struct dice d = {number, 3u << 20};
    static struct chain c;

    draw_chain(&d, &c);
    weir_members_compose(c.member, MEMBERS, c.boxes);
    for (int k = 0; k < MEMBERS; k++) {
      for (int i = 0; i < c.access[k].n_in; i++) {
        check_needed_box(&c, k, i);
        check_pieces(&c, k, i, met);
      }
    }
  }
  assert_true(met[0] > 100 && met[1] > 100 && met[2] > 100 && met[3] > 100);
}

/* Wherever the tile lies, its members run no more iterations than the reach says. */
static void reaches_bound_the_boxes_of_every_tile(void **state)
{
  int64_t met = 0, tight = 0;

  for (uint32_t number = 0; number < CASES; number++) {
    struct dice d = {number, 4u << 20};
    static struct chain c;
    int64_t tile[WEIR_MAX_DIMS] = {0};
    weir_reach reach[MEMBERS];

    draw_chain(&d, &c);
    weir_box *last = &c.boxes[MEMBERS - 1];
    const weir_box whole = weir_iterations(&c.access[MEMBERS - 1]);

    tile[0] = roll(&d, 1, whole.hi[0]);
    tile[1] = roll(&d, 1, whole.hi[1]);
    weir_reach_compose(c.member, MEMBERS, tile, 1, reach);
    for (int64_t at = 0; at < MAX * MAX && weir_reach_has_one_rate(c.member, MEMBERS, tile); at++) {
      for (int e = 0; e < 2; e++) {
        last->lo[e] = (e == 0 ? at / MAX : at % MAX) * tile[e];
        last->hi[e] = last->lo[e] + tile[e] < whole.hi[e] ? last->lo[e] + tile[e] : whole.hi[e];
      }
      if (weir_box_empty(last)) {
        continue;
      }
      weir_members_compose(c.member, MEMBERS, c.boxes);
      for (int k = 0; k < MEMBERS - 1; k++) {
        for (int e = 0; e < 2 && !weir_box_empty(&c.boxes[k]); e++) {
          const int64_t n = c.boxes[k].hi[e] - c.boxes[k].lo[e], extent = c.extent[k + 1][e];
          const int64_t max = weir_reach_length(&reach[k], e, extent);

          assert_true(reach[k].any && n <= max);
          met += max < extent;
          tight += max < extent && n == max;
        }
      }
    }
  }
  assert_true(met > 100 && tight > 100);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(composed_boxes_hold_what_later_members_read),
      cmocka_unit_test(distinct_elements_of_members_equal_marks),
      cmocka_unit_test(maps_say_of_operands_what_marking_finds),
      cmocka_unit_test(reaches_bound_the_boxes_of_every_tile),
      cmocka_unit_test(needed_boxes_and_pieces_are_what_marking_finds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
