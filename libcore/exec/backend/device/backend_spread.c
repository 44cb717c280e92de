/* backend_spread.c - how many iterations a thread of a map has. The candidates are few: n
 * successive ones of the last dimension, whose elements may be one access, times rows of the
 * dimension before it, over which operands that do not depend on it are loaded once. The one that
 * takes the fewest accesses an iteration is taken; of equals, the one with the fewest iterations.
 */
#include "exec/backend/device/backend.h"

/* Registers of a thread such that a multiprocessor has half of its threads: 65536 / 1024. */
enum { MOST_REGISTERS = 64, OTHER_REGISTERS = 24, REGISTER_BYTES = 4 };
static const int columns[] = {1, 2, 4, 8}, rows[] = {1, 2, 4};

typedef struct cost {
  int64_t accesses; /* of a thread */
  int64_t registers;
} cost;

/* Iterations of a thread inside `level` loops. */
static int64_t iterations(const exec_layout *l, int level)
{
  int64_t n = 1;

  for (int r = 0; r < level; r++) {
    n *= l->repeat[r].n;
  }
  return n;
}

int64_t exec_thread_bytes(const exec_layout *l, const weir_operand *x, const native_place *p)
{
  return iterations(l, p->level) * p->wide * (int64_t)weir_dtype_size(x->dtype);
}

static void add_operand(const exec_layout *l, const weir_operand *x, const native_place *p, cost *c)
{
  const int bytes = p->wide * (int)weir_dtype_size(x->dtype);

  c->accesses += exec_thread_bytes(l, x, p) / exec_access_bytes(x->dtype, p->wide);
  c->registers += (bytes + REGISTER_BYTES - 1) / REGISTER_BYTES;
}

static cost cost_of(const weir_access *a, const exec_layout *l)
{
  cost c = {.registers = OTHER_REGISTERS};
  exec_places s;

  exec_places_of(a, l, &s);
  for (int k = 0; k < a->n_in; k++) {
    add_operand(l, &a->in[k], &s.in[k], &c);
  }
  for (int k = 0; k < a->n_out; k++) {
    add_operand(l, &a->out[k], &s.out[k], &c);
  }
  return c;
}

/* The last dimension before `end` that has more than one iteration, -1: none. */
static int last_dim(const weir_access *a, int end)
{
  int k = end - 1;

  while (k >= 0 && exec_extent(a, k) <= 1) {
    k--;
  }
  return k;
}

/* The layout with `row` by `column` iterations a thread; false where they do not divide. */
static bool spread(const weir_access *a, int row, int column, exec_layout *l)
{
  const int last = last_dim(a, a->n_dims), before = last_dim(a, last);
  const exec_repeated want[2] = {{before, row}, {last, column}};
  int64_t outer[WEIR_MAX_DIMS], inner[WEIR_MAX_DIMS];

  for (int k = 0; k < a->n_dims; k++) {
    outer[k] = exec_extent(a, k);
    inner[k] = 1;
  }
  l->wide = column;
  for (int r = 0; r < 2; r++) {
    const int k = want[r].dim;

    if (want[r].n > 1 && (k < 0 || outer[k] % want[r].n != 0)) {
      return false;
    }
    if (want[r].n > 1) {
      outer[k] /= want[r].n;
      inner[k] = want[r].n;
      l->repeat[l->n_repeats++] = want[r];
    }
  }
  const exec_mapping workers = exec_spatial(a->n_dims, outer), each = exec_repeat(a->n_dims, inner);

  l->parallel = exec_compose(&workers, &each);
  l->blocks = (exec_mapping_workers(&workers) - 1) / l->threads + 1;
  return true;
}

void exec_layout_spread(const native_form *f, int64_t enough, exec_layout *l)
{
  const exec_layout one = *l;
  cost best = {0};

  if (f->shape != NATIVE_MAP || l->boxed || l->points == 0) {
    return;
  }
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      exec_layout next = one;

      if (!spread(f->access, rows[r], columns[c], &next)) {
        continue;
      }
      const bool first = next.n_repeats == 0;
      const cost now = cost_of(f->access, &next);
      const int64_t n = iterations(&next, next.n_repeats), n_best = iterations(l, l->n_repeats);
      const int64_t product = now.accesses * n_best, product_best = best.accesses * n;

      if (first || (next.blocks >= enough && now.registers <= MOST_REGISTERS &&
                    (product < product_best || (product == product_best && n < n_best)))) {
        *l = next;
        best = now;
      }
    }
  }
}
