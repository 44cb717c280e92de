/* live.h - live input as the options ask for it: listens, says where, waits for the streams. */
#ifndef PS_LIVE_H
#define PS_LIVE_H
#include "stream/weir_live.h"

enum { PS_LIVE_USERS = 64 };

/* Streams that arrive, the connection they arrive by, and who reads them: the last to leave closes
 * it. */
typedef struct ps_live {
  weir_wire *wire;
  weir_live *live;
  weir_stream_live clock; /* for weir_stream_job */
  /* Told the end (ns from slot 0) once it is known. */
  void (*ended)(void *user, int64_t end);
  void *user[PS_LIVE_USERS];
  int n_users;
} ps_live;

/* Listens at `address`, writes the event live_listen with the port, waits for a sender and reads
 * up to the first sample: then the streams are known. Fails: as weir_wire_listen and
 * weir_live_begin. */
weir_status ps_live_open(const char *address, bool remote, const weir_live_cfg *cfg,
                         void (*ended)(void *user, int64_t end), ps_live **out) WEIR_CHECKED;
/* Makes `user` read a stream; with ps_live_leave. Fails: as weir_live_use. */
weir_status ps_live_join(ps_live *l, int stream, void *user) WEIR_CHECKED;
/* Takes a user back, before the run or after it; without users the input is closed, *l is NULL. */
void ps_live_leave(ps_live **l, int stream, const void *user);
/* Finds a stream by name, else by index; "" means the first in mV, or the only one there is.
 * Fails: WEIR_ERR_CONFIG, naming the streams that were declared. */
weir_status ps_live_find(const ps_live *l, const char *name_or_index, int *stream) WEIR_CHECKED;
#endif
