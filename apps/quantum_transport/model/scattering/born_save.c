/* born_save.c - see born_priv.h: checkpoints of an iteration. Simple mixing continues from the
 * self-energies in use; a solver of PETSc from all residuals that it was given. Both have all
 * points, whichever ranks computed them: rank 0 reads and writes. */
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "model/checkpoint.h"
#include "model/ranks.h"
#include "model/scattering/born_priv.h"
#include "train/weir_checkpoint.h"

enum { DEVICE, PHONONS, LEADS, POINTS, CONTACTS, OPTIONS, FIELDS, PATH = 4096 };

static const qt_identity_field fields[FIELDS] = {
    {"identity/device", "another device (its section of the configuration, its files, or the "
                        "electrostatic potential)"},
    {"identity/phonons",
     "other phonons (scattering.phonons.device) or another scattering.gradient"},
    {"identity/lead", "other options of leads"},
    {"identity/points", "other energies, wave vectors or another energy.shift"},
    {"identity/contact", "other chemical potentials or temperatures of the leads"},
    {"identity/scattering", "other options of scattering, or other options of PETSc (petsc)"},
};

/* Numbers of a step. */
enum { NUMBERS = sizeof(qt_born_step) / sizeof(double) };

/* ---- Identity ---- */

static void mix_gradient(char *digest, const qt_gradient *g)
{
  for (int64_t i = 0; i < g->n_pairs; i++) {
    const qt_gradient_pair *p = &g->pair[i];
    const int64_t whole[] = {p->from, p->to, p->image[0], p->image[1], p->first};

    qt_digest_mix(digest, whole, sizeof whole);
  }
  qt_digest_mix(digest, g->value, (size_t)g->count * sizeof *g->value);
}

/* All but the number of iterations, which may be raised. */
static void mix_options(char *digest, const qt_born_spec *s)
{
  const qt_scattering_opts *o = s->opts;
  const double real[] = {o->mixing, o->tolerance, o->current_tolerance, o->energy_tolerance,
                         o->memory};
  const int64_t whole[] = {o->retarded,  o->method,        o->history,
                           o->fission,   o->window,        o->precision,
                           o->normalise, o->phonons.state, o->phonons.frequencies};

  qt_digest_mix(digest, real, sizeof real);
  qt_digest_mix(digest, whole, sizeof whole);
  for (int64_t i = 0; s->petsc != NULL && i < s->petsc->count; i++) {
    qt_digest_mix(digest, s->petsc->items[i], strlen(s->petsc->items[i]));
  }
}

static void identify(const born_job *j, qt_identity *out)
{
  const qt_born_spec *s = j->spec;

  qt_identity_begin(fields, FIELDS, out);
  qt_system_digest(s->electrons, out->digest[DEVICE]);
  qt_system_digest(s->phonons, out->digest[PHONONS]);
  qt_digest_mix(out->digest[PHONONS], j->mass_factor,
                (size_t)j->list.n_atoms * sizeof *j->mass_factor);
  mix_gradient(out->digest[PHONONS], s->gradient);
  qt_digest_leads(out->digest[LEADS], s->lead);
  qt_digest_mix(out->digest[POINTS], s->energy, (size_t)s->n_energies * sizeof *s->energy);
  qt_digest_mix(out->digest[POINTS], s->k, (size_t)s->n_k * sizeof *s->k);
  qt_digest_mix(out->digest[POINTS], &s->shift, sizeof s->shift);
  for (int c = 0; c < QT_LEADS; c++) {
    const double contact[] = {s->reservoir[c].mu, s->reservoir[c].temperature};

    qt_digest_mix(out->digest[CONTACTS], contact, sizeof contact);
  }
  mix_options(out->digest[OPTIONS], s);
}

/* ---- Points of ranks ---- */

/* Numbers of points: [first, wave vectors, energies or frequencies, each]. */
typedef struct numbers {
  int particle;
  int64_t first, each;
} numbers;

static int64_t count_all(const born_job *j, const numbers *n)
{
  return n->first * born_points(j, n->particle) * n->each;
}

static int64_t count_own(const born_job *j, const numbers *n)
{
  return n->first * qt_point_box_count(&j->own[n->particle]) * n->each;
}

/* Where a point (first, wave vector, energy) of all is among those of this rank; -1: of another. */
static int64_t index_of(const born_job *j, const numbers *n, int64_t point)
{
  const qt_point_box *own = &j->own[n->particle];
  const int64_t n_e = born_energies(j, n->particle), n_k = j->spec->n_k;
  const int64_t first = point / n_e / n_k, k = point / n_e % n_k, e = point % n_e;

  return k < own->k[0] || k >= own->k[1] || e < own->e[0] || e >= own->e[1]
             ? -1
             : (first * (own->k[1] - own->k[0]) + k - own->k[0]) * (own->e[1] - own->e[0]) + e -
                   own->e[0];
}

/* Points [begin, end) of all, in buffer, from this rank's, others being 0; or back. */
static void copy_own(const born_job *j, const numbers *n, int64_t begin, int64_t end, bool back,
                     double *own, double *buffer)
{
  const size_t bytes = (size_t)n->each * sizeof *buffer;

  for (int64_t point = begin; point < end; point++) {
    const int64_t index = index_of(j, n, point);

    if (index >= 0) {
      double *const here = own + index * n->each, *const there = buffer + (point - begin) * n->each;

      memcpy(back ? here : there, back ? there : here, bytes);
    }
  }
}

/* What all ranks have to rank 0, whose `all` takes them; or back. Collective. */
static weir_status move_points(const born_job *j, const numbers *n, bool back, double *own,
                               double *all)
{
  const int64_t at_once = n->each < (1 << 17) ? (1 << 17) / n->each : 1; /* 1 MiB */
  const int64_t points = count_all(j, n) / n->each;
  weir_comm *comm = j->spec->comm;
  double *buffer = NULL;
  weir_status status = weir_alloc(at_once * n->each, sizeof *buffer, (void **)&buffer);

  WEIR_TRY_GOTO(qt_ranks_agree(comm, status), done);
  for (int64_t begin = 0; begin < points; begin += at_once) {
    const int64_t end = begin + at_once < points ? begin + at_once : points;
    const int64_t count = (end - begin) * n->each;
    double *const slice = all != NULL ? all + begin * n->each : NULL; /* of rank 0 */

    if (!back) {
      memset(buffer, 0, (size_t)count * sizeof *buffer);
      copy_own(j, n, begin, end, false, own, buffer);
      WEIR_TRY_GOTO(qt_ranks_sum(comm, "checkpoint", buffer, count), done);
    }
    if (slice != NULL) {
      memcpy(back ? buffer : slice, back ? slice : buffer, (size_t)count * sizeof *buffer);
    }
    if (back) {
      WEIR_TRY_GOTO(qt_ranks_broadcast(comm, "checkpoint", buffer, count * (int64_t)sizeof *buffer),
                    done);
      copy_own(j, n, begin, end, true, own, buffer);
    }
  }
done:
  weir_free(&buffer);
  return status;
}

/* ---- What a file has ---- */

/* Of a self-energy; none of those that are not there. */
static numbers numbers_of(const born_job *j, qt_self_energy_array which)
{
  const weir_array_desc d = qt_self_energy_desc(&j->self.spec, which);
  const bool is_pi = which == QT_PI_SELF || which == QT_PI_PAIR;
  numbers n = {.particle = is_pi ? BORN_PHONONS : BORN_ELECTRONS,
               .first = which == QT_SIGMA_RETARDED ? 1 : 2};

  n.each = !born_has(j, which) ? 0
                               : weir_desc_bytes(&d) / (int64_t)sizeof(double) /
                                     (n.first * born_points(j, n.particle));
  return n;
}

/* The same of a residual, by upper halves of the matrices. */
static numbers numbers_of_residual(const born_job *j, qt_self_energy_array which)
{
  numbers n = numbers_of(j, which);

  n.each /= 2;
  return n;
}

static const qt_self_energy_array combined[] = {QT_SIGMA, QT_PI_SELF, QT_PI_PAIR};
enum { COMBINED = sizeof combined / sizeof *combined };

static int64_t residual_count(const born_job *j, bool all)
{
  int64_t count = 0;

  for (int i = 0; i < COMBINED; i++) {
    const numbers n = numbers_of_residual(j, combined[i]);

    count += all ? count_all(j, &n) : count_own(j, &n);
  }
  return count;
}

int64_t born_residual_count(const born_job *j)
{
  return residual_count(j, false);
}

weir_status born_add_residual(born_job *j, double **out)
{
  const int64_t count = born_residual_count(j);

  WEIR_TRY(qt_ranks_agree(j->spec->comm,
                          weir_reserve(&j->residual, &j->residual_capacity,
                                       (j->n_residuals + 1) * count, sizeof *j->residual)));
  *out = j->residual + j->n_residuals++ * count;
  return WEIR_OK;
}

/* An array of all points: own, where this rank has all of them. */
static weir_status add(const born_job *j, weir_store *store, const char *name, int64_t rows,
                       int64_t columns, double *own)
{
  const int64_t shape[] = {rows, columns};
  const weir_tensor t = weir_tensor_wrap(own, WEIR_F64, 2, shape);

  return qt_ranks_size(j->spec->comm) == 1 ? weir_store_add_view(store, name, &t)
                                           : weir_store_add(store, name, WEIR_F64, 2, shape);
}

static void name_of(qt_self_energy_array which, char name[64])
{
  (void)snprintf(name, 64, "scattering/%s", qt_self_energy_names[which]);
}

static const char residual_name[] = "scattering/residual";

/* Arrays after so many steps. */
static weir_status add_arrays(born_job *j, int64_t n_steps, qt_born_step *step, weir_store *store)
{
  const weir_tensor t = weir_tensor_wrap(step, WEIR_F64, 2, (const int64_t[]){n_steps, NUMBERS});
  char name[64];

  WEIR_TRY(weir_store_add_view(store, "scattering/step", &t));
  if (n_steps == 1) {
    return WEIR_OK;
  }
  if (j->spec->opts->method != QT_BORN_SIMPLE) {
    return add(j, store, residual_name, n_steps - 1, residual_count(j, true), j->residual);
  }
  for (int i = QT_SIGMA; i < QT_COUPLING; i++) {
    const numbers n = numbers_of(j, (qt_self_energy_array)i);

    name_of((qt_self_energy_array)i, name);
    if (n.each > 0) {
      WEIR_TRY(add(j, store, name, n.first * born_points(j, n.particle), n.each, j->used[i].data));
    }
  }
  return WEIR_OK;
}

/* Elements of an array; NULL on all ranks but rank 0, which has the store. */
static weir_status find(weir_store *store, const char *name, double **out)
{
  weir_tensor *t = NULL;

  *out = NULL;
  if (store != NULL) {
    WEIR_TRY(weir_store_write(store, name, &t));
    *out = t->data;
  }
  return WEIR_OK;
}

/* The arrays of all ranks to those of the store of rank 0, or back. Collective. */
static weir_status exchange(born_job *j, int64_t n_steps, weir_store *store, bool back)
{
  const bool simple = j->spec->opts->method == QT_BORN_SIMPLE;
  double *own = j->residual, *all = NULL;
  char name[64];

  if (qt_ranks_size(j->spec->comm) == 1 || n_steps == 1) {
    return WEIR_OK;
  }
  for (int i = QT_SIGMA; i < QT_COUPLING && simple; i++) {
    const numbers n = numbers_of(j, (qt_self_energy_array)i);

    name_of((qt_self_energy_array)i, name);
    if (n.each > 0) {
      WEIR_TRY(find(store, name, &all));
      WEIR_TRY(move_points(j, &n, back, j->used[i].data, all));
    }
  }
  WEIR_TRY(simple ? WEIR_OK : find(store, residual_name, &all));
  for (int64_t i = 0; i < (n_steps - 1) * COMBINED && !simple; i++) {
    const numbers n = numbers_of_residual(j, combined[i % COMBINED]);

    if (n.each > 0) {
      WEIR_TRY(move_points(j, &n, back, own, all));
      own += count_own(j, &n);
      all = all != NULL ? all + count_all(j, &n) : NULL;
    }
  }
  return WEIR_OK;
}

/* ---- Written ---- */

/* The store of rank 0, without points of others yet. */
static weir_status make_store(born_job *j, int64_t n_steps, qt_born_step *step,
                              qt_identity *identity, weir_store **out)
{
  WEIR_TRY(weir_store_create(out));
  WEIR_TRY(qt_identity_add(identity, *out));
  return add_arrays(j, n_steps, step, *out);
}

static weir_status write(born_job *j, weir_store *store)
{
  const qt_born_save *save = j->spec->save;
  const weir_checkpoint_format format = (weir_checkpoint_format)save->format;
  const int64_t number = j->out->n_steps - 1;
  const double began = weir_clock();
  char text[96], path[PATH];

  (void)snprintf(text, sizeof text, "%lld iterations of scattering", (long long)number);
  WEIR_TRY(weir_dir_create(save->dir));
  WEIR_TRY(weir_checkpoint_path(save->dir, number, format, path, sizeof path));
  WEIR_TRY(weir_checkpoint_save(
      &(weir_checkpoint){.store = store, .note = &(weir_note){"title", text}, .n_notes = 1}, format,
      path));
  WEIR_TRY(weir_checkpoint_prune(save->dir, save->keep));
  weir_event("checkpoint", WEIR_INT("iterations", number), WEIR_TEXT("file", path),
             WEIR_REAL("seconds", weir_clock() - began));
  return WEIR_OK;
}

weir_status born_save(born_job *j)
{
  weir_comm *comm = j->spec->comm;
  const bool leads = qt_ranks_rank(comm) == 0;
  const int64_t n_steps = j->out->n_steps;
  weir_store *store = NULL;
  qt_identity identity;
  weir_status status = WEIR_OK;

  if (j->spec->save == NULL || n_steps == j->saved_steps) {
    return WEIR_OK;
  }
  identify(j, &identity);
  status = leads ? make_store(j, n_steps, j->out->step, &identity, &store) : WEIR_OK;
  WEIR_TRY_GOTO(qt_ranks_agree(comm, status), done);
  WEIR_TRY_GOTO(exchange(j, n_steps, store, false), done);
  status = leads ? write(j, store) : WEIR_OK;
  WEIR_TRY_GOTO(qt_ranks_agree(comm, status), done);
  j->saved_steps = n_steps;
  j->saved_at = weir_clock();
done:
  weir_store_destroy(&store);
  return status;
}

/* Whether it is time to, by the clock of this rank. */
static bool is_due(const born_job *j)
{
  const qt_born_save *save = j->spec->save;

  return (save->iterations > 0 && j->out->n_steps - j->saved_steps >= save->iterations) ||
         (save->interval > 0 && weir_clock() - j->saved_at >= save->interval);
}

weir_status born_pause(born_job *j)
{
  const qt_born_save *save = j->spec->save;
  const bool leads = qt_ranks_rank(j->spec->comm) == 0;
  double asked[] = {weir_stop_requested(), save != NULL && leads && is_due(j)};

  WEIR_TRY(qt_ranks_max(j->spec->comm, "stop", asked, 2));
  if (asked[0] > 0 || asked[1] > 0) {
    WEIR_TRY(born_save(j));
  }
  return asked[0] > 0
             ? weir_fail(WEIR_ERR_STOPPED, "stopped after iteration %lld of scattering: %s",
                         (long long)(j->out->n_steps - 1),
                         save != NULL ? "repeat the command to resume it" : "nothing is written")
             : WEIR_OK;
}

/* ---- Read ---- */

/* What to do about a file that cannot be read. */
static weir_status tell_damage(const char *path)
{
  char reason[512];

  (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
  weir_clear_failure();
  return weir_fail(WEIR_ERR_DATA,
                   "%s: the newest checkpoint of the scattering is damaged (%s): remove it to "
                   "resume from the one before it, if there is one, or from the first iteration",
                   path, reason);
}

/* Room for what the file after so many steps has. */
static weir_status make_arrays(born_job *j, int64_t n_steps, qt_born_step **step)
{
  const int64_t count = born_residual_count(j);

  WEIR_TRY(weir_alloc(n_steps, sizeof **step, (void **)step));
  return j->spec->opts->method == QT_BORN_SIMPLE
             ? WEIR_OK
             : weir_reserve(&j->residual, &j->residual_capacity, (n_steps - 1) * count,
                            sizeof *j->residual);
}

/* Steps of simple mixing are done; of PETSc, which is given the residuals, they are to come. */
static weir_status take_steps(born_job *j, int64_t n_steps, const qt_born_step *step)
{
  const bool simple = j->spec->opts->method == QT_BORN_SIMPLE;

  for (int64_t i = 0; i < (simple ? n_steps : 1); i++) {
    WEIR_TRY(born_add_step(j, &step[i]));
  }
  if (simple) {
    j->scatters = n_steps > 1;
    return WEIR_OK;
  }
  j->n_residuals = j->n_earlier = n_steps - 1;
  WEIR_TRY(weir_alloc(j->n_earlier, sizeof *j->earlier, (void **)&j->earlier));
  for (int64_t i = 0; i < j->n_earlier; i++) {
    j->earlier[i] = step[i + 1];
  }
  return WEIR_OK;
}

/* What rank 0 does alone. */
static weir_status read(born_job *j, int64_t newest, qt_born_step *step, weir_store **store)
{
  qt_identity ours, theirs;
  char path[PATH];

  WEIR_TRY(qt_checkpoint_find(j->spec->save->dir, newest, path, sizeof path));
  identify(j, &ours);
  qt_identity_begin(fields, FIELDS, &theirs);
  weir_status status = qt_identity_check(&ours, path);

  if (status == WEIR_OK) {
    WEIR_TRY(make_store(j, newest + 1, step, &theirs, store));
    status = weir_checkpoint_load(&(weir_checkpoint){.store = *store}, path, false);
  }
  if (status == WEIR_ERR_DATA || status == WEIR_ERR_SHAPE) {
    return tell_damage(path);
  }
  WEIR_TRY(status);
  weir_info("scattering", "resumed after iteration %lld", (long long)newest);
  weir_event("resume", WEIR_INT("iterations", newest));
  return qt_identity_compare(&ours, &theirs, path);
}

static weir_status load(born_job *j, int64_t newest)
{
  weir_comm *comm = j->spec->comm;
  const int64_t bytes = (newest + 1) * (int64_t)sizeof(qt_born_step);
  qt_born_step *step = NULL;
  weir_store *store = NULL;
  weir_status status = make_arrays(j, newest + 1, &step);

  WEIR_TRY_GOTO(qt_ranks_agree(comm, status), done);
  status = qt_ranks_rank(comm) == 0 ? read(j, newest, step, &store) : WEIR_OK;
  WEIR_TRY_GOTO(qt_ranks_agree(comm, status), done);
  WEIR_TRY_GOTO(qt_ranks_broadcast(comm, "steps", step, bytes), done);
  WEIR_TRY_GOTO(exchange(j, newest + 1, store, true), done);
  WEIR_TRY_GOTO(qt_ranks_agree(comm, take_steps(j, newest + 1, step)), done);
  j->saved_steps = newest + 1;
done:
  weir_store_destroy(&store);
  weir_free(&step);
  return status;
}

weir_status born_load(born_job *j)
{
  const qt_born_save *save = j->spec->save;
  weir_comm *comm = j->spec->comm;
  int64_t newest = -1;
  weir_status status = WEIR_OK;

  j->saved_at = weir_clock();
  if (save == NULL) {
    return WEIR_OK;
  }
  if (qt_ranks_rank(comm) == 0) {
    status = save->resume ? weir_checkpoint_newest(save->dir, &newest)
                          : weir_checkpoint_prune(save->dir, 0);
  }
  WEIR_TRY(qt_ranks_agree(comm, status));
  WEIR_TRY(qt_ranks_broadcast(comm, "newest", &newest, sizeof newest));
  return newest < 0 ? WEIR_OK : load(j, newest);
}
