/* case_study.h - one start looked at closely: that whose raw ensemble is most extreme relative to
 * its climate, or, where no climate is known, that with the worst forecast of the first reference.
 */
#ifndef WX_CASE_STUDY_H
#define WX_CASE_STUDY_H
#include "eval/verify.h"

typedef struct wx_case_study {
  int64_t quantity, lead, start;
  bool by_efi;
  double efi_mean;             /* over the grid, by area */
  int64_t point;               /* where |EFI| is largest */
  double point_efi, point_sot; /* there; NaN: not known. Of the tail that the index points to */
  float *truth, *efi, *usual;  /* [cells]; NaN: missing or not known */
  float *mean;                 /* [models, cells] */
  float *crps;                 /* [models, cells] of distributions, or empirical */
  double score[WX_MODELS];     /* mean CRPS over the grid, by area */
} wx_case_study;

/* Makes the case study of the quantity and lead that were scored last, which the models are still
 * fitted for. Fails: as wx_verify_start. */
weir_status wx_case_study_create(wx_verify *v, wx_case_study *out) WEIR_CHECKED;
/* Allocates the arrays of *out, which is all zero or finished, and sets efi and usual to NaN.
 * Fails: WEIR_ERR_MEMORY; *out is then finished. */
weir_status wx_case_study_allocate(const wx_verify *v, wx_case_study *out) WEIR_CHECKED;
void wx_case_study_fini(wx_case_study *c);
#endif
