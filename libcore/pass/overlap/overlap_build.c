/* overlap_build.c - members duplicated, for each piece. */
#include "pass/overlap/overlap_priv.h"

/* Arrays of one piece. */
typedef struct building {
  weir_graph *g;
  const overlap_split *s;
  int piece;
  int32_t made[OVERLAP_MEMBERS]; /* nodes */
} building;

/* The member that wrote the array, its output *o; -1: none. */
static int member_that_wrote(const building *b, int32_t array, int *o)
{
  for (int i = 0; i < b->s->n; i++) {
    const weir_node *node = weir_graph_node(b->g, b->s->member[i].node);

    for (*o = 0; *o < node->n_out; ++*o) {
      if (node->out[*o] == array) {
        return i;
      }
    }
  }
  return -1;
}

/* The operand now reads or writes the output of a piece of member `from`, in a separate array. */
static void narrow_kept(const building *b, int from, weir_operand *x)
{
  const overlap_member *m = &b->s->member[from];
  const weir_box made = overlap_box(b->s, m, b->piece);

  for (int k = 0; k < b->s->n_axes; k++) {
    const int64_t lo = made.lo[m->dim[k]];

    weir_operand_narrow(x, m->at[k], lo, made.hi[m->dim[k]] - lo);
  }
}

/* The operand reads the rank's own array. */
static void narrow_own(const building *b, weir_operand *x)
{
  for (int d = 0; d < x->rank; d++) {
    weir_operand_narrow(x, d, -b->s->shift[d],
                        weir_graph_get_array(b->g, b->s->own)->desc.shape[d]);
  }
}

/* Inputs of the piece instead of the member's inputs. */
static void read_pieces(const building *b, const weir_node *node, weir_access *a, weir_value *in)
{
  for (int i = 0; i < node->n_in; i++) {
    int o;
    const int from = member_that_wrote(b, node->in[i], &o);
    int32_t array = node->in[i];

    if (array == b->s->made && b->piece == 0) {
      narrow_own(b, &a->in[i]);
      array = b->s->own;
    } else if (from >= 0) {
      narrow_kept(b, from, &a->in[i]);
      array = weir_graph_node(b->g, b->made[from])->out[o];
    }
    in[i] = weir_array_value(b->g, array);
  }
}

static weir_status add(building *b, int number, weir_access *a)
{
  const overlap_member *m = &b->s->member[number];
  const weir_node *like = weir_graph_node(b->g, m->node);
  const weir_box box = overlap_box(b->s, m, b->piece);
  int32_t into[WEIR_MAX_OUTPUTS];
  weir_value in[WEIR_MAX_OPERANDS];

  WEIR_TRY(weir_access_narrow(a, &box));
  read_pieces(b, like, a, in);
  for (int o = 0; o < like->n_out; o++) {
    into[o] = m->kept[o] ? -1 : like->out[o];
    if (m->kept[o]) {
      narrow_kept(b, number, &a->out[o]);
    }
  }
  b->made[number] = weir_graph_add_like(b->g, like, a, in, like->n_in, into).node;
  WEIR_TRY(weir_graph_status(b->g));
  weir_node *added = weir_graph_node_mut(b->g, b->made[number]);

  like = weir_graph_node(b->g, m->node);
  added->label = like->label;
  added->derived = like->derived;
  added->microbatch = like->microbatch;
  added->late = like->late;
  added->derivation = like->derivation;
  return WEIR_OK;
}

weir_status overlap_build(weir_graph *g, const overlap_split *s, int32_t first[OVERLAP_PIECES])
{
  building b = {.g = g, .s = s};

  for (b.piece = 0; b.piece < OVERLAP_PIECES; b.piece++) {
    first[b.piece] = -1;
    for (int i = 0; i < s->n && b.piece <= 2 * s->n_axes; i++) {
      const weir_box box = overlap_box(s, &s->member[i], b.piece);
      weir_access a;

      if (weir_box_empty(&box)) {
        continue;
      }
      WEIR_TRY(weir_access_copy(&weir_graph_node(g, s->member[i].node)->access, &a));
      const weir_status status = add(&b, i, &a);

      weir_access_fini(&a);
      WEIR_TRY(status);
      first[b.piece] = i == 0 ? b.made[0] : first[b.piece];
    }
  }
  return WEIR_OK;
}
