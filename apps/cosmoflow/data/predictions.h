/* predictions.h - predictions, with their truth where it is known: predictions.nc, which predict
 * writes and eval reads (docs/science/cosmoflow.md lists its variables).
 *
 * Labels are in units of their range, [-1, 1] from lo to hi. A row is a sample; all rows of a
 * universe are of one subset. Rows may be listed without a prediction, so that a file names the
 * training universes without the cost of predicting them. */
#ifndef CF_PREDICTIONS_H
#define CF_PREDICTIONS_H
#include "data/origin.h"
#include "data/posterior.h"

typedef enum cf_subset { CF_TRAIN, CF_VALID, CF_TEST, CF_SUBSETS } cf_subset;
#define CF_SUBSET_CHOICES "train|valid|test"
extern const char *const cf_subset_name[CF_SUBSETS];

enum { CF_MAX_SOURCE = 1024 };

typedef struct cf_predictions {
  int64_t n, n_labels;
  char model[CF_MAX_NAME];    /* its name in tables: "network" where nothing else is set */
  char source[CF_MAX_SOURCE]; /* for people: weights, network, data; "" for none */
  char label[CF_MAX_LABELS][CF_MAX_NAME];
  double lo[CF_MAX_LABELS], hi[CF_MAX_LABELS]; /* of every label in its own unit; -1, 1: not
                                                    known, it is normalised to them */
  weir_origin origin;                          /* weights, configuration and samples */
  double box, cell;                            /* sides in Mpc/h; 0: not known */
  double *cosmology;                           /* [n, CF_COSMOLOGY], NaN where not known */
  int64_t *sample;                             /* [n] its number in the set of files */
  int64_t *universe;                           /* [n] not negative */
  uint8_t *subset;                             /* [n] cf_subset */
  uint8_t *known;                              /* [n] 1: predicted, 0: not */
  bool unlabelled;          /* no sample has labels: the truth is NaN, and not in the file */
  float *truth;             /* [n, n_labels] */
  float *predicted;         /* [n, n_labels], NaN where not known */
  cf_posteriors *posterior; /* of rows that are known, owned; NULL: the network estimates numbers */
  int64_t draws;            /* from each posterior, which are written and not read */
  uint64_t seed;            /* of the draws */
} cf_predictions;

/* Allocates n rows: samples 0 .. n - 1, known, predicted NaN, the rest zero; labels named
 * "parameter_1" and so on, with ranges -1 to 1, for sets of files without names. Fails:
 * WEIR_ERR_MEMORY, WEIR_ERR_SHAPE (no rows, no labels or more than CF_MAX_LABELS). */
weir_status cf_predictions_create(int64_t n, int64_t n_labels, cf_predictions **out) WEIR_CHECKED;
/* Accepts NULL. */
void cf_predictions_destroy(cf_predictions **p);
/* Returns whether the range of a label is known; otherwise it stays in [-1, 1], normalised. */
bool cf_predictions_ranged(const cf_predictions *p, int64_t label);
/* Writes the labels with unknown ranges, "omega_m, h"; "" for none. Always terminated. */
void cf_predictions_normalised(const cf_predictions *p, char *text, size_t size);
/* Returns a label in its own unit, or normalised, from [-1, 1]. */
double cf_predictions_physical(const cf_predictions *p, int64_t label, double unit);
/* Writes the file atomically. Fails: WEIR_ERR_DATA for inconsistent rows (a universe in two
 * subsets, a sample twice, ranges without width, labels of one name), WEIR_ERR_NUMERIC for labels
 * or known predictions that are not finite, naming the row; WEIR_ERR_UNSUPPORTED, WEIR_ERR_EXTERNAL
 * as weir_netcdf_create. */
weir_status cf_predictions_write(const cf_predictions *p, const char *path) WEIR_CHECKED;
/* Reads a file and checks it in the same way. Fails also: WEIR_ERR_DATA, naming file and variable.
 */
weir_status cf_predictions_read(const char *path, cf_predictions **out) WEIR_CHECKED;
#endif
