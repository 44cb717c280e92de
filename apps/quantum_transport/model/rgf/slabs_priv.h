/* slabs_priv.h - what slabs hold. See slabs.h. */
#ifndef QT_SLABS_PRIV_H
#define QT_SLABS_PRIV_H
#include "comm/weir_request.h"
#include "model/rgf/rgf_priv.h"
#include "model/rgf/slabs.h"

/* Where the results of a slab's elimination lie in qt_slabs.shared. L and R: its separators. */
typedef struct qt_slab_offsets {
  int64_t right; /* [R, R] A less what its blocks carry; not of the last slab, as right_lesser */
  int64_t right_lesser;        /* [R, R] Sigma^< and what its blocks add        */
  int64_t left, left_lesser;   /* [L, L] what A loses, Sigma^< gains; not of the first slab */
  int64_t up, down, up_lesser; /* A[L,R], A[R,L], Sigma^<[L,R]; of those between */
  int64_t end; /* factor of the corner: of the first slab [block 0, R], of the last [L, last] */
} qt_slab_offsets;

/* What enlarges rounding on the way through a slab; parts: real, imaginary. */
typedef struct qt_slab_growth {
  double a[2];       /* largest element of a diagonal block less the carry          */
  double y[2], x[2]; /* largest 2-norms of the rows of y_n and of the columns of x_n */
  bool fills;        /* it has a Sigma^<                                            */
} qt_slab_growth;

struct qt_slabs {
  qt_slabs_spec spec; /* its first is that below */
  int threads;
  int64_t *first;    /* [n_slabs + 1] first block of each slab */
  int64_t lo, hi;    /* slabs of this rank */
  qt_layout reduced; /* of separators; separator k is the last block of slab k */
  qt_slab_offsets *offsets;
  bool *singular;                  /* [n_slabs] the elimination of a slab failed */
  qt_slab_growth *growth;          /* [n_slabs] of jobs that want blocks; own slabs alone */
  weir_c128 *shared;               /* results of all slabs */
  weir_request *allgather;         /* NULL: one rank */
  weir_c128 *start, *start_lesser; /* [reduced.diagonal_count] as right, of all blocks before */
  weir_c128 *g, *lesser;           /* [reduced.count] */
  weir_c128 *corner, *row;         /* of the separators; the same from block 0 on */
  void **scratch;                  /* [threads] */
  int64_t n_in_order;              /* jobs so far */
  /* Of several ranks, for jobs in order: */
  weir_request **pass;               /* [2 (ranks - 1)] forward and back between neighbours */
  weir_request *share_end;           /* of end */
  weir_c128 *row_before, *row_after; /* from block 0 to the separators next to this rank's slabs */
  weir_c128 *end;                    /* the corner */
};

/* A job on its way. */
typedef struct qt_slabs_run {
  qt_slabs *s;
  const qt_rgf_job *job;
} qt_slabs_run;

/* Separators of a slab. */
static inline int64_t qt_slab_left(const qt_slabs *s, int64_t slab)
{
  return s->first[slab] - 1;
}

static inline int64_t qt_slab_right(const qt_slabs *s, int64_t slab)
{
  return slab + 1 < s->spec.n_slabs ? s->first[slab + 1] - 1 : NO_BLOCK;
}

/* Returns the first slab of a rank. */
int64_t qt_slabs_before(const qt_slabs_spec *spec, int rank);
/* Agrees on the worst status of all ranks. Collective. */
weir_status qt_slabs_agree(const qt_slabs *s, weir_status status) WEIR_CHECKED;
/* Starts a request and returns when it is finished; a failure ends all ranks. */
weir_status qt_slabs_wait(const qt_slabs *s, weir_request *request) WEIR_CHECKED;
/* Returns the memory of the recursion through slabs on a thread. */
qt_rgf_space qt_slab_space(const qt_slabs_run *r, int thread);
/* Loads G and G^< of separator k into last and l_last. */
void qt_slab_begin_back(const qt_slabs_run *r, int64_t k, qt_rgf_space *space);
/* Eliminates a slab, with its results in s->shared; returns false where it is singular, or
 * nearly.
 */
bool qt_slab_eliminate(qt_slabs *s, const qt_rgf_job *job, int64_t slab, qt_rgf_space *space);

/* Runs qt_rgf_forward of a block whose diagonal blocks are loaded, and adds to the growth. */
bool qt_slab_forward(const qt_rgf_job *job, int64_t n, int64_t m, qt_slab_growth *w,
                     qt_rgf_space *s);
/* Returns false where rounding of the separators' G makes densities of states of a slab err by more
 * than max_error of the largest element of that G. */
bool qt_slab_is_stable(const qt_slabs *s, int64_t slab);

/* Creates requests and memory of jobs in order on several ranks. Collective; fails on all ranks
 * alike. */
weir_status qt_slabs_order_create(qt_slabs *s) WEIR_CHECKED;
void qt_slabs_order_destroy(qt_slabs *s);
/* Solves a job slab after slab, as one recursion. Collective. Fails: WEIR_ERR_NUMERIC, as that
 * does. */
weir_status qt_slabs_solve_in_order(const qt_slabs_run *r) WEIR_CHECKED;

#endif
