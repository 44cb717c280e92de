/* stage_priv.h - samples as inputs of the task of a stage, and its network as a graph. */
#ifndef WX_STAGE_PRIV_H
#define WX_STAGE_PRIV_H
#include "stage.h"

/* Fills the inputs of a batch, as weir_train_task.fetch; context: the stage. A rank of a grid in
 * space has a box of each sample, of which it reads the whole. Fails: as wx_samples_read. */
weir_status wx_stage_fetch(void *context, const weir_train_batch *want,
                           weir_tensor *const *tensor) WEIR_CHECKED;
/* As wx_stage_append, for another number of members than the samples have. */
weir_status wx_stage_append_members(const wx_stage *s, int64_t batch, int64_t members,
                                    weir_graph *g) WEIR_CHECKED;
#endif
