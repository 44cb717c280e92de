/* bench_papers_priv.h - rows of the table of bench_papers.h. */
#ifndef BENCH_PAPERS_PRIV_H
#define BENCH_PAPERS_PRIV_H
#include <math.h>
#include <stdio.h>

#include "bench/bench_papers.h"
#include "model/scattering/papers/papers.h"

/* NaN: there is no such number. The ratio is that of `here` to what is published, or else to the
 * formula. */
typedef struct papers_row {
  const char *section, *quantity;
  char setting[96];
  const char *unit;
  double published, formula, here;
} papers_row;
void papers_add_row(weir_table *c, const papers_row *r);
/* Writes "4864 atoms, N_kz 7, 1792 ranks"; ranks 0: not said. */
void papers_set(papers_row *r, const qt_recipe_sizes *s, int64_t ranks);

/* Counts flops of the recursion of a point of a published device, as this program takes them.
 * Fails: WEIR_ERR_MEMORY. */
weir_status papers_point_flops(const qt_recipe_sizes *s, double *out) WEIR_CHECKED;
/* Bytes that all ranks exchange for the self-energies, by the formulas: of the original scheme, and
 * of tiles; and of the tiles that exchange least. */
typedef struct papers_volume {
  double original, tiles, best;
} papers_volume;
papers_volume papers_volume_of(const qt_recipe_sizes *s, int64_t ranks);

/* Adds rows of measurements, and of the time of an iteration with these rates. Fails: as
 * qt_bench_papers. */
weir_status papers_measure(const qt_study *study, double recursion, weir_table *out) WEIR_CHECKED;

#endif
