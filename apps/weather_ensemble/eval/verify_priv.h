/* verify_priv.h - shared between the sources of verify. */
#ifndef WX_VERIFY_PRIV_H
#define WX_VERIFY_PRIV_H
#include "eval/verify.h"

/* Forgets the scores and remarks of the last quantity and lead. */
void wx_verify_clear(wx_verify *v);
/* Lists the initialisation times of which v->at_quantity and at_lead have forecast, truth and all
 * models, with remarks on the others. Fails: WEIR_ERR_DATA (none), WEIR_ERR_MEMORY. */
weir_status wx_verify_choose_init_times(wx_verify *v) WEIR_CHECKED;
/* Remarks on models without a forecast of v->at_quantity at v->at_lead, which are left out of its
 * tables; of WX_JOINT, on those alone that give members. Fails: WEIR_ERR_DATA (there is no other),
 * WEIR_ERR_MEMORY. */
weir_status wx_verify_note_absent(wx_verify *v) WEIR_CHECKED;
/* Returns whether v->use has a point. */
bool wx_verify_any_point(const wx_verify *v);
/* Remarks on `empty` initialisation times without a point. Fails: WEIR_ERR_DATA (no other is left),
 * WEIR_ERR_MEMORY. */
weir_status wx_verify_note_empty(wx_verify *v, int64_t empty) WEIR_CHECKED;
#endif
