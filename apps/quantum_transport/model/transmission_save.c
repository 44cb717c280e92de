/* transmission_save.c - checkpoints of a computation: the points done so far, and what they are
 * points of. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "conf/weir_rundir.h"
#include "model/transmission_priv.h"
#include "train/weir_checkpoint.h"

/* What has to agree, a digest (SHA-256 as text) each. */
enum {
  DEVICE,
  LEADS,
  ENERGIES,
  WAVE_VECTORS,
  OUTPUT,
  METHOD,
  SLABS,
  PARTS,
  DIGEST = 64,
  PATH = 4096
};

static const char *const part_name[PARTS] = {
    "identity/device", "identity/lead",   "identity/energy", "identity/k",
    "identity/output", "identity/method", "identity/slabs"};
static const char *const part_text[PARTS] = {
    "another device (its section of the configuration, or its files)",
    "other options of leads",
    "other energies or another energy.shift",
    "other wave vectors",
    "other outputs",
    "another transport.method or other options of PETSc (petsc)",
    "other slabs of the device (parallel.slabs, parallel.ranks_per_point, parallel.slab_error)"};

/* Sums of the points done. Files of earlier versions lack the flops of leads. */
enum { DONE, RESIDUAL, SHIFTED, FLOPS, LEADS_FLOPS, SECONDS, TOTALS = SECONDS + QT_PHASES };

typedef struct content {
  weir_store *store;
  char identity[PARTS][DIGEST + 1];
  double total[TOTALS];
  int64_t n_totals; /* in the file: TOTALS, or one less */
} content;

/* ---- Identity ---- */

static void mix(char hex[DIGEST + 1], const void *data, size_t bytes)
{
  char both[2 * DIGEST + 1];

  memcpy(both, hex, DIGEST);
  weir_sha256(bytes > 0 ? data : "", bytes, both + DIGEST);
  weir_sha256(both, 2 * DIGEST, hex);
}

static void mix_numbers(char *hex, int64_t n, const int64_t *x)
{
  mix(hex, x, (size_t)n * sizeof *x);
}

static void mix_leads(char *hex, const qt_lead_opts *o)
{
  const double real[] = {o->eta,           o->eta_phonons,      o->eta_relative, o->tolerance,
                         o->residual,      o->unit_circle,      o->mode_error,   o->contour.outer,
                         o->contour.inner, o->contour.residual, o->slepc.outer};
  const int64_t whole[] = {o->method, o->max_steps, o->contour.points, o->contour.max_cells,
                           o->slepc.targets};

  mix(hex, real, sizeof real);
  mix(hex, whole, sizeof whole);
}

static void identify(const transport_job *j, char identity[PARTS][DIGEST + 1])
{
  const qt_transport_spec *spec = j->spec;
  const int64_t output[] = {spec->dos, spec->lead_dos, spec->bond_currents, spec->channels};

  for (int i = 0; i < PARTS; i++) {
    weir_sha256("", 0, identity[i]);
  }
  qt_system_digest(j->s, identity[DEVICE]);
  mix_leads(identity[LEADS], &spec->lead);
  mix(identity[ENERGIES], spec->energy, (size_t)spec->n_energies * sizeof *spec->energy);
  mix(identity[ENERGIES], &spec->shift, sizeof spec->shift);
  mix(identity[WAVE_VECTORS], spec->k, (size_t)spec->n_k * sizeof *spec->k);
  mix(identity[OUTPUT], output, sizeof output);
  mix_numbers(identity[METHOD], 1, &(int64_t){spec->method});
  for (int64_t i = 0; spec->petsc != NULL && i < spec->petsc->count; i++) {
    mix(identity[METHOD], spec->petsc->items[i], strlen(spec->petsc->items[i]));
  }
  mix_numbers(identity[SLABS], 1, &(int64_t){transport_slabs_of(spec)});
  if (transport_slabs_of(spec) > 1) {
    mix(identity[SLABS], &spec->slab_error, sizeof spec->slab_error);
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

static weir_status add_identity(content *c)
{
  WEIR_TRY(weir_store_create(&c->store));
  for (int i = 0; i < PARTS; i++) {
    WEIR_TRY(add(c, part_name[i], WEIR_U8, DIGEST, 0, c->identity[i]));
  }
  return WEIR_OK;
}

/* Results of all points, 0 where they are not computed yet. */
static weir_status add_results(const transport_job *j, content *c)
{
  static const char *const modes[QT_LEADS] = {"point/modes_left", "point/modes_right"};
  const qt_transport *out = j->out;
  char name[64];

  WEIR_TRY(add_identity(c));
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
  identify(j, c.identity);
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

/* Path of the checkpoint after so many points, whatever its format. */
static weir_status find_file(const char *dir, int64_t done, char *path, size_t size)
{
  WEIR_TRY(weir_checkpoint_path(dir, done, WEIR_CHECKPOINT_NETCDF, path, size));
  return weir_file_exists(path) ? WEIR_OK
                                : weir_checkpoint_path(dir, done, WEIR_CHECKPOINT_RAW, path, size);
}

static weir_status compare(const char *path, const content *ours, const content *theirs)
{
  for (int i = 0; i < PARTS; i++) {
    if (memcmp(ours->identity[i], theirs->identity[i], DIGEST) != 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: a checkpoint of a run with %s: give what it was started with, "
                       "--overwrite to begin again, or another --out",
                       path, part_text[i]);
    }
  }
  return WEIR_OK;
}

/* A file that is damaged is left to weir_checkpoint_resume, which takes the one before. */
static weir_status check_identity(const transport_job *j, const content *ours)
{
  content theirs = {.store = NULL};
  char path[PATH];
  int64_t newest = -1;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_checkpoint_newest(j->spec->save->dir, &newest), done);
  if (newest < 0) {
    goto done;
  }
  WEIR_TRY_GOTO(find_file(j->spec->save->dir, newest, path, sizeof path), done);
  WEIR_TRY_GOTO(add_identity(&theirs), done);
  status = weir_checkpoint_load(&(weir_checkpoint){.store = theirs.store}, path, true);
  status = status == WEIR_OK         ? compare(path, ours, &theirs)
           : status == WEIR_ERR_DATA ? WEIR_OK
                                     : status;
done:
  weir_store_destroy(&theirs.store);
  return status;
}

/* Resumes from files with so many totals. */
static weir_status resume(const transport_job *j, int64_t n_totals, content *c, int64_t *step)
{
  weir_store_destroy(&c->store);
  c->n_totals = n_totals;
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

static weir_status load(const transport_job *j, const content *ours, content *c, int64_t *step)
{
  const char *dir = j->spec->save->dir;
  char path[PATH];

  WEIR_TRY(resume_any(j, c, step));
  if (*step < 0) {
    return WEIR_OK;
  }
  WEIR_TRY(find_file(dir, *step, path, sizeof path));
  WEIR_TRY(compare(path, ours, c));
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
  content ours = {.store = NULL}, c = {.store = NULL};
  int64_t step = -1;
  weir_status status = WEIR_OK;

  *done = 0;
  if (!save->resume) {
    return WEIR_OK;
  }
  identify(j, ours.identity);
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
