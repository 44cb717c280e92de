/* compare_rows.h - rows of trainings from their points. */
#ifndef APP_COMPARE_ROWS_H
#define APP_COMPARE_ROWS_H
#include "app/weir_compare.h"

/* Completes the rows by points and ranks: losses, the target where none is given, times to it,
 * waiting. */
void app_compare_summarize(weir_compared *c);
#endif
