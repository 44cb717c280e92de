/* weir_signal.h - SIGINT, SIGTERM and SIGHUP as a flag that long computations poll. */
#ifndef WEIR_SIGNAL_H
#define WEIR_SIGNAL_H
#include <stdbool.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Installs handlers: SIGINT, SIGTERM and, unless it is ignored (nohup), SIGHUP request a stop. A
 * second SIGINT terminates the program immediately by the default action. Fails:
 * WEIR_ERR_EXTERNAL. */
weir_status weir_signal_install(void) WEIR_CHECKED;
/* True once a stop was requested. The computation then discards unfinished work and returns
 * weir_fail(WEIR_ERR_STOPPED, ...). Any thread. */
bool weir_stop_requested(void);
/* Requests a stop as a signal would (signal > 0), or withdraws the request (0); for tests and run
 * time limits. */
void weir_stop_request(int signal);
/* Returns the number of the signal that requested the stop, 0 if none did. */
int weir_stop_signal(void);

#ifdef __cplusplus
}
#endif
#endif
