/* load_priv.h - the parts of a loader: the plan, what keeps samples, threads. */
#ifndef LOAD_PRIV_H
#define LOAD_PRIV_H
#include "base/weir_lock.h"
#include "device/weir_lane.h"
#include "load/weir_load.h"

enum {
  LOAD_CLASSES = WEIR_LOAD_SOURCE,
  LOAD_PATH = 4096,
  LOAD_PREFIX = LOAD_PATH - 512,
  LOAD_MESSAGE = 512
};

/* ---- plan.c: which samples have a place, by how often they come (SC'21, section 5) ---- */

typedef struct load_plan {
  int64_t samples;
  uint8_t *where;               /* [samples] class, LOAD_CLASSES: none; changes with state */
  int64_t *slot;                /* [samples] number within its class    */
  int64_t *order[LOAD_CLASSES]; /* [n]: samples by their first visit    */
  int64_t n[LOAD_CLASSES];
} load_plan;

/* For visits [first, end); room[c]: samples that class c has room for. */
weir_status load_plan_make(const weir_visits *v, int64_t first, int64_t end, const int64_t *room,
                           load_plan *out) WEIR_CHECKED;
void load_plan_fini(load_plan *p);

/* ---- folder.c: samples as files, each with its sum ---- */

typedef struct load_folder {
  char prefix[LOAD_PREFIX]; /* "PATH/weir-HASH-GROUP-": what the files of this loader begin with */
  uint64_t key;             /* of source, parts and group */
  int64_t bytes;            /* of a sample */
  bool keep;
} load_folder;

/* Makes the folder. Fails: WEIR_ERR_DATA. */
weir_status load_folder_open(load_folder *f, const char *path, uint64_t key,
                             int64_t group) WEIR_CHECKED;
/* Looks through what an earlier run left under the prefix: found[sample] is set where the file of a
 * wanted sample (where[sample] == class) seems whole; all others, and all where nothing is kept,
 * are removed. */
void load_folder_look(const load_folder *f, const load_plan *p, weir_load_place class, bool *found);
weir_status load_folder_put(const load_folder *f, int64_t sample, const void *data) WEIR_CHECKED;
/* False where the file is not there, is another's or is damaged; it is removed then. */
bool load_folder_get(const load_folder *f, int64_t sample, void *data);
void load_folder_remove(const load_folder *f, int64_t sample);

/* ---- options.c ---- */

/* MB/s of n threads or readers by a table, 0 for an empty one. */
double load_speed(const weir_real_list *table, double n);
weir_status load_check_cfg(const weir_load_cfg *cfg, int64_t bytes) WEIR_CHECKED;

/* ---- load.c ---- */

typedef enum load_state { LOAD_ABSENT, LOAD_COMING, LOAD_HELD } load_state;

/* A visit in the staging buffer. */
typedef struct load_slot {
  int64_t ready; /* visit that is here, -1: none */
  int64_t sample;
  char *room;       /* [bytes] */
  const char *data; /* room, or the sample's place in memory */
  weir_load_place from;
  weir_status status;
  char message[LOAD_MESSAGE];
} load_slot;

typedef struct load_worker {
  weir_load *l;
  weir_lane *lane;
  int class;  /* that it fills, LOAD_CLASSES: the staging buffer */
  char *room; /* [bytes] for a class that is no memory */
} load_worker;

struct weir_load {
  weir_load_cfg cfg;
  weir_load_source source;
  weir_load_part part[WEIR_LOAD_PARTS];
  int64_t offset[WEIR_LOAD_PARTS], size[WEIR_LOAD_PARTS], bytes; /* in a block */
  weir_visits visits;
  int64_t end;
  bool started, used[LOAD_CLASSES];
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
  weir_bell changed;
  bool leave, told;
  load_worker *worker;
  int64_t n_workers;
  weir_load_count all, epoch; /* of all visits; of this epoch */
  double began, epoch_began;
};

/* ---- threads.c ---- */

/* Reads what visit v needs into its slot. */
void load_fill(weir_load *l, int64_t v);
/* One call of the source's read, into a block. */
weir_status load_read(weir_load *l, int64_t sample, char *block) WEIR_CHECKED;
weir_status load_begin_threads(weir_load *l) WEIR_CHECKED;
void load_end_threads(weir_load *l);
#endif
