/* convert.c - samples from file to file, a layer of cubes at a time. */
#include "data/convert.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_integer.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "comm/weir_items.h"
#include "conf/weir_rundir.h"
#include "data/digests.h"
#include "data/split.h"
#include "data/volume/volume_format.h"

const weir_opt cf_convert_options[] = {
    WEIR_OPT_STRING(cf_convert_opts, format, "tfrecord",
                    "what is written: tfrecord (of MLPerf HPC), npy (pairs), netcdf, cfbin"),
    WEIR_OPT_INT(cf_convert_opts, per_file, 1, 1, 1e9, "1",
                 "samples of each file; MLPerf HPC has one, and so have NumPy pairs and .cfbin"),
    WEIR_OPT_INT(cf_convert_opts, side, 0, 0, 1 << 14, "voxels",
                 "cut samples into cubes of this side, as MLPerf HPC cuts 512 into 128; 0: whole"),
    WEIR_OPT_INT(cf_convert_opts, level, 6, 0, 9, "1",
                 "compression of TFRecord (gzip as a whole) and NetCDF; 0: none"),
    WEIR_OPT_ENUM(cf_convert_opts, dtype, 0, "stored|i16|f32",
                  "type of the voxels; i16 is refused where it is not exact; stored: i16 for "
                  "integers, else f32"),
    WEIR_OPT_END,
};

typedef struct conversion {
  cf_source *s;
  const cf_convert_opts *opts;
  const char *folder;
  cf_volume_info in, out;         /* of a sample that is read, that is written */
  int64_t n_cubes[3], total;      /* cubes along each axis; of all samples */
  char *layer;                    /* [out.lengths[0], in.lengths[1], in.lengths[2], channels] */
  char *cube;                     /* one sample that is written */
  char *class_layer, *class_cube; /* their classes, where there are; a byte each */
  int64_t next, end;              /* sample that is written next; after the item */
  bool *whole;                    /* [files] they are there */
  int64_t universe;               /* of the latest sample that was read, as its file states it */
  int64_t latest;                 /* its number; -1: none yet */
  bool warned;                    /* of universes that contradict */
  weir_comm *comm;
  weir_bytes *written; /* numbers of files, for rank 0 to list; NULL: this is rank 0 */
  cf_digests *digests;
  cf_volume_writer *w;
  cf_converted *done;
} conversion;

/* ---- Files that are there ---- */

static int64_t files_of(const conversion *c)
{
  return (c->total + c->opts->per_file - 1) / c->opts->per_file;
}

/* Stem of the names of a file, by its first sample. */
static void name_of(const conversion *c, int64_t file, char name[64])
{
  (void)snprintf(name, 64, "samples-%08lld", (long long)(file * c->opts->per_file));
}

/* Calls `each` for the files that one of the format is: endings "a|b", the first of which always
 * is. */
static weir_status for_endings(conversion *c, int64_t file,
                               weir_status (*each)(conversion *c, const char *name, bool first))
{
  char stem[64], name[192], endings[128];
  bool first = true;

  name_of(c, file, stem);
  cf_volume_endings(c->opts->format, endings, sizeof endings);
  for (const char *at = endings; *at; first = false) {
    const size_t n = strcspn(at, "|");

    (void)snprintf(name, sizeof name, "%s%.*s", stem, (int)n, at);
    WEIR_TRY(each(c, name, first));
    at += n + (at[n] == '|');
  }
  return WEIR_OK;
}

/* The last file that was looked at is whole where all of its files are. */
static weir_status look_at(conversion *c, const char *name, bool first)
{
  const cf_digested is = cf_digests_check(c->digests, name);
  bool *const whole = &c->whole[c->next];

  *whole = (first || *whole) && (is == CF_DIGEST_WHOLE || (!first && is == CF_DIGEST_NONE));
  if (is == CF_DIGEST_DAMAGED) {
    c->done->damaged++;
    weir_warn("convert", "%s/%s: its bytes are not those that were written: it is written again",
              c->folder, name);
  }
  return WEIR_OK;
}

static weir_status list(conversion *c, const char *name, bool first)
{
  char path[CF_MAX_LOCATION];

  WEIR_TRY(weir_path_join(c->folder, name, path, sizeof path));
  return first || weir_file_exists(path) ? cf_digests_add(c->digests, name) : WEIR_OK;
}

static weir_status look_at_all(conversion *c)
{
  char key[65], text[512];

  cf_source_key(c->s, key);
  (void)snprintf(text, sizeof text, "%s %s %lld %lld %lld %d", key, c->opts->format,
                 (long long)c->opts->per_file, (long long)c->opts->side, (long long)c->opts->level,
                 c->opts->dtype);
  if (c->opts->samples_per_universe > 0) {
    const size_t n = strlen(text);

    (void)snprintf(text + n, sizeof text - n, " %lld", (long long)c->opts->samples_per_universe);
  }
  weir_sha256(text, strlen(text), key);
  WEIR_TRY(cf_digests_open(c->folder, key, "input or other options of convert", &c->digests));
  WEIR_TRY(weir_alloc(files_of(c), sizeof *c->whole, (void **)&c->whole));
  for (c->next = 0; c->next < files_of(c); c->next++) {
    WEIR_TRY(for_endings(c, c->next, look_at));
    c->done->kept += c->whole[c->next];
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "convert: stopped by signal %d", weir_stop_signal());
    }
  }
  c->next = 0;
  return WEIR_OK;
}

/* Whether n samples from `next` on are all in files that are there. */
static bool all_there(const conversion *c, int64_t n)
{
  const int64_t last = (c->next + n - 1) / c->opts->per_file;

  for (int64_t file = c->next / c->opts->per_file; file <= last; file++) {
    if (!c->whole[file]) {
      return false;
    }
  }
  return true;
}

/* ---- Samples ---- */

static weir_status prepare(conversion *c)
{
  const int64_t side = c->opts->side;

  c->in = *cf_source_info(c->s);
  c->in.dtype = c->opts->dtype == 1                                      ? WEIR_I16
                : c->opts->dtype == 2 || weir_dtype_is_real(c->in.dtype) ? WEIR_F32
                                                                         : WEIR_I16;
  if (c->in.unit > 0 && c->in.dtype == WEIR_I16) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "convert.dtype: voxels that are divided by files.unit are floats, and i16 "
                     "holds none: f32");
  }
  c->out = c->in;
  c->total = cf_source_count(c->s);
  for (int d = 0; d < 3; d++) {
    if (side > 0 && c->in.lengths[d] % side != 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "convert.side: %lld does not divide samples of %lld x %lld x %lld",
                       (long long)side, (long long)c->in.lengths[0], (long long)c->in.lengths[1],
                       (long long)c->in.lengths[2]);
    }
    c->out.lengths[d] = side > 0 ? side : c->in.lengths[d];
    c->n_cubes[d] = c->in.lengths[d] / c->out.lengths[d];
    c->total *= c->n_cubes[d];
  }
  const size_t size = weir_dtype_size(c->in.dtype);

  WEIR_TRY(weir_alloc(c->out.lengths[0] * cf_volume_plane(&c->in), size, (void **)&c->layer));
  WEIR_TRY(weir_alloc(cf_volume_elements(&c->out), size, (void **)&c->cube));
  if (c->in.n_classes == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(c->out.lengths[0] * c->in.lengths[1] * c->in.lengths[2], 1,
                      (void **)&c->class_layer));
  return weir_alloc(cf_volume_cells(&c->out), 1, (void **)&c->class_cube);
}

/* The cube at (j, k) of a layer of voxels of so many bytes. */
static void copy_cube(const conversion *c, int64_t j, int64_t k, size_t voxel, const char *layer,
                      char *to)
{
  const size_t row = (size_t)c->out.lengths[2] * voxel;

  for (int64_t d = 0; d < c->out.lengths[0]; d++) {
    for (int64_t h = 0; h < c->out.lengths[1]; h++, to += row) {
      const int64_t at = (d * c->in.lengths[1] + j * c->out.lengths[1] + h) * c->in.lengths[2] +
                         k * c->out.lengths[2];

      memcpy(to, layer + (size_t)at * voxel, row);
    }
  }
}

/* Appends the cube; opens and completes files on the way. Those that are there are passed over. */
static weir_status write_cube(conversion *c, const cf_volume_about *about)
{
  const int64_t file = c->next / c->opts->per_file, in_file = c->next % c->opts->per_file;
  char name[64], path[CF_MAX_LOCATION];

  if (c->whole[file]) {
    c->next++;
    return WEIR_OK;
  }
  if (in_file == 0) {
    const int64_t left = c->total - c->next;

    name_of(c, file, name);
    WEIR_TRY(weir_path_join(c->folder, name, path, sizeof path));
    WEIR_TRY(cf_volume_create(c->opts->format, path, &c->out,
                              left < c->opts->per_file ? left : c->opts->per_file,
                              (int)c->opts->level, &c->w));
  }
  WEIR_TRY(cf_volume_append(c->w, c->cube, about));
  c->next++;
  c->done->samples++;
  if (in_file + 1 == c->opts->per_file || c->next == c->total) {
    WEIR_TRY(cf_volume_commit(&c->w));
    WEIR_TRY(c->written == NULL ? for_endings(c, file, list)
                                : weir_bytes_put(c->written, &file, sizeof file));
    c->done->files++;
    weir_run_dir_keep(); /* the same command makes the others */
  }
  c->done->bytes += (double)cf_volume_elements(&c->out) * (double)weir_dtype_size(c->out.dtype);
  if (c->next < c->end) {
    weir_progress("convert", c->next, c->total, "samples");
  }
  return weir_stop_requested() && c->next < c->total
             ? weir_fail(WEIR_ERR_STOPPED, "convert: stopped by signal %d", weir_stop_signal())
             : WEIR_OK;
}

/* The parameters in their own units, where ranges alone say them. */
static void add_physical(const conversion *c, const float *labels, cf_facts *facts)
{
  bool known = c->in.n_labels > 0;

  for (int64_t k = 0; k < c->in.n_labels; k++) {
    known = known && c->in.lo[k] < c->in.hi[k];
  }
  for (int64_t k = 0; known && !facts->has_physical && k < c->in.n_labels; k++) {
    facts->physical[k] = c->in.lo[k] + 0.5 * ((double)labels[k] + 1) * (c->in.hi[k] - c->in.lo[k]);
  }
  facts->has_physical = facts->has_physical || known;
}

/* Warns where the files state several universes within samples that are stated to be of one. */
static void warn_of_universes(conversion *c, int64_t sample, int64_t universe)
{
  const int64_t each = c->opts->samples_per_universe;

  if (each > 0 && universe >= 0 && sample % each != 0 && universe != c->universe && !c->warned) {
    c->warned = true;
    weir_warn("convert",
              "data.split.samples_per_universe=%lld is not used: the files state universes, and "
              "samples %lld and %lld are of universes %lld and %lld",
              (long long)each, (long long)sample, (long long)sample + 1, (long long)c->universe,
              (long long)universe);
  }
}

/* Universe of a sample: of its file, otherwise by position; -1: not known. */
static weir_status universe_of(conversion *c, int64_t sample, int64_t *universe)
{
  const int64_t each = c->opts->samples_per_universe;
  int64_t stated = -1;

  if (sample > 0 && c->latest != sample - 1) { /* another rank converts it */
    WEIR_TRY(cf_source_universe(c->s, sample - 1, &c->universe));
  }
  WEIR_TRY(cf_source_universe(c->s, sample, &stated));
  if (sample > 0 && (stated < 0) != (c->universe < 0)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "convert: some samples state which universe they are of, and others do not "
                     "(sample %lld): convert the two kinds of files apart",
                     (long long)sample + 1);
  }
  if (stated < 0 && each == 0 && c->opts->side > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "convert.side: the files do not state which universes their samples are of, "
                     "and cubes of one universe belong into one subset: set "
                     "data.split.samples_per_universe to the number of consecutive samples of a "
                     "universe (1: each sample is a universe of its own)");
  }
  if (stated < 0 && each > 0) {
    WEIR_TRY(cf_split_check_count(each, cf_source_count(c->s)));
  }
  if (c->latest < 0 && c->written == NULL && stated < 0 && each == 0) {
    weir_warn("convert", "the files do not state which universes their samples are of, nor will "
                         "the converted ones: data.split.samples_per_universe states it");
  }
  warn_of_universes(c, sample, stated);
  c->latest = sample;
  c->universe = stated;
  *universe = stated >= 0 || each == 0 ? stated : sample / each;
  return WEIR_OK;
}

static weir_status convert_sample(conversion *c, int64_t sample)
{
  const size_t voxel = (size_t)c->in.lengths[3] * weir_dtype_size(c->in.dtype);
  const int64_t planes = c->out.lengths[0];
  float labels[CF_MAX_LABELS] = {0};
  cf_facts facts = {.has_physical = false};
  int64_t corner[3] = {0};
  cf_volume_about about = {labels, -1, (const uint8_t *)c->class_cube, &facts};

  if (all_there(c, c->n_cubes[0] * c->n_cubes[1] * c->n_cubes[2])) {
    c->next += c->n_cubes[0] * c->n_cubes[1] * c->n_cubes[2];
    return WEIR_OK;
  }
  WEIR_TRY(cf_source_labels(c->s, sample, labels));
  WEIR_TRY(universe_of(c, sample, &about.universe));
  WEIR_TRY(cf_source_facts(c->s, sample, &facts));
  add_physical(c, labels, &facts);
  memcpy(corner, facts.corner, sizeof corner);
  for (int64_t i = 0; i < c->n_cubes[0]; i++) {
    if (all_there(c, c->n_cubes[1] * c->n_cubes[2])) {
      c->next += c->n_cubes[1] * c->n_cubes[2];
      continue;
    }
    WEIR_TRY(cf_source_read(c->s, sample, i * planes, (i + 1) * planes, c->in.dtype, c->layer));
    if (c->in.n_classes > 0) {
      WEIR_TRY(
          cf_source_classes(c->s, sample, i * planes, (i + 1) * planes, (uint8_t *)c->class_layer));
    }
    for (int64_t j = 0; j < c->n_cubes[1]; j++) {
      for (int64_t k = 0; k < c->n_cubes[2]; k++) {
        copy_cube(c, j, k, voxel, c->layer, c->cube);
        if (c->in.n_classes > 0) {
          copy_cube(c, j, k, 1, c->class_layer, c->class_cube);
        }
        facts.corner[0] = corner[0] + i * c->out.lengths[0];
        facts.corner[1] = corner[1] + j * c->out.lengths[1];
        facts.corner[2] = corner[2] + k * c->out.lengths[2];
        WEIR_TRY(write_cube(c, &about));
      }
    }
  }
  return WEIR_OK;
}

/* ---- Ranks ---- */

/* Samples of an item: as few as fill whole files. */
static int64_t samples_of_item(const conversion *c)
{
  const int64_t cubes = c->n_cubes[0] * c->n_cubes[1] * c->n_cubes[2];

  return c->opts->per_file / weir_gcd(c->opts->per_file, cubes);
}

/* The sample that is written first of item i. */
static int64_t first_of_item(const conversion *c, int64_t i)
{
  const int64_t first = i * samples_of_item(c) * c->n_cubes[0] * c->n_cubes[1] * c->n_cubes[2];

  return first < c->total ? first : c->total;
}

/* Converts the samples of item i, on its rank: what was done, and which files rank 0 has to list.
 */
static weir_status convert_item(void *context, int64_t i, weir_bytes *out)
{
  conversion *const c = context;
  const int64_t n = samples_of_item(c), count = cf_source_count(c->s);
  const int64_t end = (i + 1) * n < count ? (i + 1) * n : count;
  cf_converted *const all = c->done, none = {0};
  cf_converted own = none;
  const bool leads = c->comm == NULL || weir_comm_rank(c->comm) == 0;
  weir_status status = weir_bytes_put(out, &own, sizeof own);

  c->done = &own;
  c->written = leads ? NULL : out;
  c->next = first_of_item(c, i);
  c->end = first_of_item(c, i + 1);
  for (int64_t k = i * n; k < end && status == WEIR_OK; k++) {
    status = convert_sample(c, k);
  }
  c->done = all;
  if (leads) { /* of an item that is stopped, too: its files are listed */
    all->samples += own.samples;
    all->files += own.files;
    all->bytes += own.bytes;
  }
  WEIR_TRY(status);
  memcpy(out->data, leads ? &none : &own, sizeof own);
  return WEIR_OK;
}

static weir_status take_item(void *context, int64_t i, const char *data, int64_t n)
{
  conversion *const c = context;
  const char *at = data;
  cf_converted own;

  WEIR_TRY(weir_bytes_get(&at, data + n, &own, sizeof own));
  weir_progress("convert", first_of_item(c, i + 1), c->total, "samples");
  c->done->samples += own.samples;
  c->done->files += own.files;
  c->done->bytes += own.bytes;
  while (at < data + n) {
    int64_t file = 0;

    WEIR_TRY(weir_bytes_get(&at, data + n, &file, sizeof file));
    WEIR_TRY(for_endings(c, file, list));
  }
  return WEIR_OK;
}

static weir_status convert_all(conversion *c)
{
  const int64_t n = samples_of_item(c);

  return weir_items_run(&(weir_items){.comm = c->comm,
                                      .what = "convert",
                                      .unit = "groups of samples",
                                      .n = (cf_source_count(c->s) + n - 1) / n,
                                      .make = convert_item,
                                      .take = take_item},
                        c);
}

weir_status cf_convert(cf_source *s, const cf_convert_opts *opts, const char *folder,
                       weir_comm *comm, cf_converted *done)
{
  conversion c = {.s = s, .opts = opts, .folder = folder, .latest = -1, .comm = comm, .done = done};
  weir_status status = WEIR_OK;

  *done = (cf_converted){0};
  WEIR_TRY_GOTO(prepare(&c), out);
  WEIR_TRY_GOTO(look_at_all(&c), out);
  WEIR_TRY_GOTO(convert_all(&c), out);
out:
  if (status == WEIR_ERR_STOPPED && (comm == NULL || weir_comm_rank(comm) == 0)) {
    status =
        weir_fail(WEIR_ERR_STOPPED,
                  "convert: stopped after %lld of %lld samples; %lld files are complete; repeat "
                  "the command to resume",
                  (long long)c.next, (long long)c.total, (long long)(done->files + done->kept));
  }
  cf_volume_destroy(&c.w);
  cf_digests_close(&c.digests);
  weir_free(&c.whole);
  weir_free(&c.layer);
  weir_free(&c.cube);
  weir_free(&c.class_layer);
  weir_free(&c.class_cube);
  return status;
}
