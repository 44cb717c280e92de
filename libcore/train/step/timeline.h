/* timeline.h - what each rank of a run does when: recorded in a ring by each, gathered at the end.
 */
#ifndef TRAIN_TIMELINE_H
#define TRAIN_TIMELINE_H
#include "train/train_run.h"

extern const char *const train_activity_name[TRAIN_ACTIVITIES];

/* Prepares the ring and compares the clocks of the ranks. Nothing on one rank. Collective. Fails:
 * WEIR_ERR_MEMORY, as requests. */
weir_status train_timeline_open(train_run *r) WEIR_CHECKED;
/* Returns the present moment, at which an activity begins: none within another. Local. */
train_moment train_begin_activity(const train_run *r);
/* Records an activity since `begin`. Nothing on one rank. Local. */
void train_end_activity(train_run *r, train_activity activity, train_moment begin);
/* Emits the events `rank` and `activity` of all ranks. Collective. Fails: as weir_comm_gather. */
weir_status train_tell_timeline(train_run *r) WEIR_CHECKED;
#endif
