/* source.h - where samples come from: files (volume.h), or universes that are made when they are
 * asked for, `synth://` in the place of the paths.
 *
 * Samples of synth:// are those that `prepare` writes with the same options and seed, in the same
 * order, bit for bit: simulate.universes of them from simulate.first on, each cut into its samples.
 * Universes that were used last stay in memory. A source is used by one thread at a time; a
 * universe is made by all threads, or, read ahead by a lane of load/, on that lane alone. */
#ifndef CF_SOURCE_H
#define CF_SOURCE_H
#include "data/universe.h"
#include "data/volume.h"

#define CF_SOURCE_SYNTH "synth://"
/* What a result says that it came from: of files _sha256 follows. */
#define CF_ORIGIN_DATA "data"
#define CF_ORIGIN_SIMULATION "simulation_sha256"

typedef struct cf_source_opts {
  weir_string_list input; /* files, folders, lists; or synth:// alone */
  int64_t cache_bytes;    /* bytes of universes that stay; the last one always does */
} cf_source_opts;
extern const weir_opt cf_source_options[];

/* All borrowed until the source is closed, `files` and `simulate` with their lists. */
typedef struct cf_source_spec {
  const cf_source_opts *source;
  const cf_volume_opts *files;
  const cf_universe_opts *simulate; /* of synth:// */
  uint64_t seed;                    /* of synth:// */
} cf_source_spec;

typedef struct cf_source cf_source;
/* Whether an input is synth://. Fails: WEIR_ERR_CONFIG (synth:// beside files). */
weir_status cf_source_is_synth(const weir_string_list *input, bool *synth) WEIR_CHECKED;
/* What is known of samples of synth:// before any is made. */
cf_volume_info cf_source_synth_info(const cf_universe_opts *opts, const cf_universe_facts *f);

/* Fails: WEIR_ERR_CONFIG (nothing is named; synth:// beside files; universes that cannot be),
 * WEIR_ERR_UNSUPPORTED (synth:// without FFTW), as cf_volumes_open. */
weir_status cf_source_open(const cf_source_spec *spec, cf_source **out) WEIR_CHECKED;
/* Accepts NULL. */
void cf_source_close(cf_source **s);
int64_t cf_source_count(const cf_source *s);
/* Borrowed. */
const cf_volume_info *cf_source_info(const cf_source *s);
/* As cf_volumes_read, _labels, _facts, _classes, _universe; and as cf_generator_make. */
weir_status cf_source_read(cf_source *s, int64_t sample, int64_t d0, int64_t d1, weir_dtype dtype,
                           void *out) WEIR_CHECKED;
weir_status cf_source_labels(cf_source *s, int64_t sample, float *labels) WEIR_CHECKED;
weir_status cf_source_facts(cf_source *s, int64_t sample, cf_facts *out) WEIR_CHECKED;
weir_status cf_source_classes(cf_source *s, int64_t sample, int64_t d0, int64_t d1,
                              uint8_t *out) WEIR_CHECKED;
weir_status cf_source_universe(cf_source *s, int64_t sample, int64_t *universe) WEIR_CHECKED;
/* "FILE: sample 3", or "universe 5: sample 3 of 8". Always terminated. */
void cf_source_locate(const cf_source *s, int64_t sample, char *text, size_t size);
/* What there is, for people: samples, shape, layout, files. Always terminated. */
void cf_source_describe(const cf_source *s, char *text, size_t size);
/* What the samples are, as 64 hex digits: paths, sizes and times of files and how they are read, or
 * options, seed and numbers of universes. */
void cf_source_key(const cf_source *s, char hex[65]);
/* Adds to what a result came from: data_sha256 of files, as cf_volumes_origin, or, of synth://,
 * simulation_sha256, the key. Fails: as weir_origin_files. */
weir_status cf_source_origin(const cf_source *s, weir_origin *to) WEIR_CHECKED;
/* Whether a result came from these; not known where it came from files and these are synth://, or
 * the other way round. Fails: as weir_origin_files. */
weir_status cf_source_belongs(const cf_source *s, const weir_origin *o,
                              weir_belongs *out) WEIR_CHECKED;
/* As cf_volumes_within; NULL for synth://. Borrowed. */
const char *cf_source_within(const cf_source *s, const char *folder);
/* Whether it is synth://. */
bool cf_source_simulates(const cf_source *s);
/* Universes made so far. */
int64_t cf_source_made(const cf_source *s);
#endif
