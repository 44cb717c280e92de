/* estimator.h - a network as a training task: inputs, outputs, parameters, and the attributes of
 * its weights, with which they are used without a configuration. */
#ifndef CF_ESTIMATOR_H
#define CF_ESTIMATOR_H
#include "data/adaptation.h"
#include "data/samples.h"
#include "data/sizes.h"
#include "exec/weir_plan.h"
#include "model/network.h"
#include "train/weir_train.h"

enum { CF_METRICS = 2, CF_MAX_METRICS = 16, CF_MOMENTS = 4, CF_NOTE_LINE = CF_MAX_SIMULATION };
/* By the network's target: "mae", "mse" in units of the labels, [-1, 1], and NULL; or "accuracy",
 * "mean_iou" (mean over the classes) and "iou_0", "iou_1" .. of the first CF_MAX_METRICS -
 * CF_METRICS classes (model/segment.h), all means over the batches. */
extern const char *const cf_metric[][CF_MAX_METRICS];
/* Returns the present name of a metric that was called "overlap" (mean_iou) or "overlap_0" (iou_0)
 * and so on before, otherwise `name`. Borrowed. */
const char *cf_metric_present_name(const char *name);

/* The attributes of a file of weights. */
// clang-format off
#define CF_NOTE_LIST(X)                                                        \
  X(network)         /* the section `model` of the configuration, YAML      */ \
  X(scale)           /* data.scale                                          */ \
  X(sample_shape)    /* "32 32 32 2"                                        */ \
  X(labels)          /* names: "omega_m sigma_8"                            */ \
  X(label_lo)        /* the parameters at -1: "0.1 0.5"; "-" not known      */ \
  X(label_hi)        /* at 1                                                */ \
  X(redshifts)       /* of the channels: "0 0.5"; "" not known              */ \
  X(universes_train) /* lists as of cf_split_text                           */ \
  X(universes_valid)                                                           \
  X(samples_per_universe) /* consecutive ones; 0: files state universes     */ \
  X(sample_count)    /* of the whole set, whose positions number universes  */ \
  X(samples)         /* description of the training data                    */ \
  X(classes)         /* of voxels in the files; 0: none, or computed        */ \
  X(truth_digest)    /* of labels or classes, as cf_survey makes it         */ \
  X(voxels)          /* quantity: auto, counts, density, any                */ \
  X(box_size_mpc_h)  /* of the simulated universes; "" not known            */ \
  X(cell_size_mpc_h) /* of a voxel                                          */ \
  X(voxel_unit)      /* files.unit; "" 1                                    */ \
  X(simulation)      /* seed and options of the universes; "" not known     */ \
  X(initial_samples) /* fine-tuned: samples of the earlier training; else ""*/ \
  X(initial_truths)  /* and truth_digest of these, and of those before      */
// clang-format on
typedef enum cf_note {
#define X(name) CF_NOTE_##name,
  CF_NOTE_LIST(X)
#undef X
      CF_NOTES
} cf_note;

/* Specification of a network. All borrowed, while the estimator is used. */
typedef struct cf_estimator_spec {
  const cf_model_opts *model;
  int scale;                  /* cf_scale */
  const cf_volume_info *info; /* of the samples */
  weir_dtype dtype;           /* of the input: WEIR_I16, WEIR_F32 */
  const cf_adapt_opts *adapt; /* NULL: no domain adaptation */
  const cf_sizes_opts *sizes; /* of the training; NULL: whole samples in all steps */
  bool scaled;                /* the input is: cf_sizes_scaled */
  const char *note[CF_NOTES]; /* NULL: not to be trained */
} cf_estimator_spec;

enum { CF_INPUTS = 3 };

/* Not to be moved: the task points into it. */
typedef struct cf_estimator {
  cf_estimator_spec is;
  weir_params *params;
  weir_store *store;
  weir_train_input input[CF_INPUTS]; /* x [depth, height, width, channels]; y [labels], to estimate,
                                or the classes [depth, height, width] that files have; with
                                adaptation `target`, x of another simulation */
  weir_train_input size_input[WEIR_TRAIN_SIZES][CF_INPUTS];
  weir_train_size size[WEIR_TRAIN_SIZES];
  weir_note note[CF_NOTES];
  weir_train_task task; /* samples and fetch are the caller's */
} cf_estimator;

/* Returns the truth that a network learns: labels, the voxel classes of the files, or none, where
 * classes are computed from the matter of a channel (model/segment.h). */
cf_truth cf_truth_of(const cf_model_opts *model, const cf_volume_info *info);
/* Returns the task for weir_train_suits, as far as the model determines it: name and metrics, of
 * the maximum number of classes; samples are not counted. */
weir_train_task cf_estimator_task(const cf_model_opts *model);
/* Warns of each label that is not yet in `warned`, and adds it, whose predictions are all equal, to
 * 0.2 % of half its range, while the labels vary: by the means over the samples of predictions,
 * their squares, labels and their squares, of which task.validated is given CF_MOMENTS for each
 * label. */
void cf_estimator_warn(const cf_volume_info *info, int64_t step, const double *moments,
                       bool warned[CF_MAX_LABELS]);
/* Declares the network and initialises its weights. Fails: WEIR_ERR_CONFIG (a loss that does not
 * suit the network; a network whose weights depend on the side, for mixed sizes), as
 * weir_train_prepare. */
weir_status cf_estimator_open(const cf_estimator_spec *spec, int64_t seed,
                              cf_estimator *out) WEIR_CHECKED;
void cf_estimator_close(cf_estimator *e);
/* Appends the network on `batch` samples, input x, output y [batch, cf_model_outputs of the
 * labels]. Fails: as builders. */
weir_status cf_estimator_append(const cf_estimator *e, int64_t batch, weir_graph *g) WEIR_CHECKED;
/* Appends a network that segments, on `batch` samples, input x, outputs u8 [batch, depth, height,
 * width]: `classes`, and where classes are computed from the matter of a channel also `truth` and
 * `before`, the classes of the adjacent channel. probabilities: also `probability`, f32 [..,
 * classes]. Fails: as builders. */
weir_status cf_estimator_append_maps(const cf_estimator *e, int64_t batch, bool probabilities,
                                     weir_graph *g) WEIR_CHECKED;
/* Returns the number of classes. */
int64_t cf_estimator_classes(const cf_estimator_spec *is);

/* Attributes of a file of weights. */
typedef struct cf_weights {
  char *text[CF_NOTES];
  cf_model_opts model;
  weir_config *config; /* owns the memory of model */
  int scale;
  cf_volume_info info; /* lengths, labels with their ranges, redshifts, classes, voxels, sizes */
  int64_t samples_per_universe; /* by which positions number the universes of the lists; 0: files
                                   state them */
  int64_t count;                /* samples of that set */
} cf_weights;

/* Reads the attributes of a file of weights. Fails: WEIR_ERR_DATA (no file of weights, or of
 * another program; naming the attribute), WEIR_ERR_UNSUPPORTED (no NetCDF, no libyaml). */
weir_status cf_weights_read(const char *path, cf_weights *out) WEIR_CHECKED;
void cf_weights_fini(cf_weights *w);
/* Checks that samples match those of the training. Fails: WEIR_ERR_DATA. */
weir_status cf_weights_fit(const cf_weights *w, const char *path,
                           const cf_volume_info *info) WEIR_CHECKED;

/* Returns the section `model` as YAML; the caller frees *text with weir_free. */
weir_status cf_note_model(const weir_config *config, char **text) WEIR_CHECKED;
/* Returns the section `model` of a file of weights with the options that were added since, at their
 * defaults; the caller frees *text. Fails: as weir_opts_parse. */
weir_status cf_note_present(const char *network, char **text) WEIR_CHECKED;
/* Writes the lines of `info`, CF_NOTE_sample_shape to _redshifts, to text[CF_NOTE_LINE] each. */
void cf_note_info(const cf_volume_info *info, char text[CF_NOTES][CF_NOTE_LINE]);
#endif
