/* backend_capture.c - a run whose launches and copies are recorded once and then replayed as one
 * (on cuda, a CUDA graph): runs that begin with the same arrays on the same sides give the device
 * the same work. Memory of the caller is copied to and from staging outside of it. */
#include "exec/backend/device/backend.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "exec/plan/plan_priv.h"

void exec_capture_free(exec_capture *c)
{
  weir_device_capture_destroy(&c->replay);
  weir_free(&c->begin);
  weir_free(&c->end);
  weir_free(&c->up);
  weir_free(&c->down);
}

/* All of the run is launches and copies, and the host looks at nothing in between. */
static bool may_capture(const weir_plan *p)
{
  bool all = p->cfg.capture && !p->streaming && p->ranks == NULL && p->n_early == 0 &&
             !p->cfg.explain && !p->backend->capture.failed && p->n_groups > 0;

  for (int32_t i = 0; i < p->n_groups; i++) {
    all = all && p->groups[i].on_device;
  }
  return all;
}

static weir_status reserve(weir_plan *p)
{
  exec_capture *c = &p->backend->capture;
  void *memory = NULL;

  if (c->begin != NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof *c->begin, &memory));
  c->begin = memory;
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof *c->end, &memory));
  c->end = memory;
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof *c->up, &memory));
  c->up = memory;
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof *c->down, &memory));
  c->down = memory;
  return WEIR_OK;
}

static exec_where where_of(const exec_side *s)
{
  return (exec_where){s->on_device, s->on_host, s->stored != NULL && s->stored->pinned, s->device,
                      s->staging};
}

static bool begins_alike(const weir_plan *p)
{
  const struct exec_backend *b = p->backend;
  bool alike = b->capture.seen;

  for (int32_t a = 0; alike && a < p->n_arrays; a++) {
    const exec_where now = where_of(&b->sides[a]), then = b->capture.begin[a];

    alike = now.on_device == then.on_device && now.on_host == then.on_host &&
            now.pinned == then.pinned && now.device == then.device && now.staging == then.staging;
  }
  return alike;
}

static void note_begin(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    b->capture.begin[a] = where_of(&b->sides[a]);
  }
  b->capture.seen = true;
}

static void set_sides(weir_plan *p, const exec_where *to)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    p->backend->sides[a].on_device = to[a].on_device;
    p->backend->sides[a].on_host = to[a].on_host;
  }
}

/* Records the run; copies of the caller's memory to staging are made on the way. */
static weir_status record(weir_plan *p, weir_status (*groups)(weir_plan *))
{
  struct exec_backend *b = p->backend;
  exec_capture *c = &b->capture;
  weir_status status = WEIR_OK, ended;

  c->n_up = c->n_down = 0;
  WEIR_TRY(weir_device_capture_begin(b->work));
  c->recording = true;
  WEIR_TRY_GOTO(exec_backend_follow(b), done); /* the queue of copies is recorded, too */
  WEIR_TRY_GOTO(groups(p), done);
  WEIR_TRY_GOTO(exec_backend_finish(p), done);
done:
  c->recording = false;
  ended = weir_device_capture_end(b->work, &c->replay);
  if (status == WEIR_OK) {
    status = ended;
  }
  if (status != WEIR_OK) { /* a part of the run is none */
    weir_device_capture_destroy(&c->replay);
  }
  return status == WEIR_OK ? WEIR_OK : weir_trace_at(status, __FILE__, __LINE__, __func__);
}

/* What the host does of a run beside its launches. */
static weir_status prepare_replay(weir_plan *p)
{
  const exec_capture *c = &p->backend->capture;

  for (int32_t k = 0; k < c->n_up; k++) {
    exec_backend_stage(p, c->up[k]);
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    exec_group *group = &p->groups[i];
    const weir_box box = exec_anchor_box(group, 0, 0);

    WEIR_TRY(exec_check_gathers(p, group, &box));
    group->calls++;
  }
  return WEIR_OK;
}

static weir_status replay(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  WEIR_TRY(weir_device_replay(b->capture.replay, b->work));
  WEIR_TRY(weir_device_queue_sync(b->work));
  set_sides(p, b->capture.end);
  for (int32_t k = 0; k < b->capture.n_down; k++) {
    exec_backend_unstage(p, b->capture.down[k]);
  }
  return WEIR_OK;
}

static weir_status run_plain(weir_plan *p, weir_status (*groups)(weir_plan *))
{
  WEIR_TRY(groups(p));
  WEIR_TRY(exec_backend_end(p));
  return WEIR_OK;
}

/* A device that cannot record the run still runs it. */
static weir_status record_and_run(weir_plan *p, weir_status (*groups)(weir_plan *))
{
  struct exec_backend *b = p->backend;
  const weir_status status = record(p, groups);

  if (status == WEIR_OK) {
    for (int32_t a = 0; a < p->n_arrays; a++) {
      b->capture.end[a] = where_of(&b->sides[a]);
    }
    return replay(p);
  }
  if (status != WEIR_ERR_UNSUPPORTED && status != WEIR_ERR_EXTERNAL) {
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  weir_event("capture", WEIR_TEXT("device", weir_device_name(b->device)),
             WEIR_TEXT("refused", weir_last_message()));
  weir_clear_failure();
  b->capture.failed = true;
  set_sides(p, b->capture.begin);
  return run_plain(p, groups);
}

weir_status exec_backend_whole(weir_plan *p, weir_status (*groups)(weir_plan *))
{
  exec_capture *c = &p->backend->capture;

  if (!may_capture(p)) {
    return run_plain(p, groups);
  }
  WEIR_TRY(reserve(p));
  const bool alike = begins_alike(p);

  if (alike && c->replay != NULL) {
    WEIR_TRY(prepare_replay(p));
    return replay(p);
  }
  if (alike) {
    return record_and_run(p, groups);
  }
  weir_device_capture_destroy(&c->replay); /* runs begin otherwise now */
  note_begin(p);
  return run_plain(p, groups);
}
