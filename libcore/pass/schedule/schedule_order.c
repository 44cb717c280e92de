/* schedule_order.c - topological order of the groups that keeps little live at a time. */
#include <string.h>

#include "base/weir_alloc.h"
#include "pass/schedule/schedule_priv.h"
#include "pass/weir_depend.h"

#define MAX_ROUNDS 64 /* of swaps over the whole order */

typedef struct ordering {
  const schedule_problem *p;
  int32_t n;
  int32_t *before_first, *before; /* groups that each group waits for, each once */
  bool *done;                     /* [groups] */
  bool copying;                   /* some groups do again what others did */
  int32_t *all, *left;            /* [arrays] groups that know the array; those still to run */
  int32_t *copies, n_copies;      /* [groups] that do again what the group in question reads */
  int64_t *seen, search;          /* [groups] number of the search that found it; of this one */
  int32_t *first, *last;          /* [arrays] positions between which the array lives */
  int64_t *bytes_at;              /* [positions] */
} ordering;

static int64_t first_use(const ordering *s, int32_t group)
{
  return s->p->uses.first[group];
}

static int64_t end_use(const ordering *s, int32_t group)
{
  return s->p->uses.first[group + 1];
}

/* As weir_node.late, whose groups do not mix. */
static int late_of(const ordering *s, int32_t group)
{
  return weir_graph_node(s->p->g, weir_graph_group(s->p->g, group)->nodes[0])->late;
}

/* Appends the copies that the group waits for to s->copies, each after those that it waits for.
 * False: the group waits for another that is not one. */
static bool find_copies(ordering *s, int32_t group)
{
  for (int32_t k = s->before_first[group]; k < s->before_first[group + 1]; k++) {
    if (!s->done[s->before[k]] && late_of(s, s->before[k]) == 0) {
      return false;
    }
  }
  for (int32_t k = s->before_first[group]; k < s->before_first[group + 1]; k++) {
    const int32_t copy = s->before[k];

    if (!s->done[copy] && s->seen[copy] != s->search) {
      s->seen[copy] = s->search;
      if (!find_copies(s, copy)) {
        return false;
      }
      s->copies[s->n_copies++] = copy;
    }
  }
  return true;
}

static bool is_ready(ordering *s, int32_t group)
{
  s->n_copies = 0;
  s->search++;
  return find_copies(s, group);
}

/* Bytes that become live less those that die when the group runs. */
static int64_t change(const ordering *s, int32_t group)
{
  int64_t bytes = 0;

  for (int64_t u = first_use(s, group); u < end_use(s, group); u++) {
    const int32_t a = s->p->uses.array[u];

    if (!s->p->keep[a]) {
      bytes += s->left[a] < s->all[a] ? 0 : s->p->bytes[a];
      bytes -= s->left[a] == 1 && !s->p->ends[a] ? s->p->bytes[a] : 0;
    }
  }
  return bytes;
}

static void take(const ordering *s, int32_t group)
{
  s->done[group] = true;
  for (int64_t u = first_use(s, group); u < end_use(s, group); u++) {
    s->left[s->p->uses.array[u]]--;
  }
}

static void give_back(const ordering *s, int32_t group)
{
  s->done[group] = false;
  for (int64_t u = first_use(s, group); u < end_use(s, group); u++) {
    s->left[s->p->uses.array[u]]++;
  }
}

/* The same when the copies run first. */
static int64_t change_with_copies(const ordering *s, int32_t group)
{
  int64_t bytes = 0;

  for (int32_t k = 0; k < s->n_copies; k++) {
    bytes += change(s, s->copies[k]);
    take(s, s->copies[k]);
  }
  bytes += change(s, group);
  for (int32_t k = s->n_copies - 1; k >= 0; k--) {
    give_back(s, s->copies[k]);
  }
  return bytes;
}

/* Micro-batch of a group, 0: of none. */
static int32_t microbatch_of(const ordering *s, int32_t group)
{
  return weir_graph_node(s->p->g, weir_graph_group(s->p->g, group)->nodes[0])->microbatch;
}

static bool is_built(const ordering *s, int32_t group)
{
  return weir_graph_node(s->p->g, weir_graph_group(s->p->g, group)->nodes[0])->derived == 0;
}

/* As weir_node.priority: of its first member, unless another one is to come first. */
static int priority_of(const ordering *s, int32_t group)
{
  const weir_group *from = weir_graph_group(s->p->g, group);
  int priority = weir_graph_node(s->p->g, from->nodes[0])->priority;

  for (int64_t k = 1; k < from->n_nodes; k++) {
    const int one = weir_graph_node(s->p->g, from->nodes[k])->priority;

    priority = one < priority ? one : priority;
  }
  return priority;
}

/* What decides between groups that are ready, the first difference first. */
typedef struct rank {
  int64_t key[3]; /* priority, micro-batch, change of what is live */
} rank;

static rank rank_of(const ordering *s, int32_t group)
{
  return (rank){{priority_of(s, group), microbatch_of(s, group), change_with_copies(s, group)}};
}

static bool is_before(const rank *a, const rank *b)
{
  int k = 0;

  while (k < 2 && a->key[k] == b->key[k]) {
    k++;
  }
  return a->key[k] < b->key[k];
}

/* The first micro-batch that has a group as built ready without copies: until there is none, no
 * copies are made in it. INT64_MAX: none has. */
static int64_t first_built(ordering *s)
{
  int64_t first = INT64_MAX;

  for (int32_t i = 0; i < s->n; i++) {
    if (!s->done[i] && late_of(s, i) == 0 && is_built(s, i) && microbatch_of(s, i) < first &&
        is_ready(s, i) && s->n_copies == 0) {
      first = microbatch_of(s, i);
    }
  }
  return first;
}

/* The group to run next, -1: none is ready. Copies run right before what reads them; late: those
 * that nothing reads. */
static int32_t choose(ordering *s, bool late)
{
  const int64_t built = s->copying ? first_built(s) : INT64_MAX;
  int32_t best = -1;
  rank first = {{0}};

  for (int32_t i = 0; i < s->n; i++) {
    if (!s->done[i] && (late_of(s, i) != 0) == late && is_ready(s, i) &&
        (s->n_copies == 0 || microbatch_of(s, i) < built)) {
      const rank here = rank_of(s, i);

      if (best < 0 || is_before(&here, &first)) {
        best = i;
        first = here;
      }
    }
  }
  return best;
}

static weir_status order_groups(ordering *s, int32_t *order)
{
  for (int64_t u = 0; u < s->p->uses.first[s->n]; u++) {
    s->all[s->p->uses.array[u]]++;
    s->left[s->p->uses.array[u]]++;
  }
  for (int32_t i = 0; i < s->n; i++) {
    s->copying = s->copying || late_of(s, i) != 0;
  }
  for (int32_t t = 0; t < s->n;) {
    int32_t best = choose(s, false);

    best = best < 0 ? choose(s, true) : best;
    if (best < 0) {
      return weir_fail(WEIR_ERR_SHAPE, "schedule: the groups close a cycle");
    }
    (void)is_ready(s, best);
    for (int32_t k = 0; k < s->n_copies; k++) {
      take(s, s->copies[k]);
      order[t++] = s->copies[k];
    }
    take(s, best);
    order[t++] = best;
  }
  return WEIR_OK;
}

/* Positions between which every array lives, and the bytes live at each. */
static void find_lives(const ordering *s, const int32_t *order)
{
  const int32_t arrays = weir_graph_arrays(s->p->g);

  for (int32_t a = 0; a < arrays; a++) {
    s->first[a] = s->n;
    s->last[a] = -1;
  }
  for (int32_t t = 0; t < s->n; t++) {
    s->bytes_at[t] = 0;
    for (int64_t u = first_use(s, order[t]); u < end_use(s, order[t]); u++) {
      const int32_t a = s->p->uses.array[u];

      s->first[a] = t < s->first[a] ? t : s->first[a];
      s->last[a] = t;
    }
  }
  for (int32_t a = 0; a < arrays; a++) {
    if (s->last[a] >= 0 && s->p->keep[a]) {
      s->first[a] = 0;
    }
    if (s->last[a] >= 0 && (s->p->keep[a] || s->p->ends[a])) {
      s->last[a] = s->n; /* beyond every position: no swap moves it */
    }
    for (int32_t t = s->first[a]; t <= s->last[a] && t < s->n; t++) {
      s->bytes_at[t] += s->p->bytes[a];
    }
  }
}

static bool knows(const ordering *s, int32_t group, int32_t array)
{
  for (int64_t u = first_use(s, group); u < end_use(s, group); u++) {
    if (s->p->uses.array[u] == array) {
      return true;
    }
  }
  return false;
}

static bool waits_for(const ordering *s, int32_t group, int32_t other)
{
  for (int32_t k = s->before_first[group]; k < s->before_first[group + 1]; k++) {
    if (s->before[k] == other) {
      return true;
    }
  }
  return false;
}

/* What lives at t and t + 1 once the groups there are exchanged. */
static void bytes_of_swap(const ordering *s, const int32_t *order, int32_t t, int64_t out[2])
{
  const int32_t one = order[t], two = order[t + 1];

  out[0] = s->bytes_at[t];
  out[1] = s->bytes_at[t + 1];
  for (int64_t u = first_use(s, one); u < end_use(s, one); u++) {
    const int32_t a = s->p->uses.array[u];

    if (!knows(s, two, a)) {
      out[0] -= s->first[a] == t && !s->p->keep[a] ? s->p->bytes[a] : 0;
      out[1] += s->last[a] == t ? s->p->bytes[a] : 0;
    }
  }
  for (int64_t u = first_use(s, two); u < end_use(s, two); u++) {
    const int32_t a = s->p->uses.array[u];

    if (!knows(s, one, a)) {
      out[0] += s->first[a] == t + 1 ? s->p->bytes[a] : 0;
      out[1] -= s->last[a] == t + 1 ? s->p->bytes[a] : 0;
    }
  }
}

static int64_t highest(const ordering *s, int32_t without)
{
  int64_t max = 0;

  for (int32_t t = 0; t < s->n; t++) {
    max = t != without && t != without + 1 && s->bytes_at[t] > max ? s->bytes_at[t] : max;
  }
  return max;
}

/* Neighbours are exchanged where the peak falls, or stays and less lives in all. */
static void swap_neighbours(const ordering *s, int32_t *order)
{
  bool better = true;

  find_lives(s, order);
  for (int round = 0; round < MAX_ROUNDS && better; round++) {
    better = false;
    for (int32_t t = 0; t + 1 < s->n; t++) {
      int64_t after[2];

      if (waits_for(s, order[t + 1], order[t]) || priority_of(s, order[t]) != 0 ||
          priority_of(s, order[t + 1]) != 0) {
        continue;
      }
      bytes_of_swap(s, order, t, after);
      const int64_t before[2] = {s->bytes_at[t], s->bytes_at[t + 1]}, rest = highest(s, t);
      const int64_t now = before[0] > before[1] ? before[0] : before[1];
      const int64_t then = after[0] > after[1] ? after[0] : after[1];
      const int64_t peak = rest > now ? rest : now, other = rest > then ? rest : then;

      if (other < peak || (other == peak && after[0] + after[1] < before[0] + before[1])) {
        const int32_t group = order[t];

        order[t] = order[t + 1];
        order[t + 1] = group;
        find_lives(s, order);
        better = true;
      }
    }
  }
}

/* Groups before groups, out of nodes before nodes. group_of: [nodes], scratch. */
static weir_status find_before(ordering *s, int32_t *group_of)
{
  weir_status status = WEIR_OK;
  const weir_graph *g = s->p->g;
  weir_depend depend = {.n = 0};
  int64_t n = 0, capacity = 0;

  WEIR_TRY_GOTO(weir_depend_make(g, &depend), out);
  for (int32_t i = 0; i < s->n; i++) {
    for (int64_t k = 0; k < weir_graph_group(g, i)->n_nodes; k++) {
      group_of[weir_graph_group(g, i)->nodes[k]] = i;
    }
  }
  for (int32_t i = 0; i < s->n; i++) {
    const weir_group *group = weir_graph_group(g, i);

    s->before_first[i] = (int32_t)n;
    for (int64_t k = 0; k < group->n_nodes; k++) {
      for (int32_t e = depend.first[group->nodes[k]]; e < depend.first[group->nodes[k] + 1]; e++) {
        const int32_t from = group_of[depend.before[e]];
        bool known = from == i;

        for (int64_t j = s->before_first[i]; j < n && !known; j++) {
          known = s->before[j] == from;
        }
        if (!known) {
          WEIR_TRY_GOTO(weir_reserve(&s->before, &capacity, n + 1, sizeof(int32_t)), out);
          s->before[n++] = from;
        }
      }
    }
  }
  s->before_first[s->n] = (int32_t)n;
out:
  weir_depend_fini(&depend);
  return status;
}

weir_status schedule_order(const schedule_problem *p, int32_t *order)
{
  enum { BUFFERS = 10 };
  weir_status status = WEIR_OK;
  ordering s = {.p = p, .n = weir_graph_groups(p->g)};
  const int64_t arrays = weir_graph_arrays(p->g);
  void *memory[BUFFERS] = {NULL};
  const int64_t count[BUFFERS] = {
      weir_graph_nodes(p->g), s.n + 1, s.n, arrays, arrays, s.n, s.n, arrays, arrays, s.n};
  const int64_t size[BUFFERS] = {sizeof(int32_t), sizeof(int32_t), sizeof(bool),    sizeof(int32_t),
                                 sizeof(int32_t), sizeof(int32_t), sizeof(int64_t), sizeof(int32_t),
                                 sizeof(int32_t), sizeof(int64_t)};

  for (int i = 0; i < BUFFERS; i++) {
    WEIR_TRY_GOTO(weir_alloc(count[i], (size_t)size[i], &memory[i]), out);
  }
  s.before_first = memory[1];
  s.done = memory[2];
  s.all = memory[3];
  s.left = memory[4];
  s.copies = memory[5];
  s.seen = memory[6];
  s.first = memory[7];
  s.last = memory[8];
  s.bytes_at = memory[9];
  WEIR_TRY_GOTO(find_before(&s, memory[0]), out);
  WEIR_TRY_GOTO(order_groups(&s, order), out);
  swap_neighbours(&s, order);
out:
  weir_free(&s.before);
  for (int i = 0; i < BUFFERS; i++) {
    weir_free(&memory[i]);
  }
  return status;
}
