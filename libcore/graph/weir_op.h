/* weir_op.h - operators. One folder each under ops/, found by the build. */
#ifndef WEIR_OP_H
#define WEIR_OP_H
#include "graph/weir_access.h"
#include "graph/weir_view.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Description of an array without memory. */
typedef struct weir_array_desc {
  weir_dtype dtype;
  int rank;
  int64_t shape[WEIR_MAX_RANK];
  int time; /* 1 + the unbounded dimension (shape WEIR_UNBOUNDED there), 0: none */
} weir_array_desc;

/* Returns the bytes of the whole array; saturates at INT64_MAX. */
int64_t weir_desc_bytes(const weir_array_desc *d);

/* Arguments of infer and access. in: [n_in]; out: [n_out], filled after infer. spec: the op's own
 * struct. */
typedef struct weir_op_args {
  const void *spec;
  int n_in, n_out;
  const weir_array_desc *in, *out;
  int32_t random_id; /* fixed when the node is built; keys WEIR_CODE_RANDOM */
} weir_op_args;

/* A run of a library or call operator over `box` of its iterations. Views cover the regions that
 * the access of the box reads and writes. access: of the node, whose indices a pass may have
 * shifted: a library operator finds there the element of each iteration. scratch: of the size of
 * `scratch` below. */
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
  int n_out;        /* 0: number of `outputs` */
  /* Checks inputs and spec; sets shapes and dtypes of the outputs. Fails: WEIR_ERR_SHAPE. */
  weir_status (*infer)(const weir_op_args *args, weir_array_desc *out);
  /* The declaration. `access` arrives with n_in and n_out set and one zeroed operand for each; the
   * caller frees it. */
  weir_status (*access)(const weir_op_args *args, weir_access *access);
  int (*outputs)(
      const weir_op_args *args); /* for a number of outputs that depends on the spec, else NULL */
  /* Library and call operators only: computes one box. Only call operators may fail. For a library
   * operator it is the reference of its kernels: the definition, in f64 for any dtype; it runs
   * where no kernel does, on several threads concurrently. */
  weir_status (*run)(const weir_op_run *run);
  /* Library operators: bytes of scratch per thread; NULL: none. */
  int64_t (*scratch)(const void *spec, const weir_access *access);
  /* Library operators with several correct results, or results that are sensitive to rounding: the
   * backward error of the outputs of a whole run, in units of the rounding error of their dtype; at
   * most about 10 is correct. NULL: elements are compared one by one. */
  double (*error)(const weir_op_run *run);
  /* Adjoint, where the one derived from the access does not apply (pass/autodiff/weir_gradients.h),
   * else NULL: dout[o] is the adjoint of output o of the node (node < 0: none), din[k] receives
   * that of input k, or is unchanged without one. */
  void (*derive)(struct weir_graph *g, int32_t node, const struct weir_value *dout,
                 struct weir_value *din);
} weir_op_desc;

/* All operators of this build, sorted by name, NULL-terminated: generated. */
extern const weir_op_desc *const weir_op_table[];

#ifdef __cplusplus
}
#endif
#endif
