/* plan.h - plans of a run, made when they are first needed. */
#ifndef TRAIN_PLAN_H
#define TRAIN_PLAN_H
#include "train/step/bindings.h"
#include "train/train_run.h"

/* Creates the plan of a graph over a store for n samples on the ranks of the run; the caller
 * destroys it. Collective. Fails: as train_sharding_of, weir_plan_create. */
weir_status train_create_plan(train_run *r, const weir_graph *g, weir_store *store, int64_t n,
                              const weir_plan_opts *opts, weir_plan **out) WEIR_CHECKED;
/* Finds the plan of a kind for n samples, made at the first call; borrowed from the run.
 * Collective. Fails: as train_build, train_create_plan. */
weir_status train_find_plan(train_run *r, train_kind kind, int64_t n, weir_plan **out) WEIR_CHECKED;
/* Runs the plan of a kind on n samples that were fetched, and adds its time to r->spent_s. *plan:
 * for its results. Collective. Fails: as train_find_plan, weir_plan_run. */
weir_status train_run_plan(train_run *r, train_kind kind, int64_t n, const train_numbers *x,
                           weir_plan **plan) WEIR_CHECKED;
#endif
