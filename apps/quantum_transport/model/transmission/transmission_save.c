/* transmission_save.c - checkpoints of a computation: the points done so far, and what they are
 * points of. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "conf/weir_rundir.h"
#include "model/checkpoint.h"
#include "model/transmission/transmission_priv.h"
#include "train/weir_checkpoint.h"

/* What has to agree. */
enum { DEVICE, LEADS, ENERGIES, WAVE_VECTORS, OUTPUT, METHOD, SLABS, FIELDS, PATH = 4096 };

static const qt_identity_field fields[FIELDS] = {
    {"identity/device", "another device (its section of the configuration, or its files)"},
    {"identity/lead", "other options of leads"},
    {"identity/energy", "other energies or another energy.shift"},
    {"identity/k", "other wave vectors"},
    {"identity/output", "other outputs"},
    {"identity/method", "another transport.method or other options of PETSc (petsc)"},
    {"identity/slabs",
     "other slabs of the device (parallel.slabs, parallel.ranks_per_point, parallel.slab_error)"},
};

/* Sums of the points done. Files of earlier versions lack the flops of leads. */
enum { DONE, RESIDUAL, SHIFTED, FLOPS, LEADS_FLOPS, SECONDS, TOTALS = SECONDS + QT_PHASES };

typedef struct content {
  weir_store *store;
  qt_identity identity;
  double total[TOTALS];
  int64_t n_totals; /* in the file: TOTALS, or one less */
} content;

/* ---- Identity ---- */

static void identify(const transport_job *j, qt_identity *out)
{
  const qt_transport_spec *spec = j->spec;
  const int64_t output[] = {spec->dos, spec->lead_dos, spec->bond_currents, spec->channels};

  qt_identity_begin(fields, FIELDS, out);
  qt_system_digest(j->s, out->digest[DEVICE]);
  qt_digest_leads(out->digest[LEADS], &spec->lead);
  qt_digest_mix(out->digest[ENERGIES], spec->energy,
                (size_t)spec->n_energies * sizeof *spec->energy);
  qt_digest_mix(out->digest[ENERGIES], &spec->shift, sizeof spec->shift);
  qt_digest_mix(out->digest[WAVE_VECTORS], spec->k, (size_t)spec->n_k * sizeof *spec->k);
  qt_digest_mix(out->digest[OUTPUT], output, sizeof output);
  qt_digest_integers(out->digest[METHOD], 1, &(int64_t){spec->method});
  for (int64_t i = 0; spec->petsc != NULL && i < spec->petsc->count; i++) {
    qt_digest_mix(out->digest[METHOD], spec->petsc->items[i], strlen(spec->petsc->items[i]));
  }
  qt_digest_integers(out->digest[SLABS], 1, &(int64_t){transport_slabs_of(spec)});
  if (transport_slabs_of(spec) > 1) {
    qt_digest_mix(out->digest[SLABS], &spec->slab_error, sizeof spec->slab_error);
  }
}

/* ---- What a file has ---- */

static weir_status add(content *c, const char *name, weir_dtype dtype, int64_t rows,
                       int64_t columns, void *data)
{
  const weir_tensor t =
      weir_tensor_wrap(data, dtype, columns > 0 ? 2 : 1, (const int64_t[]){rows, columns});

  return weir_store_add_view(c->store, name, &t);
}

/* Results of all points, 0 where they are not computed yet. */
static weir_status add_results(const transport_job *j, content *c)
{
  static const char *const modes[QT_LEADS] = {"point/modes_left", "point/modes_right"};
  const qt_transport *out = j->out;
  char name[64];

  WEIR_TRY(weir_store_create(&c->store));
  WEIR_TRY(qt_identity_add(&c->identity, c->store));
  WEIR_TRY(add(c, "point/totals", WEIR_F64, c->n_totals, 0, c->total));
  WEIR_TRY(add(c, "point/transmission", WEIR_F64, j->points, 0, out->transmission));
  for (int l = 0; l < QT_LEADS; l++) {
    WEIR_TRY(add(c, modes[l], WEIR_I64, j->points, 0, out->n_modes[l]));
  }
  for (int i = QT_POINT_DOS; i < QT_POINT_ARRAYS; i++) {
    const int64_t count = qt_point_count(&j->point, (qt_point_array)i);

    (void)snprintf(name, sizeof name, "point/%s", qt_point_name((qt_point_array)i));
    if (count > 0) {
      WEIR_TRY(add(c, name, WEIR_F64, j->points, count, transport_result_of(out, i)));
    }
  }
  return WEIR_OK;
}

static void get_totals(const qt_transport *out, int64_t done, double total[TOTALS])
{
  total[DONE] = (double)done;
  total[RESIDUAL] = out->residual;
  total[SHIFTED] = (double)out->n_shifted;
  total[FLOPS] = out->flops;
  total[LEADS_FLOPS] = out->leads_flops;
  memcpy(total + SECONDS, out->seconds, sizeof out->seconds);
}

static void set_totals(const double total[TOTALS], qt_transport *out)
{
  out->residual = total[RESIDUAL];
  out->n_shifted = (int64_t)total[SHIFTED];
  out->flops = total[FLOPS];
  out->leads_flops = total[LEADS_FLOPS];
  memcpy(out->seconds, total + SECONDS, sizeof out->seconds);
}

/* ---- Written ---- */

weir_status transport_save(const transport_job *j, int64_t done)
{
  const qt_transport_save *save = j->spec->save;
  const weir_checkpoint_format format = (weir_checkpoint_format)save->format;
  const double began = weir_clock();
  char text[96], path[PATH];
  content c = {.n_totals = TOTALS};
  weir_status status = WEIR_OK;

  (void)snprintf(text, sizeof text, "%lld of %lld points of coherent transport", (long long)done,
                 (long long)j->points);
  identify(j, &c.identity);
  get_totals(j->out, done, c.total);
  WEIR_TRY_GOTO(save->begin != NULL ? save->begin(save->context) : WEIR_OK, done);
  WEIR_TRY_GOTO(add_results(j, &c), done);
  WEIR_TRY_GOTO(weir_checkpoint_path(save->dir, done, format, path, sizeof path), done);
  WEIR_TRY_GOTO(
      weir_checkpoint_save(
          &(weir_checkpoint){.store = c.store, .note = &(weir_note){"title", text}, .n_notes = 1},
          format, path),
      done);
  weir_run_dir_keep(); /* what fails later does not take them along */
  WEIR_TRY_GOTO(weir_checkpoint_prune(save->dir, save->keep), done);
  weir_event("checkpoint", WEIR_INT("points", done), WEIR_TEXT("file", path),
             WEIR_REAL("seconds", weir_clock() - began));
done:
  weir_store_destroy(&c.store);
  return status;
}

/* ---- Read ---- */

/* A file that is damaged is left to weir_checkpoint_resume, which takes the one before. */
static weir_status check_identity(const transport_job *j, const qt_identity *ours)
{
  char path[PATH];
  int64_t newest = -1;

  WEIR_TRY(weir_checkpoint_newest(j->spec->save->dir, &newest));
  if (newest < 0) {
    return WEIR_OK;
  }
  WEIR_TRY(qt_checkpoint_find(j->spec->save->dir, newest, path, sizeof path));
  const weir_status status = qt_identity_check(ours, path);

  return status == WEIR_ERR_DATA ? WEIR_OK : status;
}

/* Resumes from files with so many totals. */
static weir_status resume(const transport_job *j, int64_t n_totals, content *c, int64_t *step)
{
  weir_store_destroy(&c->store);
  c->n_totals = n_totals;
  qt_identity_begin(fields, FIELDS, &c->identity);
  WEIR_TRY(add_results(j, c));
  return weir_checkpoint_resume(&(weir_checkpoint){.store = c->store}, j->spec->save->dir, step);
}

/* Of this version, or an earlier one: its leads took an unknown number of flops. */
static weir_status resume_any(const transport_job *j, content *c, int64_t *step)
{
  char reason[512];
  weir_status status = resume(j, TOTALS, c, step);

  if (status != WEIR_ERR_SHAPE) {
    return status;
  }
  (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
  weir_clear_failure();
  status = resume(j, TOTALS - 1, c, step);
  if (status == WEIR_ERR_SHAPE) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: checkpoints of another version of this program (%s): resume with that "
                     "one, give --overwrite to begin again, or another --out",
                     j->spec->save->dir, reason);
  }
  memmove(c->total + SECONDS, c->total + LEADS_FLOPS, QT_PHASES * sizeof *c->total);
  c->total[LEADS_FLOPS] = NAN;
  return status;
}

static weir_status load(const transport_job *j, const qt_identity *ours, content *c, int64_t *step)
{
  const char *dir = j->spec->save->dir;
  char path[PATH];

  WEIR_TRY(resume_any(j, c, step));
  if (*step < 0) {
    return WEIR_OK;
  }
  WEIR_TRY(qt_checkpoint_find(dir, *step, path, sizeof path));
  WEIR_TRY(qt_identity_compare(ours, &c->identity, path));
  if (c->total[DONE] != (double)*step || *step > j->points) {
    return weir_fail(WEIR_ERR_DATA, "%s: holds %.0f of %lld points, not as many as its name says",
                     path, c->total[DONE], (long long)j->points);
  }
  set_totals(c->total, j->out);
  return WEIR_OK;
}

weir_status transport_load(const transport_job *j, int64_t *done)
{
  const qt_transport_save *save = j->spec->save;
  content c = {.store = NULL};
  qt_identity ours;
  int64_t step = -1;
  weir_status status = WEIR_OK;

  *done = 0;
  if (!save->resume) {
    return WEIR_OK;
  }
  identify(j, &ours);
  WEIR_TRY_GOTO(check_identity(j, &ours), done);
  WEIR_TRY_GOTO(load(j, &ours, &c, &step), done);
  if (step >= 0) {
    WEIR_TRY_GOTO(save->begin != NULL ? save->begin(save->context) : WEIR_OK, done);
    weir_info("run", "resumed: %lld of %lld points are done", (long long)step,
              (long long)j->points);
    weir_event("resume", WEIR_INT("points", step));
    *done = step;
  }
done:
  weir_store_destroy(&c.store);
  return status;
}
