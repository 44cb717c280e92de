/* described.h - samples that a network is described for, or its steps are predicted for, without
 * reading them: those of source.input where they are there, otherwise what prepare would write. */
#ifndef CF_DESCRIBED_H
#define CF_DESCRIBED_H
#include "data/simulation/universe.h"
#include "estimator.h"
#include "model/summary.h"
#include "options.h"

typedef struct cf_described {
  int64_t side, channels, n_labels, n_classes; /* n_classes: 0: none in the files */
  bool map;                                    /* of 1 x side x side voxels, else side^3 */
  weir_dtype dtype;
  cf_volume_info info; /* of cf_described_open, which the network borrows */
} cf_described;

/* Finds them, and prints lines with `#` about them. f: of cf_universe_check. Fails: as
 * cf_open_input, WEIR_ERR_CONFIG where samples are neither cubes nor square maps. */
weir_status cf_described_find(cf_cfg *cfg, const cf_universe_facts *f,
                              cf_described *out) WEIR_CHECKED;
/* Returns the shape that the network sees, with the numbers of the section describe in place of
 * those of the samples: one channel is classified where the files have no classes. */
cf_shape cf_described_shape(const cf_cfg *cfg, const cf_described *d);
/* Opens the network for them; *out is for cf_estimator_close in any case. Fails: as
 * cf_estimator_open. */
weir_status cf_described_open(const cf_cfg *cfg, cf_described *d, cf_estimator *out) WEIR_CHECKED;
/* Predicts a step of train.batch samples of their network on one rank: the bytes of its gradient in
 * f32, and seconds. Of either, what is not 0 stays; bytes: or NULL. Fails: as the above,
 * cf_universe_check, weir_machine_measure, weir_grid_select. */
weir_status cf_described_step(cf_cfg *cfg, int threads, int64_t *bytes,
                              double *seconds) WEIR_CHECKED;
#endif
