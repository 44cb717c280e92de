/* ledger.h - what became of each input of daily operation: a text file that only grows, a line for
 * each event, on the disk before anything follows from it. The last line of a content counts. */
#ifndef WX_LEDGER_H
#define WX_LEDGER_H
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"

typedef enum wx_input_state {
  WX_INPUT_STARTED,   /* its prediction is being made, unless its folder is there already */
  WX_INPUT_DONE,      /* `result` has its prediction */
  WX_INPUT_FAILED,    /* `detail` says why */
  WX_INPUT_DUPLICATE, /* of a content that has an entry of its own */
  WX_INPUT_CHANGED    /* while it was predicted: what was made of it is discarded */
} wx_input_state;
extern const char *const wx_input_state_name[];

enum { WX_VERSION = 96 };

/* A line. Texts are borrowed from the ledger, or from the caller of wx_ledger_add. */
typedef struct wx_ledger_entry {
  wx_input_state state;
  const char *file;    /* its name in the folder */
  const char *version; /* of the file: inode, times of its last change */
  const char *digest;  /* SHA-256 of its content; "": it could not be read */
  const char *result;  /* name of the folder of the prediction; "": none */
  const char *detail;  /* reason of a failure, the file that it is a duplicate of; "" */
  int64_t bytes;
} wx_ledger_entry;

typedef struct wx_ledger wx_ledger;

/* Opens the file, or makes it; a last line that a killed program left unfinished is removed. Fails:
 * WEIR_ERR_DATA naming a line that is none of a ledger, WEIR_ERR_SPACE. */
weir_status wx_ledger_open(const char *path, wx_ledger **out) WEIR_CHECKED;
void wx_ledger_close(wx_ledger **l);
/* Appends a line with the present time and waits until the disk has it. Line ends in texts become
 * spaces. Fails: WEIR_ERR_SPACE, WEIR_ERR_DATA; the file is then as before. */
weir_status wx_ledger_add(wx_ledger *l, const wx_ledger_entry *entry) WEIR_CHECKED;
/* Return the last entry, or NULL: of a version of a file; of a content, not as a duplicate. */
const wx_ledger_entry *wx_ledger_find_file(const wx_ledger *l, const char *file,
                                           const char *version);
const wx_ledger_entry *wx_ledger_find_content(const wx_ledger *l, const char *digest);
/* Returns how often a content was started since it last ended. */
int64_t wx_ledger_starts(const wx_ledger *l, const char *digest);
/* Returns the number of contents whose last entry is that they failed. */
int64_t wx_ledger_failures(const wx_ledger *l);
#endif
