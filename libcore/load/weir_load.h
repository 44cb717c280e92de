/* weir_load.h - samples that are there when they are asked for: which one comes next is known from
 * the order (weir_sampler.h), so threads read ahead, and what will come again is kept near (Dryden
 * et al., SC'21; docs/decisions/0017-loading.md).
 *
 * A staging buffer is filled in the order of the visits, by staging.threads lanes. Samples that
 * come more than once have a place in memory or in a local directory, the most frequent first, the
 * fastest first; each is read from its source once, by whoever needs it first or by threads of its
 * class in the order of first use. Samples that come once more only have no place. All samples take
 * the same number of bytes: of each part the box that this rank needs.
 *
 * Where there are several groups of ranks, a sample has one place in the memory of all of them
 * (remote): that of the group which visits it first while it has room. That group reads it from the
 * source, and the others have it from there: who sends what, and for which batch, every rank works
 * out from the order, so that nothing is asked and no message is in vain. Messages of a batch are
 * under way while the batch before it is computed. Room that a group has left is for what it has
 * from others most often, which is sent to it once.
 *
 * What is handed over is the same bits whatever the options. One thread consumes. */
#ifndef WEIR_LOAD_H
#define WEIR_LOAD_H
#include "comm/weir_comm.h"
#include "conf/weir_opt.h"
#include "graph/weir_access.h"
#include "load/weir_sampler.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { WEIR_LOAD_PARTS = 16 };

/* Where a sample was read from. */
typedef enum weir_load_tier {
  WEIR_LOAD_MEMORY,
  WEIR_LOAD_DIRECTORY,
  WEIR_LOAD_SOURCE,
  WEIR_LOAD_REMOTE, /* the memory of another rank */
  WEIR_LOAD_PLACES
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
typedef struct weir_load_part {
  weir_dtype dtype;
  weir_box box;
} weir_load_part;

/* The ranks that have the same box of other samples: rank g of comm is that of group g. A request
 * is made for every batch: nothing else uses comm. */
typedef struct weir_load_peers {
  weir_comm *comm;
  int64_t epoch, position; /* where the training ends: of no batch after it is anything sent */
} weir_load_peers;

/* All borrowed until the loader is closed, but for `part` and `peers`. */
typedef struct weir_load_source {
  const weir_load_part *part;
  int n_parts;
  /* Fills out[k], dense, with the box of part k. The same sample is the same bits at every call. A
   * failure names file and record; it reaches the consumer at that sample's turn. */
  weir_status (*read)(void *context, int64_t sample, const weir_load_part *part, void *const *out);
  void *context;
  bool parallel;   /* read may run on several threads at once; else it never does */
  const char *key; /* what the samples are (files, options, seed): files of a directory that were
                      kept for another key are not believed */
  int64_t readers; /* ranks that read from the same shared files at once; 0: one of each group */
  const weir_load_peers *peers; /* NULL: samples of other ranks are out of reach */
} weir_load_source;

typedef struct weir_load weir_load;

/* Whether options go together, and with samples of so many bytes (0: not known yet) on several
 * groups of ranks or one. Fails: WEIR_ERR_CONFIG, with the text of weir_load_open. */
weir_status weir_load_suits(const weir_load_cfg *cfg, bool several, int64_t bytes) WEIR_CHECKED;
/* Prepares to load visits [., end) of v; lists and path of cfg are borrowed. Local, as all calls
 * but weir_load_batch. Fails: WEIR_ERR_CONFIG (a staging buffer below one sample, speeds that are
 * none, a capacity without a directory, remote without peers or memory), WEIR_ERR_DATA (the
 * directory), WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL (threads). */
weir_status weir_load_open(const weir_load_cfg *cfg, const weir_load_source *source,
                           const weir_access_stream *v, int64_t end, weir_load **out) WEIR_CHECKED;
/* Ends the threads, waiting for calls of read and messages under way, and removes what is not kept;
 * accepts NULL. */
void weir_load_close(weir_load **l);
/* Makes the plan for visits [first, end) and starts to read; once, and not where samples come from
 * other ranks: weir_load_batch starts there. Fails: as weir_load_open. */
weir_status weir_load_start(weir_load *l, int64_t first) WEIR_CHECKED;

/* To be called before the visits of the batch that begins at a position of an epoch, by all ranks
 * of peers, also by those that have none of them: what other ranks have of it is there then, and
 * what is sent for the batch after it is on its way. The first call starts the loader; without
 * peers it does nothing else, and a batch that is looked at again is let pass. A rank that fails
 * here or before the next call ends the training of all: its messages are sent, but may be of no
 * sample. Collective over peers. Fails: as weir_load_open and read; WEIR_ERR_CONFIG for a batch
 * that is not the next; WEIR_ERR_EXTERNAL. */
weir_status weir_load_batch(weir_load *l, int64_t epoch, int64_t position) WEIR_CHECKED;

/* Sample of the next visit: waits until it is there and lends its parts until it is released; one
 * of another rank at most until the next call of weir_load_batch. Fails as read did for this
 * sample, again at every call; WEIR_ERR_CONFIG where no visit is left or more are lent than the
 * staging buffer has room for. */
typedef struct weir_load_view {
  int64_t visit, sample;
  const void *part[WEIR_LOAD_PARTS];
} weir_load_view;
weir_status weir_load_next(weir_load *l, weir_load_view *out) WEIR_CHECKED;
/* The one that was lent first. */
void weir_load_release(weir_load *l);

/* Sample i of this group's share of the batch that begins at a position of an epoch, as training
 * asks for it: lent until the next call of weir_load_get. The first call starts the loader where it
 * is not started. What is not the next visit (a step that is looked at again) is read from the
 * source. Fails as weir_load_next; WEIR_ERR_CONFIG where the next visit has another sample. */
weir_status weir_load_get(weir_load *l, int64_t epoch, int64_t position, int64_t i, int64_t sample,
                          weir_load_view *out) WEIR_CHECKED;
/* Parts of any sample that read knows, outside the order, not cached. Fails as read. */
weir_status weir_load_beside(weir_load *l, int64_t sample, void *const *out) WEIR_CHECKED;

/* What happened since the start. A loader begins with an event `load_begin` of its plan, every
 * epoch ends with `load_epoch` of its own figures, the loader with `load_end`. */
typedef struct weir_load_count {
  int64_t visits;
  int64_t from[WEIR_LOAD_PLACES]; /* visits, by where their sample was read */
  int64_t waits;                  /* visits that the consumer waited for */
  double waited_s;                /* in all */
  int64_t reads, ahead, beside;   /* calls of read; before the visit; of weir_load_beside */
  int64_t sent;                   /* samples, to other ranks */
  int64_t damaged;                /* files of the directory that were refused, and read again */
  int64_t lost;                   /* samples that could not be kept */
} weir_load_count;
weir_load_count weir_load_counted(weir_load *l);

#ifdef __cplusplus
}
#endif
#endif
