/* rgf_op_priv.h - what the two operators share. */
#ifndef QT_RGF_OP_PRIV_H
#define QT_RGF_OP_PRIV_H
#include "model/rgf/rgf.h"
#include "ops/weir_batch.h"

/* A bank in a view that blocks are read from; diagonal_only: its diagonal blocks lie alone. */
typedef struct rgf_source {
  const qt_layout *layout;
  qt_bank bank;
  bool diagonal_only;
} rgf_source;
/* qt_blocks.read of a rgf_source. */
void rgf_source_read(const void *context, int64_t row, int64_t column, weir_c128 *out);

/* The bank of an operand at a point of the batch. */
qt_bank rgf_bank_of(const weir_operand *o, int n_dims, const weir_view *v, const int64_t *point);
/* Fails: WEIR_ERR_SHAPE unless input i is c128 and ends in `count` numbers. */
weir_status rgf_need_bank(const char *op, const weir_op_args *args, int i,
                          int64_t count) WEIR_CHECKED;

#endif
