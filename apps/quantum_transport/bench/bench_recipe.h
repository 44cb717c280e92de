/* bench_recipe.h - the data-centric recipe (model/scattering/papers/recipe.h) step by step on the
 * device of the configuration: time, flops, bytes and memory of its self-energies, next to what is
 * counted from accesses alone. */
#ifndef QT_BENCH_RECIPE_H
#define QT_BENCH_RECIPE_H
#include "report/weir_report.h"
#include "study.h"

enum { QT_BENCH_RECIPE_COLUMNS = 12 };
extern const char *const qt_bench_recipe_head[QT_BENCH_RECIPE_COLUMNS];
/* Runs each step on the first cfg->bench.recipe_atoms atoms of the device, at all of its wave
 * vectors, energies and frequencies, with numbers of no physical meaning; adds a row each. One
 * thread. Fails: WEIR_ERR_CONFIG (no scattering); WEIR_ERR_NUMERIC (a step has another result than
 * the sums as written), as qt_scatter_open, qt_self_energy_create_ranges and qt_recipe_count_of. */
weir_status qt_bench_recipe(const qt_study *study, weir_table *out) WEIR_CHECKED;

#endif
