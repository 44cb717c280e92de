/* fuse_fit.c - what a group may hold.
 *
 * The tiles of the anchor must write exactly their own box of every array that is seen outside;
 * arrays inside may be computed again at the borders of tiles, up to a limit. */
#include <string.h>
#include "fuse_priv.h"
#include "pass/tile/weir_tile.h"
#include "graph/weir_reach.h"

/* Work done again at the borders of tiles, as a share of all work, that a group may cost. */
#define MAX_GROWTH 0.25
#define UNKNOWN_END ((uint64_t)1 << 63)

/* Bits of the ends that a node's streams follow from; *plain: at its inputs' own rate. */
static uint64_t ends_of(const grouping *s, const weir_node *node, bool *plain)
{
  const weir_access *a = &node->access;
  uint64_t ends = 0;

  *plain = a->maker == WEIR_MADE_BY_BODY;
  for (int i = 0; i < node->n_in; i++) {
    const int d = weir_graph_get_array(s->g, node->in[i])->desc.time - 1;

    for (int k = 0; k < a->n_dims && d >= 0; k++) {
      const weir_step_rate rate = weir_operand_step_rate(&a->in[i], k);

      if (a->dim[k].time && rate.dim == d) {
        ends |= s->ends[node->in[i]];
        *plain = *plain && rate.up == 1 && rate.down == 1;
      }
    }
  }
  return ends;
}

static uint64_t new_end(int *n)
{
  const int bit = *n < 63 ? (*n)++ : 63;

  return (uint64_t)1 << bit;
}

void group_ends(grouping *s)
{
  int n = 0;

  for (int32_t a = 0; a < weir_graph_arrays(s->g); a++) {
    const weir_array *array = weir_graph_get_array(s->g, a);

    s->ends[a] = array->desc.time > 0 && array->kind == WEIR_ARRAY_INPUT ? new_end(&n) : 0;
  }
  for (int32_t i = 0; i < s->n; i++) {
    const weir_node *node = weir_graph_node(s->g, s->order[i]);
    bool plain;
    const uint64_t ends = ends_of(s, node, &plain);

    for (int o = 0; o < node->n_out; o++) {
      if (weir_graph_get_array(s->g, node->out[o])->desc.time > 0) {
        s->ends[node->out[o]] |= plain ? ends : new_end(&n);
      }
    }
  }
}

static bool is_member(const candidate *c, int32_t node)
{
  for (int64_t i = 0; i < c->n; i++) {
    if (c->nodes[i] == node) {
      return true;
    }
  }
  return false;
}

/* True when somebody outside the candidate sees the array. */
static bool is_visible(const grouping *s, const candidate *c, int32_t array)
{
  const weir_users *u = &s->users;

  if (weir_graph_get_array(s->g, array)->output != NULL || s->updates[array] ||
      u->first_writer[array + 1] - u->first_writer[array] != 1) {
    return true;
  }
  for (int32_t i = u->first_reader[array]; i < u->first_reader[array + 1]; i++) {
    if (!is_member(c, u->readers[i])) {
      return true;
    }
  }
  return false;
}

/* How the members read what member `at` makes. */
typedef struct uses {
  bool any, aligned, state; /* aligned: all of them at the iteration that made it, by members whose
                               box is the tile itself */
} uses;

static uses find_uses(const grouping *s, const candidate *c, int64_t at, const bool *aligned)
{
  const weir_node *node = weir_graph_node(s->g, c->nodes[at]);
  uses u = {.aligned = true};

  for (int64_t j = at + 1; j < c->n; j++) {
    const weir_node *reader = weir_graph_node(s->g, c->nodes[j]);

    for (int k = 0; k < reader->n_in; k++) {
      for (int o = 0; o < node->n_out; o++) {
        if (reader->in[k] == node->out[o]) {
          u.any = true;
          u.state = u.state || reader->access.in[k].role == WEIR_ROLE_STATE;
          u.aligned = u.aligned && aligned[j] &&
                      weir_operand_is_identity(&reader->access.in[k], &reader->access) &&
                      weir_operand_is_identity(&node->access.out[o], &node->access);
        }
      }
    }
  }
  return u;
}

/* Rules that do not depend on the tile. */
static bool edges_fit(const grouping *s, const candidate *c)
{
  const weir_node *anchor = weir_graph_node(s->g, c->nodes[c->n - 1]);
  const uint64_t end = s->ends[anchor->out[0]];
  bool aligned[GROUP_MAX_NODES] = {false};
  int locals = 0;

  for (int64_t i = c->n - 1; i >= 0; i--) {
    const weir_node *node = weir_graph_node(s->g, c->nodes[i]);
    const uses u = find_uses(s, c, i, aligned);
    bool visible = false;

    aligned[i] = i == c->n - 1 || (u.any && u.aligned);
    for (int o = 0; o < node->n_out; o++) {
      visible = visible || is_visible(s, c, node->out[o]);
      locals++;
    }
    if (u.state) {
      return false;
    }
    /* Scans go through every iteration once, and what is seen outside is written once, up to the
     * end of its own stream. */
    if ((visible || node->access.n_states > 0) &&
        (!aligned[i] || s->ends[node->out[0]] != end || (end & UNKNOWN_END && i < c->n - 1))) {
      return false;
    }
  }
  return locals <= GROUP_MAX_LOCALS;
}

/* True when lowering makes the values of a node where a reduction reads them. */
static bool is_made_in_place(const weir_access *maker, const weir_operand *o, const weir_access *a)
{
  return a->combine != WEIR_COMBINE_NONE && maker->combine == WEIR_COMBINE_NONE &&
         maker->n_states == 0 && weir_operand_reads_once(o, a);
}

/* True when lowering will hardly keep what member `at` makes in registers: somebody in the group
 * reads it at other iterations. */
static bool is_buffered(const grouping *s, const candidate *c, int64_t at)
{
  const weir_node *node = weir_graph_node(s->g, c->nodes[at]);

  for (int64_t j = at + 1; j < c->n; j++) {
    const weir_node *reader = weir_graph_node(s->g, c->nodes[j]);

    for (int k = 0; k < reader->n_in; k++) {
      for (int o = 0; o < node->n_out; o++) {
        if (reader->in[k] == node->out[o] &&
            !is_made_in_place(&node->access, &reader->access.in[k], &reader->access) &&
            (!weir_operand_is_identity(&reader->access.in[k], &reader->access) ||
             reader->access.n_states > 0)) {
          return true;
        }
      }
    }
  }
  return at + 1 < c->n && (node->access.n_states > 0 || node->access.combine != WEIR_COMBINE_NONE);
}

static int claims_of(const grouping *s, const candidate *c)
{
  int n = 0;

  for (int64_t i = 0; i < c->n; i++) {
    n += s->kernel[c->nodes[i]] != NULL;
  }
  return n;
}

/* True when a member makes what the node reads. */
static bool reads_member(const grouping *s, const candidate *c, const weir_node *node)
{
  for (int64_t i = 0; i < c->n; i++) {
    const weir_node *other = weir_graph_node(s->g, c->nodes[i]);

    for (int o = 0; o < other->n_out; o++) {
      for (int k = 0; k < node->n_in; k++) {
        if (other->out[o] == node->in[k]) {
          return true;
        }
      }
    }
  }
  return false;
}

/* True when the node reads what a member makes with its edges repeated: tiles beyond them would all
 * need, and make, the same elements. */
static bool repeats_edges(const grouping *s, const candidate *c, const weir_node *node)
{
  for (int k = 0; k < node->n_in; k++) {
    bool inside = false, repeats = false;

    for (int64_t i = 0; i < c->n; i++) {
      const weir_node *other = weir_graph_node(s->g, c->nodes[i]);

      for (int o = 0; o < other->n_out; o++) {
        inside = inside || other->out[o] == node->in[k];
      }
    }
    for (int d = 0; d < node->access.in[k].rank; d++) {
      repeats = repeats || node->access.in[k].index[d].border == WEIR_BORDER_REPLICATE;
    }
    if (inside && repeats) {
      return true;
    }
  }
  return false;
}

/* True when kernel i gets its input: all of it before the group begins, or, of one that reads
 * blocks, from the members, after which it comes. */
static bool is_fed(const grouping *s, const candidate *c, int64_t i)
{
  const bool inside = reads_member(s, c, weir_graph_node(s->g, c->nodes[i]));

  return s->blocks[c->nodes[i]].of_input ? inside && i == c->n - 1 : !inside;
}

/* Rules for what joins kernels, in addition to those of the tile: it has no states. */
static bool joins_kernels(const grouping *s, const candidate *c, bool *visible)
{
  int locals = 0;

  for (int64_t i = 0; i < c->n; i++) {
    const weir_node *node = weir_graph_node(s->g, c->nodes[i]);

    visible[i] = false;
    for (int o = 0; o < node->n_out; o++) {
      visible[i] = visible[i] || is_visible(s, c, node->out[o]);
      locals++;
    }
    for (int d = 0; d < node->access.n_dims; d++) {
      if (node->access.dim[d].time) {
        return false;
      }
    }
    if (node->access.n_states > 0 || repeats_edges(s, c, node) ||
        (s->kernel[c->nodes[i]] != NULL && !is_fed(s, c, i))) {
      return false;
    }
  }
  return locals <= GROUP_MAX_LOCALS;
}

weir_status group_fits(const grouping *s, const candidate *c, bool *fits)
{
  weir_pass_opts opts = *s->opts;
  weir_member members[GROUP_MAX_NODES];
  bool buffered[GROUP_MAX_NODES], visible[GROUP_MAX_NODES];
  const weir_kernel_blocks *blocks[GROUP_MAX_NODES];
  int64_t tile[WEIR_MAX_DIMS];
  const int claims = claims_of(s, c);
  const weir_tile_claim claim = {blocks, visible};
  weir_tile_cost cost;

  *fits = claims == 0 ? edges_fit(s, c) : claims <= WEIR_MAX_CLAIMS && joins_kernels(s, c, visible);
  if (!*fits) {
    return WEIR_OK;
  }
  opts.cache_bytes = 0; /* what is fused does not depend on a tile asked for */
  for (int64_t i = 0; i < c->n; i++) {
    const weir_node *node = weir_graph_node(s->g, c->nodes[i]);

    members[i] = (weir_member){.access = &node->access, .in = node->in, .out = node->out};
    blocks[i] = s->kernel[c->nodes[i]] != NULL ? &s->blocks[c->nodes[i]] : NULL;
    buffered[i] = (blocks[i] != NULL && !blocks[i]->of_input) || is_buffered(s, c, i);
  }
  if (claims == 0) {
    WEIR_TRY(weir_tile_best(members, (int32_t)c->n, buffered, &opts, tile, &cost));
  } else {
    WEIR_TRY(weir_tile_boxes(members, (int32_t)c->n, buffered, &claim, &opts, tile, &cost));
  }
  *fits = cost.serves && cost.growth <= MAX_GROWTH &&
          cost.local_bytes <= weir_pass_constants(&opts)->group_local_bytes;
  return WEIR_OK;
}
