/* live.h - live input as the options ask for it: listens, says where, waits for the streams. */
#ifndef PS_LIVE_H
#define PS_LIVE_H
#include "stream/weir_live.h"

/* Streams that arrive, and the connection they arrive by. */
typedef struct ps_live {
  weir_wire *wire;
  weir_live *live;
} ps_live;

/* Listens at `address`, writes the event live_listen with the port, waits for a sender and reads
 * up to the first sample: then the streams are known. Fails: as weir_wire_listen and
 * weir_live_begin. */
weir_status ps_live_open(const char *address, bool remote, const weir_live_cfg *cfg,
                         ps_live *out) WEIR_CHECKED;
void ps_live_close(ps_live *l);
/* Stream by name, else by index; "" means the first in mV, or the only one there is.
 * Fails: WEIR_ERR_CONFIG, naming the streams that were declared. */
weir_status ps_live_find(const ps_live *l, const char *name_or_index, int *stream) WEIR_CHECKED;
#endif
