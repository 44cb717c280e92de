/* weir_exchange.h - exchange policies: what the replicas of a training send one another between
 * the gradient of a step and its update. */
#ifndef WEIR_EXCHANGE_H
#define WEIR_EXCHANGE_H
#include "base/weir_dtype.h"
#include "base/weir_status.h"
#include "comm/weir_comm.h"
#include "comm/weir_grid.h"
#include "conf/weir_opt.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_exchange_what {
  WEIR_EXCHANGE_GRADIENTS,
  WEIR_EXCHANGE_WEIGHTS
} weir_exchange_what;

/* What holds for the weights of all replicas. Comparison of ranks, checkpoints and the end of a run
 * follow from it. */
typedef enum weir_exchange_invariant {
  WEIR_REPLICAS_EQUAL,   /* after each step bitwise identical, with the state of the optimiser */
  WEIR_REPLICAS_SETTLED, /* after weir_exchange_settle what is exchanged is bitwise identical */
  WEIR_REPLICAS_DIFFER   /* then all gradients have been applied on all, but in other steps, or
                            dropped where a policy says so of ranks that it leaves out */
} weir_exchange_invariant;

/* A flat buffer of this rank: along the dimensions `dims` (bits) of the grid each rank has another
 * one, of the same count. */
typedef struct weir_exchange_part {
  void *data;
  weir_dtype dtype; /* f32, f64; i64, whose sums are exact */
  int64_t count;
  unsigned dims;
} weir_exchange_part;

/* A parameter of two or more dimensions as a matrix, row-major: elements [first, first + rows *
 * columns) of the parts one after the other. */
typedef struct weir_exchange_matrix {
  int64_t first, rows, columns;
} weir_exchange_matrix;

/* What became of the contributions of this rank since open, and what it sent. A policy counts
 * contributions; messages are counted where they are sent. */
typedef struct weir_exchange_counts {
  int64_t versions; /* exchanges over */
  int64_t fresh;    /* of these, that had the contribution of the same step */
  int64_t stale;    /* that had contributions of earlier steps alone; the others had none */
  int64_t max_age;  /* steps from the oldest contribution of a version to that version */
  int64_t messages, payload_bytes; /* sent in exchanges and in settle, without the following */
  int64_t index_bytes;             /* positions of the elements of sparse contributions */
  int64_t activations, activation_bytes; /* messages by which ranks learn of versions */
  int64_t rounds;   /* of the former, each of which waits for those before it */
  double waited_s;  /* for messages, on the clock of the ranks */
  int64_t buckets;  /* exchanged apart; 0: the policy has none */
  int64_t early;    /* of them, begun before weir_exchange_run, by weir_exchange_ready */
  int64_t complete; /* of these, that weir_exchange_run had not to wait for */
} weir_exchange_counts;

/* What a policy keeps from one step to the next, and a run that is resumed needs. */
typedef enum weir_exchange_kept_kind {
  WEIR_KEPT_SUMMAND, /* its sum over the replicas counts: gradients that a rank has not given yet.
                        Another number of replicas shares the sum */
  WEIR_KEPT_OWN,     /* of one rank; another number of ranks begins without it */
  WEIR_KEPT_EQUAL    /* the same on all ranks */
} weir_exchange_kept_kind;
typedef struct weir_exchange_kept {
  const char *name; /* of a constant: [a-z_] */
  void *data;       /* [count], owned by the policy; does not move until close */
  weir_dtype dtype;
  int64_t count;
  weir_exchange_kept_kind kind;
} weir_exchange_kept;
enum { WEIR_EXCHANGE_KEPT_MAX = 8 };

/* opts: range-checked. comm: all ranks of the grid; a policy gets a communicator of its own, whose
 * messages are those of the policy. Buffers do not move until close.
 * state: arrays that an update changes (weights, state of the optimiser), bitwise equal on replicas
 * that have made the same updates; run and settle of gradients may replace them by those of another
 * replica. Of any dtype; none: late replicas go without the updates that they have missed. */
typedef struct weir_exchange_args {
  const void *opts;
  weir_comm *comm;
  const weir_grid *grid;
  const weir_exchange_part *part;
  int n;
  const weir_exchange_matrix *matrix; /* [n_matrices] ascending, disjoint; what is in none of them
                                         is vectors. None at all: the shapes are not known */
  int64_t n_matrices;
  const weir_exchange_part *state; /* [n_state], dims unused */
  int n_state;
  int64_t step; /* steps that a resumed run has done: periods go on from there */
} weir_exchange_args;

/* One per folder under optim/exchange/. Const; the build lists the folders. */
typedef struct weir_exchange_desc {
  const char *name;     /* value of the config key optim.exchange */
  const char *cite;     /* reference of the method */
  const char *help;     /* one line */
  const weir_opt *opts; /* options, NULL: none */
  size_t opts_size;     /* bytes those options fill */
  weir_exchange_what what;
  weir_exchange_invariant invariant;
  bool in_plan; /* what it leaves in the buffers is their sum over all ranks: a step of one
                   micro-batch may leave it to the sums inside its plan */
  bool scales;  /* the bytes of each of its messages follow from the number of elements alone, and
                   are in proportion to it: a short buffer of zeros stands for a long one of
                   gradients in simulations (place/weir_scaling.h) */
  /* Whether it makes that sum itself all the same, with these options. NULL: it does not. */
  bool (*leaves_plan)(const void *opts);
  /* Whether `ready` begins to exchange, with these options. NULL: there is no `ready`. */
  bool (*overlaps)(const void *opts);
  /* Prepares the exchange of these buffers; *state is passed to run and close. Collective. */
  weir_status (*open)(const weir_exchange_args *a, void **state);
  /* Elements [lo, hi) of a part will not change before the next run: begins to exchange those that
   * it can. Each element at most once before each run. Local. */
  weir_status (*ready)(void *state, int part, int64_t lo, int64_t hi);
  /* Leaves in the buffers: of gradients, of which each rank has a summand, the sum of what has
   * arrived and was not returned before; of weights, what the policy makes of those of other
   * ranks. */
  weir_status (*run)(void *state);
  /* Whether what the last run left is a gradient to update weights with; else weights and the state
   * of the optimiser stay as they are in this step. NULL: always. */
  bool (*due)(const void *state);
  /* Collective: completes what is under way on any rank and does `run` with what is left, without
   * anything new of gradients. NULL: nothing ever is. */
  weir_status (*settle)(void *state);
  /* Lists what it keeps, at a time when nothing is under way; returns how many. The caller writes
   * it to checkpoints, and into it after open where a run is resumed. NULL: nothing. Local. */
  int (*keep)(void *state, weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX]);
  /* Sets what became of contributions. NULL: all are fresh. */
  void (*count)(const void *state, weir_exchange_counts *counts);
  void (*close)(void **state); /* accepts NULL and nulls; collective */
} weir_exchange_desc;

/* All policies of this build, sorted by name, NULL-terminated: generated. */
extern const weir_exchange_desc *const weir_exchange_table[];

/* Finds the policy `name`. Local. Fails: WEIR_ERR_CONFIG, naming the existing policies; *out is
 * then NULL. */
weir_status weir_exchange_find(const char *name, const weir_exchange_desc **out) WEIR_CHECKED;
/* Lists the table as choices of a WEIR_OPT_ONE_OF row. */
bool weir_exchange_choice(int64_t i, weir_opt_choice *entry);

/* A policy and its state. */
typedef struct weir_exchange {
  const weir_exchange_desc *policy; /* NULL: none is open */
  void *state;
  weir_comm *comm;
  weir_comm_count setup; /* messages by which open prepared others */
  int64_t runs;
} weir_exchange;

/* Opens the policy; a->opts NULL: its defaults. Parts and matrices are copied. Close it before
 * a->comm. Collective. Fails on all ranks alike: WEIR_ERR_UNSUPPORTED (a dtype that cannot be
 * exchanged), WEIR_ERR_CONFIG (options that do not fit the ranks), WEIR_ERR_SHAPE (matrices outside
 * the parts), WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status weir_exchange_open(const weir_exchange_desc *policy, const weir_exchange_args *a,
                               weir_exchange *out) WEIR_CHECKED;
/* Whether the policy can begin to exchange parts of a buffer before the others are there; whether
 * it is to make sums that a plan might make. opts NULL: its defaults. Local. Fail: WEIR_ERR_MEMORY.
 */
weir_status weir_exchange_overlaps(const weir_exchange_desc *policy, const void *opts,
                                   bool *yes) WEIR_CHECKED;
weir_status weir_exchange_leaves_plan(const weir_exchange_desc *policy, const void *opts,
                                      bool *yes) WEIR_CHECKED;
/* Says that elements [lo, hi) of a part have their values for the next weir_exchange_run, each
 * element at most once before it, and are not accessed up to its end. Local. Fails: as
 * weir_request_start. */
weir_status weir_exchange_ready(weir_exchange *x, int part, int64_t lo, int64_t hi) WEIR_CHECKED;
/* Exchanges the buffers once, as often on all ranks; waits for whom the policy waits for. Fails: as
 * weir_request_wait. */
weir_status weir_exchange_run(weir_exchange *x) WEIR_CHECKED;
/* Returns whether the step has a gradient to update weights with, after weir_exchange_run. Local.
 */
bool weir_exchange_due(const weir_exchange *x);
/* Completes all exchanges, before a checkpoint or the end of a run: the policy's invariant then
 * holds. The buffers of gradients have what is left to apply, or zeros. Collective. Fails: as
 * weir_request_wait. */
weir_status weir_exchange_settle(weir_exchange *x) WEIR_CHECKED;
/* Returns what became of this rank's contributions, and what it sent. Local. */
weir_exchange_counts weir_exchange_count(const weir_exchange *x);
/* Closes what is open. Collective. */
void weir_exchange_close(weir_exchange *x);

#ifdef __cplusplus
}
#endif
#endif
