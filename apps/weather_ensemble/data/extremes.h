/* extremes.h - a loss that counts extremes more: the EECRPS of Ashkboos et al., arXiv:2206.14786,
 * is the CRPS weighted by |EFI|, the Extreme Forecast Index of the raw ensemble at the point.
 *
 *   factor = 1 - weight + weight |EFI|
 *
 * The index is of the members that the network sees, relative to the climate of the raw members at
 * the training initialisation times. So the factor is known before the truth is and the score stays
 * proper; members that the network does not see would tilt what is best for it. */
#ifndef WX_EXTREMES_H
#define WX_EXTREMES_H
#include "data/samples/samples.h"

typedef struct wx_eecrps_opts {
  double weight, window; /* window: days */
  int64_t memory;        /* MiB */
  int efi;               /* wx_efi_form */
} wx_eecrps_opts;
extern const weir_opt wx_eecrps_options[];

typedef struct wx_extremes {
  float *factor; /* [all samples, y channel, cells] of training and validation; NaN of all others,
                    and where a member or the climate is missing */
  int64_t n;     /* initialisation times that the climate is of, those of training     */
  double first, last; /* of them, days since 1970                                            */
  char name[64];      /* of the weights: what decides on them but the samples                */
} wx_extremes;

/* Returns the factor of a grid point; 1 where weight is 0, whatever the index, and NaN where it is
 * NaN. */
double wx_eecrps_factor(double weight, double efi);
/* Factors of the samples of `split`, targets of `facts`; members from position `first` of the
 * archive on, as facts says. weight 0: factor is NULL, and nothing is read. Fails: as
 * wx_archive_read, WEIR_ERR_MEMORY, WEIR_ERR_STOPPED. */
weir_status wx_extremes_fit(const wx_eecrps_opts *opts, wx_archive *forecast, const wx_info *facts,
                            int64_t first, const wx_split *split, wx_extremes *out) WEIR_CHECKED;
void wx_extremes_fini(wx_extremes *x);
#endif
