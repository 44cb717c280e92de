/* source.h - sources of samples: files (volume.h), or universes simulated on demand, `synth://` in
 * place of paths.
 *
 * Samples of synth:// are those that `prepare` writes with the same options and seed, in the same
 * order, bit for bit: simulate.universes of them from simulate.first on, each divided into its
 * samples. The most recently used universes are cached. A source is used by one thread at a time; a
 * universe is simulated by all threads, or, prefetched by a worker of load/, by it.
 */
#ifndef CF_SOURCE_H
#define CF_SOURCE_H
#include "data/simulation/universe.h"
#include "data/volume/volume.h"

#define CF_SOURCE_SYNTH "synth://"
/* Attributes of the origin of a result; for files followed by _sha256. */
#define CF_ORIGIN_DATA "data"
#define CF_ORIGIN_SIMULATION "simulation_sha256"

typedef struct cf_source_opts {
  weir_string_list input; /* files, folders, lists; or synth:// alone */
  int64_t cache_bytes;    /* bytes of universes that stay; the last one always does */
  int64_t digest_bytes;   /* of inputs, for provenance; 0: all */
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
/* Determines whether an input is synth://. Fails: WEIR_ERR_CONFIG (synth:// with files). */
weir_status cf_source_is_synth(const weir_string_list *input, bool *synth) WEIR_CHECKED;
/* Calls visit with the path of each file of samples, without opening it, until one fails; not at
 * all for synth://. Fails: as visit; as cf_source_open for a file that is missing. */
weir_status cf_source_list(const weir_string_list *input,
                           weir_status (*visit)(void *context, const char *path),
                           void *context) WEIR_CHECKED;
/* Returns the properties of samples of synth:// before any is simulated. */
cf_volume_info cf_source_synth_info(const cf_universe_opts *opts, const cf_universe_facts *f);

/* Opens a source. Fails: WEIR_ERR_CONFIG (nothing is named; synth:// with files; invalid options of
 * universes), WEIR_ERR_UNSUPPORTED (synth:// without FFTW), as cf_volumes_open. */
weir_status cf_source_open(const cf_source_spec *spec, cf_source **out) WEIR_CHECKED;
/* Accepts NULL. */
void cf_source_close(cf_source **s);
int64_t cf_source_count(const cf_source *s);
/* Borrowed. */
const cf_volume_info *cf_source_info(const cf_source *s);
/* Read as cf_volumes_read, _labels, _facts, _classes, _universe. Fail: as these, and as
 * cf_generator_make. */
weir_status cf_source_read(cf_source *s, int64_t sample, int64_t d0, int64_t d1, weir_dtype dtype,
                           void *out) WEIR_CHECKED;
weir_status cf_source_labels(cf_source *s, int64_t sample, float *labels) WEIR_CHECKED;
weir_status cf_source_facts(cf_source *s, int64_t sample, cf_facts *out) WEIR_CHECKED;
weir_status cf_source_classes(cf_source *s, int64_t sample, int64_t d0, int64_t d1,
                              uint8_t *out) WEIR_CHECKED;
weir_status cf_source_universe(cf_source *s, int64_t sample, int64_t *universe) WEIR_CHECKED;
/* Writes "FILE: sample 3", or "universe 5: sample 3 of 8". Always terminated. */
void cf_source_locate(const cf_source *s, int64_t sample, char *text, size_t size);
/* Describes samples, shape, layout and files in a line. Always terminated. */
void cf_source_describe(const cf_source *s, char *text, size_t size);
/* Writes the same for readers, with "1 label" in place of "1 labels", which files store. */
void cf_source_summary(const cf_source *s, char *text, size_t size);
/* Computes a digest of 64 hex digits of paths, sizes and times of files and how they are read, or
 * of options, seed and numbers of universes. */
void cf_source_key(const cf_source *s, char hex[65]);
/* Adds the origin of a result: data_sha256 of files, as cf_volumes_origin, or, of synth://,
 * simulation_sha256, the key. Fails: as weir_origin_files. */
weir_status cf_source_origin(const cf_source *s, weir_origin *to) WEIR_CHECKED;
/* Determines whether a result came from this source; not known where one is of files and the other
 * of synth://. Fails: as weir_origin_files. */
weir_status cf_source_belongs(const cf_source *s, const weir_origin *o,
                              weir_belongs *out) WEIR_CHECKED;
/* Returns as cf_volumes_within; NULL for synth://. Borrowed. */
const char *cf_source_within(const cf_source *s, const char *folder);
/* Returns whether the source is synth://. */
bool cf_source_simulates(const cf_source *s);
/* Returns the number of universes simulated so far. */
int64_t cf_source_made(const cf_source *s);
#endif
