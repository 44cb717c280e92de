/* comm_priv.h - a way to reach other ranks, one a folder; the build lists them. */
#ifndef COMM_PRIV_H
#define COMM_PRIV_H
#include <stdbool.h>
#include "comm/weir_comm.h"

typedef struct weir_comm_kind {
  bool several; /* it serves more than one rank */
  /* Sets rank, size and state of *c. */
  weir_status (*open)(weir_comm *c);
  void (*close)(weir_comm *c);
  /* The worst status of all and the first rank that has it. */
  weir_status (*worst)(weir_comm *c, int status, int *worst, int *rank);
  weir_status (*barrier)(weir_comm *c);
  /* Bytes of all ranks, on rank 0. */
  weir_status (*sizes)(weir_comm *c, int64_t n, int64_t *sizes);
  /* What the ranks give, into `all` of rank 0 at its place by sizes[]. */
  weir_status (*collect)(weir_comm *c, const void *bytes, int64_t n, void *all,
                         const int64_t *sizes);
} weir_comm_kind;

struct weir_comm {
  const weir_comm_kind *kind;
  int rank, size;
  void *state;
};

/* All kinds of this build, NULL at the end: generated. */
extern const weir_comm_kind *const weir_comm_kind_table[];
#endif
