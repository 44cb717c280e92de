/* spectrum.h - the power spectrum of one sample: of each channel, P(k) = V mean |delta(k)|^2 over
 * bins one fundamental wave wide (power.h), of a map A mean |delta(k)|^2 with its area A, delta =
 * voxel / mean - 1, or the voxel itself. */
#ifndef CF_SPECTRUM_H
#define CF_SPECTRUM_H
#include "data/source.h"
#include "report/weir_report.h"

typedef enum cf_window { CF_WINDOW_NONE, CF_WINDOW_NGP, CF_WINDOW_CIC, CF_WINDOW_TSC } cf_window;

/* Quantity of the voxels of which delta is made. */
typedef enum cf_field_kind {
  CF_FIELD_AUTO, /* as the files state, else a density */
  CF_FIELD_COUNTS,
  CF_FIELD_DENSITY,
  CF_FIELD_OVERDENSITY /* delta itself */
} cf_field_kind;
#define CF_FIELD_CHOICES "auto|counts|density|overdensity"
extern const char *const cf_field_name[];

/* The section `power`. */
typedef struct cf_spectrum_opts {
  int64_t sample; /* in the set, from 0 */
  double reach;   /* in units of Nyquist's wave along an axis */
  int window;     /* cf_window, divided out */
  double cell;    /* Mpc/h; 0: that of the files */
  int field;      /* cf_field_kind */
} cf_spectrum_opts;
extern const weir_opt cf_spectrum_options[];

typedef struct cf_spectrum {
  int64_t n_bins, n_channels;
  int64_t side, depth;            /* depth: the side, of a map 1 */
  int64_t sample;                 /* its number in the set, from 0 */
  cf_field_kind field;            /* not CF_FIELD_AUTO */
  bool physical;                  /* lengths are in Mpc/h, else in voxels */
  bool sub_box;                   /* the sample is from a larger box, not periodic */
  double cell;                    /* side of a voxel */
  double *lo, *hi, *k, *modes;    /* [n_bins]: edges, mean over the modes, modes with +k and -k */
  double *power, *linear;         /* [n_channels, n_bins]; linear: of theory, NaN: not known */
  double mean[CF_MAX_LABELS];     /* of the voxels */
  double redshift[CF_MAX_LABELS]; /* NaN: not known */
  char where[CF_MAX_LOCATION];    /* file and sample */
} cf_spectrum;

/* Measures sample opts->sample of a source. Bitwise identical on any number of threads. Fails:
 * WEIR_ERR_CONFIG (no such sample), WEIR_ERR_DATA (neither cube nor square map; a channel that is
 * not opts->field: counts or a density with a voxel below 0 or a mean that is not above 0, an
 * overdensity with no voxel below 0), WEIR_ERR_UNSUPPORTED (no FFTW), WEIR_ERR_MEMORY, as
 * cf_source_read. */
weir_status cf_spectrum_make(const cf_spectrum_opts *opts, cf_source *s,
                             cf_spectrum *out) WEIR_CHECKED;
void cf_spectrum_fini(cf_spectrum *s);
/* Columns of spectrum.csv, which name their units: head[CF_SPECTRUM_COLUMNS]. */
enum { CF_SPECTRUM_COLUMNS = 9 };
const char *const *cf_spectrum_head(const cf_spectrum *s);
/* Makes a row for each channel and bin; the caller ends *out. */
void cf_spectrum_table(const cf_spectrum *s, weir_table *out);
/* Writes the spectrum as NetCDF, CF conventions 1.8. Fails: as weir_netcdf_create. */
weir_status cf_spectrum_write(const cf_spectrum *s, const char *path) WEIR_CHECKED;
#endif
