/* server.h - a page, and a document that changes, over HTTP/1.1 for a few browsers: reading only,
 * in a thread of its own, in bounded memory. */
#ifndef PS_LIVE_SERVER_H
#define PS_LIVE_SERVER_H
#include <stdbool.h>
#include <stddef.h>
#include "base/weir_status.h"

/* Clients at a time, s until one is dropped, bytes of a request. */
enum { PS_SERVER_CLIENTS = 8, PS_SERVER_SECONDS = 5, PS_SERVER_REQUEST = 16384 };

typedef struct ps_server ps_server;

/* Listens at `address`, tcp:[HOST:]PORT (weir_wire_bind), and answers GET / with page[size] (HTML,
 * borrowed until the end) and GET /data with the document (JSON), in a thread of its own. Without
 * `remote` only requests whose Host is this machine are answered, so that pages of the web cannot
 * read the data through a name of theirs. Fails: as weir_wire_bind and weir_worker_create,
 * WEIR_ERR_MEMORY; *out is then NULL. */
weir_status ps_server_open(const char *address, bool remote, const char *page, size_t size,
                           ps_server **out) WEIR_CHECKED;
int ps_server_port(const ps_server *s);
/* Returns whether the document was asked for in the last PS_SERVER_SECONDS. */
bool ps_server_is_asked(ps_server *s);
/* Replaces the document by a copy of text[size]. Waits for no client. Fails: WEIR_ERR_MEMORY. */
weir_status ps_server_publish(ps_server *s, const char *text, size_t size) WEIR_CHECKED;
/* Drops all clients and ends the thread; accepts NULL. */
void ps_server_close(ps_server **s);
#endif
