/* schedule_order.c - topological order of the groups that keeps little live at a time. */
#include "base/weir_alloc.h"
#include "pass/schedule/schedule_priv.h"
#include "pass/weir_depend.h"

typedef struct ordering {
  const weir_graph *g;
  const int64_t *bytes;
  weir_depend depend;
  int32_t *group_of; /* [nodes] */
  bool *done, *live; /* [groups], [arrays] */
  int32_t *left;     /* [arrays] groups still to run that know the array; 0: outside the arena */
  int32_t n;
} ordering;

static bool is_ready(const ordering *s, int32_t group)
{
  const weir_group *x = weir_graph_group(s->g, group);

  for (int64_t i = 0; i < x->n_nodes; i++) {
    const int32_t node = x->nodes[i];

    for (int32_t k = s->depend.first[node]; k < s->depend.first[node + 1]; k++) {
      const int32_t from = s->group_of[s->depend.before[k]];

      if (from != group && !s->done[from]) {
        return false;
      }
    }
  }
  return true;
}

/* Bytes that become live less those that die when the group runs. */
static int64_t change(const ordering *s, int32_t group)
{
  int64_t bytes = 0;

  for (int32_t a = 0; a < weir_graph_arrays(s->g); a++) {
    if (s->left[a] > 0 && schedule_touches(s->g, weir_graph_group(s->g, group), a)) {
      bytes += s->live[a] ? 0 : s->bytes[a];
      bytes -= s->left[a] == 1 ? s->bytes[a] : 0;
    }
  }
  return bytes;
}

static void take(ordering *s, int32_t group)
{
  s->done[group] = true;
  for (int32_t a = 0; a < weir_graph_arrays(s->g); a++) {
    if (s->left[a] > 0 && schedule_touches(s->g, weir_graph_group(s->g, group), a)) {
      s->live[a] = true;
      s->left[a]--;
    }
  }
}

static void prepare(ordering *s, const bool *keep)
{
  for (int32_t i = 0; i < s->n; i++) {
    const weir_group *group = weir_graph_group(s->g, i);

    for (int64_t k = 0; k < group->n_nodes; k++) {
      s->group_of[group->nodes[k]] = i;
    }
  }
  for (int32_t a = 0; a < weir_graph_arrays(s->g); a++) {
    const bool counts = !keep[a] && schedule_has_memory(s->g, a);

    for (int32_t i = 0; i < s->n && counts; i++) {
      s->left[a] += schedule_touches(s->g, weir_graph_group(s->g, i), a);
    }
  }
}

static weir_status place_groups(ordering *s, int32_t *order)
{
  for (int32_t t = 0; t < s->n; t++) {
    int32_t best = -1;
    int64_t least = 0;

    for (int32_t i = 0; i < s->n; i++) {
      if (!s->done[i] && is_ready(s, i)) {
        const int64_t here = change(s, i);

        if (best < 0 || here < least) {
          best = i;
          least = here;
        }
      }
    }
    if (best < 0) {
      return weir_fail(WEIR_ERR_SHAPE, "schedule: the groups close a cycle");
    }
    take(s, best);
    order[t] = best;
  }
  return WEIR_OK;
}

weir_status schedule_order(const weir_graph *g, const int64_t *bytes, const bool *keep,
                           int32_t *order)
{
  weir_status status = WEIR_OK;
  ordering s = {.g = g, .bytes = bytes, .n = weir_graph_groups(g)};
  void *memory[4] = {NULL};

  WEIR_TRY_GOTO(weir_alloc(weir_graph_nodes(g), sizeof(int32_t), &memory[0]), out);
  WEIR_TRY_GOTO(weir_alloc(s.n, sizeof(bool), &memory[1]), out);
  WEIR_TRY_GOTO(weir_alloc(weir_graph_arrays(g), sizeof(bool), &memory[2]), out);
  WEIR_TRY_GOTO(weir_alloc(weir_graph_arrays(g), sizeof(int32_t), &memory[3]), out);
  s.group_of = memory[0];
  s.done = memory[1];
  s.live = memory[2];
  s.left = memory[3];
  WEIR_TRY_GOTO(weir_depend_make(g, &s.depend), out);
  prepare(&s, keep);
  WEIR_TRY_GOTO(place_groups(&s, order), out);
out:
  weir_depend_fini(&s.depend);
  for (int i = 0; i < 4; i++) {
    weir_free(&memory[i]);
  }
  return status;
}
