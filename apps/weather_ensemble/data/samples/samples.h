/* samples.h - samples of a forecast archive: a start and a lead; x, what is known when the forecast
 * is given out (moments of the first members, a trajectory, the analysis, coordinates, the surface,
 * season and time of day), y, what
 * came true at the valid time, and the moments of the raw ensemble of what y is. */
#ifndef WX_SAMPLES_H
#define WX_SAMPLES_H
#include "conf/weir_opt.h"
#include "data/archive/archive.h"
#include "data/samples/channels.h"
#include "data/samples/split.h"

enum { WX_SPACE = 3 };
typedef enum wx_side { WX_X, WX_Y, WX_SIDES } wx_side;

typedef enum wx_depth {
  WX_DEPTH_NONE,  /* fields are [lat, lon]                                                */
  WX_DEPTH_LEVEL, /* [level, lat, lon]: quantities are variables on data.levels           */
  WX_DEPTH_LEAD   /* [lead, lat, lon]: a sample is a start, with all of data.lead         */
} wx_depth;
#define WX_DEPTH_CHOICES "none|level|lead"
typedef enum wx_label {
  WX_LABEL_TRUTH, /* y is the truth archive's field at the valid time                     */
  WX_LABEL_SPREAD /* y is the standard deviation of label_members members: 1911.00630     */
} wx_label;
#define WX_LABEL_CHOICES "truth|spread"
typedef enum wx_missing { WX_MISSING_REFUSE, WX_MISSING_MASK } wx_missing;
#define WX_MISSING_CHOICES "refuse|mask"

/* More members for inputs at leads up to `until` (hours) than run to the end. */
typedef struct wx_early {
  int64_t members;
  double until;
} wx_early;

typedef struct wx_data_opts {
  weir_string_list forecast, truth; /* files of the archives */
  weir_string_list invariants;      /* files of fields that do not change with time */
  wx_archive_in grib;               /* how they are read; its names: those below, wx_configure */
  wx_archive_names names;
  weir_string_list target, inputs;
  weir_real_list lead, input_lead, levels;
  int64_t members, first, ddof, label_members;
  wx_early early;
  bool mean, spread, trajectory, analysis, position, lead_time;
  bool orography, land_sea_mask, altitude, day_of_year, local_time;
  int depth, label, missing;
  double cache; /* MiB */
  wx_split_opts split;
  /* No options: samples have every member of the targets (model.head members, model.coupling
   * attention); none of these may be missing (model.coupling attention). */
  bool each_member, whole_ensemble;
} wx_data_opts;
extern const weir_opt wx_data_options[];

/* What of it a network sees: those rows alone, for a network with inputs of its own. */
typedef struct wx_input_opts {
  weir_string_list inputs;
  weir_real_list input_lead;
  wx_early early;
  bool mean, spread, trajectory, analysis, position, lead_time;
  bool orography, land_sea_mask, altitude, day_of_year, local_time;
} wx_input_opts;
extern const weir_opt wx_input_options[];
/* Returns `data` with the inputs of `own` in place of its own; lists are borrowed. */
wx_data_opts wx_data_with(const wx_data_opts *data, const wx_input_opts *own);
/* Returns whether both make the same channels of x. */
bool wx_data_same_inputs(const wx_data_opts *a, const wx_data_opts *b);

/* A coordinate of the grid; value NULL: there is none. */
typedef struct wx_axis {
  const char *name; /* level, lead, lat or lon */
  int64_t length;
  const double *value; /* [length] */
} wx_axis;

/* What is known without reading a field. All borrowed. */
typedef struct wx_info {
  const char *name; /* the first file of the forecast */
  int64_t n;
  bool sites;             /* cells are stations: those beside each other are not neighbours */
  int rank;               /* 2: lat, lon; 3: a depth before them */
  wx_axis axis[WX_SPACE]; /* [rank]                              */
  int64_t depth, cells;   /* depth 1: none; cells: product of all lengths */
  int64_t n_channels[WX_SIDES];
  const wx_channel *channel[WX_SIDES]; /* [n_channels]                                      */
  int64_t n_trajectory;                /* the first so many channels of x are of one member */
  int64_t carry;                       /* channel of x, the raw spread of y; -1: none       */
  const int64_t *of_start, *of_lead;   /* [n] numbers in the archive; of_lead: the last one */
  const double *start, *time; /* [n] of the start, and (last) of validity: days since 1970 */
  const double *weight;       /* [cells] area, mean 1 */
  const int64_t *lead;        /* [n_leads] numbers of data.lead in the archive; of its depth */
  int64_t n_leads;
  const int64_t *target; /* [y channel * depth] quantities of the forecast                   */
  int64_t first;         /* position in the archive of the first member that is used: data.first */
  int64_t members;       /* that are used, from it on                                         */
  int64_t no_truth;      /* samples that were left out because truth has no such time */
} wx_info;

/* A sample; borrowed until the next one is read. NaN: missing. */
typedef struct wx_sample {
  const float *x;     /* [channel, cells]                                                 */
  const float *y;     /* [channel of y, cells]; NaN throughout without truth               */
  const float *m, *s; /* [channel of y, cells] mean and standard deviation of the members */
  const float *e;     /* [channel of y, depth, member, plane] members; NULL: not each_member */
} wx_sample;

/* Checks whether options go together, before any archive is open. truth: there is one; y: samples
 * need what came true. Fails: WEIR_ERR_CONFIG. */
weir_status wx_data_check(const wx_data_opts *opts, bool truth, bool y) WEIR_CHECKED;

typedef struct wx_samples wx_samples;

/* Samples of `forecast`; y: those that `truth` knows of, else all, without y. Archives are
 * borrowed, so are options; truth may be NULL where it is not needed. Fails: WEIR_ERR_CONFIG
 * (quantities, leads, members or levels that the archive does not have; more than WX_CHANNELS
 * channels), WEIR_ERR_DATA (grids or units that differ; no sample). */
weir_status wx_samples_open(const wx_data_opts *opts, wx_archive *forecast, wx_archive *truth,
                            bool y, wx_samples **out) WEIR_CHECKED;
/* Closes; accepts NULL. */
void wx_samples_close(wx_samples **s);
/* Returns the metadata of the samples. */
const wx_info *wx_samples_get(const wx_samples *s);
/* Reads one, or finds it among those that data.cache keeps. Fails: as wx_archive_read;
 * WEIR_ERR_DATA where an input is missing (data.missing: refuse), named with start, lead and
 * quantity. */
weir_status wx_samples_read(wx_samples *s, int64_t sample, wx_sample *out) WEIR_CHECKED;
#endif
