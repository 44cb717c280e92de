/* page.h - the page of a live run: the last minute of its signals and beats, for browsers of this
 * machine. */
#ifndef PS_LIVE_PAGE_H
#define PS_LIVE_PAGE_H
#include "conf/weir_opt.h"
#include "data/input.h"

typedef struct ps_live_page_opts {
  const char *listen; /* "": no page                        */
  bool remote;        /* browsers of other machines too     */
  double window;      /* s that it shows                    */
} ps_live_page_opts;

extern const weir_opt ps_live_page_options[];

enum { PS_LIVE_PAGE_SIGNALS = 64, PS_LIVE_PAGE_SAMPLES = 65536, PS_LIVE_PAGE_MARKS = 1024 };

typedef struct ps_live_page ps_live_page;

/* Starts the page of a live run, and writes the event `page_listen` with the port; *out is NULL
 * where opts->listen is "" or `info` is not of live input, and the functions below then do nothing.
 * info is borrowed. Fails: as ps_server_open. */
weir_status ps_live_page_open(const ps_live_page_opts *opts, const ps_input_info *info,
                              ps_live_page **out) WEIR_CHECKED;
/* Adds a signal; *number is its own. Of a result of a query values may be few, as those of beats:
 * slots between these do not count as missing. The last PS_LIVE_PAGE_SAMPLES slots are kept, at
 * most; beyond PS_LIVE_PAGE_SIGNALS it is left out. Fails: WEIR_ERR_MEMORY. */
weir_status ps_live_page_add(ps_live_page *p, const char *name, const char *units, int64_t fs_num,
                             int64_t fs_den, bool result, int *number) WEIR_CHECKED;
/* Takes slots [lo, hi) of a signal, NaN where absent, or where present[i] is 0 (NULL: all present),
 * and publishes them if somebody looks at the page. May be called by two threads. Fails:
 * WEIR_ERR_MEMORY. */
weir_status ps_live_page_take(ps_live_page *p, int number, int64_t lo, int64_t hi, const float *x,
                              const uint8_t *present) WEIR_CHECKED;
/* Takes a beat in a slot of signal 0. */
void ps_live_page_beat(ps_live_page *p, int64_t slot);
/* Ends the page; accepts NULL. */
void ps_live_page_close(ps_live_page **p);
#endif
