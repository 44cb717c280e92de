/* fuse.c - vertical fusion: producers join their consumers' groups where tiles of the consumer can
 * serve them (fuse_fit.c); single nodes are offered to the kernel table first. */
#include <string.h>
#include "base/weir_alloc.h"
#include "fuse_priv.h"

#define UPSAMPLED 16 /* iterations with one element that make an upsampled array a small one */

static bool fusable(const grouping *s, int32_t node)
{
  const weir_access *a = &weir_graph_node(s->g, node)->access;

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_BACKWARD) {
      return false;
    }
  }
  return s->blocked[node] || (a->maker == WEIR_MADE_BY_BODY && s->kernel[node] == NULL);
}

/* True when a path leaves the union of a and b and comes back. */
static bool closes_cycle(const grouping *s, int32_t a, int32_t b)
{
  /* mark: groups downstream of the union, by anchor, reached through nodes outside it. */
  bool changed = true;

  memset(s->mark, 0, (size_t)weir_graph_nodes(s->g) * sizeof(*s->mark));
  while (changed) { /* groups are not contiguous in node order */
    changed = false;
    for (int32_t i = 0; i < s->n; i++) {
      const int32_t node = s->order[i], mine = s->group[node];

      for (int32_t k = s->depend.first[node]; k < s->depend.first[node + 1]; k++) {
        const int32_t from = s->group[s->depend.before[k]];
        const bool from_union = from == a || from == b;

        if (mine == a || mine == b) {
          if (!from_union && s->mark[from]) {
            return true;
          }
        } else if ((from_union || s->mark[from]) && !s->mark[mine]) {
          s->mark[mine] = changed = true;
        }
      }
    }
  }
  return false;
}

/* Members of groups a and b; false when they are too many. */
static bool unite(const grouping *s, int32_t a, int32_t b, candidate *c)
{
  c->n = 0;
  for (int32_t i = 0; i < s->n; i++) {
    const int32_t group = s->group[s->order[i]];

    if (group == a || group == b) {
      if (c->n == GROUP_MAX_NODES) {
        return false;
      }
      c->nodes[c->n++] = s->order[i];
    }
  }
  return true;
}

/* True when a member of the group reads an element of `array` over so many iterations that the
 * array is small relative to its reader: to make it again for every tile would cost more than it
 * saves.
 */
static bool is_upsampled(const grouping *s, int32_t array, int32_t group)
{
  for (int32_t i = s->users.first_reader[array]; i < s->users.first_reader[array + 1]; i++) {
    const weir_node *node = weir_graph_node(s->g, s->users.readers[i]);

    for (int k = 0; k < node->n_in && s->group[s->users.readers[i]] == group; k++) {
      const weir_operand *o = &node->access.in[k];

      for (int d = 0; d < o->rank && node->in[k] == array; d++) {
        int64_t max = 0;

        for (int j = 0; j < node->access.n_dims; j++) {
          max = o->index[d].coef[j] > max ? o->index[d].coef[j] : max;
        }
        if (max > 0 && o->index[d].div / max >= UPSAMPLED) {
          return true;
        }
      }
    }
  }
  return false;
}

/* True when the node was there before the derivative that the consumer is part of, and makes fewer
 * bytes of each element than it reads: what is kept from the one to the other is its result. */
static bool is_saved(const grouping *s, int32_t writer, int32_t consumer)
{
  const weir_node *node = weir_graph_node(s->g, writer);
  const weir_access *a = &node->access;

  return node->derived < weir_graph_node(s->g, consumer)->derived && a->n_in == 1 &&
         a->combine == WEIR_COMBINE_NONE && weir_operand_is_identity(&a->in[0], a) &&
         weir_dtype_size(a->out[0].dtype) < weir_dtype_size(a->in[0].dtype);
}

/* Merges the group of the writer of `array` into that of `consumer` when it fits; *merged is set
 * when it did. */
static weir_status try_merge(const grouping *s, int32_t array, int32_t consumer, bool *merged)
{
  const int32_t *writer = &s->users.first_writer[array];
  candidate c;
  bool fits;

  if (weir_graph_get_array(s->g, array)->kind != WEIR_ARRAY_TEMPORARY ||
      writer[1] - writer[0] != 1) {
    return WEIR_OK;
  }
  const int32_t a = s->group[s->users.writers[*writer]], b = s->group[consumer];

  /* Parts of a batch stay apart: one is finished before the next begins. So does what is made
   * again from what it is made of, and from its readers. */
  if (a == b || weir_graph_node(s->g, a)->microbatch != weir_graph_node(s->g, b)->microbatch ||
      weir_graph_node(s->g, a)->late != weir_graph_node(s->g, b)->late ||
      is_upsampled(s, array, b) || is_saved(s, s->users.writers[*writer], consumer) ||
      !fusable(s, a) || !fusable(s, b) || !unite(s, a, b, &c) || closes_cycle(s, a, b)) {
    return WEIR_OK;
  }
  WEIR_TRY(group_fits(s, &c, &fits));
  for (int64_t i = 0; i < c.n && fits; i++) {
    s->group[c.nodes[i]] = b;
  }
  *merged = *merged || fits;
  return WEIR_OK;
}

/* Draws what the members of the consumer's group read into it, until nothing more fits: an array
 * read twice is free to come once its other reader has. */
static weir_status grow(const grouping *s, int32_t consumer)
{
  bool merged = true;

  while (merged) {
    candidate c;

    merged = false;
    for (int64_t i = unite(s, consumer, consumer, &c) ? c.n - 1 : -1; i >= 0 && !merged; i--) {
      const weir_node *node = weir_graph_node(s->g, c.nodes[i]);

      for (int k = 0; k < node->n_in && !merged; k++) {
        WEIR_TRY(try_merge(s, node->in[k], consumer, &merged));
      }
    }
  }
  return WEIR_OK;
}

/* Offers a node to the kernels; the cheapest that matches claims it. */
static void offer(const grouping *s, int32_t node)
{
  const weir_group alone = {.nodes = &node, .n_nodes = 1};
  double seconds;

  s->kernel[node] = weir_kernel_best(s->g, &alone, s->opts, &seconds);
  const weir_kernel *k = s->kernel[node];

  /* The host computes what a device has no kernel for: maps around it stay on the device. */
  const bool here = s->opts->device == NULL || strcmp(s->opts->device, WEIR_KERNEL_CPU) == 0;

  s->blocked[node] = here && k != NULL && weir_kernel_in_blocks(k, s->g, &alone, &s->blocks[node]);
}

/* Bytes that the members move less than separate groups would. */
static double saved_bytes(const grouping *s, const weir_group *group)
{
  const int64_t slots = s->opts->slots > 0 ? s->opts->slots : 4096;
  const weir_traffic together = weir_group_traffic(s->g, group, slots, s->rates);
  double saved = -((double)together.read_bytes + (double)together.write_bytes);

  for (int64_t i = 0; i < group->n_nodes; i++) {
    const weir_traffic alone = weir_node_traffic(s->g, group->nodes[i], slots, s->rates);

    saved += ((double)alone.read_bytes + (double)alone.write_bytes);
  }
  return saved;
}

/* True when all that the group waits for has been added. */
static bool is_ready(const grouping *s, const candidate *c, int32_t anchor)
{
  for (int64_t i = 0; i < c->n; i++) {
    const int32_t node = c->nodes[i];

    for (int32_t k = s->depend.first[node]; k < s->depend.first[node + 1]; k++) {
      const int32_t from = s->group[s->depend.before[k]];

      if (from != anchor && !s->mark[from]) {
        return false;
      }
    }
  }
  return true;
}

static void claim(const grouping *s, const candidate *c, weir_group *group)
{
  for (int64_t i = 0; i < c->n; i++) {
    const int32_t node = c->nodes[i];

    if (s->kernel[node] != NULL) {
      WEIR_ASSERT(group->n_claims < WEIR_MAX_CLAIMS);
      group->claims[group->n_claims++] = (weir_claim){node, s->kernel[node], s->blocks[node]};
    }
  }
}

/* Adds the groups in an order in which every group comes after those it waits for. */
static weir_status add_groups(const grouping *s)
{
  int32_t left = 0, before = -1;

  memset(s->mark, 0, (size_t)weir_graph_nodes(s->g) * sizeof(*s->mark));
  for (int32_t i = 0; i < s->n; i++) {
    left += s->group[s->order[i]] == s->order[i];
  }
  while (left > 0) {
    if (left == before) {
      return weir_fail(WEIR_ERR_SHAPE, "group: the groups close a cycle");
    }
    before = left;
    for (int32_t i = 0; i < s->n; i++) {
      const int32_t anchor = s->order[i];
      candidate c;

      if (s->group[anchor] != anchor || s->mark[anchor] || !unite(s, anchor, anchor, &c) ||
          !is_ready(s, &c, anchor)) {
        continue;
      }
      WEIR_TRY(weir_graph_add_group(s->g, c.nodes, c.n));
      weir_group *made = weir_graph_group_mut(s->g, weir_graph_groups(s->g) - 1);

      made->saved_bytes = c.n > 1 ? saved_bytes(s, made) : 0;
      claim(s, &c, made);
      s->mark[anchor] = true;
      left--;
    }
  }
  return WEIR_OK;
}

static weir_status form(grouping *s)
{
  WEIR_TRY(weir_graph_order(s->g, s->order, &s->n));
  WEIR_TRY(weir_depend_make(s->g, &s->depend));
  WEIR_TRY(weir_users_make(s->g, &s->users));
  for (int32_t a = 0; a < weir_graph_arrays(s->g); a++) {
    const int32_t updated = weir_graph_get_array(s->g, a)->update;

    if (updated >= 0) {
      s->updates[updated] = true;
    }
  }
  group_ends(s);
  for (int32_t i = 0; i < s->n; i++) {
    s->group[s->order[i]] = s->order[i];
    offer(s, s->order[i]);
  }
  for (int32_t i = 0; i < s->n && !s->opts->no_fusion; i++) {
    WEIR_TRY(grow(s, s->order[i]));
  }
  WEIR_TRY(add_groups(s));
  return WEIR_OK;
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  weir_status status = WEIR_OK;
  grouping s = {.g = g, .opts = opts};
  const int64_t n = weir_graph_nodes(g);
  void *memory[9] = {NULL};

  weir_graph_clear_groups(g);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(int32_t), &memory[0]), out);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(int32_t), &memory[1]), out);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(bool), &memory[2]), out);
  WEIR_TRY_GOTO(weir_alloc(weir_graph_arrays(g), sizeof(uint64_t), &memory[3]), out);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(void *), &memory[4]), out);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(weir_kernel_blocks), &memory[5]), out);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(bool), &memory[6]), out);
  WEIR_TRY_GOTO(weir_alloc(weir_graph_arrays(g), sizeof(bool), &memory[7]), out);
  WEIR_TRY_GOTO(weir_alloc(weir_graph_arrays(g), sizeof(weir_rate), &memory[8]), out);
  s.order = memory[0];
  s.group = memory[1];
  s.mark = memory[2];
  s.ends = memory[3];
  s.kernel = memory[4];
  s.blocks = memory[5];
  s.blocked = memory[6];
  s.updates = memory[7];
  s.rates = memory[8];
  weir_graph_rates(g, s.rates);
  for (int64_t i = 0; i < n; i++) {
    s.group[i] = -1;
  }
  WEIR_TRY_GOTO(form(&s), out);
out:
  weir_depend_fini(&s.depend);
  weir_users_fini(&s.users);
  for (int i = 0; i < 9; i++) {
    weir_free(&memory[i]);
  }
  return status;
}

const weir_pass weir_pass_fuse = {
    .name = "fuse",
    .former = "group",
    .cite = "vertical fusion; Ivanov et al., MLSys 2021 (arXiv:2007.00072)",
    .order = 20,
    .again = 24,
    .run = run,
};
