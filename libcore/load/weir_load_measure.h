/* weir_load_measure.h - read speeds of the storage tiers of a loader (load.*.speed), by numbers of
 * threads, as the loader reads them.
 *
 * What the kernel keeps of a file in memory (the page cache) is dropped before each reading, as far
 * as it does so on request: files that are not written back yet, and those of file systems in
 * memory, stay. The share of bytes that were still there is a result. Local calls. */
#ifndef WEIR_LOAD_MEASURE_H
#define WEIR_LOAD_MEASURE_H
#include <stdint.h>
#include "conf/weir_opt.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { WEIR_LOAD_MAX_PAIRS = 16 };

/* Measured pairs, as those of load.*.speed. */
typedef struct weir_load_speeds {
  double item[2 * WEIR_LOAD_MAX_PAIRS]; /* threads or readers, MB/s of all of them */
  int n;                                /* pairs */
  double cached; /* largest share of bytes that were in the page cache; NaN: not known, or of
                    memory */
} weir_load_speeds;

/* Measures memory: samples of so many bytes are copied by each number of threads, ascending, from
 * `bytes` of memory, of which at least one sample a thread; the best of three times counts. Fails:
 * WEIR_ERR_CONFIG (numbers of threads), WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL (threads),
 * WEIR_ERR_STOPPED after a signal. */
weir_status weir_load_measure_memory(int64_t sample_bytes, int64_t bytes,
                                     const weir_int_list *threads,
                                     weir_load_speeds *out) WEIR_CHECKED;
/* Measures a directory: files of samples, as a loader keeps them there, are written, dropped from
 * the page cache and read with their checksums, and removed at the end. Fails: as above;
 * WEIR_ERR_DATA, WEIR_ERR_SPACE (the directory). */
weir_status weir_load_measure_directory(const char *path, int64_t sample_bytes, int64_t bytes,
                                        const weir_int_list *threads,
                                        weir_load_speeds *out) WEIR_CHECKED;
/* Writes a file back, asks the kernel to drop it from memory, and returns the share of its bytes
 * that is still there; NaN where that is not known, as of files that this user neither owns nor
 * may write. */
double weir_load_drop_cached(const char *path);
/* Returns the bytes of memory that this machine can give to programs without swapping (MemAvailable
 * of /proc/meminfo, else free pages); limits of a job or container are not known. */
int64_t weir_load_free_memory(void);
/* Returns the bytes that a user may still write to the file system of a folder; 0: not known. */
int64_t weir_load_free_space(const char *path);

#ifdef __cplusplus
}
#endif
#endif
