/* convert.h - conversion of samples between formats, whole or divided into smaller cubes. */
#ifndef CF_CONVERT_H
#define CF_CONVERT_H
#include "comm/weir_comm.h"
#include "data/source.h"

typedef struct cf_convert_opts {
  const char *format;
  int64_t per_file;             /* samples of each file */
  int64_t side;                 /* of the cubes; 0: whole samples */
  int64_t level;                /* of compression */
  int dtype;                    /* 0: as stored, 1: i16, 2: f32 */
  int64_t samples_per_universe; /* data.split.samples_per_universe; 0: files state universes */
} cf_convert_opts;
extern const weir_opt cf_convert_options[];

typedef struct cf_converted {
  int64_t files, samples; /* written now .. */
  double bytes;           /* .. of the voxels, before compression */
  int64_t kept;           /* files that were there, whole */
  int64_t damaged;        /* that were there and were written again */
} cf_converted;

/* Writes all samples of s to files of an existing folder, "samples-00000000" and so on after the
 * number of their first sample. Cubes of a divided sample are written in the order of their corners
 * (depth, height, width), and share a universe: that of the file, otherwise by position
 * (samples_per_universe); without either it stays unknown, which is refused for cubes. Every file
 * appears atomically, and is listed with its digest (digests.h): the same conversion to the same
 * folder keeps files with matching digests, writes the others, and ends with the same bytes. The
 * ranks of comm (NULL: one) share the files, of whole samples each; rank 0 lists them and fills
 * *done. Collective. Fails:
 * WEIR_ERR_CONFIG (a side that does not divide that of the samples, a folder with a conversion of
 * another input or with other options, cubes of unknown universes, known and unknown universes
 * together, samples that are not a multiple of samples_per_universe), WEIR_ERR_DATA,
 * WEIR_ERR_STOPPED, as cf_volume_create and cf_source_read. */
weir_status cf_convert(cf_source *s, const cf_convert_opts *opts, const char *folder,
                       weir_comm *comm, cf_converted *done) WEIR_CHECKED;
#endif
