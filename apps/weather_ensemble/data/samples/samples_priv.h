/* samples_priv.h - how a sample is put together: a list of fields to read, and where they go. */
#ifndef WX_SAMPLES_PRIV_H
#define WX_SAMPLES_PRIV_H
#include "data/samples/samples.h"
#include "data/archive/inventory.h"
#include "data/invariants.h"

enum { WX_OF_SAMPLE = -1 };

/* The members of a quantity at a lead, read once, and the channels that they make at one depth; -1:
 * not that one. */
typedef struct wx_field {
  bool truth;            /* of the truth archive, at the start: the analysis                  */
  int64_t quantity;      /* number in its archive                                            */
  int64_t lead;          /* number in the archive, or WX_OF_SAMPLE                           */
  int64_t members;       /* so many from data.first on                                       */
  int64_t depth;         /* where the field lies along the depth                             */
  int64_t mean, sd, one; /* channels of x: moments, the first member                         */
  int64_t mask;          /* channel of x: 1 where a member is missing                        */
  int64_t raw;           /* channel of y whose raw moments these are                         */
} wx_field;

struct wx_samples {
  const wx_data_opts *opts;
  wx_archive *forecast, *truth; /* borrowed */
  bool y;                       /* is wanted */
  wx_info facts;
  wx_channel channel[WX_SIDES][WX_CHANNELS];
  int64_t *of_start, *of_lead;
  double *start, *time, *weight;
  wx_field *field;
  int64_t n_fields, field_capacity;
  int64_t plain;                   /* first channel of coordinates; they end x                  */
  wx_invariants invariants;        /* those that are channels                                   */
  int64_t target[WX_CHANNELS];     /* [y channel * depth]: quantity of the forecast             */
  int64_t truth_of[WX_CHANNELS];   /* the same of the truth archive, -1: none                   */
  int64_t lead[WX_CHANNELS];       /* numbers of data.lead in the archive                       */
  int64_t input_lead[WX_CHANNELS]; /* of data.input_lead, or one WX_OF_SAMPLE                   */
  int64_t n_leads, n_input_leads;
  int64_t members; /* that are used                                            */
  int64_t plane;   /* cells of a field                                         */
  int64_t block;   /* floats of a sample: x, y, m, s, members                  */
  float *scratch;  /* [maximum members, plane]                                    */
  float *sample;   /* [block], where nothing is cached                           */
  float **cached;  /* [n] of the cache, NULL: not read yet                     */
  int64_t n_cached, max_cached;
  wx_watch watch[2]; /* of the forecast; of the truth, where there is one */
};

/* samples_plan.c: lists channels, fields and samples of the options. */
weir_status wx_samples_plan(wx_samples *s) WEIR_CHECKED;
/* samples_plain.c: channels that are computed, or do not change with time. */
/* Adds a channel. Fails: WEIR_ERR_CONFIG where there are too many. */
weir_status wx_samples_channel(wx_samples *s, wx_side side, const char *name, const char *units,
                               int64_t *number) WEIR_CHECKED;
/* Adds these channels, of the options. Fails: as wx_invariants_read; WEIR_ERR_CONFIG for a grid
 * whose locations are not known. */
weir_status wx_samples_plan_plain(wx_samples *s) WEIR_CHECKED;
/* Writes them into x, [channel, cells], of a sample. */
void wx_samples_plain(const wx_samples *s, int64_t sample, float *x);
#endif
