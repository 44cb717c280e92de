/* weir_op.h - what an operator is. One folder each under ops/, found by the build. */
#ifndef WEIR_OP_H
#define WEIR_OP_H
#include "graph/weir_access.h"
#include "graph/weir_view.h"
#ifdef __cplusplus
extern "C" {
#endif

/* What an array is, before it has memory. */
typedef struct weir_array_desc {
  weir_dtype dtype;
  int rank;
  int64_t shape[WEIR_MAX_RANK];
  int time; /* 1 + the unbounded dimension (shape WEIR_UNBOUNDED there), 0: none */
} weir_array_desc;

/* Bytes of the whole array; saturates at INT64_MAX. */
int64_t weir_desc_bytes(const weir_array_desc *d);

/* What infer and access read. in: [n_in]; out: [n_out], filled after infer. spec: the op's own
 * struct. */
typedef struct weir_op_args {
  const void *spec;
  int n_in, n_out;
  const weir_array_desc *in, *out;
  int32_t random_id; /* fixed when the node is built; keys WEIR_CODE_RANDOM */
} weir_op_args;

/* A run of a library or call operator over `box` of its iterations. Views cover what the access
 * says the box needs and writes. access: the node's, whose indices a pass may have moved: a library
 * operator looks up there which element an iteration reads. scratch: as `scratch` below asks for.
 */
typedef struct weir_op_run {
  const void *spec;
  const weir_access *access;
  weir_box box;
  int n_in, n_out;
  const weir_view *in;
  const weir_view *out;
  void *scratch;
  bool last; /* no later box follows: the stream has ended */
} weir_op_run;

struct weir_graph;
struct weir_value;
typedef struct weir_op_desc {
  const char *name, *cite;
  size_t spec_size; /* bytes of the spec, copied into the node; what it points to must outlive the
                       graph */
  int n_out;        /* 0: `outputs` tells */
  /* Checks inputs and spec; shapes and dtypes of the outputs. Fails: WEIR_ERR_SHAPE. */
  weir_status (*infer)(const weir_op_args *args, weir_array_desc *out);
  /* THE statement. `access` arrives with n_in and n_out set and one zeroed operand for each; the
   * caller frees it. */
  weir_status (*access)(const weir_op_args *args, weir_access *access);
  int (*outputs)(
      const weir_op_args *args); /* where the number of outputs depends on the spec, else NULL */
  /* Library and call operators only: computes one box. Call operators alone may fail. That of a
   * library operator is the reference of its kernels: the definition, in f64 whatever the dtype; it
   * runs where no kernel does, on several threads at the same time. */
  weir_status (*run)(const weir_op_run *run);
  /* Library operators: bytes of scratch for each thread; NULL: none. */
  int64_t (*scratch)(const void *spec, const weir_access *access);
  /* Library operators whose results have more than one right value, or are far apart for operands
   * that hardly differ: how far the outputs of a whole run are from a right result, in units of the
   * rounding error of their dtype (a backward error); at most about 10 is right. NULL: elements are
   * compared one by one. */
  double (*error)(const weir_op_run *run);
  /* Where the adjoint that follows from the access does not serve (pass/autodiff/weir_gradients.h),
   * else NULL: dout[o] is the adjoint of output o of the node (node < 0: none), din[k] receives
   * that of input k, or stays as it is, without one. */
  void (*derive)(struct weir_graph *g, int32_t node, const struct weir_value *dout,
                 struct weir_value *din);
} weir_op_desc;

/* All operators of this build, sorted by name, NULL at the end: generated. */
extern const weir_op_desc *const weir_op_table[];

#ifdef __cplusplus
}
#endif
#endif
