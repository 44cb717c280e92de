/* load_priv.h - the components of a loader: plan, caches, threads. */
#ifndef LOAD_PRIV_H
#define LOAD_PRIV_H
#include "base/weir_lock.h"
#include "comm/weir_request.h"
#include "device/weir_worker.h"
#include "load/weir_load.h"

enum {
  LOAD_CLASSES = WEIR_LOAD_SOURCE,
  LOAD_PATH = 4096,
  LOAD_PREFIX = LOAD_PATH - 512,
  LOAD_MESSAGE = 512
};

/* ---- owners.c: the group that owns each sample ---- */

/* Batches are numbered over all epochs, load_batches of each. */
typedef struct load_batch {
  int64_t epoch, at, n; /* positions [at, at + n) of an epoch */
} load_batch;
int64_t load_batches(const weir_sampler *o);
load_batch load_batch_of(const weir_sampler *o, int64_t number);

typedef struct load_owners {
  int32_t *by;    /* [samples] group, -1: none */
  int64_t *since; /* [samples] batch in which it reads the sample: the others have it after that */
} load_owners;

/* For batches [first, end) of `of` groups with this capacity of samples each. A sample that is
 * accessed again goes to the group that visits it first, unless that has no capacity left: then to
 * the next that visits it and has. The same on all ranks. */
weir_status load_owners_make(const weir_sampler *o, int64_t of, int64_t first, int64_t end,
                             int64_t capacity, load_owners *out) WEIR_CHECKED;
void load_owners_fini(load_owners *k);
/* Whether group `at`, which visits a sample in a batch, receives it from its owner. */
static inline bool load_comes(const load_owners *k, int64_t at, int64_t batch, int64_t sample)
{
  return k->by[sample] >= 0 && k->by[sample] != at && batch > k->since[sample];
}

/* ---- plan.c: the tier of each sample, by its number of accesses (SC'21, section 5) ---- */

/* How often a sample comes, and at which visit first. */
typedef struct load_use {
  int64_t sample, times, first;
} load_use;
/* The most frequent before others, the lower numbers before those that are as frequent. */
void load_uses_sort(load_use *uses, int64_t n);
/* Sets uses[samples] of accesses [first, end). */
void load_uses_count(const weir_access_stream *v, int64_t first, int64_t end, load_use *uses);
/* Keeps those that come at least so often, sorted; returns their number. */
int64_t load_uses_frequent(load_use *uses, int64_t n, int64_t least);

typedef struct load_plan {
  int64_t samples;
  uint8_t *where;               /* [samples] class, LOAD_CLASSES: none; changes with state */
  int64_t *slot;                /* [samples] number within its class    */
  int64_t *order[LOAD_CLASSES]; /* [n]: samples by their first visit    */
  int64_t n[LOAD_CLASSES];
} load_plan;

/* For visits [first, end); capacity[c]: of tier c, in samples. k: memory is for samples that this
 * group owns, other tiers for samples without an owner; NULL: for the most frequent ones. */
weir_status load_plan_make(const weir_access_stream *v, int64_t first, int64_t end,
                           const int64_t *capacity, const load_owners *k,
                           load_plan *out) WEIR_CHECKED;
void load_plan_fini(load_plan *p);

/* ---- folder.c: samples as files, each with its sum ---- */

typedef struct load_folder {
  char prefix[LOAD_PREFIX]; /* "PATH/weir-HASH-GROUP-": of the files of this loader */
  uint64_t key;             /* of source, fields and group */
  int64_t bytes;            /* of a sample */
  bool keep;
} load_folder;

/* Makes the folder. Fails: WEIR_ERR_DATA. */
weir_status load_folder_open(load_folder *f, const char *path, uint64_t key,
                             int64_t group) WEIR_CHECKED;
/* Scans the files of an earlier run under the prefix: found[sample] is set where the file of a
 * wanted sample (where[sample] == class) seems whole; all others, and all where nothing is kept,
 * are removed. */
void load_folder_look(const load_folder *f, const load_plan *p, weir_load_tier class, bool *found);
weir_status load_folder_put(const load_folder *f, int64_t sample, const void *data) WEIR_CHECKED;
/* False where the file is not there, is another's or is damaged. It stays: by the time that is
 * known, another thread may have replaced it by a good one. */
bool load_folder_get(const load_folder *f, int64_t sample, void *data);
void load_folder_remove(const load_folder *f, int64_t sample);
/* Writes the path of the file of a sample. */
void load_folder_path(const load_folder *f, int64_t sample, char *path, size_t size);

/* ---- options.c ---- */

/* MB/s of n threads or readers by a table, 0 for an empty one. */
double load_speed(const weir_real_list *table, double n);
/* Returns whether a tier of this speed is used: not where all staging threads of a rank read it
 * more slowly than the rank's share of the source among so many readers. */
bool load_pays(const weir_load_cfg *cfg, int64_t readers, const weir_real_list *speed);

/* ---- load.c ---- */

typedef enum load_state { LOAD_ABSENT, LOAD_COMING, LOAD_CACHED } load_state;

/* A visit in the staging buffer. */
typedef struct load_slot {
  int64_t ready; /* visit that is here, -1: none */
  int64_t sample;
  char *buffer;     /* [bytes] */
  const char *data; /* buffer, or the sample in memory */
  weir_load_tier from;
  weir_status status;
  char message[LOAD_MESSAGE];
} load_slot;

typedef struct load_worker {
  weir_load *l;
  weir_worker *worker;
  int class;    /* that it fills, LOAD_CLASSES: the staging buffer */
  char *buffer; /* [bytes] for a tier other than memory */
} load_worker;

/* ---- remote.c: messages of batches, by the thread that consumes ---- */

/* Copies of samples of others that a group keeps where its memory has space left; each is sent
 * once. */
typedef struct load_copies {
  int64_t n, bytes; /* copies of this group; of the bits of a group */
  int32_t *index;   /* [samples] of this group's copy, -1: none */
  char *data;       /* [n, bytes of a sample] */
  uint8_t *wanted,
      *sent; /* [of, bytes]: a bit a sample; of messages that this rank sends or receives */
} load_copies;

/* Chooses those of this group: the most frequent samples of others, up to its capacity. */
weir_status load_copies_choose(const weir_access_stream *v, int64_t first, const load_owners *k,
                               int64_t end, int64_t capacity, load_copies *c) WEIR_CHECKED;
void load_copies_fini(load_copies *c);
/* Whether a sample that group g has from its owner is to be sent to it; asked once a visit. */
bool load_copies_send(load_copies *c, int64_t g, int64_t sample);

typedef struct load_remote {
  weir_load_peers peers;
  bool used;
  load_owners owners;
  int64_t end, next; /* batches: of the training; that is to be asked for next */
  int64_t share;     /* maximum visits of this group in a batch */
  load_copies copies;
  int64_t *sample;       /* [batch] scratch */
  weir_message *message; /* [batch] scratch */
  char *received;        /* [2, share, bytes]: of a batch, and of the one that is on its way */
  bool *there;           /* [2, share]: received samples */
  weir_request *request; /* for batch `next`; or NULL */
} load_remote;

/* Plan and free space from a batch on, where this group's visit is `first`. */
weir_status load_remote_open(weir_load *l, int64_t batch, int64_t first) WEIR_CHECKED;
void load_remote_close(weir_load *l);
/* Whether a visit has its sample from another rank. */
bool load_visit_comes(const weir_load *l, int64_t visit, int64_t sample);
/* What has come for a visit, with it or before; NULL: nothing. */
const char *load_arrived(const weir_load *l, int64_t visit, int64_t sample, weir_load_tier *from);
/* Batch of a visit, and which of the group's visits in it. */
int64_t load_visit_batch(const weir_access_stream *v, int64_t visit, int64_t *i);

struct weir_load {
  weir_load_cfg cfg;
  weir_load_source source;
  weir_load_field field[WEIR_LOAD_FIELDS];
  int64_t offset[WEIR_LOAD_FIELDS], size[WEIR_LOAD_FIELDS], bytes; /* in a block */
  weir_access_stream visits;
  int64_t end;
  bool started, used[LOAD_CLASSES];
  load_remote remote;
  load_plan plan;
  uint8_t *state; /* [samples] load_state */
  char *memory;   /* [plan.n[WEIR_LOAD_MEMORY], bytes] */
  load_folder folder;
  load_slot *slot;
  int64_t n_slots;
  char *aside;                 /* [bytes] of a sample that is not the next; or NULL */
  bool lent;                   /* by weir_load_get, out of a slot */
  int64_t fill, lend, release; /* visits: the next to be read, handed over, given back */
  int64_t ahead[LOAD_CLASSES]; /* next of plan.order that threads of the class look at */
  weir_lock lock;              /* of all that follows state, and of what is counted */
  weir_lock one;               /* of a source that is not parallel */
  weir_cond changed;
  bool leave, warned;
  load_worker *worker;
  int64_t n_workers;
  weir_load_count all, epoch; /* of all visits; of this epoch */
  double began, epoch_began;
};

/* ---- load.c ---- */

/* weir_load_start, whether samples come from other ranks or not. */
weir_status load_begin(weir_load *l, int64_t first) WEIR_CHECKED;

/* ---- threads.c ---- */

/* Returns when a sample is in memory; this thread may have to read it. */
weir_status load_hold(weir_load *l, int64_t sample) WEIR_CHECKED;
/* Reads what visit v needs into its slot. */
void load_fill(weir_load *l, int64_t v);
/* One call of the source's read, alone where the source is not parallel. */
weir_status load_call(weir_load *l, int64_t sample, void *const *out) WEIR_CHECKED;
/* The same into a block, counted as a read. */
weir_status load_read(weir_load *l, int64_t sample, char *block) WEIR_CHECKED;
weir_status load_begin_threads(weir_load *l) WEIR_CHECKED;
void load_end_threads(weir_load *l);

/* ---- For tests ---- */

/* Whether samples come from other ranks. The same on all of them. */
bool load_is_remote(const weir_load *l);
/* Returns the number of samples of a tier, memory or directory; 0 before the start. */
int64_t load_n_assigned(const weir_load *l, weir_load_tier tier);
#endif
