/* options.h - the section `query:`: streams that are read, steps, and what is written. */
#ifndef PS_QUERY_OPTIONS_H
#define PS_QUERY_OPTIONS_H
#include "conf/weir_opt.h"
#include "stream/weir_query.h"

typedef struct ps_query_stream {
  const char *name;
  const char *signal; /* of the recording, as input.signal */
  const char *unit;   /* as input.unit                     */
} ps_query_stream;

typedef struct ps_query_step {
  const char *name;
  weir_string_list from;
  weir_one_of act; /* key `do` */
} ps_query_step;

typedef enum ps_query_format {
  PS_QUERY_TABLE, /* csv, and results.nc where this build has NetCDF */
  PS_QUERY_CSV,
  PS_QUERY_NETCDF,
  PS_QUERY_ANNOTATIONS,
  PS_QUERY_WFDB,
  PS_QUERY_EVENTS
} ps_query_format;

typedef struct ps_query_output {
  const char *stream;
  int format; /* ps_query_format */
} ps_query_output;

typedef struct ps_query_cfg {
  weir_struct_list streams, steps, outputs; /* of the structs above */
} ps_query_cfg;

extern const weir_opt ps_query_options[];

/* Returns true where the configuration has a query at all. */
bool ps_query_is_set(const ps_query_cfg *cfg);

/* The query as weir_query_build takes it; locations of the configuration are found in `config`
 * (NULL: none). Texts are borrowed from cfg; rates and units of the sources are the caller's to
 * fill in.
 */
typedef struct ps_query_text {
  weir_query_spec spec;
  weir_query_source *sources;
  weir_query_step *steps;
  weir_query_wish *outputs;
  char (*locations)[256];
} ps_query_text;
/* Reads the query of the configuration. Fails: WEIR_ERR_MEMORY; WEIR_ERR_CONFIG for a step without
 * `do`. */
weir_status ps_query_read(const ps_query_cfg *cfg, const weir_config *config,
                          ps_query_text *out) WEIR_CHECKED;
void ps_query_text_fini(ps_query_text *t);
#endif
