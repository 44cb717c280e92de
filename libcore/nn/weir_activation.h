/* weir_activation.h - activation functions, by name. */
#ifndef WEIR_ACTIVATION_H
#define WEIR_ACTIVATION_H
#include "conf/weir_opt.h"
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_activation_kind {
  WEIR_ACTIVATION_IDENTITY,
  WEIR_ACTIVATION_RELU,       /* max(x, 0); derivative 0 at 0                         */
  WEIR_ACTIVATION_LEAKY_RELU, /* x, or slope x below 0                                */
  WEIR_ACTIVATION_ELU,        /* x, or slope (exp(x) - 1) below 0; slope 0: 1         */
  WEIR_ACTIVATION_GELU,       /* x (1 + erf(x / sqrt 2)) / 2: Hendrycks, Gimpel 2016  */
  WEIR_ACTIVATION_SILU,       /* x sigmoid(x): Elfwing et al. 2018                    */
  WEIR_ACTIVATION_TANH,
  WEIR_ACTIVATION_SIGMOID,  /* 1 / (1 + exp(-x))  */
  WEIR_ACTIVATION_SOFTPLUS, /* log(1 + exp(x))    */
  WEIR_ACTIVATION_KINDS
} weir_activation_kind;
/* The kinds in order, for option rows without slope. */
#define WEIR_ACTIVATION_CHOICES "identity|relu|leaky_relu|elu|gelu|silu|tanh|sigmoid|softplus"

typedef struct weir_activation {
  weir_activation_kind kind;
  double slope; /* leaky_relu (0: 0.01), elu */
} weir_activation;

/* Appends activation(x), elementwise; it does not overflow, and has finite derivatives, for every
 * finite x. */
weir_value weir_activation_at(weir_graph *g, const weir_activation *a, weir_value x,
                              const char *where);
#define weir_activate(g, a, x) weir_activation_at(g, a, x, WEIR_WHERE)

/* Lists the activations for WEIR_OPT_ONE_OF rows: `activation: relu`, `activation: {leaky_relu:
 * {slope: 0.1}}`. */
bool weir_activation_list(int64_t i, weir_opt_choice *entry);
/* Returns the activation chosen in such a row; empty: identity. */
weir_activation weir_activation_of(const weir_one_of *choice);

#ifdef __cplusplus
}
#endif
#endif
