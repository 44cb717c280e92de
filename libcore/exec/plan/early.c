/* early.c - stored arrays that take their new value piece by piece, as soon as each is final. When
 * that is follows from the accesses: the group that writes the piece has run, and so has every
 * group that reads the old elements. */
#include <string.h>
#include "plan_priv.h"
#include "base/weir_alloc.h"

/* Elements [lo, hi) of the flat array are final after group `after`. */
typedef struct piece {
  int64_t lo, hi;
  int32_t after;
} piece;

struct exec_early {
  int32_t array;
  piece *pieces; /* [n] in the order of groups */
  int64_t n, capacity, next;
};

/* ---- Which arrays ---- */

/* The array itself, or a slice of it, "name.0". */
static bool is_named(const char *array, const char *name)
{
  const size_t length = strlen(name);

  return strncmp(array, name, length) == 0 && (array[length] == 0 || array[length] == '.');
}

/* Whether nothing but its update, and reads that come before, knows the array. */
static bool may_be_early(const weir_plan *p, int32_t array)
{
  const weir_array *a = weir_graph_get_array(p->g, array);
  bool may = a->kind == WEIR_ARRAY_STORED && a->update >= 0 && a->output == NULL && !a->in_place &&
             weir_graph_get_array(p->g, a->update)->kind == WEIR_ARRAY_TEMPORARY;

  for (int32_t i = 0; i < weir_graph_arrays(p->g) && may; i++) {
    may = weir_graph_get_array(p->g, i)->update != array;
  }
  return may;
}

/* ---- What they are made of comes first ---- */

/* What an array is for: one piece, by the node that writes it; else nothing yet, or more. */
enum { FOR_NONE = -1, FOR_MORE = -2 };

static int32_t both(int32_t a, int32_t b)
{
  return a == FOR_NONE || a == b ? b : b == FOR_NONE ? a : FOR_MORE;
}

/* Marks arrays that follow from a derivative: what else a piece is made of is there before. */
static void mark_derived(const weir_graph *g, const int32_t *order, int32_t n, bool *derived)
{
  for (int32_t i = 0; i < n; i++) {
    const weir_node *node = weir_graph_node(g, order[i]);
    bool is = node->derived > 0;

    for (int k = 0; k < node->n_in && !is; k++) {
      is = derived[node->in[k]];
    }
    for (int k = 0; k < node->n_out; k++) {
      derived[node->out[k]] = derived[node->out[k]] || is;
    }
  }
}

/* From the updates back: a node that works for one piece alone has priority, so that a gradient
 * leaves before the backward pass, which works for many, goes on. use: [arrays] */
static void hurry(weir_graph *g, const int32_t *order, int32_t n, const bool *derived,
                  const bool *updates, int32_t *use)
{
  for (int32_t i = n - 1; i >= 0; i--) {
    weir_node *node = weir_graph_node_mut(g, order[i]);
    int32_t is = FOR_NONE;
    bool late = false;

    for (int k = 0; k < node->n_out; k++) {
      const int32_t a = node->out[k];
      const bool shown = weir_graph_get_array(g, a)->output != NULL;

      is = both(is, shown ? FOR_MORE : updates[a] ? order[i] : use[a]);
      late = late || derived[a];
    }
    node->priority = is >= 0 && late && node->priority == 0 ? -1 : node->priority;
    for (int k = 0; k < node->n_in; k++) {
      use[node->in[k]] = both(use[node->in[k]], is == FOR_NONE ? FOR_MORE : is);
    }
  }
}

static weir_status give_priority(weir_plan *p)
{
  const int32_t arrays = weir_graph_arrays(p->g);
  int32_t *order = NULL, *use = NULL, n = 0;
  bool *flags = NULL;
  weir_status status;

  WEIR_TRY_GOTO(weir_alloc(weir_graph_nodes(p->g), sizeof *order, (void **)&order), done);
  WEIR_TRY_GOTO(weir_alloc(arrays, sizeof *use, (void **)&use), done);
  WEIR_TRY_GOTO(weir_alloc(2 * (int64_t)arrays, sizeof *flags, (void **)&flags), done);
  WEIR_TRY_GOTO(weir_graph_order(p->g, order, &n), done);
  mark_derived(p->g, order, n, flags);
  for (int32_t a = 0; a < arrays; a++) {
    use[a] = FOR_NONE;
  }
  for (int32_t a = 0; a < arrays; a++) {
    const int32_t from = weir_graph_get_array(p->g, a)->update;

    if (from >= 0 && exec_is_early(p, a)) {
      flags[arrays + from] = true;
    } else if (from >= 0) {
      use[from] = FOR_MORE;
    }
  }
  hurry(p->g, order, n, flags, flags + arrays, use);
done:
  weir_free(&order);
  weir_free(&use);
  weir_free(&flags);
  return status;
}

weir_status exec_early_find(weir_plan *p, const char *name)
{
  if (name == NULL || p->backend != NULL || p->streaming) {
    return WEIR_OK; /* a device updates its own side at the end */
  }
  WEIR_TRY(weir_alloc(weir_graph_arrays(p->g), sizeof *p->early, (void **)&p->early));
  for (int32_t a = 0; a < weir_graph_arrays(p->g); a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);

    if (array->kind == WEIR_ARRAY_STORED && is_named(array->name, name) && may_be_early(p, a)) {
      p->early[p->n_early++].array = a;
    }
  }
  return p->n_early > 0 ? give_priority(p) : WEIR_OK;
}

/* ---- Pieces ---- */

/* Elements of a box of the array that lie together; false: others lie between. */
static bool flat(const weir_view *v, const weir_box *box, int64_t *lo, int64_t *hi)
{
  int64_t rest = 1;

  for (int d = 1; d < v->rank; d++) {
    if (box->lo[d] != 0 || box->hi[d] != v->extent[d]) {
      return false;
    }
    rest *= v->extent[d];
  }
  *lo = v->rank > 0 ? box->lo[0] * rest : 0;
  *hi = v->rank > 0 ? box->hi[0] * rest : 1;
  return true;
}

static void boxes_of(const exec_group *group, weir_box *boxes)
{
  boxes[group->n_loops - 1] = exec_anchor_box(group, 0, 0);
  weir_members_compose(group->member, group->n_loops, boxes);
}

/* Appends what a group writes of the new value; *together: each piece lies in one. */
static weir_status add_pieces(const weir_plan *p, exec_early *e, int32_t number, bool *together)
{
  const int32_t from = weir_graph_get_array(p->g, e->array)->update;
  const exec_group *group = &p->groups[number];
  weir_box boxes[EXEC_MAX_LOOPS];

  boxes_of(group, boxes);
  for (int32_t k = 0; k < group->n_loops; k++) {
    const weir_loop *loop = group->loops[k].loop;

    for (int o = 0; o < loop->access.n_out; o++) {
      if (loop->out[o] != from) {
        continue;
      }
      const weir_region written = weir_written(&loop->access, o, &boxes[k]);
      const weir_box box = weir_region_hull(&written);
      piece one = {.after = number};

      *together = flat(&p->arrays[e->array].view, &box, &one.lo, &one.hi) && *together;
      WEIR_TRY(weir_reserve(&e->pieces, &e->capacity, e->n + 1, sizeof *e->pieces));
      e->pieces[e->n++] = one;
    }
  }
  return WEIR_OK;
}

/* Groups that read old elements of a piece run before it is updated. */
static void follow_readers(const weir_plan *p, exec_early *e, int32_t number)
{
  const exec_group *group = &p->groups[number];
  weir_box boxes[EXEC_MAX_LOOPS];

  boxes_of(group, boxes);
  for (int32_t k = 0; k < group->n_loops; k++) {
    const weir_loop *loop = group->loops[k].loop;

    for (int i = 0; i < loop->access.n_in; i++) {
      if (loop->in[i] != e->array) {
        continue;
      }
      const weir_box box = weir_needed_box(&loop->access, i, &boxes[k]);
      int64_t lo = 0, hi = INT64_MAX;

      (void)flat(&p->arrays[e->array].view, &box, &lo, &hi);
      for (int64_t q = 0; q < e->n; q++) {
        if (e->pieces[q].lo < hi && lo < e->pieces[q].hi && e->pieces[q].after < number) {
          e->pieces[q].after = number;
        }
      }
    }
  }
}

static void sort(exec_early *e)
{
  for (int64_t i = 1; i < e->n; i++) {
    const piece one = e->pieces[i];
    int64_t j = i;

    for (; j > 0 && e->pieces[j - 1].after > one.after; j--) {
      e->pieces[j] = e->pieces[j - 1];
    }
    e->pieces[j] = one;
  }
}

static weir_status divide(const weir_plan *p, exec_early *e)
{
  const int64_t count = p->arrays[e->array].rows;
  bool together = true;
  int64_t sum = 0;

  for (int32_t t = 0; t < p->n_groups; t++) {
    WEIR_TRY(add_pieces(p, e, t, &together));
  }
  for (int64_t q = 0; q < e->n; q++) {
    sum += e->pieces[q].hi - e->pieces[q].lo;
  }
  /* Writers are disjoint and cover the array: a greater sum is that of hulls. */
  if (e->n > 0 && (!together || sum != count)) {
    e->pieces[0] = (piece){0, count, e->pieces[e->n - 1].after};
    e->n = 1;
  }
  for (int32_t t = 0; t < p->n_groups; t++) {
    follow_readers(p, e, t);
  }
  sort(e);
  return WEIR_OK;
}

weir_status exec_early_divide(weir_plan *p)
{
  for (int32_t i = 0; i < p->n_early; i++) {
    WEIR_TRY(divide(p, &p->early[i]));
  }
  return WEIR_OK;
}

void exec_early_free(weir_plan *p)
{
  for (int32_t i = 0; i < p->n_early; i++) {
    weir_free(&p->early[i].pieces);
  }
  weir_free(&p->early);
}

bool exec_is_early(const weir_plan *p, int32_t array)
{
  bool is = false;

  for (int32_t i = 0; i < p->n_early; i++) {
    is = is || p->early[i].array == array;
  }
  return is;
}

/* ---- A run ---- */

void exec_early_begin(weir_plan *p)
{
  for (int32_t i = 0; i < p->n_early; i++) {
    p->early[i].next = 0;
  }
}

weir_status exec_early_update(weir_plan *p, int32_t group)
{
  for (int32_t i = 0; i < p->n_early; i++) {
    exec_early *const e = &p->early[i];
    const weir_array *array = weir_graph_get_array(p->g, e->array);
    const size_t size = weir_dtype_size(array->desc.dtype);
    char *const to = p->arrays[e->array].view.data, *const from =
                                                        p->arrays[array->update].view.data;

    for (; e->next < e->n && e->pieces[e->next].after == group; e->next++) {
      const piece *one = &e->pieces[e->next];

      if (one->lo >= one->hi) {
        continue;
      }
      memcpy(to + (size_t)one->lo * size, from + (size_t)one->lo * size,
             (size_t)(one->hi - one->lo) * size);
      if (p->updated != NULL) {
        WEIR_TRY(p->updated(p->updated_context, array->name, one->lo, one->hi));
      }
    }
  }
  return WEIR_OK;
}

void weir_plan_on_update(weir_plan *p, weir_plan_updated *updated, void *context)
{
  p->updated = updated;
  p->updated_context = context;
}

void exec_early_print(const weir_plan *p, FILE *out)
{
  for (int32_t i = 0; i < p->n_early; i++) {
    const exec_early *e = &p->early[i];

    for (int64_t q = 0; q < e->n; q++) {
      fprintf(out, "updated  %-24s elements %lld to %lld after group %d of %d\n",
              weir_graph_get_array(p->g, e->array)->name, (long long)e->pieces[q].lo,
              (long long)e->pieces[q].hi, (int)e->pieces[q].after, (int)p->n_groups);
    }
  }
}
