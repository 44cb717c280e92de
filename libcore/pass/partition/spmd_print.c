/* spmd_print.c - what moves, for people. */
#include "pass/partition/spmd_priv.h"

static int64_t message_bytes(const weir_comm_op *m, const weir_comm_op_message *x)
{
  return weir_box_bytes(&x->box, m->dtype);
}

int64_t weir_comm_op_received(const weir_comm_op *m, int from)
{
  int64_t sum = 0;

  for (int64_t i = 0; i < m->n_messages; i++) {
    if (m->messages[i].receive && (from < 0 || m->messages[i].peer == from)) {
      sum += message_bytes(m, &m->messages[i]);
    }
  }
  return sum;
}

static void print_box(const weir_box *b, FILE *out)
{
  for (int k = 0; k < b->rank; k++) {
    (void)fprintf(out, "%s%lld:%lld", k > 0 ? ", " : "[", (long long)b->lo[k], (long long)b->hi[k]);
  }
  (void)fprintf(out, "%s", b->rank > 0 ? "]" : "[]");
}

static void print_move(const weir_comm_op *m, FILE *out)
{
  if (m->kind != WEIR_COMM_OP_EXCHANGE) {
    (void)fprintf(out, "  %s of %s: partial over dimensions %#x of the grid, %lld bytes\n",
                  m->kind == WEIR_COMM_OP_ALLREDUCE ? "reduction" : "reduce-scatter", m->name,
                  m->dims, (long long)m->bytes);
  }
  for (int64_t i = 0; i < m->n_messages; i++) {
    if (m->messages[i].receive) {
      (void)fprintf(out,
                    "  %s of %s: ", m->kind == WEIR_COMM_OP_EXCHANGE ? "exchange" : "partial sum",
                    m->name);
      print_box(&m->messages[i].box, out);
      (void)fprintf(out, " of rank %d, %lld bytes\n", m->messages[i].peer,
                    (long long)message_bytes(m, &m->messages[i]));
    }
  }
}

/* Sums that each rank keeps its own part of. */
static void print_sums(const weir_partition *p, FILE *out)
{
  for (int32_t i = 0; i < p->n_order && p->unmerged != NULL; i++) {
    const int32_t node = p->order[i];

    if (p->unmerged[node] != 0) {
      (void)fprintf(out, "  node %d %s: stays partial over dimensions %#x of the grid\n", (int)node,
                    weir_graph_node(p->g, node)->op->name, p->unmerged[node]);
    }
  }
}

void weir_spmd_graph_print(const weir_spmd_graph *l, FILE *out)
{
  const weir_partition *p = l->p;

  (void)fprintf(out, "rank %d of %d\n", l->rank, weir_grid_size(&p->grid));
  for (int32_t i = 0; i < p->n_order; i++) {
    const int32_t node = p->order[i];
    const weir_box box = weir_partition_iterations(p, node, l->rank);
    const weir_box inside = weir_partition_interior(p, node, l->rank);

    if (weir_box_volume(&box) != weir_box_volume(&inside) || weir_partition_partial(p, node) != 0) {
      (void)fprintf(out, "  node %d %s: iterations ", (int)node,
                    weir_graph_node(p->g, node)->op->name);
      print_box(&box, out);
      (void)fprintf(out, ", interior ");
      print_box(&inside, out);
      (void)fprintf(out, "\n");
    }
  }
  print_sums(p, out);
  for (int32_t i = 0; i < l->n; i++) {
    print_move(l->moves[i], out);
  }
}
