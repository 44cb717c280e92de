/* flow_files.h - what is known of the steps of a flow: the files in DIR/flow, which
 * workflows/flow/state.sh describes. Shared by the sources of weir_flow.h only. */
#ifndef APP_FLOW_FILES_H
#define APP_FLOW_FILES_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"

enum { APP_FLOW_PATH = 4096, APP_FLOW_VERSION = 32 };

/* The lines of a file, each ended by 0; text NULL: there is no such file. */
typedef struct app_flow_lines {
  char *text;
  int64_t size;
} app_flow_lines;
/* Returns the text after "KEY " of the next line that begins so, the first one after `after`, which
 * is what was returned before (NULL: the first of all); NULL: there is none. */
const char *app_flow_next(const app_flow_lines *lines, const char *key, const char *after);

typedef enum app_flow_word {
  APP_FLOW_NOT_STARTED,
  APP_FLOW_SUBMITTED,
  APP_FLOW_QUEUED, /* again, by a job that was cut */
  APP_FLOW_RUNNING,
  APP_FLOW_DONE,
  APP_FLOW_STOPPED,
  APP_FLOW_FAILED
} app_flow_word;

/* An instance of a step. Texts are borrowed from the files; "-" is what is not known. */
typedef struct app_flow_instance {
  const char *id;   /* STEP, or STEP/INSTANCE: its folder below that of the flow */
  const char *step; /* which has one instance or several */
  app_flow_word word;
  const char *status, *host, *job, *begun, *changed; /* times: as weir_clock_utc */
  /* The id of the first that it needs, or these need, that has failed or was stopped, or NULL. */
  const char *broken;
  char version[APP_FLOW_VERSION];     /* of the program; "" unknown */
  app_flow_lines plan, state, marker; /* marker: of what is done, else of what was begun */
} app_flow_instance;

typedef struct app_flow {
  const char *dir; /* borrowed */
  app_flow_lines order;
  app_flow_instance *instance; /* [n], in the order of the steps */
  int64_t n;
} app_flow;

/* Reads the files of the flow in `dir`. *out is for app_flow_fini in any case. Fails: WEIR_ERR_DATA
 * (no flow there; a file that is damaged), WEIR_ERR_MEMORY. */
weir_status app_flow_read(const char *dir, app_flow *out) WEIR_CHECKED;
void app_flow_fini(app_flow *f);

/* Writes the address of a file of the instance in DIR/flow, relative to DIR: "flow/run.seed_1.log".
 * Returns text. */
const char *app_flow_file(const app_flow_instance *i, const char *suffix, char text[APP_FLOW_PATH]);
/* Whether DIR has this file or folder. */
bool app_flow_has(const app_flow *f, const char *address);
/* Returns the seconds between begun and changed; NaN where one is not known. */
double app_flow_seconds(const app_flow_instance *i);
/* Reads the last lines of the program's messages, without those of the flow, each with its line
 * end; *out is "" where there are none, for weir_free. Fails: WEIR_ERR_MEMORY. */
weir_status app_flow_read_messages(const app_flow *f, const app_flow_instance *i,
                                   char **out) WEIR_CHECKED;
#endif
