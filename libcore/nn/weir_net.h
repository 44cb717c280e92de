/* weir_net.h - network builder: parameters by scoped names, in one flat buffer of the store.
 *
 * A network is a function that appends its graph through a weir_net. It
 * is called once to declare its parameters, before they are sealed and with a temporary graph; then
 * once per graph (train, valid, predict), where the same names give the values of the store:
 *
 *   weir_params_create(WEIR_F32, &params);
 *   weir_net_init(&net, graph, params, false);  build(&net, ..);  weir_net_fini(&net);
 *   weir_params_seal(params, store);
 *   weir_params_init(params, store, seed);
 *   weir_net_init(&net, graph, params, true);   build(&net, ..);  weir_gradients(..);  ..
 *
 * Builders follow the rule of graphs: a failure gives an invalid value, and the graph keeps the
 * error. */
#ifndef WEIR_NET_H
#define WEIR_NET_H
#include "graph/weir_graph.h"
#include "nn/weir_init.h"
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The stored array of all parameters, [elements]. */
#define WEIR_PARAMS_FLAT "params"
#define WEIR_NET_NAME 200 /* bytes of a scoped name including the final 0 */

/* ---- Parameters of a network ---- */

typedef struct weir_params weir_params;

/* A parameter: a slice of the flat buffer, row-major. */
typedef struct weir_param_row {
  const char *name; /* scoped: "enc1/conv2/weight" */
  int rank;
  int64_t shape[WEIR_MAX_RANK];
  int64_t first, count; /* its elements of the flat buffer */
  bool decay;           /* whether weight decay applies */
  weir_init init;
} weir_param_row;

/* Creates a parameter layout of f32 or f64; destroy accepts NULL and nulls. Fails: WEIR_ERR_SHAPE,
 * WEIR_ERR_MEMORY. */
weir_status weir_params_create(weir_dtype dtype, weir_params **out) WEIR_CHECKED;
/* Destroys the layout; arrays of the store remain. */
void weir_params_destroy(weir_params **p);
/* Ends the declaration: adds the flat buffer and the non-trainable buffers, all zero, to the store,
 * which must outlive the layout. Fails: WEIR_ERR_CONFIG (already sealed; a name that exists in the
 * store). */
weir_status weir_params_seal(weir_params *p, weir_store *store) WEIR_CHECKED;
/* Initialises every parameter and buffer in the store. Fails: WEIR_ERR_CONFIG (an array missing in
 * the store), WEIR_ERR_SHAPE. */
weir_status weir_params_init(const weir_params *p, weir_store *store, uint64_t seed) WEIR_CHECKED;
/* Returns the rows in the order of declaration, which is that of the flat buffer, without gaps;
 * borrowed until the next declaration. */
int64_t weir_params_count(const weir_params *p);
const weir_param_row *weir_params_get(const weir_params *p, int64_t i);
/* Returns the row of that scoped name, -1: there is none. */
int64_t weir_params_find(const weir_params *p, const char *name);
/* Return the number of elements of the flat buffer, its dtype, and the store given to seal (NULL
 * before). */
int64_t weir_params_elements(const weir_params *p);
weir_dtype weir_params_dtype(const weir_params *p);
weir_store *weir_params_store(const weir_params *p);
/* Prints one line per parameter and buffer: name, shape, elements. For `describe`. */
void weir_params_print(const weir_params *p, FILE *out);

/* ---- A graph over them ---- */

/* Rows that a graph reads from a separate stored array, "params" with the suffix `name`: these
 * elements of the flat buffer. Used where ranks have only a slice of it (train/README.md). */
typedef struct weir_flat_slice {
  const char *name; /* ".2" */
  int64_t first, count;
} weir_flat_slice;

typedef struct weir_net {
  weir_graph *graph;
  weir_params *params;
  bool train; /* true: batch statistics and dropout; false: running statistics */
  bool tiles; /* set by the caller: products are those of tiles (weir_exec_has_tiles) */
  /* i64 scalars, keys of random numbers: set by the caller, or created as inputs "seed" and "step"
   * by the first layer that draws; node < 0: not present. */
  weir_value seed, step;
  /* Scalar, set by the caller: the weight of a batch in running statistics instead of that of each
   * layer; node < 0: not present. */
  weir_value momentum;
  char scope[WEIR_NET_NAME];
  weir_value *value; /* [n_values] of the rows so far, node < 0: not used */
  int64_t n_values, capacity;
  /* Set by the caller where the graph does not read the sealed store and its single flat buffer;
   * borrowed. slice: [n_slices] complete rows each, together the whole buffer, 0: it is one array.
   */
  const weir_store *store;
  const weir_flat_slice *slice;
  int64_t n_slices;
} weir_net;

/* Initialises a net of `graph` over `params`, in no scope; fini frees its memory, graph and params
 * remain. While params are not sealed, parameters are declared. */
void weir_net_init(weir_net *net, weir_graph *graph, weir_params *params, bool train);
void weir_net_fini(weir_net *net);
/* Open the scope `name` for later names (letters, digits, '_', '-'); close it again. */
void weir_net_push(weir_net *net, const char *name);
void weir_net_pop(weir_net *net);
/* Writes the scoped name of `name` into storage of WEIR_NET_NAME bytes; false: too long or invalid,
 * and the graph has the error. */
bool weir_net_name(weir_net *net, const char *name, char *out);
/* Returns the value that the graph uses for row i, node < 0: none. The variable of differentiation
 * in training. */
weir_value weir_net_param_value(const weir_net *net, int64_t i);
/* Return seed and step of the net, created as inputs if necessary. */
weir_value weir_net_seed(weir_net *net);
weir_value weir_net_step(weir_net *net);

/* Specification of a parameter by a layer. */
typedef struct weir_param_spec {
  int rank;
  int64_t shape[WEIR_MAX_RANK];
  weir_init init; /* not default */
  bool decay;
} weir_param_spec;

/* Declares a parameter of the current scope, or returns its slice of the flat buffer. A name is
 * used by one call per graph: to share a parameter, pass its value on. Fails: WEIR_ERR_CONFIG
 * (twice; a name that was not declared), WEIR_ERR_SHAPE (declared with another shape). */
weir_value weir_param_at(weir_net *net, const char *name, const weir_param_spec *spec,
                         const char *where);
/* Declares a non-trainable buffer: a separate stored array, filled with `initial`. A layer changes
 * it with weir_update on weir_stored's value. Fails as weir_param_at. */
weir_value weir_buffer_at(weir_net *net, const char *name, int rank, const int64_t *shape,
                          double initial, const char *where);
#define weir_param(net, name, spec) weir_param_at(net, name, spec, WEIR_WHERE)
#define weir_buffer(net, name, rank, shape, initial) \
  weir_buffer_at(net, name, rank, shape, initial, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
