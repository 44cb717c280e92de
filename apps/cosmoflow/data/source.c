/* source.c - see source.h. */
#include "data/source.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "data/volume/volume_format.h"

const weir_opt cf_source_options[] = {
    WEIR_OPT_STRING_LIST(cf_source_opts, input, "",
                         "files of samples, folders of them, lists (.lst) of their paths; or "
                         "synth://: universes of simulate, made when they are asked for"),
    WEIR_OPT_INT(cf_source_opts, cache_bytes, 1 << 28, 0, 1e15, "B",
                 "synth://: universes that stay in memory, those used last; one always does",
                 .alias = "keep"),
    WEIR_OPT_INT(cf_source_opts, digest_bytes, (int64_t)1 << 32, 0, 1e15, "B",
                 "provenance.json has digests of input files up to this many bytes together, and "
                 "the size of those after them; 0: digests of all"),
    WEIR_OPT_END,
};

/* A universe in memory. */
typedef struct cached {
  int64_t universe; /* -1: none */
  int64_t used;     /* when, in reads */
  void *voxels;     /* [samples, side, side, side, channels] */
} cached;

struct cf_source {
  cf_volumes *files; /* NULL: synth */
  const cf_universe_opts *simulate;
  uint64_t seed;
  cf_generator *g;
  cf_generator_workspace *workspace;
  cf_volume_info info; /* of synth */
  cached *cached;      /* [n_cached] */
  int64_t n_cached, reads, made;
};

cf_volume_info cf_source_synth_info(const cf_universe_opts *o, const cf_universe_facts *f)
{
  static const char *const method[] = {"1LPT", "2LPT", "particle-mesh"};
  cf_volume_info info = {.lengths = {f->side, f->side, f->side, f->channels},
                         .dtype = f->dtype,
                         .n_labels = f->n_labels,
                         .box = o->box,
                         .cell = o->box / (double)o->side,
                         .physical = true,
                         .line_of_sight = cf_universe_line_of_sight(o),
                         .quantity = cf_universe_counts_whole(o) ? CF_QUANTITY_COUNTS
                                                                 : CF_QUANTITY_DENSITY};

  for (int64_t k = 0; k < f->n_labels; k++) {
    (void)snprintf(info.label[k], CF_MAX_NAME, "%s", cf_parameter_name[f->label[k]]);
    info.lo[k] = f->lo[f->label[k]];
    info.hi[k] = f->hi[f->label[k]];
  }
  if (f->channels <= CF_MAX_LABELS) {
    info.n_redshifts = f->channels;
    memcpy(info.redshift, o->redshifts.items, (size_t)f->channels * sizeof(double));
  }
  (void)snprintf(info.layout, sizeof info.layout, "simulated when asked for, %s",
                 method[o->method]);
  return info;
}

static weir_status open_synth(cf_source *s, const cf_source_spec *spec)
{
  char text[CF_TEXT];

  s->simulate = spec->simulate;
  s->seed = spec->seed;
  WEIR_TRY(cf_generator_create(spec->simulate, spec->seed, &s->g));
  WEIR_TRY(cf_generator_workspace_create(s->g, &s->workspace));
  const cf_universe_facts *const f = cf_generator_facts(s->g);
  const int64_t fit = spec->source->cache_bytes / f->bytes;

  s->info = cf_source_synth_info(spec->simulate, f);
  cf_universe_text(spec->simulate, f, spec->seed, text, sizeof text);
  (void)snprintf(s->info.simulation, sizeof s->info.simulation, "%.*s",
                 (int)sizeof s->info.simulation - 1, text);
  s->n_cached = fit < 1 ? 1 : fit < spec->simulate->universes ? fit : spec->simulate->universes;
  WEIR_TRY(weir_alloc(s->n_cached, sizeof *s->cached, (void **)&s->cached));
  for (int64_t i = 0; i < s->n_cached; i++) {
    s->cached[i].universe = -1;
  }
  return WEIR_OK;
}

weir_status cf_source_is_synth(const weir_string_list *input, bool *synth)
{
  *synth = false;
  for (int64_t i = 0; i < input->count; i++) {
    *synth = *synth || strcmp(input->items[i], CF_SOURCE_SYNTH) == 0;
  }
  return *synth && input->count > 1
             ? weir_fail(WEIR_ERR_CONFIG, "%s: is a whole source; name it alone, or files alone",
                         CF_SOURCE_SYNTH)
             : WEIR_OK;
}

weir_status cf_source_list(const weir_string_list *input,
                           weir_status (*visit)(void *context, const char *path), void *context)
{
  bool synth = false;

  WEIR_TRY(cf_source_is_synth(input, &synth));
  return synth ? WEIR_OK : cf_volumes_list(input->items, input->count, visit, context);
}

weir_status cf_source_open(const cf_source_spec *spec, cf_source **out)
{
  const weir_string_list *const input = &spec->source->input;
  cf_source *s = NULL;
  bool synth = false;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(cf_source_is_synth(input, &synth));
  WEIR_TRY(weir_alloc(1, sizeof *s, (void **)&s));
  status = synth ? open_synth(s, spec)
                 : cf_volumes_open(input->items, input->count, spec->files, &s->files);
  if (status != WEIR_OK) {
    cf_source_close(&s);
    return status;
  }
  *out = s;
  return WEIR_OK;
}

void cf_source_close(cf_source **s)
{
  if (*s == NULL) {
    return;
  }
  cf_volumes_close(&(*s)->files);
  for (int64_t i = 0; (*s)->cached != NULL && i < (*s)->n_cached; i++) {
    weir_free(&(*s)->cached[i].voxels);
  }
  weir_free(&(*s)->cached);
  cf_generator_workspace_destroy(&(*s)->workspace);
  cf_generator_destroy(&(*s)->g);
  weir_free(s);
}

static int64_t samples_of_one(const cf_source *s)
{
  return cf_generator_facts(s->g)->samples;
}

int64_t cf_source_count(const cf_source *s)
{
  return s->files ? cf_volumes_count(s->files) : s->simulate->universes * samples_of_one(s);
}

const cf_volume_info *cf_source_info(const cf_source *s)
{
  return s->files ? cf_volumes_info(s->files) : &s->info;
}

/* The universe of a sample of synth. */
static int64_t universe_of(const cf_source *s, int64_t sample)
{
  WEIR_ASSERT(sample >= 0 && sample < cf_source_count(s));
  return s->simulate->first + sample / samples_of_one(s);
}

/* Gets a universe from the cache, or simulates it in place of the least recently used one. */
static weir_status make(cf_source *s, int64_t universe, const cached **out)
{
  cached *k = &s->cached[0];

  for (int64_t i = 0; i < s->n_cached; i++) {
    if (s->cached[i].universe == universe) {
      s->cached[i].used = s->reads;
      *out = &s->cached[i];
      return WEIR_OK;
    }
    k = s->cached[i].used < k->used ? &s->cached[i] : k;
  }
  k->universe = -1;
  if (k->voxels == NULL) {
    WEIR_TRY(weir_alloc(cf_generator_facts(s->g)->bytes, 1, &k->voxels));
  }
  WEIR_TRY(cf_generator_make(s->g, s->workspace, universe, k->voxels));
  *k = (cached){universe, s->reads, k->voxels};
  s->made++;
  *out = k;
  return WEIR_OK;
}

weir_status cf_source_read(cf_source *s, int64_t sample, int64_t d0, int64_t d1, weir_dtype dtype,
                           void *out)
{
  const cached *k = NULL;

  if (s->files) {
    return cf_volumes_read(s->files, sample, d0, d1, dtype, out);
  }
  WEIR_ASSERT(0 <= d0 && d0 <= d1 && d1 <= s->info.lengths[0] &&
              (dtype == WEIR_I16 || dtype == WEIR_F32));
  s->reads++;
  WEIR_TRY(make(s, universe_of(s, sample), &k));
  const int64_t plane = cf_volume_plane(&s->info);
  const int64_t at =
      sample % samples_of_one(s) * cf_volume_elements(&s->info) + d0 * plane; /* in the universe */
  const char *const from = (const char *)k->voxels + (size_t)at * weir_dtype_size(s->info.dtype);
  const int64_t bad = cf_volume_convert(s->info.dtype, from, (d1 - d0) * plane, dtype, out);

  if (bad >= 0) {
    char where[CF_MAX_LOCATION];

    cf_source_locate(s, sample, where, sizeof where);
    return cf_volume_refuse(where, bad + d0 * plane, weir_dtype_load_real(s->info.dtype, from, bad),
                            dtype);
  }
  return WEIR_OK;
}

weir_status cf_source_labels(cf_source *s, int64_t sample, float *labels)
{
  double unit[CF_PARAMETERS];
  cf_cosmology c;

  if (s->files) {
    return cf_volumes_labels(s->files, sample, labels);
  }
  cf_generator_draw(s->g, universe_of(s, sample), &c, unit);
  for (int64_t k = 0; k < s->info.n_labels; k++) {
    labels[k] = (float)unit[k];
  }
  return WEIR_OK;
}

weir_status cf_source_facts(cf_source *s, int64_t sample, cf_facts *out)
{
  double unit[CF_PARAMETERS];
  cf_cosmology c;

  if (s->files) {
    return cf_volumes_facts(s->files, sample, out);
  }
  cf_generator_draw(s->g, universe_of(s, sample), &c, unit);
  const cf_universe_facts *const f = cf_generator_facts(s->g);
  const double all[CF_PARAMETERS] = {c.omega_m, c.sigma_8, c.n_s, c.h};
  const int64_t along = s->simulate->side / f->side, block = sample % f->samples;

  *out = (cf_facts){.has_physical = true,
                    .has_cosmology = true,
                    .cosmology = {c.omega_m, c.omega_b, c.h, c.n_s, c.sigma_8},
                    .has_corner = true,
                    .corner = {block / along / along * f->side, block / along % along * f->side,
                               block % along * f->side}};
  for (int64_t k = 0; k < f->n_labels; k++) {
    out->physical[k] = all[f->label[k]];
  }
  return WEIR_OK;
}

weir_status cf_source_classes(cf_source *s, int64_t sample, int64_t d0, int64_t d1, uint8_t *out)
{
  WEIR_ASSERT(s->files); /* universes have none */
  return cf_volumes_classes(s->files, sample, d0, d1, out);
}

weir_status cf_source_universe(cf_source *s, int64_t sample, int64_t *universe)
{
  if (s->files) {
    return cf_volumes_universe(s->files, sample, universe);
  }
  *universe = universe_of(s, sample);
  return WEIR_OK;
}

void cf_source_locate(const cf_source *s, int64_t sample, char *text, size_t size)
{
  if (s->files) {
    cf_volumes_locate(s->files, sample, text, size);
    return;
  }
  const int64_t of = samples_of_one(s);

  (void)snprintf(text, size, "universe %lld: sample %lld of %lld",
                 (long long)universe_of(s, sample), (long long)(sample % of + 1), (long long)of);
}

void cf_source_describe(const cf_source *s, char *text, size_t size)
{
  const cf_volume_info *const i = cf_source_info(s);

  (void)snprintf(text, size,
                 "%lld samples of %lld x %lld x %lld x %lld %s with %lld labels%s in %lld %s: %s",
                 (long long)cf_source_count(s), (long long)i->lengths[0], (long long)i->lengths[1],
                 (long long)i->lengths[2], (long long)i->lengths[3], weir_dtype_name(i->dtype),
                 (long long)i->n_labels, i->n_classes > 0 ? ", classes of voxels" : "",
                 (long long)(s->files ? cf_volumes_files(s->files) : s->simulate->universes),
                 s->files ? "files" : "universes", i->layout);
}

void cf_source_summary(const cf_source *s, char *text, size_t size)
{
  static const char *const several[] = {" samples of", " labels", " files:", " universes:"};
  static const char *const one[] = {" sample of", " label", " file:", " universe:"};

  cf_source_describe(s, text, size);
  for (int k = 0; k < 4; k++) {
    char number[24];

    (void)snprintf(number, sizeof number, k == 0 ? "1%s" : " 1%s", several[k]);
    char *const at = strstr(text, number);

    if (at != NULL && (k > 0 || at == text)) {
      char *const word = at + strlen(number) - strlen(several[k]);
      const size_t n = strlen(one[k]), shorter = strlen(several[k]) - n;

      memcpy(word, one[k], n);
      memmove(word + n, word + n + shorter, strlen(word + n + shorter) + 1);
    }
  }
}

void cf_source_key(const cf_source *s, char hex[65])
{
  char text[CF_TEXT + 64];

  if (s->files) {
    cf_volumes_key(s->files, hex);
    return;
  }
  cf_universe_text(s->simulate, cf_generator_facts(s->g), s->seed, text, CF_TEXT);
  const size_t n = strlen(text);

  (void)snprintf(text + n, sizeof text - n, "; universes %lld from %lld",
                 (long long)s->simulate->universes, (long long)s->simulate->first);
  weir_sha256(text, strlen(text), hex);
}

weir_status cf_source_origin(const cf_source *s, weir_origin *to)
{
  char hex[65];

  if (s->files) {
    return cf_volumes_origin(s->files, CF_ORIGIN_DATA, to);
  }
  cf_source_key(s, hex);
  return weir_origin_text(to, CF_ORIGIN_SIMULATION, hex);
}

weir_status cf_source_belongs(const cf_source *s, const weir_origin *o, weir_belongs *out)
{
  const char *const was = weir_origin_find(o, CF_ORIGIN_SIMULATION);
  char hex[65];

  *out = WEIR_BELONGS_UNKNOWN;
  if (s->files) {
    return cf_volumes_belongs(s->files, CF_ORIGIN_DATA, o, out);
  }
  if (was != NULL) {
    cf_source_key(s, hex);
    *out = strcmp(hex, was) == 0 ? WEIR_BELONGS : WEIR_BELONGS_NOT;
  }
  return WEIR_OK;
}

const char *cf_source_within(const cf_source *s, const char *folder)
{
  return s->files ? cf_volumes_within(s->files, folder) : NULL;
}

bool cf_source_simulates(const cf_source *s)
{
  return s->files == NULL;
}

int64_t cf_source_made(const cf_source *s)
{
  return s->made;
}
