/* universe_write.c - see universe_write.h. While some universes are made, those before them are
 * written. */
#include "data/simulation/universe_write.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "comm/weir_items.h"
#include "comm/weir_request.h"
#include "conf/weir_rundir.h"
#include "data/digests.h"
#include "data/simulation/universe_gather.h"
#include "device/weir_parallel.h"
#include "data/volume/volume_netcdf.h"

enum { MESSAGE = 512, PATH = 4096, NAME = 16, CHUNK = 1 << 20 /* bytes */ };
#define LISTED "list of files"
#define MADE_OF "simulation" /* the attribute that says what a file's universes depend on */

/* A universe that a thread makes: what failed, and how long it took. */
typedef struct making {
  weir_status status;
  char message[MESSAGE];
  double seconds;
} making;

typedef struct output {
  const cf_universe_opts *opts;
  cf_generator *g;
  const cf_universe_facts *f;
  const char *folder;
  char text[CF_TEXT];
  int64_t workers;
  cf_generator_workspace **workspaces; /* [workers] */
  char *made, *ready;                  /* [workers, share]: being made, being written */
  making *making;                      /* [workers] */
  int64_t next, n;                     /* universes that are being made  */
  int64_t first, n_ready;              /* universes that are being written */
  weir_status status;                  /* of writing */
  char message[MESSAGE];
  weir_netcdf *nc;
  cf_digests *digests;
  weir_comm *comm;
  weir_comm *group; /* ranks that simulate each universe together, of comm; NULL: this one */
  bool writes;      /* the files of the group */
  int64_t share;    /* bytes of a universe on this rank, at most */
  int64_t begin;    /* first universe of the file */
  int full, unit, phys, cosmology, universe, corner;
  cf_written *done;
} output;

void cf_universe_file(int64_t first, char *name, size_t size)
{
  (void)snprintf(name, size, "universes-%08lld.nc", (long long)first);
}

int64_t cf_universe_workers(const cf_universe_opts *opts, const cf_universe_facts *f,
                            int64_t *bytes)
{
  const int64_t each = f->workspace_bytes + 2 * f->slab_bytes,
                memory = weir_cpu_get()->constants.memory_bytes;
  const int64_t max_workers = opts->universes < opts->file ? opts->universes : opts->file;
  int64_t n = weir_threads_get();

  n = n < max_workers ? n : max_workers;
  if (memory > 0 && n > memory / 2 / each) { /* half of it at most: the machine has other work */
    n = memory / 2 / each;
  }
  n = n < 1 || opts->ranks > 1 ? 1 : n; /* whose threads share a universe with other ranks */
  *bytes = n * each;
  return n;
}

/* ---- a file ---- */

static weir_status put_line(weir_netcdf *nc, const char *name, weir_dtype dtype, int n_dims,
                            const int *dims, const char *long_name, int *var)
{
  WEIR_TRY(dtype == WEIR_I64 ? weir_netcdf_whole_var(nc, name, INT32_MAX, n_dims, dims, var)
                             : weir_netcdf_var(nc, name, dtype, n_dims, dims, var));
  return weir_netcdf_put_text(nc, *var, "long_name", long_name);
}

/* Names of labels and redshifts, which are the same in all samples. */
static weir_status put_constants(output *o, int parameter, int channel)
{
  const int64_t zero[2] = {0, 0}, names[2] = {o->f->n_labels, NAME}, n = o->f->channels;
  char name[CF_PARAMETERS][NAME] = {{0}};
  double range[CF_PARAMETERS][2];
  const int64_t ranges[2] = {o->f->n_labels, 2};
  int dims[2] = {parameter, 0}, var = 0;

  for (int k = 0; k < o->f->n_labels; k++) {
    (void)snprintf(name[k], NAME, "%s", cf_parameter_name[o->f->label[k]]);
    range[k][0] = o->f->lo[o->f->label[k]];
    range[k][1] = o->f->hi[o->f->label[k]];
  }
  WEIR_TRY(weir_netcdf_dim(o->nc, "name", NAME, &dims[1]));
  WEIR_TRY(weir_netcdf_char_var(o->nc, "namePar", 2, dims, &var));
  WEIR_TRY(weir_netcdf_write(o->nc, var, zero, names, name));
  WEIR_TRY(weir_netcdf_dim(o->nc, "end", 2, &dims[1]));
  WEIR_TRY(put_line(o->nc, "rangePar", WEIR_F64, 2, dims, "parameters at unitPar -1 and 1", &var));
  WEIR_TRY(weir_netcdf_write(o->nc, var, zero, ranges, range));
  WEIR_TRY(put_line(o->nc, "redshifts", WEIR_F64, 1, &channel, "redshifts of the channels", &var));
  return weir_netcdf_write(o->nc, var, zero, &n, o->opts->redshifts.items);
}

static weir_status put_variables(output *o, int64_t samples)
{
  static const char *const side[3] = {"x", "y", "z"};
  const int64_t n = o->f->side, size = (int64_t)weir_dtype_size(o->f->dtype);
  const int64_t planes = CHUNK / (n * n * o->f->channels * size); /* readers may read slices */
  const int64_t thick = planes < 1 ? 1 : planes < n ? planes : n;
  const int64_t chunk[5] = {1, thick, n, n, o->f->channels};
  int dims[5], line[2], parameter = 0, numbers = 0, axes = 0;

  WEIR_TRY(weir_netcdf_dim(o->nc, "sample", samples, &dims[0]));
  for (int i = 0; i < 3; i++) {
    WEIR_TRY(weir_netcdf_dim(o->nc, side[i], n, &dims[1 + i]));
  }
  WEIR_TRY(weir_netcdf_dim(o->nc, "redshift", o->f->channels, &dims[4]));
  WEIR_TRY(weir_netcdf_dim(o->nc, "parameter", o->f->n_labels, &parameter));
  WEIR_TRY(weir_netcdf_dim(o->nc, "cosmology_number", 5, &numbers));
  WEIR_TRY(weir_netcdf_dim(o->nc, "axis", 3, &axes));
  WEIR_TRY(put_line(o->nc, "full", o->f->dtype, 5, dims,
                    o->opts->tracers > 0 ? "tracers in a cell" : "particles in a cell", &o->full));
  WEIR_TRY(weir_netcdf_put_text(o->nc, o->full, "quantity",
                                cf_universe_counts_whole(o->opts) ? "counts" : "density"));
  WEIR_TRY(weir_netcdf_chunk(o->nc, o->full, chunk, (int)o->opts->deflate));
  line[0] = dims[0];
  line[1] = parameter;
  WEIR_TRY(put_line(o->nc, "unitPar", WEIR_F32, 2, line, "labels in [-1, 1]", &o->unit));
  WEIR_TRY(put_line(o->nc, "physPar", WEIR_F64, 2, line, "labels as they are", &o->phys));
  line[1] = numbers;
  WEIR_TRY(put_line(o->nc, "cosmology", WEIR_F64, 2, line, CF_COSMOLOGY_NAMES, &o->cosmology));
  WEIR_TRY(put_line(o->nc, "universe", WEIR_I64, 1, line,
                    "number of the universe: samples of one belong on one side of a split",
                    &o->universe));
  line[1] = axes;
  WEIR_TRY(put_line(o->nc, "corner", WEIR_I64, 2, line, "first cell of the sample in its box",
                    &o->corner));
  return put_constants(o, parameter, dims[4]);
}

static weir_status open_file(output *o, const char *path, int64_t universes)
{
  const double cell = o->opts->box / (double)o->opts->side;

  WEIR_TRY(weir_netcdf_create_cf(path, "cosmoflow: simulated universes", &o->nc));
  WEIR_TRY(put_variables(o, universes * o->f->samples));
  WEIR_TRY(
      weir_netcdf_put_text(o->nc, WEIR_NETCDF_FILE, "source", "cosmoflow: simulated universes"));
  WEIR_TRY(weir_netcdf_put_text(o->nc, WEIR_NETCDF_FILE, MADE_OF, o->text));
  WEIR_TRY(weir_netcdf_put_numbers(o->nc, WEIR_NETCDF_FILE, "box_size_mpc_h", WEIR_F64,
                                   &o->opts->box, 1));
  WEIR_TRY(weir_netcdf_put_numbers(o->nc, WEIR_NETCDF_FILE, "cell_size_mpc_h", WEIR_F64, &cell, 1));
  return cf_netcdf_put_line_of_sight(o->nc, cf_universe_line_of_sight(o->opts));
}

/* ---- files that are there ---- */

/* Properties of a file of universes. */
typedef struct claim {
  int64_t first, samples; /* number of its first universe, -1: it has none */
  char *made_of;          /* the caller's to free */
} claim;

static weir_status read_claim(const char *path, claim *c)
{
  const int64_t zero = 0, one = 1;
  weir_netcdf *nc = NULL;
  weir_netcdf_shape shape;
  int var = 0;
  weir_status status = WEIR_OK;

  *c = (claim){.first = -1};
  WEIR_TRY(weir_netcdf_open(path, &nc));
  WEIR_TRY_GOTO(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, MADE_OF, &c->made_of), done);
  WEIR_TRY_GOTO(weir_netcdf_find(nc, "universe", &var, &shape), done);
  if (!weir_netcdf_holds(shape.dtype, WEIR_I64) || shape.n_dims != 1) {
    status = weir_fail(WEIR_ERR_DATA, "%s: universe: is no line of numbers", path);
    goto done;
  }
  c->samples = shape.lengths[0];
  if (c->samples > 0) {
    WEIR_TRY_GOTO(weir_netcdf_read_whole(nc, var, &shape, &zero, &one, &c->first), done);
  }
done:
  weir_netcdf_close(&nc);
  return status;
}

/* Universes of the file that begins with number `universe` of the options. */
static int64_t in_file(const cf_universe_opts *o, int64_t universe)
{
  return o->universes - universe < o->file ? o->universes - universe : o->file;
}

static weir_status path_of(const char *folder, int64_t first, char *path, size_t size)
{
  char name[2 * NAME];

  cf_universe_file(first, name, sizeof name);
  return weir_path_join(folder, name, path, size);
}

/* The number in a name of cf_universe_file; -1: it is another name. */
static int64_t first_of(const char *name)
{
  char same[2 * NAME];
  long long first = -1;

  if (sscanf(name, "universes-%lld.nc", &first) != 1 || first < 0) {
    return -1;
  }
  cf_universe_file(first, same, sizeof same);
  return strcmp(name, same) == 0 ? first : -1;
}

/* Whether a file beginning with that universe is one that would be written. */
static bool is_ours(const cf_universe_opts *o, int64_t begin)
{
  const int64_t u = begin - o->first;

  return u >= 0 && u < o->universes && u % o->file == 0;
}

/* A file that is there is one that would be written, or holds other universes of the same kind. */
static weir_status check_file(const cf_universe_opts *o, const cf_universe_facts *f,
                              const char *text, const char *path, int64_t begin)
{
  const int64_t u = begin - o->first, end = o->first + o->universes;
  const bool ours = is_ours(o, begin);
  weir_status status = WEIR_OK;
  claim c;

  WEIR_TRY_GOTO(read_claim(path, &c), done);
  const bool as_named = c.first == begin && c.samples % f->samples == 0;
  const bool apart = begin + c.samples / f->samples <= o->first || begin >= end;
  const bool fits = ours ? c.samples == in_file(o, u) * f->samples : apart;

  if (strcmp(text, c.made_of) != 0) {
    char differences[MESSAGE];

    cf_universe_text_compare(c.made_of, text, differences, sizeof differences);
    status = weir_fail(WEIR_ERR_CONFIG,
                       "%s: holds %lld samples from universe %lld on, of another simulation than "
                       "asked for: %s: choose another --out, or give --overwrite to replace what "
                       "is there",
                       path, (long long)c.samples, (long long)c.first, differences);
  } else if (!as_named || !fits) {
    status =
        weir_fail(WEIR_ERR_CONFIG,
                  "%s: holds %lld samples from universe %lld on; asked for are %lld universes from "
                  "%lld on, %lld a file: choose another --out, or give --overwrite to replace what "
                  "is there",
                  path, (long long)c.samples, (long long)c.first, (long long)o->universes,
                  (long long)o->first, (long long)o->file);
  }
done:
  weir_free(&c.made_of);
  return status;
}

weir_status cf_universe_check_folder(const cf_universe_opts *opts, const cf_universe_facts *f,
                                     uint64_t seed, const char *folder)
{
  char text[CF_TEXT], path[PATH];
  DIR *const dir = opendir(folder);
  cf_digests *digests = NULL;
  weir_status status = WEIR_OK;

  if (dir == NULL) { /* there is nothing yet */
    return WEIR_OK;
  }
  cf_universe_text(opts, f, seed, text, sizeof text);
  status = cf_digests_open(folder, "", LISTED, &digests);
  for (const struct dirent *e = readdir(dir); e && status == WEIR_OK; e = readdir(dir)) {
    const int64_t begin = first_of(e->d_name);

    if (begin >= 0 &&
        !(is_ours(opts, begin) && cf_digests_check(digests, e->d_name) == CF_DIGEST_DAMAGED)) {
      status = weir_path_join(folder, e->d_name, path, sizeof path);
      status = status == WEIR_OK ? check_file(opts, f, text, path, begin) : status;
    }
  }
  (void)closedir(dir);
  cf_digests_close(&digests);
  return status;
}

/* ---- universes ---- */

static weir_status write_labels(output *o, int64_t universe, int64_t sample)
{
  const int64_t along = o->opts->side / o->f->side, block = sample % o->f->samples;
  const int64_t corner[3] = {block / along / along * o->f->side, block / along % along * o->f->side,
                             block % along * o->f->side};
  const int64_t start[2] = {sample, 0}, labels[2] = {1, o->f->n_labels}, five[2] = {1, 5};
  const int64_t three[2] = {1, 3}, one = 1;
  double unit[CF_PARAMETERS], phys[CF_PARAMETERS];
  float narrow[CF_PARAMETERS];
  cf_cosmology c;

  cf_generator_draw(o->g, universe, &c, unit);
  const double all[CF_PARAMETERS] = {c.omega_m, c.sigma_8, c.n_s, c.h};
  const double numbers[5] = {c.omega_m, c.omega_b, c.h, c.n_s, c.sigma_8};

  for (int k = 0; k < o->f->n_labels; k++) {
    narrow[k] = (float)unit[k];
    phys[k] = all[o->f->label[k]];
  }
  WEIR_TRY(weir_netcdf_write(o->nc, o->unit, start, labels, narrow));
  WEIR_TRY(weir_netcdf_write(o->nc, o->phys, start, labels, phys));
  WEIR_TRY(weir_netcdf_write(o->nc, o->cosmology, start, five, numbers));
  WEIR_TRY(weir_netcdf_write(o->nc, o->corner, start, three, corner));
  return weir_netcdf_write(o->nc, o->universe, start, &one, &universe);
}

/* Writes the universes that are ready; those of several ranks are theirs to give. */
static weir_status write_ready(output *o)
{
  const cf_gather gather = {
      .opts = o->opts, .f = o->f, .comm = o->group, .nc = o->nc, .full = o->full};

  for (int64_t i = 0; i < o->n_ready; i++) {
    const int64_t universe = o->first + i, sample = (universe - o->begin) * o->f->samples;

    WEIR_TRY(cf_universe_gather(&gather, sample, o->ready + i * o->share));
    for (int64_t s = 0; s < o->f->samples && o->writes; s++) {
      WEIR_TRY(write_labels(o, universe, sample + s));
    }
  }
  o->n_ready = 0;
  return WEIR_OK;
}

static void make_universe(output *o, int64_t i)
{
  making *const m = &o->making[i];
  const double begin = weir_clock();

  m->status = cf_generator_make(o->g, o->workspaces[i], o->next + i, o->made + i * o->share);
  m->seconds = weir_clock() - begin;
  if (m->status != WEIR_OK) { /* the record of a failure is its thread's own */
    (void)snprintf(m->message, sizeof m->message, "%s", weir_last_message());
  }
}

static void do_item(void *context, int64_t item, int thread)
{
  output *const o = context;

  (void)thread;
  if (item > 0) {
    make_universe(o, item - 1);
    return;
  }
  o->status = write_ready(o);
  if (o->status != WEIR_OK) {
    (void)snprintf(o->message, sizeof o->message, "%s", weir_last_message());
  }
}

/* Fails on all ranks of the group where it does on one. */
static weir_status agree(const output *o, weir_status status)
{
  return o->group != NULL ? weir_comm_agree(o->group, status) : status;
}

/* Simulates n universes from `next` on, and writes the preceding ones meanwhile. A single one is
 * simulated by all threads. */
static weir_status make_some(output *o, int64_t next, int64_t n)
{
  o->next = next;
  o->n = n;
  if (n == 1) {
    do_item(o, 0, 0);
    WEIR_TRY(agree(o, o->status));
    do_item(o, 1, 0);
  } else {
    weir_parallel(1 + n, 0, do_item, o);
  }
  if (o->status != WEIR_OK) {
    return weir_fail(o->status, "%s", o->message);
  }
  for (int64_t i = 0; i < n; i++) {
    if (o->making[i].status != WEIR_OK) {
      return weir_fail(o->making[i].status, "%s", o->making[i].message);
    }
    o->done->seconds += o->making[i].seconds;
  }
  char *const made = o->made;

  o->made = o->ready;
  o->ready = made;
  o->first = next;
  o->n_ready = n;
  o->done->universes += n;
  return WEIR_OK;
}

static weir_status make_file(output *o, const char *path, int64_t n)
{
  const int64_t all = o->opts->universes, before = o->begin - o->opts->first;

  WEIR_TRY(agree(o, o->writes ? open_file(o, path, n) : WEIR_OK));
  for (int64_t u = 0; u < n; u += o->workers) {
    WEIR_TRY(make_some(o, o->begin + u, u + o->workers < n ? o->workers : n - u));
    if (u + o->workers < n) {
      weir_progress("simulate", before + u + o->workers, all, "universes");
    }
  }
  WEIR_TRY(agree(o, write_ready(o)));
  WEIR_TRY(agree(o, o->writes ? weir_netcdf_commit(&o->nc) : WEIR_OK));
  o->done->files++;
  return WEIR_OK;
}

/* Whether the file is complete by its digest; warns of one that is not. */
static bool is_whole(output *o, const char *path)
{
  char name[2 * NAME];

  cf_universe_file(o->begin, name, sizeof name);
  const cf_digested is = cf_digests_check(o->digests, name);

  if (is != CF_DIGEST_WHOLE && weir_file_exists(path)) {
    o->done->again++;
    weir_warn("simulate", "%s: %s: its universes are made again", path,
              is == CF_DIGEST_DAMAGED ? "its bytes are not those that were written"
                                      : "is not listed in " CF_DIGESTS_FILE
                                        ", so that it is not known to be whole");
  }
  return is == CF_DIGEST_WHOLE;
}

/* Tells the group what the rank that writes has found. */
static weir_status share_flag(const output *o, bool own, bool *all)
{
  int32_t flag = own;
  weir_request *r = NULL;

  if (o->group != NULL) {
    WEIR_TRY(weir_allreduce_create(o->group, "file", weir_reducer_of(WEIR_REDUCE_MAX, WEIR_I32),
                                   &flag, 1, &r));
    WEIR_TRY(weir_request_run_once(&r));
  }
  *all = flag != 0;
  return WEIR_OK;
}

/* Item i, on its rank: the part of rank i % opts->ranks in file i / opts->ranks. Items follow one
 * another on the ranks of a group, so that these make a file at the same time. What was written, in
 * *out. */
static weir_status make_item(void *context, int64_t i, weir_bytes *out)
{
  output *const o = context;
  const int64_t u = i / o->opts->ranks * o->opts->file;
  cf_written *const all = o->done, done = {.files = 0};
  cf_written own = done;
  char path[PATH];

  o->begin = o->opts->first + u;
  o->done = &own;
  bool whole = false;
  weir_status status = path_of(o->folder, o->begin, path, sizeof path);

  if (status == WEIR_OK) {
    status = share_flag(o, o->writes && is_whole(o, path), &whole);
  }
  if (status == WEIR_OK && whole) {
    own.kept++;
  } else if (status == WEIR_OK) {
    status = make_file(o, path, in_file(o->opts, u));
  }
  o->done = all;
  WEIR_TRY(status);
  if (o->comm != NULL && weir_comm_rank(o->comm) > 0) {
    weir_run_dir_keep(); /* of this rank */
  }
  return weir_bytes_put(out, &own, sizeof own);
}

/* Lists a completed file, on rank 0. */
static weir_status take_item(void *context, int64_t i, const char *data, int64_t n)
{
  output *const o = context;
  const int64_t u = i / o->opts->ranks * o->opts->file;
  const char *at = data;
  char name[2 * NAME];
  cf_written own;

  if (i % o->opts->ranks > 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_bytes_get(&at, data + n, &own, sizeof own));
  o->done->files += own.files;
  o->done->universes += own.universes;
  o->done->kept += own.kept;
  o->done->again += own.again;
  o->done->seconds += own.seconds;
  weir_progress("simulate", u + in_file(o->opts, u), o->opts->universes, "universes");
  if (own.files > 0) {
    cf_universe_file(o->opts->first + u, name, sizeof name);
    WEIR_TRY(cf_digests_add(o->digests, name));
    weir_run_dir_keep(); /* the same command makes the others */
  }
  return WEIR_OK;
}

static weir_status write_all(output *o)
{
  const int64_t n = (o->opts->universes + o->opts->file - 1) / o->opts->file;
  const weir_status status = weir_items_run(&(weir_items){.comm = o->comm,
                                                          .what = "simulate",
                                                          .unit = "files",
                                                          .n = n * o->opts->ranks,
                                                          .make = make_item,
                                                          .take = take_item},
                                            o);

  return status != WEIR_ERR_STOPPED || (o->comm != NULL && weir_comm_rank(o->comm) > 0)
             ? status
             : weir_fail(WEIR_ERR_STOPPED,
                         "simulate: stopped before %s is whole; %lld of %lld files are complete; "
                         "repeat the command to resume",
                         o->folder, (long long)(o->done->files + o->done->kept), (long long)n);
}

static weir_status alloc_workers(output *o)
{
  int64_t bytes = 0, all = 0;

  o->workers = cf_universe_workers(o->opts, o->f, &bytes);
  o->share = o->f->slab_bytes;
  if (!weir_mul_ok(o->workers, o->share, &all)) {
    return weir_fail(WEIR_ERR_MEMORY, "simulate: %lld universes of %lld bytes",
                     (long long)o->workers, (long long)o->share);
  }
  WEIR_TRY(weir_alloc(all, 1, (void **)&o->made));
  WEIR_TRY(weir_alloc(all, 1, (void **)&o->ready));
  WEIR_TRY(weir_alloc(o->workers, sizeof *o->making, (void **)&o->making));
  WEIR_TRY(weir_alloc(o->workers, sizeof(void *), (void **)&o->workspaces));
  for (int64_t i = 0; i < o->workers; i++) {
    WEIR_TRY(cf_generator_workspace_create(o->g, &o->workspaces[i]));
  }
  return WEIR_OK;
}

/* Ranks that follow one another are a group. */
static weir_status open_group(output *o)
{
  o->writes = true;
  WEIR_TRY(cf_universe_check_ranks(o->opts, o->comm != NULL ? weir_comm_size(o->comm) : 1));
  if (o->opts->ranks == 1) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_comm_split(o->comm, weir_comm_rank(o->comm) / (int)o->opts->ranks, &o->group));
  o->writes = weir_comm_rank(o->group) == 0;
  return WEIR_OK;
}

/* All that a rank may fail in alone. */
static weir_status open_output(output *o, uint64_t seed)
{
  WEIR_TRY(cf_generator_create_shared(o->opts, seed, o->group, &o->g));
  o->f = cf_generator_facts(o->g);
  cf_universe_text(o->opts, o->f, seed, o->text, sizeof o->text);
  WEIR_TRY(alloc_workers(o));
  return cf_digests_open(o->folder, "", LISTED, &o->digests);
}

weir_status cf_universe_write(const cf_universe_opts *opts, uint64_t seed, const char *folder,
                              weir_comm *comm, cf_written *out)
{
  output o = {.opts = opts, .folder = folder, .comm = comm, .done = out};
  weir_status status = WEIR_OK;

  *out = (cf_written){.files = 0};
  WEIR_TRY_GOTO(open_group(&o), done);
  WEIR_TRY_GOTO(agree(&o, open_output(&o, seed)), done);
  WEIR_TRY_GOTO(write_all(&o), done);
done:
  weir_netcdf_close(&o.nc);
  cf_digests_close(&o.digests);
  for (int64_t i = 0; o.workspaces != NULL && i < o.workers; i++) {
    cf_generator_workspace_destroy(&o.workspaces[i]);
  }
  weir_free(&o.workspaces);
  weir_free(&o.making);
  weir_free(&o.made);
  weir_free(&o.ready);
  cf_generator_destroy(&o.g);
  weir_comm_close(&o.group);
  return status;
}
