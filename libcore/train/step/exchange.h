/* exchange.h - the slot between the gradient of a step and its update. */
#ifndef TRAIN_EXCHANGE_H
#define TRAIN_EXCHANGE_H
#include "train/train_run.h"

/* Returns whether a step has a slot: gradients are added to the bank, exchanged and applied; else
 * the step is one plan. */
bool train_has_slot(const train_run *r);
/* Has a plan run begin the exchange as gradients come, where that can be; last: it makes the last
 * gradient of a step. Fails: WEIR_ERR_MEMORY. */
weir_status train_overlap(train_run *r, weir_plan *plan, bool last) WEIR_CHECKED;
/* Pins what the policy exchanges, if there is one: it keeps the memory. Local. Fails: as
 * weir_store_pin. */
weir_status train_pin_exchanged(train_run *r) WEIR_CHECKED;
/* Opens the exchange policy, once the arrays of the run have their values, with what it has kept in
 * the checkpoint that the run resumes from. Collective. Fails: as weir_exchange_open;
 * WEIR_ERR_UNSUPPORTED (a policy that keeps gradients, where weights are sharded or samples have
 * weights). */
weir_status train_open_exchange(train_run *r) WEIR_CHECKED;
/* Exchanges the accumulated gradient or the weights, if that is what the policy exchanges, and adds
 * the time to r->spent_s. Fails: as weir_exchange_run. */
weir_status train_exchange(train_run *r, weir_exchange_what what) WEIR_CHECKED;
/* Returns the bytes in which gradients of all ranks are summed into shards between plans; 0: they
 * are summed otherwise. */
int64_t train_scatter_bytes(const train_run *r);
/* Prints what this rank exchanges, a line for each part. Fails: as train_pin_exchanged. */
weir_status train_print_exchange(train_run *r, FILE *out) WEIR_CHECKED;
#endif
