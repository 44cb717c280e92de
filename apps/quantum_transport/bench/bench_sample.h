/* bench_sample.h - self-energies of a small device of given sizes, with numbers of no physical
 * meaning: how long they take. */
#ifndef QT_BENCH_SAMPLE_H
#define QT_BENCH_SAMPLE_H
#include "model/scattering/papers/recipe.h"
#include "model/scattering/self_energy.h"
#include "scatter.h"

/* Lists atoms along a wire that is closed to a ring: even ones have the next odd ones as
 * neighbours, which have them in turn; n_atoms is even and at least twice n_neighbours. Fails:
 * WEIR_ERR_MEMORY; *out is then empty. */
weir_status qt_bench_sample_list(const qt_recipe_sizes *z, qt_neighbours *out) WEIR_CHECKED;
/* Returns the self-energies of electrons and phonons, as written, all atoms at once, on one thread.
 */
qt_self_energy_spec qt_bench_sample_spec(const qt_recipe_sizes *z, const qt_neighbours *list);

/* When something began: elapsed, and of the processor. */
typedef struct qt_bench_clock {
  double elapsed, processor;
} qt_bench_clock;
qt_bench_clock qt_bench_clock_now(void);
/* Returns the processor time of this process, s. */
double qt_bench_processor(void);
/* Returns the share of the time since then that this process, of one thread, had a processor:
 * elapsed times it are free of what other programs took. */
double qt_bench_clock_share(const qt_bench_clock *began);

/* Measures processor seconds of a run: the median of so many, after one that does not count.
 * Where that one takes longer than `enough` it is the only one, and counts. Fails: as run,
 * WEIR_ERR_MEMORY. */
weir_status qt_bench_seconds(weir_status (*run)(void *), void *context, int64_t repeats,
                             double enough, double *seconds) WEIR_CHECKED;

/* Fills with small numbers of either sign. */
void qt_bench_sample_fill(int64_t n, weir_c128 *x);
/* Computes nabla H of the device of a study, and the sizes of its self-energies. Fails: as
 * qt_neighbours_create; *list is then empty. */
weir_status qt_bench_sample_device(const qt_study *study, const qt_scatter *scatter,
                                   qt_neighbours *list, qt_recipe_sizes *sizes) WEIR_CHECKED;

typedef struct qt_bench_sample {
  qt_recipe_sizes sizes; /* as above                                                      */
  int fission;           /* weir_fission                                                  */
  bool window;
  double memory;   /* bytes, as qt_self_energy_spec                                       */
  int64_t repeats; /* the median counts, after one that does not                          */
} qt_bench_sample;
/* Returns the number of atoms that so many neighbours need. */
int64_t qt_bench_sample_atoms(int64_t n_neighbours);
/* Measures processor seconds of both self-energies on one thread. Fails: as qt_self_energy_create
 * and qt_self_energy_run. */
weir_status qt_bench_sample_time(const qt_bench_sample *b, double *seconds,
                                 double *flops) WEIR_CHECKED;

#endif
