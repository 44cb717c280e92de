/* weir_depend.h - dependences: writers and readers of arrays, and the nodes that run before each
 * node: writers of an array before its readers. (A stored array that a call changes in place has no
 * other reader; updates come last.) */
#ifndef WEIR_DEPEND_H
#define WEIR_DEPEND_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Live operators that write array a, in ascending order: writers[first_writer[a]] ..
 * writers[first_writer[a + 1] - 1]; its readers likewise. Valid until a node changes. */
typedef struct weir_users {
  int32_t *first_writer, *writers, *first_reader, *readers;
} weir_users;

/* Collects them in one traversal of the nodes, where weir_graph_writers and _readers traverse all
 * nodes for one array. fini frees. Fails: WEIR_ERR_MEMORY. */
weir_status weir_users_make(const weir_graph *g, weir_users *out) WEIR_CHECKED;
void weir_users_fini(weir_users *u);

/* Live operators that must run before node i: before[first[i]] .. before[first[i + 1] - 1]. */
typedef struct weir_depend {
  int32_t n;
  int32_t *first; /* [n + 1] */
  int32_t *before;
} weir_depend;

/* Collects them; fini frees. Fails: WEIR_ERR_MEMORY. */
weir_status weir_depend_make(const weir_graph *g, weir_depend *out) WEIR_CHECKED;
void weir_depend_fini(weir_depend *d);

#ifdef __cplusplus
}
#endif
#endif
