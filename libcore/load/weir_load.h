/* weir_load.h - sample
 * loader with prefetching: the access stream is known in advance (weir_order.h), so threads read
 * ahead, and samples that will be accessed again are cached (Dryden et al., SC'21;
 * docs/decisions/0017-loading.md).
 *
 * A
 * staging buffer is filled in access order by staging.threads workers. Samples accessed more than
 * once are assigned to a storage tier, memory or a local directory, the most frequent to the
 * fastest; each is read from its source once, by its first user or by threads of the tier in the
 * order of first use. Samples with one access left are not cached. All samples have the same size:
 * of each field the box that this rank needs.
 *
 * With
 * several groups of ranks, a sample is cached in the memory of one group (remote), its owner: the
 * group that accesses it first while it has space. The owner reads it from the source and sends it
 * to the others; every rank computes from the order who sends what for which batch, so that no
 * requests are exchanged. Messages of a batch are transferred while the previous batch is computed.
 * Remaining space of a group caches the samples that it receives most often, which are sent to it
 * once.
 *
 * Samples are bitwise identical for all options. One thread consumes. */
#ifndef WEIR_LOAD_H
#define WEIR_LOAD_H
#include "comm/weir_comm.h"
#include "conf/weir_opt.h"
#include "graph/weir_access.h"
#include "load/weir_sampler.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { WEIR_LOAD_FIELDS = 16 };

/* Storage tier from which a sample was read. */
typedef enum weir_load_tier {
  WEIR_LOAD_MEMORY,
  WEIR_LOAD_DIRECTORY,
  WEIR_LOAD_SOURCE,
  WEIR_LOAD_REMOTE, /* the memory of another rank */
  WEIR_LOAD_TIERS
} weir_load_tier;

/* The section `load:` of a configuration; rows in weir_load_opts. Speeds are pairs: a number of
 * threads or readers, and the MB/s of all of them together; between two it is interpolated. */
typedef struct weir_load_cfg {
  struct {
    int64_t bytes, threads;
  } staging;
  struct {
    int64_t bytes, threads;
    weir_real_list speed;
  } memory;
  struct {
    const char *path;
    int64_t bytes, threads;
    weir_real_list speed;
    bool keep;
  } directory;
  struct {
    weir_real_list speed;
  } source;
  int remote; /* weir_load_remote */
} weir_load_cfg;
typedef enum weir_load_remote { WEIR_LOAD_AUTO, WEIR_LOAD_ON, WEIR_LOAD_OFF } weir_load_remote;
extern const weir_opt weir_load_opts[];

/* One array of every sample: the elements of `box` are read. */
typedef struct weir_load_field {
  weir_dtype dtype;
  weir_box box;
} weir_load_field;

/* The ranks that have the same box of other samples: rank g of comm is that of group g. comm must
 * not be used otherwise: the loader creates a request for every batch. */
typedef struct weir_load_peers {
  weir_comm *comm;
  int64_t epoch, position; /* end of the training: nothing is sent for later batches */
} weir_load_peers;

/* All borrowed until the loader is closed, except `field` and `peers`. */
typedef struct weir_load_source {
  const weir_load_field *field;
  int n_fields;
  /* Fills out[k], contiguous, with the box of field k. A sample must be bitwise identical at every
   * call. A failure names file and record; it reaches the consumer when that sample is due. */
  weir_status (*read)(void *context, int64_t sample, const weir_load_field *field,
                      void *const *out);
  void *context;
  bool parallel;   /* read may run on several threads at once; else on one */
  const char *key; /* identifies the samples (files, options, seed): cached files with another key
                      are not used */
  int64_t
      readers; /* ranks that read the same shared files at the same time; 0: one of each group */
  const weir_load_peers *peers; /* NULL: samples of other ranks are not available */
} weir_load_source;

typedef struct weir_load weir_load;

/* Checks that the options are consistent, for samples of so many bytes (0: not known yet) on
 * several groups of ranks or one. Fails: WEIR_ERR_CONFIG, with the message of weir_load_open. */
weir_status weir_load_suits(const weir_load_cfg *cfg, bool several, int64_t bytes) WEIR_CHECKED;
/* Opens a loader for accesses [., end) of v; borrows lists and path of cfg. Local, as all calls
 * except weir_load_batch. Fails: WEIR_ERR_CONFIG (a staging buffer below one sample, invalid
 * speeds, a capacity without a directory, remote without peers or memory), WEIR_ERR_DATA (the
 * directory), WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL (threads). */
weir_status weir_load_open(const weir_load_cfg *cfg, const weir_load_source *source,
                           const weir_access_stream *v, int64_t end, weir_load **out) WEIR_CHECKED;
/* Stops the threads, waiting for active calls of read and messages, and removes files that are not
 * kept; accepts NULL. */
void weir_load_close(weir_load **l);
/* Plans accesses [first, end) and starts to read; once, and not with samples of other ranks:
 * weir_load_batch starts then. Fails: as weir_load_open. */
weir_status weir_load_start(weir_load *l, int64_t first) WEIR_CHECKED;

/* Completes the transfers of the batch that begins at a position of an epoch, and starts those of
 * the next. Called before the accesses of the batch by all ranks of peers, also those without a
 * sample of it. The first call starts the loader; without peers it does nothing else, and repeated
 * batches are ignored. A rank that fails here or before the next call ends the training on all
 * ranks: its messages are sent, but may contain no sample. Collective over peers. Fails: as
 * weir_load_open and read; WEIR_ERR_CONFIG for a batch that is not the next; WEIR_ERR_EXTERNAL. */
weir_status weir_load_batch(weir_load *l, int64_t epoch, int64_t position) WEIR_CHECKED;

/* Waits for the sample of the next access and lends its fields until it is released; one of another
 * rank at most until the next call of weir_load_batch. Fails as read did for this sample, again at
 * every call; WEIR_ERR_CONFIG where no access is left or the staging buffer cannot hold more
 * borrowed samples. */
typedef struct weir_load_view {
  int64_t visit, sample;
  const void *field[WEIR_LOAD_FIELDS];
} weir_load_view;
weir_status weir_load_next(weir_load *l, weir_load_view *out) WEIR_CHECKED;
/* Releases the oldest borrowed sample. */
void weir_load_release(weir_load *l);

/* Lends sample i of this group's share of the batch that begins at a position of an epoch until the
 * next call of weir_load_get. The first call starts the loader if necessary. Samples that are not
 * the next access (a repeated step) are read from the source. Fails as weir_load_next;
 * WEIR_ERR_CONFIG where the next access has another sample. */
weir_status weir_load_get(weir_load *l, int64_t epoch, int64_t position, int64_t i, int64_t sample,
                          weir_load_view *out) WEIR_CHECKED;
/* Reads fields of any sample known to read, outside the order and without caching. Fails as read.
 */
weir_status weir_load_uncached(weir_load *l, int64_t sample, void *const *out) WEIR_CHECKED;

/* Statistics since the start. A loader begins with an event `load_begin` of its plan, every epoch
 * ends with `load_epoch` of its statistics, the loader with `load_end`. */
typedef struct weir_load_count {
  int64_t visits;
  int64_t from[WEIR_LOAD_TIERS];  /* accesses by storage tier */
  int64_t waits;                  /* accesses for which the consumer waited */
  double waited_s;                /* total */
  int64_t reads, ahead, uncached; /* calls of read; before the access; of weir_load_uncached */
  int64_t sent;                   /* samples, to other ranks */
  int64_t damaged;                /* cached files that were refused and read again */
  int64_t lost;                   /* samples that could not be cached */
} weir_load_count;
weir_load_count weir_load_counted(weir_load *l);

#ifdef __cplusplus
}
#endif
#endif
