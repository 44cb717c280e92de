/* rate.c - how many slots one stream has per slot of another: follows from the accesses that read
 * and write them together. */
#include "base/weir_integer.h"
#include "graph/graph_priv.h"

#define LARGEST ((int64_t)1 << 31) /* terms of a ratio; beyond it streams count as unrelated */

/* up/down * times/by in lowest terms; false when a term gets too large. */
static bool scale(weir_rate *r, int64_t times, int64_t by)
{
  const int64_t g = weir_gcd(times, by);
  const int64_t a = weir_gcd(r->up, by / g), b = weir_gcd(times / g, r->down);

  r->up = (r->up / a) * (times / g / b);
  r->down = (r->down / b) * (by / g / a);
  return r->up <= LARGEST && r->down <= LARGEST;
}

/* The unbounded iteration dimension, -1: there is none. */
static int time_of(const weir_access *a)
{
  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].hi == WEIR_UNBOUNDED) {
      return k;
    }
  }
  return -1;
}

/* How an operand's array follows the node's time; false where it does not. */
static bool follows_time(const weir_graph *g, const weir_operand *o, int time, int32_t array,
                         weir_step_rate *rate)
{
  *rate = weir_operand_step_rate(o, time);
  return rate->dim >= 0 && rate->dim == g->arrays[array]->desc.time - 1 && rate->up > 0 &&
         rate->up <= LARGEST && rate->down <= LARGEST;
}

/* Rate of the node's iterations along time, from the first operand whose array has one; base -1:
 * none has. base: of these arrays alone, -1: of any. */
static weir_rate rate_of_node(const weir_graph *g, const weir_node *node, int time, int32_t base,
                              const weir_rate *rates)
{
  const weir_access *a = &node->access;

  for (int k = 0; k < a->n_out + a->n_in; k++) {
    const bool output = k < a->n_out;
    const int32_t array = output ? node->out[k] : node->in[k - a->n_out];
    weir_rate r = rates[array];
    weir_step_rate rate;

    if (r.base >= 0 && (base < 0 || r.base == base) &&
        follows_time(g, output ? &a->out[k] : &a->in[k - a->n_out], time, array, &rate) &&
        scale(&r, rate.down, rate.up)) {
      return r;
    }
  }
  return (weir_rate){.base = -1};
}

/* Gives the arrays of one node the rates that follow from one of them; true when any got one. */
static bool propagate_node(const weir_graph *g, const weir_node *node, int32_t base,
                           weir_rate *rates)
{
  const weir_access *a = &node->access;
  const int time = time_of(a);
  const weir_rate own =
      time < 0 ? (weir_rate){.base = -1} : rate_of_node(g, node, time, base, rates);
  bool changed = false;

  for (int k = 0; k < a->n_in + a->n_out && own.base >= 0; k++) {
    const bool input = k < a->n_in;
    const int32_t array = input ? node->in[k] : node->out[k - a->n_in];
    weir_rate r = own;
    weir_step_rate rate;

    if (rates[array].base < 0 &&
        follows_time(g, input ? &a->in[k] : &a->out[k - a->n_in], time, array, &rate) &&
        scale(&r, rate.up, rate.down)) {
      rates[array] = r;
      changed = true;
    }
  }
  return changed;
}

static void propagate(const weir_graph *g, int32_t base, weir_rate *rates)
{
  bool changed = true;

  rates[base] = (weir_rate){.base = base, .up = 1, .down = 1};
  while (changed) {
    changed = false;
    for (int32_t i = 0; i < g->n_nodes; i++) {
      if (g->nodes[i]->op != NULL && !g->nodes[i]->dead) {
        changed = propagate_node(g, g->nodes[i], base, rates) || changed;
      }
    }
  }
}

static bool is_stream_input(const weir_graph *g, int32_t a)
{
  return g->arrays[a]->desc.time > 0 && g->arrays[a]->kind == WEIR_ARRAY_INPUT;
}

void weir_graph_rates(const weir_graph *g, weir_rate *rates)
{
  for (int32_t a = 0; a < g->n_arrays; a++) {
    rates[a] = (weir_rate){.base = -1};
  }
  for (int32_t a = 0; a < g->n_arrays; a++) {
    int32_t fastest = a;

    if (!is_stream_input(g, a) || rates[a].base >= 0) {
      continue;
    }
    propagate(g, a, rates);
    for (int32_t b = 0; b < g->n_arrays; b++) {
      if (is_stream_input(g, b) && rates[b].base == a &&
          rates[b].up * rates[fastest].down > rates[fastest].up * rates[b].down) {
        fastest = b;
      }
    }
    for (int32_t b = 0; b < g->n_arrays && fastest != a; b++) {
      rates[b] = rates[b].base == a ? (weir_rate){.base = -1} : rates[b];
    }
    if (fastest != a) {
      propagate(g, fastest, rates);
    }
  }
}

weir_rate weir_node_rate(const weir_graph *g, const weir_node *node, const weir_rate *rates)
{
  const int time = time_of(&node->access);

  return time < 0 ? (weir_rate){.base = -1} : rate_of_node(g, node, time, -1, rates);
}

int64_t weir_rate_slots(const weir_rate *r, int64_t n, bool begun)
{
  const weir_wide all = (weir_wide)n * r->up;

  return r->base < 0 ? n
                     : (int64_t)(begun ? weir_wide_ceil_div(all, r->down)
                                       : weir_wide_floor_div(all, r->down));
}

int64_t weir_rate_fastest(const weir_rate *r, int64_t n)
{
  return r->base < 0 ? n : (int64_t)weir_wide_ceil_div((weir_wide)n * r->down, r->up);
}

int64_t weir_rates_period(const weir_rate *rates, int32_t n)
{
  int64_t period = 1;

  for (int32_t a = 0; a < n; a++) {
    const int64_t down = rates[a].base < 0 ? 1 : rates[a].down;

    if (__builtin_mul_overflow(period, down / weir_gcd(period, down), &period)) {
      return INT64_MAX;
    }
  }
  return period;
}
