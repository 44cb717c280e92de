/* problem.h - a number made of inputs, its derivatives by some of them, and differences to measure
 * them by. */
#ifndef WEIR_CONFORM_PROBLEM_H
#define WEIR_CONFORM_PROBLEM_H
#include "exec/weir_plan.h"
#include "graph/weir_graph.h"

#define PROBLEM_INPUTS 48

/* Inputs are made one by one, filled as they are made; then `loss` is set. */
typedef struct problem {
  weir_graph *g;
  uint64_t seed;
  int n;
  weir_value in[PROBLEM_INPUTS], loss, grad[PROBLEM_INPUTS];
  bool moves[PROBLEM_INPUTS];    /* what the loss is derived by    */
  bool constant[PROBLEM_INPUTS]; /* part of the graph, not bound   */
  weir_tensor from[PROBLEM_INPUTS], made[PROBLEM_INPUTS], value;
  weir_plan *plan;
} problem;

/* An empty graph; fini frees everything. */
void problem_init(problem *p, uint64_t seed);
void problem_fini(problem *p);
/* Appends an input of values in [lo, hi] (integers: whole ones), as a constant of the graph where
 * asked for; returns its number. f32 and f64 inputs of one seed and number hold the same values. */
int problem_input(problem *p, const weir_array_desc *d, double lo, double hi, bool constant);
/* Adds sum(w v) to the loss, w a new input of weights in [-1, 1]; returns its number. */
int problem_weigh(problem *p, weir_value v);
/* grad[]: of the loss by every input that moves. */
weir_status problem_derive(problem *p) WEIR_CHECKED;
/* The loss becomes a weighted sum of the gradients. */
void problem_turn(problem *p);
/* A plan of that engine, which gives the loss and the gradients. */
void problem_plan(problem *p, weir_tier tier);
void problem_run(problem *p);

/* How many differences were taken, and how many of these were useless: near a kink they depend on
 * their step. */
typedef struct problem_count {
  int64_t probes, kinks;
} problem_count;
/* Runs, and compares up to `probes` elements of every gradient with central differences, f64.
 * Returns how many are wrong, having printed the first. */
int64_t problem_check(problem *p, int probes, const char *what, problem_count *count);

#endif
