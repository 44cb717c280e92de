/* samples_text.h - properties of fields of samples other than names and units, as texts that
 * weights keep: the time that values cover, what lies along the depth, where the cells are, and
 * which surface they have. Names,
 * units and shapes are the same for precipitation of one day and of two, for other levels and for
 * another region of the globe; the numbers are not. */
#ifndef WX_SAMPLES_TEXT_H
#define WX_SAMPLES_TEXT_H
#include "data/samples/samples.h"

typedef enum wx_sense {
  WX_SENSE_PERIODS,    /* "t850: instant; tp 24 h: sum over 24 h; tp 48 h: sum over 48 h" */
  WX_SENSE_DEPTH,      /* "none", "levels 500 850 hPa", "leads 24 48 h" */
  WX_SENSE_GRID,       /* "lat-lon 2 x 3; 45 35; 0 10 20" */
  WX_SENSE_INVARIANTS, /* "none", "orography: mean 374.2, standard deviation 856.1" */
  WX_SENSES
} wx_sense;
/* Attributes of weights. */
extern const char *const wx_sense_name[WX_SENSES];

/* Writes the texts of all that samples are made of, the analysis of the truth among them. The
 * caller frees it. Fails: WEIR_ERR_MEMORY. */
weir_status wx_samples_text(const wx_samples *s, wx_sense sense, char **text) WEIR_CHECKED;
/* Checks whether samples are what weights of the file `path` say they were trained on; NULL: they
 * are of a version that did not say, which is warned of where all here is of instants. Fails:
 * WEIR_ERR_DATA (another period, grid or surface, a period that is not stated to them, a text that
 * is none), WEIR_ERR_CONFIG (another depth): file, what it wants, what is here and what to do. */
weir_status wx_samples_fit_text(const wx_samples *s, const char *path,
                                const char *const text[WX_SENSES]) WEIR_CHECKED;
#endif
