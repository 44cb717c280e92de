/* bench_papers.h - what is published of the data-centric solver (model/scattering/papers/papers.h)
 * next to what this program counts and predicts for the same device, and what it measures here. */
#ifndef QT_BENCH_PAPERS_H
#define QT_BENCH_PAPERS_H
#include "report/weir_report.h"
#include "study.h"

enum { QT_BENCH_PAPERS_COLUMNS = 8 };
extern const char *const qt_bench_papers_head[QT_BENCH_PAPERS_COLUMNS];
/* Runs the benchmark of the papers. recursion: flop/s of one thread at the blocks of the study.
 * Measures the self-energies and, where electrons scatter, one iteration of the study, on one
 * thread; adds the rows of the table. Fails: WEIR_ERR_NUMERIC (the recursion has no rate), as
 * qt_scatter_open, qt_scatter_solve and qt_recipe_count_of. */
weir_status qt_bench_papers(const qt_study *study, double recursion, weir_table *out) WEIR_CHECKED;

#endif
