/* weir_net.h - a network in the making: parameters by scoped names, in one flat bank of the store.
 *
 * A network is a function that appends its graph through a weir_net. It is called once to declare
 * what it has, with parameters that are not sealed and a graph that is thrown away; then once per
 * graph (train, valid, predict), where the same names give the values of the store:
 *
 *   weir_params_create(WEIR_F32, &params);
 *   weir_net_init(&net, graph, params, false);  build(&net, ..);  weir_net_fini(&net);
 *   weir_params_seal(params, store);
 *   weir_params_init(params, store, seed);
 *   weir_net_init(&net, graph, params, true);   build(&net, ..);  weir_gradients(..);  ..
 *
 * Builders follow the rule of graphs: a failure gives an invalid value and stays in the graph. */
#ifndef WEIR_NET_H
#define WEIR_NET_H
#include "graph/weir_graph.h"
#include "nn/weir_init.h"
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The stored array that holds every parameter, [elements]. */
#define WEIR_PARAMS_FLAT "params"
#define WEIR_NET_NAME 200 /* bytes of a scoped name with its end */

/* ---- What a network has ---- */

typedef struct weir_params weir_params;

/* One parameter: a part of the bank, row-major. */
typedef struct weir_param_row {
  const char *name; /* scoped: "enc1/conv2/weight" */
  int rank;
  int64_t shape[WEIR_MAX_RANK];
  int64_t first, count; /* its elements of the bank              */
  bool decay;           /* whether weight decay pulls it to zero */
  weir_init init;
} weir_param_row;

/* A layout without parameters, of f32 or f64; destroy accepts NULL and nulls. Fails:
 * WEIR_ERR_SHAPE, WEIR_ERR_MEMORY. */
weir_status weir_params_create(weir_dtype dtype, weir_params **out) WEIR_CHECKED;
/* Frees the layout; what the store holds stays there. */
void weir_params_destroy(weir_params **p);
/* Ends the declaration: adds the bank and the statistics, all zero, to the store, which must
 * outlive the layout. Fails: WEIR_ERR_CONFIG (sealed already; a name that the store has). */
weir_status weir_params_seal(weir_params *p, weir_store *store) WEIR_CHECKED;
/* Gives every parameter and statistic in the store its first value. Fails: WEIR_ERR_CONFIG (an
 * array that the store lacks), WEIR_ERR_SHAPE. */
weir_status weir_params_init(const weir_params *p, weir_store *store, uint64_t seed) WEIR_CHECKED;
/* Rows in the order of declaration, which is that of the bank without gaps; borrowed until the next
 * declaration. */
int64_t weir_params_count(const weir_params *p);
const weir_param_row *weir_params_get(const weir_params *p, int64_t i);
/* Row of that scoped name, -1: there is none. */
int64_t weir_params_find(const weir_params *p, const char *name);
/* Elements of the bank, its dtype, and the store that seal was given (NULL before). */
int64_t weir_params_elements(const weir_params *p);
weir_dtype weir_params_dtype(const weir_params *p);
weir_store *weir_params_store(const weir_params *p);
/* One line per parameter and statistic: name, shape, elements. For `describe`. */
void weir_params_print(const weir_params *p, FILE *out);

/* ---- A graph over them ---- */

/* Rows that a graph reads from a stored array of their own, "params" with `name` after it: these
 * elements of the bank. Where ranks have less than all of it (train/README.md). */
typedef struct weir_flat_slice {
  const char *name; /* ".2" */
  int64_t first, count;
} weir_flat_slice;

typedef struct weir_net {
  weir_graph *graph;
  weir_params *params;
  bool train; /* batch statistics and dropout; else what was learnt */
  /* i64 of rank 0, keys of random numbers: set by who builds, or made as inputs "seed" and "step"
   * by the first layer that draws; node < 0: not there. */
  weir_value seed, step;
  char scope[WEIR_NET_NAME];
  weir_value *value; /* [n_values] of the rows so far, node < 0: not used */
  int64_t n_values, capacity;
  /* Set by who builds, where it is not the sealed store and its one bank that the graph reads;
   * borrowed. part: [n_parts] whole rows each, all of the bank together, 0: it is one array. */
  const weir_store *store;
  const weir_flat_slice *part;
  int64_t n_parts;
} weir_net;

/* A net of `graph` over `params`, in no scope; fini frees what it keeps, graph and params stay.
 * While params are not sealed, parameters are declared. */
void weir_net_init(weir_net *net, weir_graph *graph, weir_params *params, bool train);
void weir_net_fini(weir_net *net);
/* Names that follow are below `name`: letters, digits, '_', '-'; and back again. */
void weir_net_push(weir_net *net, const char *name);
void weir_net_pop(weir_net *net);
/* The scoped name of `name`, into storage of WEIR_NET_NAME bytes; false: too long, or no name, and
 * the graph has the error. */
bool weir_net_name(weir_net *net, const char *name, char *out);
/* The value that the graph uses for row i, node < 0: none. What training derives by. */
weir_value weir_net_param_value(const weir_net *net, int64_t i);
/* seed and step of the net, made as inputs where they are not there. */
weir_value weir_net_seed(weir_net *net);
weir_value weir_net_step(weir_net *net);

/* What a layer says of a parameter. */
typedef struct weir_param_spec {
  int rank;
  int64_t shape[WEIR_MAX_RANK];
  weir_init init; /* not default */
  bool decay;
} weir_param_spec;

/* A parameter of the current scope: declared, or its part of the bank. One name stands for one call
 * in a graph: who shares a parameter hands its value on. Fails: WEIR_ERR_CONFIG (twice; a name that
 * was not declared), WEIR_ERR_SHAPE (declared with another shape). */
weir_value weir_param_at(weir_net *net, const char *name, const weir_param_spec *spec,
                         const char *where);
/* A statistic: a stored array of its own, `initial` everywhere, that no optimiser sees. A layer
 * changes it with weir_update on weir_stored's value. Fails as weir_param_at. */
weir_value weir_buffer_at(weir_net *net, const char *name, int rank, const int64_t *shape,
                          double initial, const char *where);
#define weir_param(net, name, spec) weir_param_at(net, name, spec, WEIR_WHERE)
#define weir_buffer(net, name, rank, shape, initial) \
  weir_buffer_at(net, name, rank, shape, initial, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
