/* script_test.c - turns by a script: every order of turns is visited. */
#include <string.h>
#include "base/weir_check.h"
#include "support/comm/turns_check.h"

enum { MAX_TURNS = 9, MAX_ORDERS = 2000 };

/* Who ran, turn by turn. */
typedef struct order {
  int turns; /* of each rank */
  char ranks[MAX_TURNS + 1];
  weir_inproc_script *script;
} order;

/* Turns of a rank that only lets others run. */
static weir_status take_turns(weir_comm *c, void *context)
{
  order *o = context;

  WEIR_TRY(weir_comm_barrier(c));
  o->script->begins = true;
  for (int k = 0; k < o->turns; k++) {
    WEIR_TRY(weir_inproc_sleep(c, 0));
    const size_t at = strlen(o->ranks);

    o->ranks[at] = (char)('0' + weir_comm_rank(c));
    o->ranks[at + 1] = 0;
  }
  return WEIR_OK;
}

/* Visits all sequences of choices, of which several may be one order: a rank that has ended takes a
 * turn, too. Returns how many orders there are. */
static int count_orders(int ranks, int turns)
{
  static char seen[MAX_ORDERS][MAX_TURNS + 1];
  int choice[4 * MAX_TURNS] = {0}, ready[4 * MAX_TURNS], n = 0;
  bool more = true;

  while (more) {
    weir_inproc_script script = {.choice = choice, .ready = ready, .n = 4 * MAX_TURNS};
    order o = {.turns = turns, .script = &script};
    const weir_inproc run = {.ranks = ranks, .script = &script};

    assert_ok(weir_inproc_run(&run, take_turns, &o));
    assert_true(script.taken <= script.n);
    assert_int_equal(strlen(o.ranks), ranks * turns);
    int k = 0;

    while (k < n && strcmp(seen[k], o.ranks) != 0) {
      k++;
    }
    assert_true(n < MAX_ORDERS);
    memcpy(seen[n], o.ranks, sizeof seen[n]);
    n += k == n;
    more = turns_next(choice, &script);
  }
  return n;
}

/* (ranks x turns)! / turns!^ranks. */
static void every_order_is_visited(void **state)
{
  assert_int_equal(count_orders(2, 1), 2);
  assert_int_equal(count_orders(2, 2), 6);
  assert_int_equal(count_orders(2, 3), 20);
  assert_int_equal(count_orders(3, 1), 6);
  assert_int_equal(count_orders(3, 2), 90);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_order_is_visited)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
