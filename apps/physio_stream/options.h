/* options.h - the configuration of physio_stream: one struct, one table. */
#ifndef PS_OPTIONS_H
#define PS_OPTIONS_H
#include "beats/options.h"
#include "data/input.h"
#include "data/replay.h"
#include "eval/score.h"
#include "live/page.h"
#include "place/weir_scaling.h"
#include "rhythm/recordings.h"
#include "train/weir_train.h"
#include "model/detect.h"
#include "site/site.h"
#include "model/hrv.h"
#include "query/options.h"
#include "stream/weir_stream.h"
#include "viewer/viewer.h"

enum {
  PS_CONVERT_NETCDF,
  PS_CONVERT_WFDB,
  PS_CONVERT_CSV,
  PS_CONVERT_EDF,
  PS_CONVERT_BDF,
  PS_CONVERT_AECG,
  PS_CONVERT_DICOM
};
typedef struct ps_convert_opts {
  int format;              /* PS_CONVERT_*                          */
  const char *name;        /* of what is written                    */
  const char *annotations; /* file to take along                    */
  bool comments;           /* those of the header are kept          */
  double gain;             /* steps per unit, where none are stored */
  double clip;             /* share of samples                      */
  double rounding;         /* share of a signal's range             */
  bool continuous;         /* EDF+ with data records in gaps        */
} ps_convert_opts;

/* Beats to score and the true ones. */
typedef struct ps_pair {
  const char *reference, *test; /* annotation files */
} ps_pair;

typedef struct ps_cfg {
  int64_t seed; /* of everything random */
  ps_input_opts input;
  ps_synth_opts ecgsyn;
  ps_replay_opts replay;
  ps_detect_opts detect;
  ps_query_cfg query;
  weir_stream_cfg stream;
  weir_exec_cfg exec;
  struct {
    bool features;       /* also write the features that beats are found in */
    bool follow;         /* print beats of live input as they come          */
    double strip, start; /* s of signal in the report, and where it begins  */
    ps_hrv_opts nn;      /* how the report measures intervals                */
    ps_viewer_opts viewer;
    ps_live_page_opts page; /* of live input */
  } output;
  struct {
    const char *reference, *test; /* annotation files                             */
    weir_struct_list pairs;       /* of ps_pair: more of them, scored together    */
    weir_string_list records;     /* or records whose beats lie in `folder`       */
    const char *folder;           /* "": that of each record                       */
    struct {
      const char *reference, *test; /* suffixes of their annotation files        */
    } annotators;
    double start, window; /* s, see ps_score_opts                         */
    double fs;            /* 1/s, clock of references without a header; 0 */
    int64_t strips;       /* drawn around errors at most                  */
    struct {
      bool score;      /* the alarms of `records`, in place of their beats */
      double from, to; /* s in which an alarm counts                       */
    } alarms;
    ps_hrv_opts nn; /* how intervals are measured                   */
  } eval;
  struct {
    weir_string_list records, test; /* learnt from, and tested on              */
    const char *folder, *file;      /* features: folder/NAME/file              */
    const char *annotator;          /* suffix of the annotations of each       */
    int64_t min_beats;              /* of a class that is learnt               */
    weir_string_list same_patient;  /* each: names of records of one patient   */
    ps_beat_network_opts network;
  } beats;
  ps_convert_opts convert;
  ps_site_opts site;
  ps_rhythm_opts rhythm;
  weir_train_cfg train;
  weir_scaling_cfg scaling; /* what ps_scaling_options lists */
  struct {
    double compute_s; /* of a step, for every second of recording */
    double target;    /* validation loss */
  } compare;
  struct {
    double duration; /* s of signal in memory */
    int64_t repeats;
  } bench;
} ps_cfg;

extern const weir_opt ps_options[];
extern const weir_opt ps_convert_options[];
#endif
