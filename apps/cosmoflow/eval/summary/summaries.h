/* summaries.h - summary statistics of the density of a sample besides its power spectrum: the
 * one-point distribution and peak counts (counts.h), of each channel and each smoothing, and the
 * bispectrum (bispectrum.h), the multipoles of P(k) (multipoles.h) and the scattering coefficients
 * (scattering.h) of each channel.
 *
 * The density is rho = voxel / mean = 1 + delta with the mean of the channel of the sample. */
#ifndef CF_SUMMARIES_H
#define CF_SUMMARIES_H
#include "data/volume/volume_info.h"
#include "eval/summary/bispectrum.h"
#include "eval/summary/counts.h"
#include "eval/summary/multipoles.h"
#include "eval/summary/scattering.h"
#include "eval/summary/smoother.h"

typedef enum cf_summary_kind {
  CF_SUMMARY_ONE_POINT,
  CF_SUMMARY_PEAKS,
  CF_SUMMARY_BISPECTRUM,
  CF_SUMMARY_MULTIPOLES,
  CF_SUMMARY_SCATTERING,
  CF_SUMMARIES
} cf_summary_kind;
extern const char *const cf_summary_name[CF_SUMMARIES];
#define CF_SUMMARY_NAMES "one_point, peaks, bispectrum, multipoles, scattering"
enum { CF_SUMMARY_ALL = (1 << CF_SUMMARIES) - 1 };

/* Bins of ln(rho), after each of these smoothings. */
typedef struct cf_count_opts {
  weir_real_list smoothing; /* standard deviations in Mpc/h; 0: none */
  double lo, hi;
  int64_t bins;
} cf_count_opts;

typedef enum cf_boundary { CF_BOUNDARY_AUTO, CF_BOUNDARY_PERIODIC, CF_BOUNDARY_CUT } cf_boundary;

/* The section `summaries`. */
typedef struct cf_summary_opts {
  int64_t sample;       /* in the set, from 0 */
  double cell;          /* Mpc/h, of files that state none */
  int boundary;         /* cf_boundary */
  weir_string_list use; /* names of those that the command computes */
  cf_count_opts one_point, peaks;
  cf_bispectrum_opts bispectrum;
  cf_multipole_opts multipoles;
  cf_scattering_opts scattering;
} cf_summary_opts;
extern const weir_opt cf_summary_options[];

/* What is computed of samples of one shape; const once made. */
typedef struct cf_summaries {
  const cf_summary_opts *opts;
  int64_t n, voxels, channels;         /* side, voxels of a channel */
  bool map;                            /* of one plane */
  double cell;                         /* side of a voxel in Mpc/h; 0: not known */
  bool periodic;                       /* the sample is the whole box */
  int64_t each[CF_SUMMARIES];          /* numbers of a channel; 0: not computed */
  cf_smoother *smoother[CF_SUMMARIES]; /* of each smoothing */
  int64_t n_smoothers[CF_SUMMARIES];
  cf_bispectrum bispectrum; /* these three where they are computed */
  cf_multipoles multipoles;
  cf_scattering scattering;
} cf_summaries;

/* Workspace of one sample. */
typedef struct cf_summary_slot {
  double *rho, *smooth; /* [voxels] */
  double *line;
  cf_bispectrum_slot bispectrum;
  cf_multipoles_slot multipoles;
  cf_scattering_slot scattering;
} cf_summary_slot;

/* Why a sample has no summaries: voxel -1 where it is the mean. */
typedef struct cf_summary_fault {
  const char *why; /* NULL: there is none */
  int64_t channel, voxel;
  double value;
} cf_summary_fault;

/* Prepares the summaries `which` (bits 1 << cf_summary_kind) of samples; opts are borrowed. Fails:
 * WEIR_ERR_CONFIG (no smoothing, empty bins, a smoothing in Mpc/h of voxels of unknown size or
 * above the side of the sample, options that contradict the files, others than one_point and peaks
 * of maps), WEIR_ERR_DATA (neither cubes nor square maps),
 * WEIR_ERR_UNSUPPORTED (no FFTW for those that are transforms), WEIR_ERR_MEMORY. */
weir_status cf_summaries_init(const cf_summary_opts *opts, unsigned which,
                              const cf_volume_info *info, cf_summaries *out) WEIR_CHECKED;
void cf_summaries_fini(cf_summaries *s);
/* Fails: WEIR_ERR_MEMORY. */
weir_status cf_summary_slot_init(const cf_summaries *s, cf_summary_slot *out) WEIR_CHECKED;
void cf_summary_slot_fini(const cf_summaries *s, cf_summary_slot *r);
/* Returns the bytes of a slot. */
int64_t cf_summary_slot_bytes(const cf_summaries *s);
/* Computes the summaries of channel c of voxels[n, n, n, channels], or of a map: out[k] [each[k]];
 * of the bispectrum asinh(B / voxel^6), which has either sign, of the multipoles log10 P_0 /
 * voxel^3, then P_2 / P_0 and P_4 / P_0, and log10 of the scattering coefficients. r is left with
 * B, P_l and S. Returns whether it has them, else why not in *fault. */
bool cf_summaries_measure(const cf_summaries *s, cf_summary_slot *r, const float *voxels, int64_t c,
                          double *const out[CF_SUMMARIES], cf_summary_fault *fault);
/* Returns a failure that names the sample at `where`. */
weir_status cf_summary_refuse(const cf_summary_fault *fault, const char *where) WEIR_CHECKED;
/* Sets the summaries that names list, bits 1 << cf_summary_kind, for the option `key`. Fails:
 * WEIR_ERR_CONFIG (no such name, none). */
weir_status cf_summaries_find(const weir_string_list *names, const char *key,
                              unsigned *out) WEIR_CHECKED;
/* Returns the options of a summary that counts. */
const cf_count_opts *cf_summary_counts(const cf_summary_opts *opts, cf_summary_kind which);
#endif
