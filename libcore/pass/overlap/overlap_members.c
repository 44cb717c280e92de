/* overlap_members.c - which iterations read own elements alone, and which nodes can
 * continue with their results piece by piece. Everything is read off the accesses. */
#include <string.h>
#include "pass/overlap/overlap_priv.h"

static const weir_access *access_of(const overlap_split *s, const overlap_member *m)
{
  return &weir_graph_node(s->g, m->node)->access;
}

/* The member that writes the array, its output *o; -1: none. */
static int writer_of(const overlap_split *s, int32_t array, int *o)
{
  for (int i = 0; i < s->n; i++) {
    const weir_node *node = weir_graph_node(s->g, s->member[i].node);

    for (*o = 0; *o < node->n_out; ++*o) {
      if (node->out[*o] == array) {
        return i;
      }
    }
  }
  return -1;
}

static bool is_member(const overlap_split *s, int32_t node)
{
  bool yes = false;

  for (int i = 0; i < s->n; i++) {
    yes = yes || s->member[i].node == node;
  }
  return yes;
}

/* Whether nodes that are no members see the array. */
static bool is_seen(const overlap_split *s, int32_t array)
{
  const weir_users *u = s->users;
  bool seen = weir_graph_get_array(s->g, array)->output != NULL;

  for (int32_t a = 0; a < weir_graph_arrays(s->g) && !seen; a++) {
    seen = weir_graph_get_array(s->g, a)->update == array;
  }
  for (int32_t i = u->first_reader[array]; i < u->first_reader[array + 1] && !seen; i++) {
    seen = !is_member(s, u->readers[i]);
  }
  return seen;
}

/* Nodes that may be run in pieces at all: of outputs without another writer, and of the first
 * member's kind: what a derivative reads of it later does not follow it. */
static bool is_eligible(const overlap_split *s, int32_t number)
{
  const weir_node *node = weir_graph_node(s->g, number);
  const weir_access *a = &node->access;
  const weir_node *root = weir_graph_node(s->g, s->member[0].node);
  bool yes = node->derived == root->derived && node->microbatch == root->microbatch &&
             a->maker == WEIR_MADE_BY_BODY && a->n_states == 0 &&
             !weir_body_uses(&a->body, WEIR_CODE_RANDOM);

  for (int k = 0; k < a->n_dims && yes; k++) {
    yes = !a->dim[k].time && (a->dim[k].kind == WEIR_PARALLEL || a->dim[k].kind == WEIR_REDUCED);
  }
  for (int i = 0; i < a->n_in && yes; i++) {
    for (int d = 0; d < a->in[i].rank; d++) {
      yes = yes && a->in[i].index[d].gather == 0;
    }
  }
  for (int o = 0; o < node->n_out && yes; o++) {
    const int32_t array = node->out[o];

    yes = weir_graph_get_array(s->g, array)->kind == WEIR_ARRAY_TEMPORARY &&
          s->users->first_writer[array + 1] - s->users->first_writer[array] == 1;
  }
  return yes;
}

/* The one dimension of the iterations, a parallel one, along which index d of the operand goes, and
 * no other index of it; -1: none. */
static int dimension_of(const weir_access *a, const weir_operand *x, int d)
{
  int found = -1;

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_PARALLEL && x->index[d].coef[k] != 0) {
      if (found >= 0 || x->index[d].coef[k] < 0) {
        return -1;
      }
      found = k;
    }
  }
  return found >= 0 && weir_operand_moves(x, found) == d ? found : -1;
}

/* Leaves of the member's iterations along axis m those that read elements [lo, hi) alone of
 * dimension d of the operand. */
static bool stay_inside(const overlap_split *s, overlap_member *x, int operand, int m, int d,
                        int64_t lo, int64_t hi)
{
  const weir_access *a = access_of(s, x);
  const weir_operand *in = &a->in[operand];
  const int k = dimension_of(a, in, d);
  weir_box others = {.rank = in->rank};

  if (k < 0 || (x->dim[m] >= 0 && x->dim[m] != k)) {
    return false;
  }
  x->dim[m] = k;
  memcpy(others.hi, in->extent, (size_t)in->rank * sizeof others.hi[0]);
  others.hi[d] = lo;
  const weir_box below = weir_affected(a, operand, &others);

  others.lo[d] = hi;
  others.hi[d] = in->extent[d];
  const weir_box above = weir_affected(a, operand, &others);

  if (lo > 0 && !weir_box_empty(&below) && below.hi[k] > x->lo[m]) {
    x->lo[m] = below.hi[k];
  }
  if (hi < in->extent[d] && !weir_box_empty(&above) && above.lo[k] < x->hi[m]) {
    x->hi[m] = above.lo[k];
  }
  return x->lo[m] < x->hi[m];
}

/* Its outputs are split where its iterations are, all along one dimension. */
static bool splits_outputs(const overlap_split *s, overlap_member *x, int m)
{
  const weir_access *a = access_of(s, x);
  const int k = x->dim[m];
  bool yes = a->dim[k].lo == 0;

  x->at[m] = weir_operand_pieces(&a->out[0], a, k);
  for (int o = 1; o < a->n_out; o++) {
    yes = yes && weir_operand_pieces(&a->out[o], a, k) == x->at[m];
  }
  return yes && x->at[m] >= 0;
}

/* Bounds of one member from those of the members before it. */
static bool bound_member(const overlap_split *s, int number, overlap_member *x)
{
  const weir_node *node = weir_graph_node(s->g, x->node);

  for (int m = 0; m < s->n_axes; m++) {
    x->dim[m] = -1;
    x->lo[m] = 0;
    x->hi[m] = INT64_MAX;
    for (int i = 0; i < node->n_in; i++) {
      int o;
      const int from = writer_of(s, node->in[i], &o);
      const overlap_member *w = from >= 0 ? &s->member[from] : NULL;
      bool good = true;

      if (node->in[i] == s->made) {
        const int d = s->axis[m];

        good = number == 0 && stay_inside(s, x, i, m, d, s->owned.lo[d], s->owned.hi[d]);
      } else if (w != NULL) {
        good = w->kept[o] && from < number && stay_inside(s, x, i, m, w->at[m], w->lo[m], w->hi[m]);
      }
      if (!good) {
        return false;
      }
    }
    if (x->dim[m] < 0) {
      return false;
    }
    const int64_t last = node->access.dim[x->dim[m]].hi;

    x->hi[m] = x->hi[m] < last ? x->hi[m] : last;
    if (number == 0) {
      x->lo[m] = x->lo[m] > s->lo[m] ? x->lo[m] : s->lo[m];
      x->hi[m] = x->hi[m] < s->hi[m] ? x->hi[m] : s->hi[m];
    }
    for (int q = 0; q < m; q++) {
      if (x->dim[q] == x->dim[m]) {
        return false;
      }
    }
    if (x->lo[m] >= x->hi[m] || !splits_outputs(s, x, m)) {
      return false;
    }
  }
  return true;
}

weir_box overlap_box(const overlap_split *s, const overlap_member *x, int piece)
{
  weir_box box = weir_iterations(access_of(s, x));

  for (int m = 0; m < s->n_axes; m++) {
    const int k = x->dim[m];

    if (piece == 1 + 2 * m) {
      box.hi[k] = x->lo[m];
      break;
    }
    if (piece == 2 + 2 * m) {
      box.lo[k] = x->hi[m];
      break;
    }
    box.lo[k] = x->lo[m];
    box.hi[k] = x->hi[m];
  }
  return box;
}

/* Whether iterations of the box ask for elements beyond an end in a way that depends on where the
 * other end is. */
static bool turns(const weir_operand *x, const weir_box *run)
{
  bool yes = false;

  for (int d = 0; d < x->rank && !weir_box_empty(run); d++) {
    yes = yes || weir_index_turns(&x->index[d], x->extent[d], run);
  }
  return yes;
}

/* Whether a piece of the member reads of the operand only outputs of the same piece of its writer.
 */
static bool reads_its_piece(const overlap_split *s, const overlap_member *x, int operand, int piece,
                            const overlap_member *writer)
{
  const weir_box run = overlap_box(s, x, piece), from = overlap_box(s, writer, piece);
  const weir_region r = weir_needed(access_of(s, x), operand, &run);
  bool yes = weir_box_empty(&run) ||
             (!weir_box_empty(&from) && !turns(&access_of(s, x)->in[operand], &run));

  for (int m = 0; m < s->n_axes && !weir_box_empty(&run) && !weir_region_empty(&r); m++) {
    const int d = writer->at[m], k = writer->dim[m];

    yes = yes && r.n[d] == 1 && r.interval[d][0].lo >= from.lo[k] &&
          r.interval[d][0].hi <= from.hi[k];
  }
  return yes;
}

/* Whether the interior of the member reads own elements alone of the operand. */
static bool reads_own(const overlap_split *s, const overlap_member *x, int operand)
{
  const weir_access *a = access_of(s, x);
  const weir_box run = overlap_box(s, x, 0);
  const weir_region r = weir_needed(a, operand, &run);
  const weir_box hull = weir_region_hull(&r);

  return !turns(&a->in[operand], &run) &&
         (weir_region_empty(&r) || weir_box_within(&hull, &s->owned));
}

static bool pieces_agree(const overlap_split *s)
{
  bool yes = true;

  for (int i = 0; i < s->n; i++) {
    const weir_node *node = weir_graph_node(s->g, s->member[i].node);

    for (int k = 0; k < node->n_in && yes; k++) {
      int o;
      const int from = writer_of(s, node->in[k], &o);

      yes = node->in[k] != s->made || reads_own(s, &s->member[i], k);
      for (int piece = 0; piece < OVERLAP_PIECES && yes && from >= 0; piece++) {
        yes = reads_its_piece(s, &s->member[i], k, piece, &s->member[from]);
      }
    }
  }
  return yes;
}

static bool bound_all(overlap_split *s)
{
  bool good = true;

  for (int i = 0; i < s->n; i++) {
    const weir_node *node = weir_graph_node(s->g, s->member[i].node);

    for (int o = 0; o < node->n_out; o++) {
      s->member[i].kept[o] = !is_seen(s, node->out[o]);
    }
  }
  for (int i = 0; i < s->n && good; i++) {
    good = bound_member(s, i, &s->member[i]);
  }
  return good;
}

/* What the interiors of later members leave unread of an earlier one's goes to its other pieces: so
 * a convolution is split where the pool after it is. */
static void align(overlap_split *s)
{
  for (int i = s->n - 1; i > 0; i--) {
    const overlap_member *x = &s->member[i];
    const weir_node *node = weir_graph_node(s->g, x->node);
    const weir_box run = overlap_box(s, x, 0);

    for (int k = 0; k < node->n_in; k++) {
      int o;
      const int from = writer_of(s, node->in[k], &o);
      const weir_region r = weir_needed(&node->access, k, &run);

      for (int m = 0; m < s->n_axes && from >= 0 && !weir_region_empty(&r); m++) {
        overlap_member *w = &s->member[from];
        const weir_interval need = {r.interval[w->at[m]][0].lo,
                                    r.interval[w->at[m]][r.n[w->at[m]] - 1].hi};

        w->lo[m] = x->lo[m] > 0 && need.lo > w->lo[m] ? need.lo : w->lo[m];
        w->hi[m] =
            x->hi[m] < node->access.dim[x->dim[m]].hi && need.hi < w->hi[m] ? need.hi : w->hi[m];
      }
    }
  }
  memcpy(s->lo, s->member[0].lo, sizeof s->lo);
  memcpy(s->hi, s->member[0].hi, sizeof s->hi);
}

/* All bounds, aligned if need be. */
static bool settle(overlap_split *s)
{
  if (!bound_all(s)) {
    return false;
  }
  if (pieces_agree(s)) {
    return true;
  }
  align(s);
  return bound_all(s) && pieces_agree(s);
}

/* Adds all readers of an array that a member makes, or none of them. */
static bool follow(overlap_split *s, int32_t array)
{
  const weir_users *u = s->users;
  overlap_split more = *s;

  if (!is_seen(s, array)) {
    return false;
  }
  for (int32_t i = u->first_reader[array]; i < u->first_reader[array + 1]; i++) {
    const int32_t node = u->readers[i];
    int at = more.n;

    if (is_member(&more, node)) {
      continue;
    }
    if (more.n == OVERLAP_MEMBERS || !is_eligible(&more, node)) {
      return false;
    }
    for (; at > 0 && more.position[more.member[at - 1].node] > more.position[node]; at--) {
      more.member[at] = more.member[at - 1];
    }
    more.member[at] = (overlap_member){.node = node};
    more.n++;
  }
  if (more.n == s->n || !settle(&more)) {
    return false;
  }
  *s = more;
  return true;
}

bool overlap_find(overlap_split *s, int32_t node)
{
  s->n = 1;
  s->member[0] = (overlap_member){.node = node};
  for (int m = 0; m < s->n_axes; m++) {
    s->lo[m] = 0;
    s->hi[m] = INT64_MAX;
  }
  if (!is_eligible(s, node) || !settle(s)) {
    return false;
  }
  for (bool any = true; any;) {
    any = false;
    for (int i = 0; i < s->n && !any; i++) {
      const weir_node *made = weir_graph_node(s->g, s->member[i].node);

      for (int o = 0; o < made->n_out && !any; o++) {
        any = follow(s, made->out[o]);
      }
    }
  }
  return true;
}
