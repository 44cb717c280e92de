/* dummy.h - placeholder archive: a grid, initialisation times, lead times and quantities, with
 * random values. With it `describe` computes the cost of an experiment, and `check` compares
 * gradients, without files. */
#ifndef WX_DUMMY_H
#define WX_DUMMY_H
#include "conf/weir_opt.h"
#include "data/archive/archive.h"

typedef struct wx_dummy_opts {
  weir_string_list quantities; /* z500: variable and level in hPa */
  weir_real_list lead;
  int64_t lat, lon, init_times, members;
  double every; /* hours */
} wx_dummy_opts;
extern const weir_opt wx_dummy_options[];

typedef struct wx_dummy_archive wx_dummy_archive;

/* Creates forecast and truth. values: random numbers are there to be read (at most 1 GiB of them);
 * else reading is not allowed. Fails: WEIR_ERR_CONFIG (too large, a name that is too long). */
weir_status wx_dummy_create(const wx_dummy_opts *opts, bool values, uint64_t seed,
                            wx_dummy_archive **out) WEIR_CHECKED;
/* Return the archives. Borrowed. */
wx_archive *wx_dummy_forecast(const wx_dummy_archive *s);
wx_archive *wx_dummy_truth(const wx_dummy_archive *s);
/* Accepts NULL. */
void wx_dummy_destroy(wx_dummy_archive **s);
#endif
