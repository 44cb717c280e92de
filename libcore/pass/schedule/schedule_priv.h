/* schedule_priv.h - what ordering and placing share. */
#ifndef WEIR_SCHEDULE_PRIV_H
#define WEIR_SCHEDULE_PRIV_H
#include "pass/schedule/weir_schedule.h"

bool schedule_touches(const weir_graph *g, const weir_group *group, int32_t array);
/* True when the array has memory in the arena. */
bool schedule_has_memory(const weir_graph *g, int32_t array);
/* order: [groups], each after those it waits for; among those ready, the one after which least is
 * live. */
weir_status schedule_order(const weir_graph *g, const int64_t *bytes, const bool *keep,
                           int32_t *order) WEIR_CHECKED;
#endif
