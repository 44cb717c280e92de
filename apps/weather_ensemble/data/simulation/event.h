/* event.h - a value above or below a threshold that is the same everywhere. */
#ifndef WX_EVENT_H
#define WX_EVENT_H
#include "conf/weir_opt.h"

/* A row of eval.events and predict.events. */
typedef struct wx_event_row {
  const char *name, *quantity; /* quantity "": every one */
  double value;
  bool above;
} wx_event_row;
extern const weir_opt wx_event_row_options[];
#endif
