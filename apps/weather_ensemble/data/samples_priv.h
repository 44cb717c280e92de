/* samples_priv.h - samples that are open: what both origins share, and the file. */
#ifndef WX_SAMPLES_PRIV_H
#define WX_SAMPLES_PRIV_H
#include "base/weir_dtype.h"
#include "data/samples.h"
#include "io/weir_netcdf.h"

/* A variable of the file. */
typedef struct wx_variable {
  int var;
  weir_dtype dtype;  /* f32 or f64 */
  double missing[2]; /* numbers that stand for no value */
  int n_missing;
} wx_variable;

struct wx_samples {
  wx_facts facts;
  char *name;
  wx_channel *channel[WX_SIDES];
  double *time, *axis[WX_SPACE];
  wx_simulation *simulation; /* NULL: the file */
  weir_netcdf *nc;
  wx_variable variable[WX_SIDES];
  void *row; /* a sample as it is stored */
};

/* samples_file.c: opens the file and reads all but the fields. */
weir_status wx_samples_open_file(wx_samples *s, const char *path, bool y) WEIR_CHECKED;
/* Names of the variables: "x", "y". */
extern const char *const wx_side_name[WX_SIDES];
#endif
