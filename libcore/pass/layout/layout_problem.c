/* layout_problem.c - states of arrays and ways of nodes as variables, their costs as factors. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "pass/layout/layout_priv.h"

/* Combinations that one table may hold; wider graphs are improved step by step. */
#define MAX_COMBINATIONS ((int64_t)1 << 14)

/* Who may write the array, and where it is seen. */
static void describe_array(formatting *f, int32_t array)
{
  layout_array *x = &f->arrays[array];
  int32_t group = -1;

  x->kept = layout_is_seen(f->g, array);
  x->written = weir_graph_get_array(f->g, array)->kind == WEIR_ARRAY_TEMPORARY;
  x->local = !x->kept;
  for (int32_t i = 0; i < f->n_nodes; i++) {
    const weir_node *node = weir_graph_node(f->g, i);

    for (int k = 0; k < node->n_in + node->n_out && layout_is_live(node); k++) {
      if (layout_array_of(node, k) != array) {
        continue;
      }
      const bool moves = layout_may_move(&node->access, layout_operand(node, k));

      x->kept = x->kept || !moves;
      x->written = x->written && (moves || k < node->n_in);
      x->local = x->local && (group < 0 || group == f->group[i]);
      group = f->group[i];
    }
  }
}

static void add_state(layout_array *x, int primary, unsigned have)
{
  for (int i = 0; i < x->n_states; i++) {
    if (x->state[i].primary == primary && x->state[i].have == have) {
      return;
    }
  }
  if (x->n_states < LAYOUT_MAX_STATES) {
    x->state[x->n_states++] = (layout_state){primary, have};
  }
}

static int count_bits(unsigned bits)
{
  int n = 0;

  for (; bits != 0; bits &= bits - 1) {
    n++;
  }
  return n;
}

/* The graph as built first; then every order to be written, with at most two copies. */
static void find_states(layout_array *x)
{
  add_state(x, x->first, 1u << x->first | x->copies | (x->kept ? 1u : 0));
  for (int p = 0; p < x->n_orders; p++) {
    for (unsigned have = 0; have < 1u << x->n_orders; have++) {
      if ((have >> p & 1u) != 0 && count_bits(have) <= 3 && (p == 0 || x->written) &&
          (!x->kept || (have & 1u) != 0)) {
        add_state(x, p, have);
      }
    }
  }
}

/* taken: of the copies that readers take alone. */
static double copies_seconds(const formatting *f, int32_t array, const layout_state *s, bool taken)
{
  double sum = 0;

  for (int o = 0; o < f->arrays[array].n_orders; o++) {
    if ((s->have >> o & 1u) != 0 && o != s->primary && (!taken || layout_is_taken(f, array, o))) {
      sum += layout_copy_seconds(f, array, s->primary, o);
    }
  }
  return sum;
}

/* Operand k of a node in a way, its array in a state. */
static double operand_seconds(const formatting *f, int32_t node, const layout_way *way, int k,
                              const layout_state *s)
{
  const bool input = k < weir_graph_node(f->g, node)->n_in;
  const int order = input ? layout_best_order(f, node, way, k, s->have) : s->primary;

  return order < 0 ? INFINITY : layout_seconds(f, node, way, k, order);
}

int layout_best_way(const formatting *f, int32_t node, const int32_t *chosen, double *seconds)
{
  const weir_node *n = weir_graph_node(f->g, node);
  double min = INFINITY;
  int best = -1;

  for (int w = 0; w < f->nodes[node].n_ways; w++) {
    const layout_way *way = &f->nodes[node].way[w];
    double sum = way->seconds;

    for (int k = 0; k < n->n_in + n->n_out; k++) {
      const int32_t array = layout_array_of(n, k);

      sum += operand_seconds(f, node, way, k, &f->arrays[array].state[chosen[array]]);
    }
    if (sum < min) {
      min = sum;
      best = w;
    }
  }
  if (seconds != NULL) {
    *seconds = best >= 0 ? min : 0;
  }
  return best;
}

void layout_take_orders(formatting *f, const int32_t *chosen)
{
  for (int32_t i = 0; i < f->n_nodes; i++) {
    const weir_node *n = weir_graph_node(f->g, i);
    layout_node *x = &f->nodes[i];
    const int way = layout_best_way(f, i, chosen, NULL);

    for (int k = 0; k < n->n_in && way >= 0; k++) {
      const layout_array *array = &f->arrays[n->in[k]];

      x->take[k] =
          (int8_t)layout_best_order(f, i, &x->way[way], k, array->state[chosen[n->in[k]]].have);
    }
  }
}

bool layout_is_taken(const formatting *f, int32_t array, int order)
{
  if (order == 0 && f->arrays[array].kept) {
    return true;
  }
  for (int32_t i = 0; i < f->n_nodes; i++) {
    const weir_node *n = weir_graph_node(f->g, i);

    for (int k = 0; k < n->n_in && layout_is_live(n); k++) {
      if (n->in[k] == array && f->nodes[i].take[k] == order) {
        return true;
      }
    }
  }
  return false;
}

double layout_total_seconds(formatting *f, const int32_t *chosen)
{
  double sum = 0;

  layout_take_orders(f, chosen);
  for (int32_t a = 0; a < f->n_arrays; a++) {
    sum +=
        f->arrays[a].n_orders > 1 ? copies_seconds(f, a, &f->arrays[a].state[chosen[a]], true) : 0;
  }
  for (int32_t i = 0; i < f->n_nodes; i++) {
    double here;

    (void)layout_best_way(f, i, chosen, &here);
    sum += here;
  }
  return sum;
}

/* ---- The problem: a variable for every array and node that has a choice. ---- */

static weir_status add_array(const formatting *f, layout_problem *p, int32_t array)
{
  const layout_array *x = &f->arrays[array];
  double *cost = NULL;

  WEIR_TRY(layout_factor_add(p, &x->variable, 1, &cost));
  for (int s = 0; s < x->n_states; s++) {
    cost[s] = copies_seconds(f, array, &x->state[s], false);
  }
  return WEIR_OK;
}

/* The operands of a node that are one array, by way and state. first: the first of them. */
static weir_status add_pair(const formatting *f, layout_problem *p, int32_t node, int first)
{
  const weir_node *n = weir_graph_node(f->g, node);
  const layout_node *x = &f->nodes[node];
  const layout_array *array = &f->arrays[layout_array_of(n, first)];
  const int32_t pair[] = {x->variable, array->variable};
  double *cost = NULL;

  WEIR_TRY(layout_factor_add(p, pair, array->n_states > 1 ? 2 : 1, &cost));
  for (int w = 0; w < x->n_ways; w++) {
    for (int s = 0; s < array->n_states; s++) {
      for (int k = first; k < n->n_in + n->n_out; k++) {
        if (layout_array_of(n, k) == layout_array_of(n, first)) {
          cost[w * array->n_states + s] +=
              operand_seconds(f, node, &x->way[w], k, &array->state[s]);
        }
      }
    }
  }
  return WEIR_OK;
}

static weir_status add_node(const formatting *f, layout_problem *p, int32_t node)
{
  const weir_node *n = weir_graph_node(f->g, node);
  const layout_node *x = &f->nodes[node];
  double *cost = NULL;

  WEIR_TRY(layout_factor_add(p, &x->variable, 1, &cost));
  for (int w = 0; w < x->n_ways; w++) {
    cost[w] = x->way[w].seconds;
  }
  for (int k = 0; k < n->n_in + n->n_out; k++) {
    bool known = false;

    for (int i = 0; i < k; i++) {
      known = known || layout_array_of(n, i) == layout_array_of(n, k);
    }
    if (!known) {
      WEIR_TRY(add_pair(f, p, node, k));
    }
  }
  return WEIR_OK;
}

/* Numbers the variables, and says how many states each has. size: space for all arrays and nodes.
 */
static int32_t number_variables(formatting *f, int32_t *size)
{
  int32_t n = 0;

  for (int32_t a = 0; a < f->n_arrays; a++) {
    f->arrays[a].variable = n;
    if (f->arrays[a].n_states > 1) {
      size[n++] = f->arrays[a].n_states;
    }
  }
  for (int32_t i = 0; i < f->n_nodes; i++) {
    f->nodes[i].variable = n;
    if (f->nodes[i].n_ways > 0) {
      size[n++] = f->nodes[i].n_ways;
    }
  }
  return n;
}

weir_status layout_choose(formatting *f, double min_gain, int32_t *chosen)
{
  weir_status status = WEIR_OK;
  layout_problem p = {.n = 0};
  void *size = NULL, *choice = NULL;
  bool exact;

  WEIR_TRY_GOTO(weir_alloc(f->n_arrays + f->n_nodes, sizeof(int32_t), &size), out);
  p.n = number_variables(f, size);
  p.size = size;
  WEIR_TRY_GOTO(weir_alloc(p.n, sizeof(int32_t), &choice), out);
  for (int32_t a = 0; a < f->n_arrays; a++) {
    if (f->arrays[a].n_states > 1) {
      WEIR_TRY_GOTO(add_array(f, &p, a), out);
    }
  }
  for (int32_t i = 0; i < f->n_nodes; i++) {
    if (f->nodes[i].n_ways > 0) {
      WEIR_TRY_GOTO(add_node(f, &p, i), out);
    }
  }
  const double before = layout_total_seconds(f, chosen);

  WEIR_TRY_GOTO(layout_solve(&p, MAX_COMBINATIONS, choice, &exact), out);
  for (int32_t a = 0; a < f->n_arrays; a++) {
    chosen[a] = f->arrays[a].n_states > 1 ? ((const int32_t *)choice)[f->arrays[a].variable] : 0;
  }
  if (layout_total_seconds(f, chosen) > (1 - min_gain) * before) {
    memset(chosen, 0, sizeof(*chosen) * (size_t)f->n_arrays);
  }
out:
  layout_problem_fini(&p);
  weir_free(&size);
  weir_free(&choice);
  return status;
}

static bool has_choice(const formatting *f, const weir_node *node)
{
  bool yes = false;

  for (int k = 0; k < node->n_in + node->n_out && layout_is_live(node); k++) {
    yes = yes || f->arrays[layout_array_of(node, k)].n_orders > 1;
  }
  return yes;
}

void layout_find_choices(formatting *f)
{
  for (int32_t a = 0; a < f->n_arrays; a++) {
    if (f->arrays[a].n_orders > 1) {
      describe_array(f, a);
    }
    find_states(&f->arrays[a]);
  }
  for (int32_t i = 0; i < f->n_nodes; i++) {
    if (has_choice(f, weir_graph_node(f->g, i))) {
      layout_find_ways(f, i);
    }
  }
}
