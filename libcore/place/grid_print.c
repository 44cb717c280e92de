/* grid_print.c - the table of candidates. */
#include "place/grid_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "place/weir_grid_select.h"

void place_print_grid(const weir_grid *g, char *text, size_t size)
{
  (void)snprintf(text, size, "%dx%dx%dx%d", g->extent[0], g->extent[1], g->extent[2], g->extent[3]);
}

static void print_thresholds(const int64_t replicate_below[WEIR_ALONG_DIMS], char *text,
                             size_t size)
{
  bool any = false;

  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    any = any || replicate_below[d] > 0;
  }
  (void)snprintf(text, size, any ? "%" PRId64 "x%" PRId64 "x%" PRId64 : "-", replicate_below[1],
                 replicate_below[2], replicate_below[3]);
}

/* Whether row a stands before row b. */
static bool is_before(const weir_grid_choice *p, int64_t a, int64_t b)
{
  const weir_grid_candidate *x = &p->row[a], *y = &p->row[b];

  if (x->refused != y->refused || x->fits != y->fits) {
    return x->refused == y->refused ? x->fits : y->refused;
  }
  return x->cost.seconds < y->cost.seconds || (!(y->cost.seconds < x->cost.seconds) && a < b);
}

static void print_row(const weir_grid_choice *p, int64_t i, FILE *out)
{
  const weir_grid_candidate *row = &p->row[i];
  const weir_cost *c = &row->cost;
  char text[64], thresholds[64];

  place_print_grid(&row->grid, text, sizeof text);
  print_thresholds(row->replicate_below, thresholds, sizeof thresholds);
  if (row->refused) {
    (void)fprintf(out, "%-16s not shardable\n", text);
    return;
  }
  (void)fprintf(out, "%-16s %-12s %12.4g %12.4g %12.4g %12.4g %12.4g %9" PRId64 " %12.4g%s\n", text,
                thresholds, c->seconds, c->compute_s, c->waited_s, (double)c->halo_bytes / 1e6,
                (double)c->sum_bytes / 1e6, c->messages, (double)c->arena / 1e6,
                i == p->best ? "  chosen"
                : row->fits  ? ""
                             : "  exceeds exec.memory");
}

void weir_grid_choice_print(const weir_grid_choice *p, FILE *out)
{
  (void)fprintf(out, "%-16s %-12s %12s %12s %12s %12s %12s %9s %12s\n", "grid", "gathered",
                "time s", "compute s", "wait s", "halo MB", "reduce MB", "messages", "memory MB");
  /* Few rows: selects the one with `position` others before it. */
  for (int64_t position = 0; position < p->n; position++) {
    for (int64_t i = 0; i < p->n; i++) {
      int64_t before = 0;

      for (int64_t k = 0; k < p->n; k++) {
        before += k != i && is_before(p, k, i);
      }
      if (before == position) {
        print_row(p, i, out);
      }
    }
  }
}
