/* schedule_make.c - one arena: arrays whose lives do not overlap share memory. */
#include <string.h>
#include "base/weir_alloc.h"
#include "pass/schedule/schedule_priv.h"

/* What weir_schedule_make works with. slot: [arrays] number of the array whose memory it shares. */
typedef struct making {
  schedule_problem p;
  weir_schedule s;
  weir_life *lives; /* [arrays], n of them in use: the last of those that share memory, and when */
  int32_t *slot, n;
} making;

bool schedule_touches(const weir_graph *g, const weir_group *group, int32_t array)
{
  for (int64_t i = 0; i < group->n_nodes; i++) {
    const weir_node *node = weir_graph_node(g, group->nodes[i]);

    for (int k = 0; k < node->n_in; k++) {
      if (node->in[k] == array) {
        return true;
      }
    }
    for (int k = 0; k < node->n_out; k++) {
      if (node->out[k] == array) {
        return true;
      }
    }
  }
  return false;
}

/* Appends the arrays of one group that have memory, each once. */
static weir_status add_uses(const weir_graph *g, const bool *counts, const weir_group *group,
                            schedule_uses *u, int64_t *n, int64_t *capacity)
{
  const int64_t first = *n;

  for (int64_t i = 0; i < group->n_nodes; i++) {
    const weir_node *node = weir_graph_node(g, group->nodes[i]);

    for (int k = 0; k < node->n_in + node->n_out; k++) {
      const int32_t array = k < node->n_in ? node->in[k] : node->out[k - node->n_in];
      bool known = !counts[array];

      for (int64_t j = first; j < *n && !known; j++) {
        known = u->array[j] == array;
      }
      if (!known) {
        WEIR_TRY(weir_reserve(&u->array, capacity, *n + 1, sizeof(int32_t)));
        u->array[(*n)++] = array;
      }
    }
  }
  return WEIR_OK;
}

/* Arrays with memory: temporaries but those that one group alone knows. */
static void find_counting(const weir_graph *g, bool *counts)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    counts[a] = weir_graph_get_array(g, a)->kind == WEIR_ARRAY_TEMPORARY;
  }
  for (int32_t i = 0; i < weir_graph_groups(g); i++) {
    const weir_group *group = weir_graph_group(g, i);

    for (int64_t k = 0; k < group->n_nodes; k++) {
      const weir_node *node = weir_graph_node(g, group->nodes[k]);

      for (int o = 0; o < node->n_out; o++) {
        counts[node->out[o]] = counts[node->out[o]] && !weir_group_is_local(g, group, node->out[o]);
      }
    }
  }
}

weir_status schedule_uses_make(const weir_graph *g, schedule_uses *out)
{
  weir_status status = WEIR_OK;
  int64_t n = 0, capacity = 0;
  void *counts = NULL, *memory = NULL;

  WEIR_TRY_GOTO(weir_alloc(weir_graph_arrays(g), sizeof(bool), &counts), out);
  WEIR_TRY_GOTO(weir_alloc(weir_graph_groups(g) + 1, sizeof(int32_t), &memory), out);
  out->first = memory;
  find_counting(g, counts);
  for (int32_t i = 0; i < weir_graph_groups(g); i++) {
    WEIR_TRY_GOTO(add_uses(g, counts, weir_graph_group(g, i), out, &n, &capacity), out);
    out->first[i + 1] = (int32_t)n;
  }
out:
  weir_free(&counts);
  return status;
}

void schedule_uses_fini(schedule_uses *u)
{
  weir_free(&u->first);
  weir_free(&u->array);
}

static bool overlaps(const weir_life *a, const weir_life *b)
{
  return a->first <= b->last && b->first <= a->last;
}

int64_t weir_life_offset(const weir_life *assigned, int32_t n, const weir_life *l, int64_t min)
{
  int64_t at = min;
  bool moved = true;

  while (moved) {
    moved = false;
    for (int32_t i = 0; i < n; i++) {
      if (overlaps(&assigned[i], l) && at < assigned[i].offset + assigned[i].bytes &&
          assigned[i].offset < at + l->bytes) {
        at = assigned[i].offset + assigned[i].bytes;
        moved = true;
      }
    }
  }
  return at;
}

static void sort_by_size(weir_life *lives, int32_t n)
{
  for (int32_t i = 1; i < n; i++) {
    const weir_life l = lives[i];
    int32_t j = i;

    for (; j > 0 && lives[j - 1].bytes < l.bytes; j--) {
      lives[j] = lives[j - 1];
    }
    lives[j] = l;
  }
}

static weir_status assign_offsets(making *m)
{
  weir_schedule *s = &m->s;

  sort_by_size(m->lives, m->n);
  for (int32_t i = 0; i < m->n; i++) {
    weir_life *l = &m->lives[i];
    int64_t end;

    l->offset = weir_life_offset(m->lives, i, l, 0);
    if (!weir_add_ok(l->offset, l->bytes, &end)) {
      return weir_fail(WEIR_ERR_SHAPE, "schedule: the size of the arena overflows 64 bits");
    }
    s->arena_bytes = end > s->arena_bytes ? end : s->arena_bytes;
    for (int32_t a = 0; a < s->n_arrays; a++) {
      s->offset[a] = m->slot[a] == l->array ? l->offset : s->offset[a];
    }
  }
  for (int32_t t = 0; t < s->n_groups; t++) {
    int64_t live = 0;

    for (int32_t i = 0; i < m->n; i++) {
      live += m->lives[i].first <= t && t <= m->lives[i].last ? m->lives[i].bytes : 0;
    }
    s->lower_bound = live > s->lower_bound ? live : s->lower_bound;
  }
  return WEIR_OK;
}

/* Lives of all arrays with memory, each in a separate slot. */
static void find_lives(making *m)
{
  const schedule_problem *p = &m->p;
  const weir_schedule *s = &m->s;

  for (int32_t a = 0; a < s->n_arrays; a++) {
    s->offset[a] = m->slot[a] = -1;
    m->lives[a] = (weir_life){.array = a, .first = s->n_groups, .last = -1, .bytes = p->bytes[a]};
  }
  for (int32_t t = 0; t < s->n_groups; t++) {
    for (int32_t u = p->uses.first[s->order[t]]; u < p->uses.first[s->order[t] + 1]; u++) {
      weir_life *l = &m->lives[p->uses.array[u]];

      l->first = t < l->first ? t : l->first;
      l->last = t;
    }
  }
  for (int32_t a = 0; a < s->n_arrays; a++) {
    weir_life l = m->lives[a];

    if (l.last >= 0) {
      l.first = p->keep[a] ? 0 : l.first;
      l.last = p->keep[a] || p->ends[a] ? s->n_groups - 1 : l.last;
      m->slot[a] = a;
      m->lives[m->n++] = l;
    }
  }
}

/* The array that lies last in the slot of life l: the one made latest. */
static int32_t occupant_of(const making *m, const weir_life *l, const int32_t *latest)
{
  return m->slot[l->array] == l->array ? latest[l->array] : -1;
}

/* What the group at t writes takes the memory of an operand that it is the last to read, where it
 * may. latest: [arrays]. */
static weir_status share_in(making *m, int32_t t, int32_t *latest, schedule_loops *of)
{
  for (int32_t i = 0; i < m->n; i++) {
    weir_life *made = &m->lives[i];

    for (int32_t j = 0; j < m->n && made->first == t && !m->p.keep[made->array]; j++) {
      weir_life *read = &m->lives[j];
      const int32_t from = occupant_of(m, read, latest);
      bool yes = false;

      if (from >= 0 && read->last == t && read->first < t && read->bytes == made->bytes &&
          !m->p.keep[from] && !m->p.ends[from]) {
        WEIR_TRY(schedule_may_share(m->p.g, of, from, made->array, &yes));
      }
      if (yes) {
        m->slot[made->array] = read->array;
        latest[read->array] = made->array;
        read->last = made->last;
        m->s.shared_bytes += made->bytes;
        *made = m->lives[--m->n];
        i--;
        break;
      }
    }
  }
  return WEIR_OK;
}

/* Of all groups. latest: [arrays], scratch. */
static weir_status share(making *m, int32_t *latest)
{
  for (int32_t a = 0; a < m->s.n_arrays; a++) {
    latest[a] = a;
    if (weir_graph_get_array(m->p.g, a)->desc.time > 0) {
      return WEIR_OK; /* groups of streams run in pieces */
    }
  }
  for (int32_t t = 1; t < m->s.n_groups; t++) {
    schedule_loops of = {.group = weir_graph_group(m->p.g, m->s.order[t])};
    const weir_status status = share_in(m, t, latest, &of);

    weir_loops_free(&of.loops, of.n);
    WEIR_TRY(status);
  }
  return WEIR_OK;
}

/* Whole cache lines, so that arrays lie on such. */
static weir_status find_sizes(const weir_graph *g, const int64_t *bytes, int64_t *sizes)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array_desc *d = &weir_graph_get_array(g, a)->desc;

    if (!weir_add_ok(bytes != NULL ? bytes[a] : weir_desc_bytes(d), (int64_t)63, &sizes[a])) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "schedule: the size of array %d of the graph overflows 64 bits", (int)a);
    }
    sizes[a] &= ~(int64_t)63;
  }
  return WEIR_OK;
}

static weir_status make(making *m, int32_t *latest)
{
  WEIR_TRY(schedule_uses_make(m->p.g, &m->p.uses));
  WEIR_TRY(schedule_order(&m->p, m->s.order));
  find_lives(m);
  WEIR_TRY(share(m, latest));
  WEIR_TRY(assign_offsets(m));
  return WEIR_OK;
}

weir_status weir_schedule_make(const weir_graph *g, const int64_t *bytes, const bool *keep,
                               weir_schedule *out)
{
  weir_status status = WEIR_OK;
  making m = {.p = {.g = g},
              .s = {.n_groups = weir_graph_groups(g), .n_arrays = weir_graph_arrays(g)}};
  void *memory = NULL, *ends = NULL, *slot = NULL, *lives = NULL, *latest = NULL, *sizes = NULL;
  void *none = NULL;

  WEIR_TRY_GOTO(weir_alloc(m.s.n_groups, sizeof(int32_t), &memory), out);
  m.s.order = memory;
  WEIR_TRY_GOTO(weir_alloc(m.s.n_arrays, sizeof(int64_t), &memory), out);
  m.s.offset = memory;
  WEIR_TRY_GOTO(weir_alloc(m.s.n_arrays, sizeof(weir_life), &lives), out);
  WEIR_TRY_GOTO(weir_alloc(m.s.n_arrays, sizeof(int32_t), &slot), out);
  WEIR_TRY_GOTO(weir_alloc(m.s.n_arrays, sizeof(int32_t), &latest), out);
  WEIR_TRY_GOTO(weir_alloc(m.s.n_arrays, sizeof(bool), &ends), out);
  WEIR_TRY_GOTO(weir_alloc(m.s.n_arrays, sizeof(bool), &none), out);
  WEIR_TRY_GOTO(weir_alloc(m.s.n_arrays, sizeof(int64_t), &sizes), out);
  WEIR_TRY_GOTO(find_sizes(g, bytes, sizes), out);
  m.p.bytes = sizes;
  m.p.keep = keep != NULL ? keep : none;
  m.lives = lives;
  m.slot = slot;
  m.p.ends = ends;
  for (int32_t a = 0; a < m.s.n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    if (array->update >= 0) {
      ((bool *)ends)[array->update] = true;
    }
    ((bool *)ends)[a] = ((bool *)ends)[a] || array->output != NULL;
  }
  WEIR_TRY_GOTO(make(&m, latest), out);
  *out = m.s;
  m.s = (weir_schedule){.n_groups = 0};
out:
  schedule_uses_fini(&m.p.uses);
  weir_schedule_fini(&m.s);
  weir_free(&lives);
  weir_free(&slot);
  weir_free(&latest);
  weir_free(&ends);
  weir_free(&none);
  weir_free(&sizes);
  return status;
}

void weir_schedule_fini(weir_schedule *s)
{
  weir_free(&s->order);
  weir_free(&s->offset);
  memset(s, 0, sizeof(*s));
}

void weir_schedule_print(const weir_schedule *s, const weir_graph *g, FILE *out)
{
  (void)g;
  fprintf(out, "arena: %lld bytes, lower bound for this order: %lld bytes; in place: %lld bytes\n",
          (long long)s->arena_bytes, (long long)s->lower_bound, (long long)s->shared_bytes);
  for (int32_t a = 0; a < s->n_arrays; a++) {
    if (s->offset[a] >= 0) {
      fprintf(out, "  array %d at %lld\n", a, (long long)s->offset[a]);
    }
  }
}
