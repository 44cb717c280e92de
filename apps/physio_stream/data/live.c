/* live.c - see live.h. */
#include "data/live.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "conf/weir_number.h"

static void close_live(ps_live **l)
{
  weir_live_destroy(&(*l)->live);
  weir_wire_close(&(*l)->wire);
  weir_free(l);
}

/* Names the user's option where the library hit its limit. */
static weir_status name_limit(weir_status status)
{
  if (status == WEIR_OK || strcmp(weir_last_option(), "max_bad_lines") != 0) {
    return status;
  }
  return weir_fail(status, "%s; input.max_bad_lines says how many may be", weir_last_message());
}

/* The end of the clock is that of all signals. */
static weir_status wait_live(void *context, int64_t from, int64_t to, int64_t *final, bool *ended)
{
  const ps_live *l = context;

  WEIR_TRY(name_limit(weir_live_wait(l->live, from, to, final, ended)));
  for (int i = 0; i < l->n_users && *ended; i++) {
    l->ended(l->user[i], *final);
  }
  return WEIR_OK;
}

static weir_status begin(const char *address, bool remote, const weir_live_cfg *cfg, ps_live *l)
{
  WEIR_TRY(weir_wire_listen(address, remote, &l->wire));
  const int port = weir_wire_port(l->wire);

  weir_event("live_listen", WEIR_TEXT("address", address), WEIR_INT("port", port));
  if (port > 0) {
    weir_info("live", "waiting for samples at %s, port %d", address, port);
  } else {
    weir_info("live", "waiting for samples at %s", address);
  }
  WEIR_TRY(weir_live_create(cfg, weir_live_wire(l->wire), &l->live));
  return name_limit(weir_live_begin(l->live));
}

weir_status ps_live_open(const char *address, bool remote, const weir_live_cfg *cfg,
                         void (*ended)(void *user, int64_t end), ps_live **out)
{
  ps_live *l = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *l, (void **)&l));
  l->clock = (weir_stream_live){wait_live, l};
  l->ended = ended;
  const weir_status status = begin(address, remote, cfg, l);

  if (status != WEIR_OK) {
    close_live(&l);
    return status;
  }
  *out = l;
  return WEIR_OK;
}

weir_status ps_live_join(ps_live *l, int stream, void *user)
{
  if (l->n_users == PS_LIVE_USERS) {
    return weir_fail(WEIR_ERR_CONFIG, "live input: over %d signals are asked for", PS_LIVE_USERS);
  }
  WEIR_TRY(weir_live_use(l->live, stream));
  l->user[l->n_users++] = user;
  return WEIR_OK;
}

void ps_live_leave(ps_live **live, int stream, const void *user)
{
  ps_live *l = *live;
  int kept = 0;

  *live = NULL;
  for (int i = 0; i < l->n_users; i++) {
    if (l->user[i] == user) {
      weir_live_leave(l->live, stream);
    } else {
      l->user[kept++] = l->user[i];
    }
  }
  l->n_users = kept;
  if (kept == 0) {
    close_live(&l);
  }
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
