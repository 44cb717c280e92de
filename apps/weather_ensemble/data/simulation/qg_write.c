/* qg_write.c - see qg_write.h. */
#include "data/simulation/qg_write.h"
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "comm/weir_items.h"
#include "data/invariants.h"

enum { MESSAGE = 1024 };

/* Archives that grow, and memory for the members of a field. */
typedef struct output {
  wx_qg_ensemble *e;
  weir_comm *comm;
  wx_archive_writer *forecasts, *truth, *stations; /* stations: NULL without any */
  int64_t written, known;                          /* times of the truth */
  int64_t first, n; /* initialisation times that are computed and not written */
  float *fields;    /* [n_members, cells], and of stations at least one time */
  weir_status status;
  char message[MESSAGE];
} output;

/* All members of a field into o->fields. */
static weir_status compute_members(const output *o, int64_t start, int64_t lead, int64_t quantity)
{
  const wx_archive_info *const f = wx_qg_ensemble_forecasts(o->e);
  const int64_t cells = wx_grid_cells(&f->grid);

  for (int64_t m = 0; m < f->n_members; m++) {
    WEIR_TRY(wx_qg_ensemble_field(o->e, start, lead, quantity, m, o->fields + m * cells));
  }
  return WEIR_OK;
}

static weir_status write_start(output *o, int64_t start)
{
  const wx_archive_info *const f = wx_qg_ensemble_forecasts(o->e);

  for (int64_t l = 0; l < f->n_leads; l++) {
    for (int64_t q = 0; q < f->n_quantities; q++) {
      WEIR_TRY(compute_members(o, start, l, q));
      WEIR_TRY(wx_archive_write(o->forecasts, start, l, q, 0, f->n_members, o->fields));
    }
  }
  return WEIR_OK;
}

/* The truth as far as it is known. */
static weir_status write_truth(output *o)
{
  const wx_archive_info *const f = wx_qg_ensemble_truth(o->e);

  for (; o->written < o->known; o->written++) {
    for (int64_t q = 0; q < f->n_quantities; q++) {
      WEIR_TRY(wx_qg_ensemble_true_field(o->e, o->written, q, o->fields));
      WEIR_TRY(wx_archive_write(o->truth, o->written, 0, q, 0, 1, o->fields));
    }
    if (o->stations != NULL) {
      WEIR_TRY(wx_qg_ensemble_observe(o->e, o->written, o->fields));
      WEIR_TRY(wx_archive_write(o->stations, o->written, 0, 0, 0, 1, o->fields));
    }
  }
  return WEIR_OK;
}

/* What is computed and not written. */
static weir_status write_ready(output *o)
{
  for (int64_t i = 0; i < o->n; i++) {
    WEIR_TRY(write_start(o, o->first + i));
  }
  return write_truth(o);
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

/* ---- Forecasts that ranks share: an item is a batch of initialisation times ---- */

static int64_t begin_of(const output *o, int64_t item, int64_t *n)
{
  const int64_t all = wx_qg_ensemble_forecasts(o->e)->n_init_times,
                batch = wx_qg_ensemble_batch(o->e), first = item * batch;

  *n = first + batch < all ? batch : all - first;
  return first;
}

static weir_status make_batch(void *context, int64_t item, weir_bytes *out)
{
  const output *const o = context;
  const wx_archive_info *const f = wx_qg_ensemble_forecasts(o->e);
  const int64_t bytes = f->n_members * wx_grid_cells(&f->grid) * (int64_t)sizeof(float);
  int64_t n = 0;
  const int64_t first = begin_of(o, item, &n);

  WEIR_TRY(wx_qg_ensemble_compute(o->e, first, n, NULL, NULL));
  for (int64_t i = 0; i < n * f->n_leads * f->n_quantities; i++) {
    WEIR_TRY(compute_members(o, first + i / (f->n_leads * f->n_quantities),
                             i / f->n_quantities % f->n_leads, i % f->n_quantities));
    WEIR_TRY(weir_bytes_put(out, o->fields, bytes));
  }
  return WEIR_OK;
}

static weir_status take_batch(void *context, int64_t item, const char *data, int64_t n_bytes)
{
  output *const o = context;
  const wx_archive_info *const f = wx_qg_ensemble_forecasts(o->e);
  const int64_t bytes = f->n_members * wx_grid_cells(&f->grid) * (int64_t)sizeof(float);
  const char *at = data;
  int64_t n = 0;
  const int64_t first = begin_of(o, item, &n);

  for (int64_t i = 0; i < n * f->n_leads * f->n_quantities; i++) {
    WEIR_TRY(weir_bytes_get(&at, data + n_bytes, o->fields, bytes));
    WEIR_TRY(wx_archive_write(o->forecasts, first + i / (f->n_leads * f->n_quantities),
                              i / f->n_quantities % f->n_leads, i % f->n_quantities, 0,
                              f->n_members, o->fields));
  }
  weir_progress("simulate", first + n, f->n_init_times, "initialisation times");
  o->known = wx_qg_ensemble_known(o->e);
  return write_truth(o);
}

static weir_status share_all(output *o)
{
  const int64_t n = wx_qg_ensemble_forecasts(o->e)->n_init_times,
                batch = wx_qg_ensemble_batch(o->e);
  const weir_items items = {.comm = o->comm,
                            .what = "prepare",
                            .unit = "batches of initialisation times",
                            .n = (n + batch - 1) / batch,
                            .make = make_batch,
                            .take = take_batch};

  WEIR_TRY(weir_items_run(&items, o));
  if (weir_comm_rank(o->comm) > 0) {
    return WEIR_OK;
  }
  WEIR_TRY(wx_qg_ensemble_finish_truth(o->e));
  o->known = wx_qg_ensemble_known(o->e);
  return write_truth(o);
}

/* On rank 0. */
static weir_status create_archives(output *o, const wx_qg_files *files)
{
  const wx_archive_info *const at = wx_qg_ensemble_stations(o->e);

  WEIR_TRY(wx_archive_create(files->forecasts, wx_qg_ensemble_forecasts(o->e), &o->forecasts));
  WEIR_TRY(wx_archive_create(files->truth, wx_qg_ensemble_truth(o->e), &o->truth));
  WEIR_TRY(wx_archive_put_text(o->forecasts, "source", "weather_ensemble: simulated forecasts"));
  WEIR_TRY(wx_archive_put_text(o->truth, "source", "weather_ensemble: simulated truth"));
  if (at == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(wx_archive_create(files->stations, at, &o->stations));
  return wx_archive_put_text(o->stations, "source", "weather_ensemble: simulated observations");
}

/* Height and land of the model that forecasts. */
static weir_status write_surface(const output *o, const char *path)
{
  const wx_surface *const s = wx_qg_ensemble_surface(o->e);
  wx_invariants v = {.cells = s != NULL ? s->n : 0};
  weir_status status = WEIR_OK;

  if (s == NULL) {
    return WEIR_OK;
  }
  for (int k = 0; k < WX_INVARIANTS; k++) {
    const double *const from = k == WX_OROGRAPHY ? s->height : s->land;

    WEIR_TRY_GOTO(weir_alloc(s->n, sizeof(float), (void **)&v.field[k]), done);
    for (int64_t i = 0; i < s->n; i++) {
      v.field[k][i] = (float)from[i];
    }
  }
  WEIR_TRY_GOTO(wx_invariants_write(&v, wx_qg_ensemble_forecasts(o->e),
                                    "weather_ensemble: surface of the simulated model", path),
                done);
done:
  wx_invariants_fini(&v);
  return status;
}

static weir_status commit(output *o, const wx_qg_files *files)
{
  WEIR_TRY(write_surface(o, files->invariants));
  if (o->stations != NULL) {
    WEIR_TRY(wx_archive_commit(&o->stations));
  }
  WEIR_TRY(wx_archive_commit(&o->truth));
  return wx_archive_commit(&o->forecasts);
}

weir_status wx_qg_write(const wx_qg_opts *opts, const weir_exec_cfg *exec, uint64_t seed,
                        weir_comm *comm, const wx_qg_files *files)
{
  const bool alone = comm == NULL || weir_comm_size(comm) == 1;
  const bool leads = alone || weir_comm_rank(comm) == 0;
  output o = {.comm = comm};
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_qg_ensemble_create(opts, exec, seed, &o.e));
  const wx_archive_info *const f = wx_qg_ensemble_forecasts(o.e);
  const int64_t values = f->n_members * wx_grid_cells(&f->grid),
                stations = opts->surface.stations.count;

  WEIR_TRY_GOTO(
      weir_alloc(values > stations ? values : stations, sizeof *o.fields, (void **)&o.fields),
      done);
  WEIR_TRY_GOTO(leads ? create_archives(&o, files) : WEIR_OK, done);
  WEIR_TRY_GOTO(alone ? write_all(&o) : share_all(&o), done);
  WEIR_TRY_GOTO(leads ? commit(&o, files) : WEIR_OK, done);
done:
  wx_archive_abandon(&o.forecasts);
  wx_archive_abandon(&o.truth);
  wx_archive_abandon(&o.stations);
  weir_free(&o.fields);
  wx_qg_ensemble_destroy(&o.e);
  return status;
}
