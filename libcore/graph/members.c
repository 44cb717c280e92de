/* members.c - see weir_members.h. */
#include "graph/weir_members.h"

#include "graph/graph_priv.h"

/* Elements of `array` that the members after k read over their boxes; false when none. */
static bool read_later(const weir_member *members, int32_t n, int32_t k, int32_t array,
                       const weir_box *boxes, weir_box *elements)
{
  bool any = false;

  for (int32_t j = k + 1; j < n; j++) {
    const weir_access *reader = members[j].access;

    for (int i = 0; i < reader->n_in; i++) {
      if (members[j].in[i] == array && !weir_box_empty(&boxes[j])) {
        const weir_region r = weir_needed(reader, i, &boxes[j]);
        const weir_box hull = weir_region_hull(&r);

        if (!weir_region_empty(&r)) {
          weir_box_grow(elements, &hull, &any);
        }
      }
    }
  }
  return any;
}

bool weir_members_asked(const weir_member *members, int32_t n, int32_t k, const weir_box *boxes,
                        weir_box *asked)
{
  const weir_access *a = members[k].access;
  bool any = false;

  *asked = (weir_box){.rank = a->n_dims};
  for (int o = 0; o < a->n_out; o++) {
    weir_box elements = {.rank = a->out[o].rank};

    if (read_later(members, n, k, members[k].out[o], boxes, &elements)) {
      const weir_box more = weir_iterations_of(a, o, &elements);

      weir_box_grow(asked, &more, &any);
    }
  }
  return any;
}

void weir_members_compose(const weir_member *members, int32_t n, weir_box *boxes)
{
  for (int32_t k = n - 2; k >= 0; k--) {
    (void)weir_members_asked(members, n, k, boxes, &boxes[k]);
  }
}

enum { AT_ONCE = 64 }; /* more uses are an upper bound: those beyond count by themselves */

/* Uses of one array. */
typedef struct uses {
  const weir_access *access[AT_ONCE];
  weir_box box[AT_ONCE];
  weir_named named[AT_ONCE];
  int operand[AT_ONCE], n;
} uses;

/* Their distinct elements; none is left. */
static int64_t count_uses(uses *u)
{
  const int64_t count = weir_distinct_named(u->access, u->operand, u->box, u->named, u->n);

  for (int i = 0; i < u->n; i++) {
    weir_named_fini(&u->named[i]);
  }
  u->n = 0;
  return count;
}

/* operand < 0: output -1 - operand. */
static void add_use(uses *u, const weir_graph *g, const weir_member *m, int operand,
                    const weir_box *box)
{
  u->access[u->n] = m->access;
  u->operand[u->n] = operand;
  u->box[u->n] = *box;
  u->named[u->n] = (weir_named){.dim = -1};
  if (g != NULL && operand >= 0 &&
      weir_access_named(g, m->access, m->in, operand, box, &u->named[u->n]) != WEIR_OK) {
    weir_clear_failure(); /* without memory an upper bound */
  }
  u->n++;
}

int64_t weir_members_distinct(const weir_graph *g, const weir_member *members, int32_t n,
                              const weir_box *boxes, int32_t array, bool write)
{
  uses u = {.n = 0};
  int64_t elements = 0;

  for (int32_t j = 0; j < n; j++) {
    const weir_access *a = members[j].access;
    const int32_t *list = write ? members[j].out : members[j].in;

    for (int k = 0; k < (write ? a->n_out : a->n_in); k++) {
      if (list[k] != array) {
        continue;
      }
      if (u.n == AT_ONCE) {
        elements = weir_saturating_add(elements, count_uses(&u));
      }
      add_use(&u, g, &members[j], write ? -1 - k : k, &boxes[j]);
    }
  }
  return weir_saturating_add(elements, count_uses(&u));
}

bool weir_members_first(const weir_member *members, int32_t k, int operand, bool write)
{
  const int32_t array = write ? members[k].out[operand] : members[k].in[operand];

  for (int32_t j = 0; j <= k; j++) {
    const weir_access *a = members[j].access;
    const int32_t *list = write ? members[j].out : members[j].in;
    const int end = j == k ? operand : write ? a->n_out : a->n_in;

    for (int i = 0; i < end; i++) {
      if (list[i] == array) {
        return false;
      }
    }
  }
  return true;
}

int32_t weir_members_writers(const weir_member *members, int32_t n, int32_t array)
{
  int32_t writers = 0;

  for (int32_t j = 0; j < n; j++) {
    bool writes = false;

    for (int o = 0; o < members[j].access->n_out; o++) {
      writes = writes || members[j].out[o] == array;
    }
    writers += writes;
  }
  return writers;
}
