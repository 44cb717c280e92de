/* overlap_build.c - members duplicated, for each part. */
#include "pass/overlap/overlap_priv.h"

/* Arrays of one part. */
typedef struct building {
  weir_graph *g;
  const overlap_split *s;
  int part;
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

/* The operand now reads or writes what a part of member `from` makes, in a separate array. */
static void narrow_kept(const building *b, int from, weir_operand *x)
{
  const overlap_member *m = &b->s->member[from];
  const weir_box made = overlap_box(b->s, m, b->part);

  for (int k = 0; k < b->s->n_cuts; k++) {
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

/* What the part reads instead of the member's inputs. */
static void read_parts(const building *b, const weir_node *node, weir_access *a, weir_value *in)
{
  for (int i = 0; i < node->n_in; i++) {
    int o;
    const int from = member_that_wrote(b, node->in[i], &o);
    int32_t array = node->in[i];

    if (array == b->s->made && b->part == 0) {
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
  const weir_box box = overlap_box(b->s, m, b->part);
  int32_t into[WEIR_MAX_OUTPUTS];
  weir_value in[WEIR_MAX_OPERANDS];

  WEIR_TRY(weir_access_narrow(a, &box));
  read_parts(b, like, a, in);
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
  added->derivation = like->derivation;
  return WEIR_OK;
}

weir_status overlap_build(weir_graph *g, const overlap_split *s, int32_t first[OVERLAP_PARTS])
{
  building b = {.g = g, .s = s};

  for (b.part = 0; b.part < OVERLAP_PARTS; b.part++) {
    first[b.part] = -1;
    for (int i = 0; i < s->n && b.part <= 2 * s->n_cuts; i++) {
      const weir_box box = overlap_box(s, &s->member[i], b.part);
      weir_access a;

      if (weir_box_empty(&box)) {
        continue;
      }
      WEIR_TRY(weir_access_copy(&weir_graph_node(g, s->member[i].node)->access, &a));
      const weir_status status = add(&b, i, &a);

      weir_access_fini(&a);
      WEIR_TRY(status);
      first[b.part] = i == 0 ? b.made[0] : first[b.part];
    }
  }
  return WEIR_OK;
}
