/* estimator.h - a network as a task of the trainer: what it reads and makes, its parameters, and
 * what its weights say of themselves, so that they need no configuration where they are used. */
#ifndef CF_ESTIMATOR_H
#define CF_ESTIMATOR_H
#include "data/samples.h"
#include "exec/weir_plan.h"
#include "model/network.h"
#include "train/weir_train.h"

enum { CF_METRICS = 2, CF_MAX_METRICS = 16, CF_NOTE_LINE = 512 };
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
  X(samples_per_universe) /* that follow each other; 0: files say        */ \
  X(sample_count)    /* of the whole set, whose positions number universes */ \
  X(samples)         /* what they were, for people                          */ \
  X(classes)         /* that files have of voxels; 0: none, or made         */ \
  X(truth_digest)    /* of labels or classes, as cf_survey makes it         */ \
  X(voxels)          /* what they are: auto, counts, density, any           */ \
  X(box_size_mpc_h)  /* of the simulated universes; "" not known            */ \
  X(cell_size_mpc_h) /* of a voxel                                          */
// clang-format on
typedef enum cf_note {
#define X(name) CF_NOTE_##name,
  CF_NOTE_LIST(X)
#undef X
      CF_NOTES
} cf_note;

/* What a network is made for. All borrowed, while the estimator is used. */
typedef struct cf_estimator_spec {
  const cf_model_opts *model;
  int scale;                  /* cf_scale */
  const cf_volume_info *info; /* of the samples */
  weir_dtype dtype;           /* of what is read: WEIR_I16, WEIR_F32 */
  const char *note[CF_NOTES]; /* NULL: not to be trained */
} cf_estimator_spec;

/* Stays where it is: the task points into it. */
typedef struct cf_estimator {
  cf_estimator_spec is;
  weir_params *params;
  weir_store *store;
  weir_train_input input[2]; /* x [depth, height, width, channels]; y [labels], to estimate, or
                                the classes [depth, height, width] that files have */
  weir_note note[CF_NOTES];
  weir_train_task task; /* samples and fetch are the caller's */
} cf_estimator;

/* What a network learns from samples: their labels, the classes of voxels that their files have, or
 * nothing else than the samples, of whose matter classes are made (model/segment.h). */
cf_truth cf_truth_of(const cf_model_opts *model, const cf_volume_info *info);
/* The task as the model alone says it, for weir_train_suits: name and metrics, of as many classes
 * as there may be; its samples are not counted. */
weir_train_task cf_estimator_task(const cf_model_opts *model);
/* Declares the network and gives it first weights. Fails: WEIR_ERR_CONFIG (a loss that does not
 * suit the network), as weir_train_prepare. */
weir_status cf_estimator_open(const cf_estimator_spec *spec, int64_t seed,
                              cf_estimator *out) WEIR_CHECKED;
void cf_estimator_close(cf_estimator *e);
/* The network on `batch` samples, input x, result y [batch, labels]. Fails: as builders. */
weir_status cf_estimator_append(const cf_estimator *e, int64_t batch, weir_graph *g) WEIR_CHECKED;
/* A network that segments on `batch` samples, input x, results u8 [batch, depth, height, width]:
 * `classes`, and where they are made of the matter of a channel also `truth` and `before`, the
 * classes of the channel beside it. probabilities: also `probability`, f32 [.., classes]. Fails: as
 * builders. */
weir_status cf_estimator_append_maps(const cf_estimator *e, int64_t batch, bool probabilities,
                                     weir_graph *g) WEIR_CHECKED;
/* How many classes it has. */
int64_t cf_estimator_classes(const cf_estimator_spec *is);

/* What a file of weights says. */
typedef struct cf_weights {
  char *text[CF_NOTES];
  cf_model_opts model;
  weir_config *config; /* owns what model refers to */
  int scale;
  cf_volume_info info; /* lengths, labels with their ranges, redshifts, classes, voxels, sizes */
  int64_t samples_per_universe; /* by which positions number the universes of the lists; 0: files
                                   say their numbers */
  int64_t count;                /* samples of that set */
} cf_weights;

/* Fails: WEIR_ERR_DATA (no file of weights, or of another program's; naming what does not fit),
 * WEIR_ERR_UNSUPPORTED (no NetCDF, no libyaml). */
weir_status cf_weights_read(const char *path, cf_weights *out) WEIR_CHECKED;
void cf_weights_fini(cf_weights *w);
/* That samples are like those that the weights were trained on. Fails: WEIR_ERR_DATA. */
weir_status cf_weights_fit(const cf_weights *w, const char *path,
                           const cf_volume_info *info) WEIR_CHECKED;

/* Texts of notes, which the caller frees with weir_free. */
weir_status cf_note_model(const weir_config *config, char **text) WEIR_CHECKED;
/* The lines of `info` into text[CF_NOTE_LINE] each, those of CF_NOTE_sample_shape to _redshifts. */
void cf_note_info(const cf_volume_info *info, char text[CF_NOTES][CF_NOTE_LINE]);
#endif
