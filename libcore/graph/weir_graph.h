/* weir_graph.h - acyclic graphs of operators over values; built by calls, transformed by passes. */
#ifndef WEIR_GRAPH_H
#define WEIR_GRAPH_H
#include "graph/weir_op.h"
#include "graph/weir_store.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_graph weir_graph;

/* A value in a graph. node < 0: invalid (a builder failed; the graph keeps the first error). */
typedef struct weir_value {
  int32_t node, output;
} weir_value;
#define WEIR_NO_VALUE ((weir_value){-1, 0})

/* Creates an empty graph; destroy accepts NULL and nulls. Fails: WEIR_ERR_MEMORY. */
weir_status weir_graph_create(weir_graph **out) WEIR_CHECKED;
/* Frees the graph with its constants, names, specs and groups. */
void weir_graph_destroy(weir_graph **g);
/* Copies deeply: node and array numbers are kept. */
weir_status weir_graph_copy(const weir_graph *g, weir_graph **out) WEIR_CHECKED;
/* Returns the first error of the builders, or WEIR_OK. */
weir_status weir_graph_status(const weir_graph *g) WEIR_CHECKED;
/* Records a builder's failure (the first one is kept) and returns an invalid value. */
weir_value weir_graph_fail(weir_graph *g, weir_status status);

/* Sources are nodes without operator (op NULL). The name of an input, stored array or output is
 * unique in its kind. */
weir_value weir_input(weir_graph *g, const char *name, const weir_array_desc *desc);
/* Reads a stored array, with the dtype and shape of the store's array of that name. */
weir_value weir_stored(weir_graph *g, const weir_store *store, const char *name);
/* Adds a constant: a copy of the tensor's elements, owned by the graph. */
weir_value weir_constant(weir_graph *g, const weir_tensor *t);
weir_value weir_scalar(weir_graph *g, weir_dtype dtype, double value);

/* Appends a node. `where` ("file:line", static storage) is the caller's position for messages. The
 * only way to add an operator: builders such as weir_add are wrappers in the op's folder. Invalid
 * inputs give an invalid value. */
weir_value weir_graph_add(weir_graph *g, const weir_op_desc *op, const void *spec,
                          const weir_value *in, int n_in, const char *where);
/* Appends a node with a given access instead of one declared by an operator's spec: a node that a
 * pass derives from another one. Its outputs have the extents of the access. Copies the access; op:
 * its name. */
weir_value weir_graph_add_access(weir_graph *g, const weir_op_desc *op, const weir_access *access,
                                 const weir_value *in, int n_in, const char *where);
/* Adds it likewise; output k is written into arrays[k], which has several writers or none so far,
 * unless it is -1. */
weir_value weir_graph_add_access_into(weir_graph *g, const weir_op_desc *op,
                                      const weir_access *access, const weir_value *in, int n_in,
                                      const int32_t *arrays, const char *where);
/* Adds an array with several writers: created first, then written by weir_graph_add_into nodes
 * whose written boxes the validator proves disjoint and covering. The value of the whole array is
 * the last writer's. */
int32_t weir_graph_array(weir_graph *g, const weir_array_desc *desc);
weir_value weir_graph_add_into(weir_graph *g, const weir_op_desc *op, const void *spec,
                               const weir_value *in, int n_in, int32_t array, const char *where);
/* Marks a value as a result of the graph. */
void weir_output(weir_graph *g, const char *name, weir_value v);
/* Updates the stored array with the value at the end of the run; all reads of the old value come
 * first. */
void weir_update(weir_graph *g, weir_value stored, weir_value v);
/* Declares that the call operator that takes the stored array as input reads and writes it in
 * place. */
void weir_in_place(weir_graph *g, weir_value stored);
/* Names the node that made v, for dumps and reports; returns v. */
weir_value weir_label(weir_graph *g, weir_value v, const char *label);
/* Names every node from number `first` on that has no name yet: all nodes of one step. */
void weir_label_from(weir_graph *g, int32_t first, const char *label);
/* Returns the description of a value; NULL when it is invalid. */
const weir_array_desc *weir_value_desc(const weir_graph *g, weir_value v);

/* ---- For passes and exec: arrays and nodes by number. ---- */

typedef enum weir_array_kind {
  WEIR_ARRAY_INPUT,
  WEIR_ARRAY_STORED,
  WEIR_ARRAY_CONSTANT,
  WEIR_ARRAY_TEMPORARY
} weir_array_kind;

typedef struct weir_array {
  weir_array_desc desc;
  weir_array_kind kind;
  const char *name;                    /* input, stored: its name; else NULL                 */
  const char *output;                  /* name as a result, or NULL                          */
  int32_t update;                      /* stored: array whose value it takes, or -1          */
  bool in_place;                       /* stored: written in place by a call                 */
  weir_tensor constant;                /* constant: the elements, which copies of the graph share */
  struct weir_constant_memory *memory; /* that they lie in */
  /* reordered: a pass changed the order of the dimensions; dimension d was built as built_as[d]. */
  bool reordered;
  int8_t built_as[WEIR_MAX_RANK];
} weir_array;

/* Makes the array a constant of the elements of a tensor, whose memory it takes: *t is then a view.
 * Fails: WEIR_ERR_MEMORY. */
weir_status weir_array_make_constant(weir_array *array, weir_tensor *t) WEIR_CHECKED;

/* Origin of a derived operator, as a hint: a kernel that uses it verifies it against the access.
 * Arrays of `of` are counted inputs first, then outputs. */
enum {
  WEIR_DERIVED_OTHER = -1,  /* none of them                                 */
  WEIR_DERIVED_ARGMAX = 100 /* argmax: position of each maximum of `of` in its window */
};

/* An iteration dimension. */
typedef struct weir_derived_dim {
  int8_t array, dim; /* dimension `dim` of that array; OTHER: iteration dimension `dim` of `of`;
                        dim OTHER: none of them */
} weir_derived_dim;

/* An adjoint of a sum of products is a sum of the same three arrays: so are its adjoints. For other
 * operators the origin of a second derivative has no use. */
typedef struct weir_derivation {
  const weir_op_desc *of;       /* the operator as built; NULL: unknown */
  int8_t made;                  /* array that output 0 is, or whose gradient it is */
  int8_t in[WEIR_MAX_OPERANDS]; /* likewise every operand                             */
  weir_derived_dim dim[WEIR_MAX_DIMS];
  /* The node is this one for every iteration of its dimension 0 (weir_access_add_outer): `dim` and
   * kernels mean one slice (kernel/weir_kernel_use.h). */
  bool outer;
} weir_derivation;

typedef struct weir_node {
  const weir_op_desc *op; /* NULL: a source */
  void *spec;
  int n_in, n_out;
  int32_t in[WEIR_MAX_OPERANDS],
      out[WEIR_MAX_OUTPUTS]; /* arrays, operand by operand of the access */
  const char *label, *where;
  int32_t random_id;
  int32_t derived;    /* number of the weir_gradients that added it, 0: as built */
  int32_t microbatch; /* micro-batch of the node, from 1; 0: none */
  int8_t priority; /* priority among ready nodes: -1 first, as it starts concurrent work; 1 last, as
                  it waits for that work */
  int16_t late;    /* 0; of a node that does again what another did: number of those that may share
                      a group. They run right before the first that reads them */
  bool dead;       /* removed by a pass */
  weir_derivation derivation; /* of NULL: as built, or nothing is known */
  weir_access access;
} weir_node;

/* Adds the operator of `like` again with another access, with its spec: a slice of a node that a
 * pass splits. arrays: as for weir_graph_add_access_into, NULL: all new. */
weir_value weir_graph_add_like(weir_graph *g, const weir_node *like, const weir_access *access,
                               const weir_value *in, int n_in, const int32_t *arrays);

/* Computes weir_affected, but uses the stored values where an index array is a constant of the
 * graph.
 */
weir_box weir_node_affected(const weir_graph *g, const weir_node *node, int operand,
                            const weir_box *elements);
/* Computes the elements named by gathered indices of an operand (weir_access.h) over the node's
 * iterations in `box`, which is bounded; fini when done, also after a failure. The region of
 * weir_needed is their hull or more. Fails: WEIR_ERR_MEMORY. */
weir_status weir_node_named(const weir_graph *g, const weir_node *node, int operand,
                            const weir_box *box, weir_named *out) WEIR_CHECKED;
void weir_named_fini(weir_named *n);
bool weir_named_same(const weir_named *a, const weir_named *b);

struct weir_kernel;

/* Boxes of its result that a blocked kernel computes, or of its input that it reads (of_input),
 * instead of the pieces of `stage`: per dimension they begin and end at multiples of the block
 * size, or end with the array; 0: not blocked. */
typedef struct weir_kernel_blocks {
  int stage;
  bool of_input;
  int64_t block_size[WEIR_MAX_RANK];
} weir_kernel_blocks;

/* A member of a group that a kernel computes. blocks: those of the kernel, where the group has
 * other members. */
typedef struct weir_claim {
  int32_t node;
  const struct weir_kernel *kernel;
  weir_kernel_blocks blocks;
} weir_claim;

enum { WEIR_MAX_CLAIMS = 8 };

/* A fusion group: an ordered list of members under one outer box of tiles. Members keep their own
 * maps; arrays used only inside the group are tile-local. */
typedef struct weir_group {
  int32_t *nodes; /* topological order; the last is the anchor, whose parallel and sequential
                     dimensions are tiled */
  int64_t n_nodes;
  int64_t tile[WEIR_MAX_DIMS]; /* tile extent per iteration dimension of the anchor, 0: whole */
  weir_claim claims[WEIR_MAX_CLAIMS]; /* members that kernels compute; others, generated, read them
                                         block by block, or make what the last one reads */
  int n_claims;
  double saved_bytes; /* memory traffic saved by fusion */
} weir_group;

/* Return the number of arrays or nodes, and one of them, borrowed. Numbers are in [0, n); sources
 * and dead nodes are included. */
int32_t weir_graph_nodes(const weir_graph *g);
int32_t weir_graph_arrays(const weir_graph *g);
const weir_node *weir_graph_node(const weir_graph *g, int32_t node);
weir_node *weir_graph_node_mut(weir_graph *g, int32_t node);
/* Returns the origin of a node; a node as built is its own operator. */
weir_derivation weir_node_derivation(const weir_node *node);
const weir_array *weir_graph_get_array(const weir_graph *g, int32_t array);
weir_array *weir_graph_array_mut(weir_graph *g, int32_t array);
/* Turns the array into an input of that name, for a graph that is split in two: its writer must be
 * dead. Fails: WEIR_ERR_SHAPE (a live writer), WEIR_ERR_MEMORY. */
weir_status weir_graph_make_input(weir_graph *g, int32_t array, const char *name) WEIR_CHECKED;
/* Return the array of a value, -1 when it is invalid; and the value of a whole array, of its last
 * live writer or its source (node < 0: none). */
int32_t weir_value_array(const weir_graph *g, weir_value v);
weir_value weir_array_value(const weir_graph *g, int32_t array);
/* Return the number of live operators that read / write an array, and their numbers in `nodes` (up
 * to n). */
int32_t weir_graph_readers(const weir_graph *g, int32_t array, int32_t *nodes, int32_t n);
int32_t weir_graph_writers(const weir_graph *g, int32_t array, int32_t *nodes, int32_t n);
/* Frees all nodes except libraries and calls, once the graph is lowered and only run: arrays, names
 * and groups remain, other nodes must not be accessed, nor the graph copied. */
void weir_graph_shed(weir_graph *g);
int32_t weir_graph_groups(const weir_graph *g); /* 0 before the pass `fuse` */
weir_group *weir_graph_group_mut(weir_graph *g, int32_t group);
const weir_group *weir_graph_group(const weir_graph *g, int32_t group);
weir_status weir_graph_add_group(weir_graph *g, const int32_t *nodes, int64_t n) WEIR_CHECKED;
void weir_graph_clear_groups(weir_graph *g);
/* Returns the kernel's claim on a member, or NULL: it is generated. */
const weir_claim *weir_group_claim(const weir_group *group, int32_t node);
/* Writes the names of the kernels of a group, each once ("a + b"), or "" without one, and returns
 * `text`. */
const char *weir_group_kernels(const weir_group *group, char *text, size_t size);
/* Returns whether the array is a temporary written by one node and read, both in this group only,
 * and not a result. */
bool weir_group_is_local(const weir_graph *g, const weir_group *group, int32_t array);

/* Checks the whole graph: accesses, dtypes, disjoint covering writers, no cycle, groups contain
 * every live node once and close no cycle. Fails: WEIR_ERR_SHAPE, naming node and position. */
weir_status weir_graph_validate(const weir_graph *g) WEIR_CHECKED;
/* Returns the live operators in topological order (lowest number among the ready first). order:
 * space for weir_graph_nodes(g). */
weir_status weir_graph_order(const weir_graph *g, int32_t *order, int32_t *n) WEIR_CHECKED;

/* Rate of a stream: slots per slot of the fastest input related to it, up / down, in lowest terms.
 * base: that input's array, -1 where no access relates the two. */
typedef struct weir_rate {
  int32_t base;
  int64_t up, down;
} weir_rate;
/* Computes the rates of all arrays; rates: [weir_graph_arrays(g)]. */
void weir_graph_rates(const weir_graph *g, weir_rate *rates);
/* Returns the slots of a stream when the fastest input has had n: complete ones, or (begun) also
 * one that has begun. base -1: n. */
int64_t weir_rate_slots(const weir_rate *r, int64_t n, bool begun);
/* Returns the slots of the fastest input that contain n complete ones of the stream. */
int64_t weir_rate_fastest(const weir_rate *r, int64_t n);
/* Returns the slots of a fastest input after which streams of these n rates have the same phase
 * again; INT64_MAX: beyond 64 bits. */
int64_t weir_rates_period(const weir_rate *rates, int32_t n);
/* Returns the rate of a node's iterations along time; base -1: it has no time, or no array with a
 * rate. */
weir_rate weir_node_rate(const weir_graph *g, const weir_node *node, const weir_rate *rates);

/* Memory traffic: distinct external elements x size, each array once per (node or group, read |
 * write); volume: bytes without a cache. For a stream: the mean over chunks of `slots` slots of the
 * fastest input; rates: of all arrays, NULL: every unbounded dimension has `slots` slots. */
typedef struct weir_traffic {
  int64_t read_bytes, write_bytes, volume_bytes;
  double flops;
} weir_traffic;
/* Returns the traffic of one live operator; zero for sources and dead nodes. */
weir_traffic weir_node_traffic(const weir_graph *g, int32_t node, int64_t slots,
                               const weir_rate *rates);
/* Returns the traffic of a group: members run the boxes that later members need, and arrays passed
 * between them cause no traffic. */
weir_traffic weir_group_traffic(const weir_graph *g, const weir_group *group, int64_t slots,
                                const weir_rate *rates);
/* Prints nodes, accesses, groups, bytes and flops, for `describe`; `slots` of the fastest input. */
void weir_graph_print(const weir_graph *g, int64_t slots, FILE *out);
/* Computes the SHA-256 of the computation: nodes, accesses, constants, names of inputs, stored
 * arrays and results; independent of positions in source code. Fails: WEIR_ERR_MEMORY. */
weir_status weir_graph_digest(const weir_graph *g, char hex[65]) WEIR_CHECKED;
/* Computes the SHA-256 of the properties that determine the time of a group: operators, accesses,
 * dtypes, shapes, tile and kernel; independent of the numbers and names of its arrays. Fails:
 * WEIR_ERR_MEMORY. */
weir_status weir_group_digest(const weir_graph *g, const weir_group *group,
                              char hex[65]) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
