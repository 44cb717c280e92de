/* output.h - a NetCDF-4 file of fields over samples, channels and the grid. */
#ifndef WX_OUTPUT_H
#define WX_OUTPUT_H
#include "data/samples.h"
#include "io/weir_netcdf.h"

/* A variable over [sample, channel, level, lat, lon]; two in a row may share `dim`. */
typedef struct wx_output_field {
  const char *name, *long_name, *dim; /* dim: of its channels */
  int64_t n_channels;
  const wx_channel *channel;
} wx_output_field;

enum { WX_OUTPUT_FIELDS = 2 };
typedef struct wx_output {
  weir_netcdf *nc;
  const wx_facts *facts;
  int var[WX_OUTPUT_FIELDS], dim; /* dim: of the last field's channels */
  int64_t n_channels[WX_OUTPUT_FIELDS];
} wx_output;

/* Starts a file of n samples, those of `sample` (NULL: all), with their times and the grid. Fails:
 * as the NetCDF interface; nothing is there before the commit. */
weir_status wx_output_open(const char *path, const wx_facts *facts, const wx_output_field *field,
                           int n_fields, const int64_t *sample, int64_t n,
                           wx_output *out) WEIR_CHECKED;
/* Field k of the i-th sample, dense f32. */
weir_status wx_output_write(wx_output *o, int k, int64_t i, const float *values) WEIR_CHECKED;
weir_status wx_output_commit(wx_output *o) WEIR_CHECKED;
/* Removes what is not committed. */
void wx_output_close(wx_output *o);
#endif
