/* blocks_find.c - blocks of a planned graph, and what the model of a choice needs of them. */
#include <string.h>

#include "base/weir_alloc.h"
#include "pass/recompute_blocks/weir_recompute_blocks.h"

#define MIN_BYTES 4096       /* smaller results are kept */
#define MIN_SHARE (1. / 256) /* of all that is kept: what ends a block */

/* Life of an array, by positions in the order; -1: none. */
typedef struct life {
  int64_t bytes;
  int32_t made, last, first, end; /* writer; last use before the gradient; first and last in it */
  int32_t group;                  /* that made it, by position */
  bool kept;
} life;

typedef struct finding {
  const weir_graph *g;
  const weir_schedule *s;
  const double *seconds;
  weir_blocks *out;
  bool *backward;   /* [nodes]                      */
  bool *late;       /* [positions] of the gradient  */
  life *lives;      /* [arrays]                     */
  int32_t *block;   /* [positions] -1: none         */
  int64_t *weight;  /* [blocks found first] bytes that are kept of each */
  int32_t n_blocks; /* found first */
} finding;

static const weir_group *group_at(const finding *f, int32_t position)
{
  return weir_graph_group(f->g, f->s->order[position]);
}

static void use(const finding *f, int32_t array, int32_t position, bool written)
{
  life *l = &f->lives[array];

  if (f->s->offset[array] < 0) {
    return;
  }
  l->made = l->made < 0 ? position : l->made;
  l->group = written ? position : l->group;
  if (f->late[position]) {
    l->first = l->first < 0 ? position : l->first;
    l->end = position;
  } else {
    l->last = position;
  }
}

static void find_lives(const finding *f)
{
  for (int32_t a = 0; a < f->s->n_arrays; a++) {
    const int64_t bytes = weir_desc_bytes(&weir_graph_get_array(f->g, a)->desc);

    f->lives[a] = (life){.bytes = (bytes + 63) & ~(int64_t)63,
                         .made = -1,
                         .last = -1,
                         .first = -1,
                         .end = -1,
                         .group = -1};
  }
  for (int32_t t = 0; t < f->s->n_groups; t++) {
    const weir_group *group = group_at(f, t);

    for (int64_t i = 0; i < group->n_nodes; i++) {
      f->late[t] = f->late[t] || f->backward[group->nodes[i]];
    }
    for (int64_t i = 0; i < group->n_nodes; i++) {
      const weir_node *node = weir_graph_node(f->g, group->nodes[i]);

      for (int k = 0; k < node->n_in; k++) {
        use(f, node->in[k], t, false);
      }
      for (int o = 0; o < node->n_out; o++) {
        use(f, node->out[o], t, true);
      }
    }
  }
  for (int32_t a = 0; a < f->s->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(f->g, a);
    life *l = &f->lives[a];
    bool ends = array->output != NULL;

    for (int32_t b = 0; b < f->s->n_arrays && !ends && l->made >= 0; b++) {
      ends = weir_graph_get_array(f->g, b)->update == a;
    }
    l->end = ends ? f->s->n_groups - 1 : l->end < 0 ? l->last : l->end;
    l->kept = l->made >= 0 && !ends && l->group >= 0 && !f->late[l->group] && l->first >= 0 &&
              l->last >= 0 && l->first > l->last && l->bytes >= MIN_BYTES;
  }
}

static void find_live(const finding *f)
{
  for (int32_t a = 0; a < f->s->n_arrays; a++) {
    const life *l = &f->lives[a];

    for (int32_t t = l->made; l->made >= 0 && t <= l->end; t++) {
      f->out->live[t] += l->bytes;
    }
  }
  for (int32_t t = 0; t < f->s->n_groups; t++) {
    f->out->peak = f->out->live[t] > f->out->peak ? f->out->live[t] : f->out->peak;
  }
}

/* A block ends with a group of which the gradient keeps something. */
static void divide(finding *f)
{
  int64_t all = 0;

  for (int32_t a = 0; a < f->s->n_arrays; a++) {
    all += f->lives[a].kept ? f->lives[a].bytes : 0;
  }
  for (int32_t t = 0; t < f->s->n_groups; t++) {
    int64_t bytes = 0;

    f->block[t] = -1;
    for (int32_t a = 0; a < f->s->n_arrays && !f->late[t]; a++) {
      bytes += f->lives[a].kept && f->lives[a].group == t ? f->lives[a].bytes : 0;
    }
    if (!f->late[t]) {
      f->block[t] = f->n_blocks;
      f->weight[f->n_blocks] += bytes;
      f->n_blocks += bytes > 0 && (double)bytes >= MIN_SHARE * (double)all;
    }
  }
}

/* Neighbours of which least is kept become one, until there are few enough. What comes after the
 * last kept result is not worth a block. */
static void merge(finding *f)
{
  while (f->n_blocks > WEIR_MAX_BLOCKS) {
    int32_t best = 0;

    for (int32_t b = 1; b + 1 < f->n_blocks; b++) {
      best = f->weight[b] + f->weight[b + 1] < f->weight[best] + f->weight[best + 1] ? b : best;
    }
    f->weight[best] += f->weight[best + 1];
    for (int32_t b = best + 1; b < f->n_blocks; b++) {
      f->weight[b] = f->weight[b + 1];
    }
    for (int32_t t = 0; t < f->s->n_groups; t++) {
      f->block[t] -= f->block[t] > best;
    }
    f->n_blocks--;
  }
  for (int32_t t = 0; t < f->s->n_groups; t++) {
    f->block[t] = f->block[t] < f->n_blocks ? f->block[t] : -1;
  }
}

/* What blocks read of one another, keep, need while they run, and take. */
static weir_status fill(const finding *f)
{
  weir_blocks *b = f->out;
  int64_t capacity = 0;

  b->n = f->n_blocks;
  for (int32_t t = 0; t < f->s->n_groups; t++) {
    const weir_group *group = group_at(f, t);
    const int32_t here = f->block[t];
    int64_t within = 0;

    for (int64_t i = 0; i < group->n_nodes && here >= 0; i++) {
      const weir_node *node = weir_graph_node(f->g, group->nodes[i]);

      b->block[group->nodes[i]] = (int8_t)here;
      for (int k = 0; k < node->n_in; k++) {
        const life *l = &f->lives[node->in[k]];
        const int32_t from = l->group >= 0 ? f->block[l->group] : -1;

        b->reads[here] |= from >= 0 && from != here && l->bytes >= MIN_BYTES ? 1U << from : 0;
      }
    }
    for (int32_t a = 0; a < f->s->n_arrays && here >= 0; a++) {
      const life *l = &f->lives[a];

      within +=
          l->group >= 0 && f->block[l->group] == here && !l->kept && l->made <= t && t <= l->last
              ? l->bytes
              : 0;
    }
    if (here >= 0) {
      b->within[here] = within > b->within[here] ? within : b->within[here];
      b->seconds[here] += f->seconds[f->s->order[t]];
    }
  }
  for (int32_t a = 0; a < f->s->n_arrays; a++) {
    const life *l = &f->lives[a];

    if (l->kept && f->block[l->group] >= 0) {
      WEIR_TRY(weir_reserve(&b->kept, &capacity, b->n_kept + 1, sizeof *b->kept));
      b->kept[b->n_kept++] = (weir_block_array){f->block[l->group], l->bytes, l->last, l->first};
    }
  }
  return WEIR_OK;
}

static weir_status find(finding *f)
{
  enum { BUFFERS = 5 };
  weir_status status = WEIR_OK;
  const int64_t groups = f->s->n_groups, nodes = weir_graph_nodes(f->g);
  const int64_t count[BUFFERS] = {nodes, groups, f->s->n_arrays, groups, groups + 1};
  const size_t size[BUFFERS] = {sizeof(bool), sizeof(bool), sizeof(life), sizeof(int32_t),
                                sizeof(int64_t)};
  void *memory[BUFFERS] = {NULL};
  bool any = false;

  for (int i = 0; i < BUFFERS; i++) {
    WEIR_TRY_GOTO(weir_alloc(count[i], size[i], &memory[i]), out);
  }
  f->backward = memory[0];
  f->late = memory[1];
  f->lives = memory[2];
  f->block = memory[3];
  f->weight = memory[4];
  WEIR_TRY_GOTO(weir_blocks_backward(f->g, f->backward, &any), out);
  find_lives(f);
  find_live(f);
  if (any) {
    divide(f);
    merge(f);
    WEIR_TRY_GOTO(fill(f), out);
  }
out:
  for (int i = 0; i < BUFFERS; i++) {
    weir_free(&memory[i]);
  }
  return status;
}

weir_status weir_blocks_find(const weir_graph *g, const weir_schedule *schedule,
                             const double *seconds, weir_blocks *out)
{
  weir_status status = WEIR_OK;
  weir_blocks b = {.n_nodes = weir_graph_nodes(g), .n_groups = schedule->n_groups};
  finding f = {.g = g, .s = schedule, .seconds = seconds, .out = &b};
  void *block = NULL, *live = NULL, *change = NULL;

  WEIR_TRY_GOTO(weir_alloc(b.n_nodes, 1, &block), out);
  b.block = block;
  memset(b.block, -1, (size_t)b.n_nodes);
  WEIR_TRY_GOTO(weir_alloc(b.n_groups, sizeof(int64_t), &live), out);
  b.live = live;
  WEIR_TRY_GOTO(weir_alloc(b.n_groups + 1, sizeof(int64_t), &change), out);
  b.change = change;
  WEIR_TRY_GOTO(find(&f), out);
  *out = b;
  return WEIR_OK;
out:
  weir_blocks_fini(&b);
  return status;
}

void weir_blocks_fini(weir_blocks *b)
{
  weir_free(&b->block);
  weir_free(&b->live);
  weir_free(&b->change);
  weir_free(&b->kept);
  memset(b, 0, sizeof *b);
}
