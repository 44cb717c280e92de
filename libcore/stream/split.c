/* split.c - two stages out of one graph: what runs before the calls that keep a state, and those.
 */
#include <string.h>
#include "stream_priv.h"
#include "base/weir_alloc.h"

static bool reads_time(const weir_graph *g, const weir_node *node)
{
  for (int i = 0; i < node->n_in; i++) {
    if (weir_graph_get_array(g, node->in[i])->desc.time > 0) {
      return true;
    }
  }
  return false;
}

/* A call that keeps a state hands it on from chunk to chunk, in order. */
static bool keeps_state(const weir_graph *g, const weir_node *node)
{
  bool stored = false;

  for (int i = 0; i < node->n_in; i++) {
    stored = stored || weir_graph_get_array(g, node->in[i])->kind == WEIR_ARRAY_STORED;
  }
  return node->access.maker == WEIR_MADE_BY_CALL && stored;
}

/* late[node]: a call on streams with a state, or anything that reads what one made. */
static bool mark_late(const weir_graph *g, const int32_t *order, int32_t n, bool *late)
{
  bool any = false;

  for (int32_t i = 0; i < n; i++) {
    const weir_node *node = weir_graph_node(g, order[i]);

    late[order[i]] = keeps_state(g, node) && reads_time(g, node);
    for (int k = 0; k < node->n_in; k++) {
      int32_t writers[WEIR_MAX_OPERANDS];
      const int32_t m = weir_graph_writers(g, node->in[k], writers, WEIR_MAX_OPERANDS);

      for (int32_t w = 0; w < m && w < WEIR_MAX_OPERANDS; w++) {
        late[order[i]] = late[order[i]] || late[writers[w]];
      }
    }
    any = any || late[order[i]];
  }
  return any;
}

/* True when a stored array is read and takes its new value on both sides of the cut: the stages
 * work on different chunks at one time, so that a reader would see the value of another chunk. */
static bool shares_state(const weir_graph *g, const int32_t *order, int32_t n, const bool *late)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);
    bool side[2] = {false, false};

    if (array->kind != WEIR_ARRAY_STORED || array->update < 0) {
      continue;
    }
    for (int32_t i = 0; i < n; i++) {
      const weir_node *node = weir_graph_node(g, order[i]);

      for (int k = 0; k < node->n_in; k++) {
        side[late[order[i]]] = side[late[order[i]]] || node->in[k] == a;
      }
      for (int k = 0; k < node->n_out; k++) {
        side[late[order[i]]] = side[late[order[i]]] || node->out[k] == array->update;
      }
    }
    if (side[0] && side[1]) {
      return true;
    }
  }
  return false;
}

/* A stream that a late node reads and no late node makes: it goes through the queue, sources
 * included, so that the second stage sees the chunk that the first one has finished. False where
 * something cannot: an array without time that the graph computes, or too many arrays. */
static bool find_crossing(const weir_graph *g, const int32_t *order, int32_t n, const bool *late,
                          stream_cut *cut)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);
    bool read = false, made_late = false;

    for (int32_t i = 0; i < n; i++) {
      const weir_node *node = weir_graph_node(g, order[i]);

      for (int k = 0; k < node->n_in && late[order[i]]; k++) {
        read = read || node->in[k] == a;
      }
      for (int k = 0; k < node->n_out && late[order[i]]; k++) {
        made_late = made_late || node->out[k] == a;
      }
    }
    if (!read || made_late || array->kind == WEIR_ARRAY_CONSTANT ||
        array->kind == WEIR_ARRAY_STORED) {
      continue;
    }
    if (array->desc.time == 0 || cut->n == STREAM_MAX_CROSSING) {
      return false;
    }
    cut->array[cut->n] = a;
    cut->dtype[cut->n] = array->desc.dtype;
    cut->rows[cut->n] = 1;
    for (int d = 0; d < array->desc.rank - 1; d++) {
      cut->rows[cut->n] *= array->desc.shape[d];
    }
    snprintf(cut->name[cut->n], sizeof(cut->name[0]), "stream.cut.%d", cut->n);
    cut->n++;
  }
  return true;
}

/* The first stage: late nodes are dead, their results are dropped, what crosses is a result.
 */
static weir_status make_front(const weir_graph *g, const bool *late, stream_cut *cut,
                              weir_graph **out)
{
  WEIR_TRY(weir_graph_copy(g, out));
  for (int32_t i = 0; i < weir_graph_nodes(*out); i++) {
    weir_node *node = weir_graph_node_mut(*out, i);

    if (late[i]) {
      node->dead = true;
      for (int k = 0; k < node->n_out; k++) {
        weir_graph_array_mut(*out, node->out[k])->output = NULL;
        for (int32_t a = 0; a < weir_graph_arrays(*out); a++) {
          weir_array *array = weir_graph_array_mut(*out, a);

          array->update = array->update == node->out[k] ? -1 : array->update;
        }
      }
    }
  }
  for (int k = 0; k < cut->n; k++) {
    weir_array *array = weir_graph_array_mut(*out, cut->array[k]);

    array->output = array->output != NULL ? array->output : cut->name[k];
    snprintf(cut->result[k], sizeof(cut->result[0]), "%s", array->output);
  }
  return WEIR_OK;
}

/* The second stage: what crosses is an input, early nodes are dead. */
static weir_status make_back(const weir_graph *g, const bool *late, const stream_cut *cut,
                             weir_graph **out)
{
  WEIR_TRY(weir_graph_copy(g, out));
  for (int32_t i = 0; i < weir_graph_nodes(*out); i++) {
    weir_node *node = weir_graph_node_mut(*out, i);

    if (!late[i] && node->op != NULL) {
      node->dead = true;
    }
  }
  for (int32_t a = 0; a < weir_graph_arrays(*out); a++) {
    weir_array *array = weir_graph_array_mut(*out, a);
    int32_t writer;

    if (weir_graph_writers(*out, a, &writer, 1) == 0) {
      array->output = NULL;
    }
    if (array->kind == WEIR_ARRAY_STORED && array->update >= 0 &&
        weir_graph_writers(*out, array->update, &writer, 1) == 0) {
      array->update = -1;
    }
  }
  for (int k = 0; k < cut->n; k++) {
    WEIR_TRY(weir_graph_make_input(*out, cut->array[k], cut->name[k]));
  }
  return WEIR_OK;
}

weir_status stream_pipeline_cut(const weir_graph *g, weir_graph **front, weir_graph **back,
                                stream_cut *cut)
{
  weir_status status = WEIR_OK;
  void *memory[2] = {NULL, NULL};
  int32_t n = 0;

  *front = *back = NULL;
  *cut = (stream_cut){.n = 0};
  WEIR_TRY(weir_graph_status(g));
  WEIR_TRY_GOTO(weir_alloc(weir_graph_nodes(g), sizeof(int32_t), &memory[0]), out);
  WEIR_TRY_GOTO(weir_alloc(weir_graph_nodes(g), sizeof(bool), &memory[1]), out);
  int32_t *order = memory[0];
  bool *late = memory[1];

  WEIR_TRY_GOTO(weir_graph_order(g, order, &n), out);
  if (!mark_late(g, order, n, late) || shares_state(g, order, n, late) ||
      !find_crossing(g, order, n, late, cut)) {
    cut->n = 0;
    WEIR_TRY_GOTO(weir_graph_copy(g, front), out);
    goto out;
  }
  WEIR_TRY_GOTO(make_front(g, late, cut, front), out);
  WEIR_TRY_GOTO(make_back(g, late, cut, back), out);
out:
  if (status != WEIR_OK) {
    weir_graph_destroy(front);
    weir_graph_destroy(back);
  }
  weir_free(&memory[0]);
  weir_free(&memory[1]);
  return status;
}
