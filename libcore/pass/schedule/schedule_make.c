/* schedule_make.c - one arena: arrays whose lives do not overlap share memory. */
#include <string.h>
#include "base/weir_alloc.h"
#include "pass/schedule/schedule_priv.h"

typedef struct life {
  int32_t array, first, last;
  int64_t bytes, offset;
} life;

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

/* True when the array has memory in the arena: a temporary that more than one group knows, or a
 * result. */
bool schedule_has_memory(const weir_graph *g, int32_t array)
{
  if (weir_graph_get_array(g, array)->kind != WEIR_ARRAY_TEMPORARY) {
    return false;
  }
  int32_t users = 0;

  for (int32_t i = 0; i < weir_graph_groups(g); i++) {
    if (schedule_touches(g, weir_graph_group(g, i), array)) {
      if (weir_group_is_local(g, weir_graph_group(g, i), array)) {
        return false;
      }
      users++;
    }
  }
  return users > 0;
}

static bool is_update(const weir_graph *g, int32_t array)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    if (weir_graph_get_array(g, a)->update == array) {
      return true;
    }
  }
  return false;
}

static bool overlaps(const life *a, const life *b)
{
  return a->first <= b->last && b->first <= a->last;
}

/* Lowest offset at which a life fits among those placed. */
static int64_t lowest(const life *lives, int32_t placed, const life *l)
{
  int64_t at = 0;
  bool moved = true;

  while (moved) {
    moved = false;
    for (int32_t i = 0; i < placed; i++) {
      if (overlaps(&lives[i], l) && at < lives[i].offset + lives[i].bytes &&
          lives[i].offset < at + l->bytes) {
        at = lives[i].offset + lives[i].bytes;
        moved = true;
      }
    }
  }
  return at;
}

static void sort_by_size(life *lives, int32_t n)
{
  for (int32_t i = 1; i < n; i++) {
    const life l = lives[i];
    int32_t j = i;

    for (; j > 0 && lives[j - 1].bytes < l.bytes; j--) {
      lives[j] = lives[j - 1];
    }
    lives[j] = l;
  }
}

static weir_status place(life *lives, int32_t n, weir_schedule *s)
{
  sort_by_size(lives, n);
  for (int32_t i = 0; i < n; i++) {
    int64_t end;

    lives[i].offset = lowest(lives, i, &lives[i]);
    if (!weir_add_ok(lives[i].offset, lives[i].bytes, &end)) {
      return weir_fail(WEIR_ERR_SHAPE, "schedule: the arena overflows 64 bits");
    }
    s->offset[lives[i].array] = lives[i].offset;
    s->arena_bytes = end > s->arena_bytes ? end : s->arena_bytes;
  }
  for (int32_t t = 0; t < s->n_groups; t++) {
    int64_t live = 0;

    for (int32_t i = 0; i < n; i++) {
      live += lives[i].first <= t && t <= lives[i].last ? lives[i].bytes : 0;
    }
    s->lower_bound = live > s->lower_bound ? live : s->lower_bound;
  }
  return WEIR_OK;
}

static int32_t find_lives(const weir_graph *g, const int64_t *bytes, const bool *keep,
                          const weir_schedule *s, life *lives)
{
  int32_t n = 0;

  for (int32_t a = 0; a < s->n_arrays; a++) {
    life l = {
        .array = a, .first = s->n_groups, .last = -1, .bytes = (bytes[a] + 63) & ~(int64_t)63};

    if (!schedule_has_memory(g, a)) {
      continue;
    }
    for (int32_t t = 0; t < s->n_groups; t++) {
      if (schedule_touches(g, weir_graph_group(g, s->order[t]), a)) {
        l.first = t < l.first ? t : l.first;
        l.last = t;
      }
    }
    if (keep[a]) {
      l.first = 0;
    }
    if (keep[a] || is_update(g, a)) {
      l.last = s->n_groups - 1;
    }
    lives[n++] = l;
  }
  return n;
}

weir_status weir_schedule_make(const weir_graph *g, const int64_t *bytes, const bool *keep,
                               weir_schedule *out)
{
  weir_status status = WEIR_OK;
  weir_schedule s = {.n_groups = weir_graph_groups(g), .n_arrays = weir_graph_arrays(g)};
  void *memory = NULL;
  life *lives = NULL;

  WEIR_TRY_GOTO(weir_alloc(s.n_groups, sizeof(int32_t), &memory), fail);
  s.order = memory;
  WEIR_TRY_GOTO(weir_alloc(s.n_arrays, sizeof(int64_t), &memory), fail);
  s.offset = memory;
  WEIR_TRY_GOTO(weir_alloc(s.n_arrays, sizeof(life), &memory), fail);
  lives = memory;
  WEIR_TRY_GOTO(schedule_order(g, bytes, keep, s.order), fail);
  for (int32_t a = 0; a < s.n_arrays; a++) {
    s.offset[a] = -1;
  }
  const int32_t n = find_lives(g, bytes, keep, &s, lives);

  WEIR_TRY_GOTO(place(lives, n, &s), fail);
  weir_free(&lives);
  *out = s;
  return WEIR_OK;
fail:
  weir_free(&lives);
  weir_schedule_fini(&s);
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
  fprintf(out, "arena: %lld bytes, lower bound of this order: %lld\n", (long long)s->arena_bytes,
          (long long)s->lower_bound);
  for (int32_t a = 0; a < s->n_arrays; a++) {
    if (s->offset[a] >= 0) {
      fprintf(out, "  array %d at %lld\n", a, (long long)s->offset[a]);
    }
  }
}
