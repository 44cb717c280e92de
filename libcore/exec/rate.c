/* rate.c - how many slots one stream has per slot of another: follows from the accesses that read
 * them together. */
#include <string.h>
#include "plan_priv.h"

#define LARGEST ((int64_t)1 << 31) /* terms of a ratio; beyond it streams count as unrelated */

/* up/down * times/by in lowest terms; false when a term gets too large. */
static bool scale(exec_rate *r, int64_t times, int64_t by)
{
  const int64_t g = weir_common_divisor(times, by);
  const int64_t a = weir_common_divisor(r->up, by / g), b = weir_common_divisor(times / g, r->down);

  r->up = (r->up / a) * (times / g / b);
  r->down = (r->down / b) * (by / g / a);
  return r->up <= LARGEST && r->down <= LARGEST;
}

/* How an operand's array follows the loop's time; false where it does not. */
static bool follows_time(const weir_plan *p, const exec_loop *loop, const weir_operand *o,
                         int32_t array, weir_pace *pace)
{
  *pace = weir_operand_pace(o, loop->time);
  return pace->dim >= 0 && pace->dim == p->arrays[array].time && pace->up > 0 &&
         pace->up <= LARGEST && pace->down <= LARGEST;
}

/* Gives the arrays of one loop the rates that follow from one of them; true when any got one. */
static bool spread_loop(const weir_plan *p, const exec_loop *loop, int32_t base, exec_rate *rates)
{
  const weir_access *a = &loop->loop->access;
  exec_rate time = {.base = -1};
  bool changed = false;

  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < a->n_in + a->n_out; k++) {
      const bool input = k < a->n_in;
      const int32_t array = input ? loop->loop->in[k] : loop->loop->out[k - a->n_in];
      weir_pace pace;

      if (!follows_time(p, loop, input ? &a->in[k] : &a->out[k - a->n_in], array, &pace)) {
        continue;
      }
      exec_rate r = pass == 0 ? rates[array] : time;

      if (pass == 0 && r.base == base && time.base < 0 && scale(&r, pace.down, pace.up)) {
        time = r;
      } else if (pass == 1 && r.base == base && rates[array].base < 0 &&
                 scale(&r, pace.up, pace.down)) {
        rates[array] = r;
        changed = true;
      }
    }
  }
  return changed;
}

static void spread(const weir_plan *p, int32_t base, exec_rate *rates)
{
  bool changed = true;

  rates[base] = (exec_rate){.base = base, .up = 1, .down = 1};
  while (changed) {
    changed = false;
    for (int32_t i = 0; i < p->n_groups; i++) {
      for (int32_t k = 0; k < p->groups[i].n_loops; k++) {
        changed = spread_loop(p, &p->groups[i].loops[k], base, rates) || changed;
      }
    }
  }
}

static bool is_stream_input(const weir_plan *p, int32_t a)
{
  return p->arrays[a].time >= 0 && weir_graph_get_array(p->g, a)->kind == WEIR_ARRAY_INPUT;
}

void exec_rates(const weir_plan *p, exec_rate *rates)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    rates[a] = (exec_rate){.base = -1};
  }
  for (int32_t a = 0; a < p->n_arrays; a++) {
    int32_t fastest = a;

    if (!is_stream_input(p, a) || rates[a].base >= 0) {
      continue;
    }
    spread(p, a, rates);
    for (int32_t b = 0; b < p->n_arrays; b++) {
      if (is_stream_input(p, b) && rates[b].base == a &&
          rates[b].up * rates[fastest].down > rates[fastest].up * rates[b].down) {
        fastest = b;
      }
    }
    for (int32_t b = 0; b < p->n_arrays && fastest != a; b++) {
      rates[b] = rates[b].base == a ? (exec_rate){.base = -1} : rates[b];
    }
    if (fastest != a) {
      spread(p, fastest, rates);
    }
  }
}

int64_t weir_plan_period(const weir_plan *p)
{
  int64_t period = 1;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    const int64_t down = p->rates[a].base < 0 ? 1 : p->rates[a].down;

    if (__builtin_mul_overflow(period, down / weir_common_divisor(period, down), &period)) {
      return INT64_MAX;
    }
  }
  return period;
}
