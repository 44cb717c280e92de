/* eval_data.h - what all models of an evaluation see: the raw forecasts, the truth, and which
 * initialisation times may be fitted on. Fields are read once while they are asked for again. */
#ifndef WX_EVAL_DATA_H
#define WX_EVAL_DATA_H
#include "data/model_climate.h"
#include "data/archive/inventory.h"

typedef struct wx_eval_data {
  wx_archive *forecast, *truth; /* borrowed */
  const wx_archive_info *facts, *truth_facts;
  int64_t cells;
  const int64_t *fit; /* [n_fit] of the forecast archive, that models may be fitted on */
  int64_t n_fit;
  const int64_t *scored; /* [n_scored] of the forecast archive, that will be scored */
  int64_t n_scored;
  uint64_t seed;
  const char *climate; /* file of a climate that was made before; NULL: there is none */
  /* Private: the fields that were read last. */
  struct wx_eval_data_field {
    int64_t start, lead, quantity;
    float *values;
  } members, valid;
  wx_watch watch, truth_watch; /* of what was read */
} wx_eval_data;

/* Opens the data. truth NULL: there is none of any start. Fails: WEIR_ERR_SHAPE (the grids differ),
 * WEIR_ERR_DATA (a quantity that both hold has other units in the truth). */
weir_status wx_eval_data_open(wx_archive *forecast, wx_archive *truth,
                              wx_eval_data *out) WEIR_CHECKED;
void wx_eval_data_fini(wx_eval_data *s);
/* Reads all raw members, [n_members, cells]; borrowed until the next call. Fails: as
 * wx_archive_read. */
weir_status wx_eval_data_members(wx_eval_data *s, int64_t start, int64_t lead, int64_t quantity,
                                 const float **out) WEIR_CHECKED;
/* Reads the climate of a quantity at a lead, of the file s->climate. Fails: as
 * wx_model_climate_read; WEIR_ERR_SHAPE (it is of another grid). */
weir_status wx_eval_data_climate(const wx_eval_data *s, int64_t lead, int64_t quantity,
                                 wx_model_climate *out) WEIR_CHECKED;
/* Returns the number of the truth's field at start + lead; -1: there is none. */
int64_t wx_eval_data_valid(const wx_eval_data *s, int64_t start, int64_t lead, int64_t quantity);
/* Checks whether the truth of a quantity is what the forecast has at the lead:
 * wx_archive_check_period. */
weir_status wx_eval_data_check_period(const wx_eval_data *s, int64_t lead,
                                      int64_t quantity) WEIR_CHECKED;
/* Reads the truth of start + lead, [cells], borrowed until the next call; NULL: there is none. */
weir_status wx_eval_data_truth(wx_eval_data *s, int64_t start, int64_t lead, int64_t quantity,
                               const float **out) WEIR_CHECKED;
#endif
