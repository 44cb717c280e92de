/* event.c - see event.h. */
#include "data/simulation/event.h"

const weir_opt wx_event_row_options[] = {
    WEIR_OPT_STRING(wx_event_row, name, "", "in tables; empty: made of the others"),
    WEIR_OPT_STRING(wx_event_row, quantity, "", "as z500; empty: every one"),
    WEIR_OPT_REAL(wx_event_row, value, 0, -1e300, 1e300, "of the quantity", "the threshold"),
    WEIR_OPT_BOOL(wx_event_row, above, true, "the event is a value above it, else below"),
    WEIR_OPT_END,
};
