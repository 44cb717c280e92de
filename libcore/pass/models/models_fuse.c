/* models_fuse.c - which arrays differ between models, and the dimension that they get. */
#include "pass/models/weir_models.h"

#include <string.h>

#include "base/weir_alloc.h"

typedef struct widening {
  weir_graph *g;
  int64_t models;
  bool *varies; /* [arrays] */
} widening;

static weir_status refuse(const weir_node *node, const char *why)
{
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "models: '%s'%s%s%s (%s) cannot be computed for several models at once: %s",
                   node->op->name, node->label != NULL ? " of '" : "",
                   node->label != NULL ? node->label : "", node->label != NULL ? "'" : "",
                   node->where != NULL ? node->where : "location unknown", why);
}

static bool is_named(const char *name, const char *const *names, int n)
{
  for (int i = 0; i < n; i++) {
    if (name != NULL && strcmp(name, names[i]) == 0) {
      return true;
    }
  }
  return false;
}

/* Sources that differ, and what must have the dimension whatever it is made of: results, and values
 * of stored arrays. */
static void mark_ends(widening *w, const char *const *own, int n)
{
  for (int32_t i = 0; i < weir_graph_arrays(w->g); i++) {
    const weir_array *a = weir_graph_get_array(w->g, i);

    w->varies[i] = w->varies[i] || a->output != NULL || a->kind == WEIR_ARRAY_STORED ||
                   (a->kind == WEIR_ARRAY_INPUT && is_named(a->name, own, n));
    if (a->update >= 0) {
      w->varies[a->update] = true;
    }
  }
}

/* A node differs with what it reads; and with what it writes, which other nodes may write too. */
static bool differs(const widening *w, const weir_node *node)
{
  bool yes = false;

  for (int k = 0; k < node->n_in; k++) {
    yes = yes || w->varies[node->in[k]];
  }
  for (int k = 0; k < node->n_out; k++) {
    yes = yes || w->varies[node->out[k]];
  }
  return yes;
}

static void spread(widening *w)
{
  bool changed = true;

  while (changed) {
    changed = false;
    for (int32_t i = 0; i < weir_graph_nodes(w->g); i++) {
      const weir_node *node = weir_graph_node(w->g, i);

      if (node->op == NULL || node->dead || !differs(w, node)) {
        continue;
      }
      for (int k = 0; k < node->n_out; k++) {
        changed = changed || !w->varies[node->out[k]];
        w->varies[node->out[k]] = true;
      }
    }
  }
}

/* Inputs and constants that all models share are no results, nor new values of stored arrays. */
static weir_status check_sources(const widening *w, const char *const *own, int n)
{
  for (int32_t i = 0; i < weir_graph_arrays(w->g); i++) {
    const weir_array *a = weir_graph_get_array(w->g, i);
    const bool shared = a->kind == WEIR_ARRAY_CONSTANT ||
                        (a->kind == WEIR_ARRAY_INPUT && !is_named(a->name, own, n));

    if (shared && w->varies[i]) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "models: %s '%s' is a result or the new value of a stored array, and is not "
                       "each model's own: copy it first",
                       a->kind == WEIR_ARRAY_CONSTANT ? "the constant" : "the input",
                       a->name != NULL     ? a->name
                       : a->output != NULL ? a->output
                                           : "of an update");
    }
    if (a->in_place) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "models: the stored array '%s' is written in place by a call, which cannot "
                       "be made for several models at once",
                       a->name);
    }
  }
  return WEIR_OK;
}

static weir_status check_node(const weir_node *node)
{
  const weir_access *a = &node->access;
  bool states = false;

  if (a->maker != WEIR_MADE_BY_BODY) {
    return refuse(node, a->maker == WEIR_MADE_BY_CALL ? "it is a call"
                                                      : "it is a library operator, which is not "
                                                        "described by index maps alone");
  }
  for (int k = 0; k < a->n_in; k++) {
    states = states || a->in[k].role == WEIR_ROLE_STATE;
  }
  for (int k = 0; k < a->n_out; k++) {
    states = states || a->out[k].role == WEIR_ROLE_STATE;
  }
  return states ? refuse(node, "it is a scan whose states are arrays") : WEIR_OK;
}

static weir_status widen_node(const widening *w, weir_node *node)
{
  bool varies[WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS];
  weir_derivation *d = &node->derivation;

  WEIR_TRY(check_node(node));
  for (int k = 0; k < node->n_in; k++) {
    varies[k] = w->varies[node->in[k]];
  }
  for (int k = 0; k < node->n_out; k++) {
    varies[node->n_in + k] = true;
  }
  if (weir_access_add_outer(&node->access, w->models, varies) != WEIR_OK) {
    return refuse(node, weir_last_message());
  }
  memmove(&d->dim[1], &d->dim[0], (WEIR_MAX_DIMS - 1) * sizeof d->dim[0]);
  d->dim[0] = (weir_derived_dim){WEIR_DERIVED_OTHER, WEIR_DERIVED_OTHER};
  d->outer = true;
  return WEIR_OK;
}

static weir_status widen_array(const widening *w, weir_array *array)
{
  weir_array_desc *d = &array->desc;

  if (d->rank + 1 > WEIR_MAX_RANK) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "models: array '%s' of rank %d cannot have another dimension, `model`",
                     array->name != NULL ? array->name : "without name", d->rank);
  }
  memmove(&d->shape[1], &d->shape[0], (size_t)d->rank * sizeof d->shape[0]);
  d->shape[0] = w->models;
  d->rank++;
  d->time += d->time > 0;
  return WEIR_OK;
}

static weir_status widen(widening *w, const char *const *own, int n)
{
  mark_ends(w, own, n);
  spread(w);
  WEIR_TRY(check_sources(w, own, n));
  for (int32_t i = 0; i < weir_graph_nodes(w->g); i++) {
    weir_node *node = weir_graph_node_mut(w->g, i);

    if (node->op != NULL && !node->dead && differs(w, node)) {
      WEIR_TRY(widen_node(w, node));
    }
  }
  for (int32_t i = 0; i < weir_graph_arrays(w->g); i++) {
    if (w->varies[i]) {
      WEIR_TRY(widen_array(w, weir_graph_array_mut(w->g, i)));
    }
  }
  WEIR_TRY(weir_graph_validate(w->g));
  return WEIR_OK;
}

weir_status weir_models_fuse(weir_graph *g, int64_t models, const char *const *own, int n)
{
  widening w = {.g = g, .models = models};

  WEIR_TRY(weir_graph_status(g));
  if (models < 1) {
    return weir_fail(WEIR_ERR_SHAPE, "models: %lld of them: there is at least 1",
                     (long long)models);
  }
  if (models == 1) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(weir_graph_arrays(g) + 1, sizeof(bool), (void **)&w.varies));
  const weir_status status = widen(&w, own, n);

  weir_free(&w.varies);
  return status == WEIR_OK ? status : weir_trace_at(status, __FILE__, __LINE__, __func__);
}
