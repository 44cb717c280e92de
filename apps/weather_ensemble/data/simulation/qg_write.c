/* qg_write.c - see qg_write.h. */
#include "data/simulation/qg_write.h"
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"

enum { MESSAGE = 1024 };

/* Archives that grow, and memory for the members of a field. */
typedef struct output {
  wx_qg_ensemble *e;
  wx_archive_writer *forecasts, *truth;
  int64_t written, known; /* times of the truth */
  int64_t first, n;       /* initialisation times that are computed and not written */
  float *fields;          /* [n_members, cells] */
  weir_status status;
  char message[MESSAGE];
} output;

static weir_status write_start(output *o, int64_t start)
{
  const wx_archive_info *const f = wx_qg_ensemble_forecasts(o->e);
  const int64_t cells = wx_grid_cells(&f->grid);

  for (int64_t l = 0; l < f->n_leads; l++) {
    for (int64_t q = 0; q < f->n_quantities; q++) {
      for (int64_t m = 0; m < f->n_members; m++) {
        WEIR_TRY(wx_qg_ensemble_field(o->e, start, l, q, m, o->fields + m * cells));
      }
      WEIR_TRY(wx_archive_write(o->forecasts, start, l, q, 0, f->n_members, o->fields));
    }
  }
  return WEIR_OK;
}

/* What is computed and not written: initialisation times, and the truth as far as it is known. */
static weir_status write_ready(output *o)
{
  const wx_archive_info *const f = wx_qg_ensemble_truth(o->e);

  for (int64_t i = 0; i < o->n; i++) {
    WEIR_TRY(write_start(o, o->first + i));
  }
  for (; o->written < o->known; o->written++) {
    for (int64_t q = 0; q < f->n_quantities; q++) {
      WEIR_TRY(wx_qg_ensemble_true_field(o->e, o->written, q, o->fields));
      WEIR_TRY(wx_archive_write(o->truth, o->written, 0, q, 0, 1, o->fields));
    }
  }
  return WEIR_OK;
}

/* On another thread, whose failures are its own. */
static void write_beside(void *context)
{
  output *const o = context;

  o->status = write_ready(o);
  if (o->status != WEIR_OK) {
    (void)snprintf(o->message, sizeof o->message, "%s", weir_last_message());
  }
}

/* Some initialisation times are written while the next ones are computed. */
static weir_status write_all(output *o)
{
  const int64_t n = wx_qg_ensemble_forecasts(o->e)->n_init_times,
                batch = wx_qg_ensemble_batch(o->e);

  for (int64_t s = 0; s < n; s += batch) {
    const int64_t now = s + batch < n ? batch : n - s;

    WEIR_TRY(wx_qg_ensemble_compute(o->e, s, now, write_beside, o));
    if (o->status != WEIR_OK) {
      return weir_fail(o->status, "%s", o->message);
    }
    o->first = s;
    o->n = now;
    o->known = wx_qg_ensemble_known(o->e);
    weir_progress("simulate", s + now, n, "initialisation times");
  }
  return write_ready(o);
}

weir_status wx_qg_write(const wx_qg_opts *opts, const weir_exec_cfg *exec, uint64_t seed,
                        const char *forecasts, const char *truth)
{
  output o = {.written = 0};
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_qg_ensemble_create(opts, exec, seed, &o.e));
  const wx_archive_info *const f = wx_qg_ensemble_forecasts(o.e);

  WEIR_TRY_GOTO(
      weir_alloc(f->n_members * wx_grid_cells(&f->grid), sizeof *o.fields, (void **)&o.fields),
      done);
  WEIR_TRY_GOTO(wx_archive_create(forecasts, f, &o.forecasts), done);
  WEIR_TRY_GOTO(wx_archive_create(truth, wx_qg_ensemble_truth(o.e), &o.truth), done);
  WEIR_TRY_GOTO(wx_archive_put_text(o.forecasts, "source", "weather_ensemble: simulated forecasts"),
                done);
  WEIR_TRY_GOTO(wx_archive_put_text(o.truth, "source", "weather_ensemble: simulated truth"), done);
  WEIR_TRY_GOTO(write_all(&o), done);
  WEIR_TRY_GOTO(wx_archive_commit(&o.truth), done);
  WEIR_TRY_GOTO(wx_archive_commit(&o.forecasts), done);
done:
  wx_archive_abandon(&o.forecasts);
  wx_archive_abandon(&o.truth);
  weir_free(&o.fields);
  wx_qg_ensemble_destroy(&o.e);
  return status;
}
