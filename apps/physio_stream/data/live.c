/* live.c - see live.h. */
#include "data/live.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_log.h"
#include "conf/weir_number.h"

weir_status ps_live_open(const char *address, bool remote, const weir_live_cfg *cfg, ps_live *out)
{
  weir_status status = WEIR_OK;

  *out = (ps_live){NULL, NULL};
  WEIR_TRY(weir_wire_listen(address, remote, &out->wire));
  const int port = weir_wire_port(out->wire);

  weir_event("live_listen", WEIR_TEXT("address", address), WEIR_INT("port", port));
  if (port > 0) {
    weir_info("live", "waiting for samples at %s, port %d", address, port);
  } else {
    weir_info("live", "waiting for samples at %s", address);
  }
  WEIR_TRY_GOTO(weir_live_create(cfg, weir_live_wire(out->wire), &out->live), done);
  WEIR_TRY_GOTO(weir_live_begin(out->live), done);
  return WEIR_OK;
done:
  ps_live_close(out);
  return status;
}

void ps_live_close(ps_live *l)
{
  weir_live_destroy(&l->live);
  weir_wire_close(&l->wire);
}

static weir_status not_there(const ps_live *l, const char *name)
{
  char names[512] = "";
  size_t used = 0;

  for (int i = 0; i < weir_live_count(l->live) && used < sizeof names; i++) {
    const weir_live_stream *s = weir_live_get(l->live, i);

    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s (%s)", i > 0 ? ", " : "",
                             s->name, s->unit[0] != 0 ? s->unit : "no unit");
  }
  return weir_fail(WEIR_ERR_CONFIG, "input.signal: live input has no stream %s%s; it declares %s",
                   name[0] != 0 ? "" : "in mV and several others, so say which", name, names);
}

weir_status ps_live_find(const ps_live *l, const char *name, int *stream)
{
  const int n = weir_live_count(l->live);
  int64_t index = 0;

  for (int i = 0; i < n; i++) {
    const weir_live_stream *s = weir_live_get(l->live, i);

    if (strcmp(name[0] != 0 ? s->name : s->unit, name[0] != 0 ? name : "mV") == 0) {
      *stream = i;
      return WEIR_OK;
    }
  }
  if (name[0] == 0 && n == 1) {
    *stream = 0;
    return WEIR_OK;
  }
  if (name[0] == 0 || weir_number_int(name, &index) != WEIR_NUMBER_OK || index < 0 || index >= n) {
    return not_there(l, name);
  }
  *stream = (int)index;
  return WEIR_OK;
}
