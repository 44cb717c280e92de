/* weir_signal.h - SIGINT and SIGTERM as a question that long work asks between its steps. */
#ifndef WEIR_SIGNAL_H
#define WEIR_SIGNAL_H
#include <stdbool.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* From now on the first SIGINT or SIGTERM asks for a stop; a second one of the same kind ends the
 * program at once, as if no handler were there. Fails: WEIR_ERR_EXTERNAL. */
weir_status weir_signal_install(void) WEIR_CHECKED;
/* True once a stop was asked for. Work that sees it undoes what is half done and returns
 * weir_fail(WEIR_ERR_STOPPED, ...). Any thread. */
bool weir_stop_requested(void);
/* Asks for a stop as a signal would (signal > 0), or takes the request back (0); for tests and
 * for a limit on run time. */
void weir_stop_request(int signal);
/* Number of the signal that asked, 0 when none did. */
int weir_stop_signal(void);

#ifdef __cplusplus
}
#endif
#endif
