/* net.c - scopes, and parameters as values of a graph. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "nn/nn_priv.h"
#include "ops/broadcast/weir_broadcast.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"

void weir_net_init(weir_net *net, weir_graph *graph, weir_params *params, bool train)
{
  *net = (weir_net){.graph = graph,
                    .params = params,
                    .train = train,
                    .seed = WEIR_NO_VALUE,
                    .step = WEIR_NO_VALUE,
                    .momentum = WEIR_NO_VALUE};
}

void weir_net_fini(weir_net *net)
{
  weir_free(&net->value);
  net->n_values = net->capacity = 0;
}

weir_value nn_fail(weir_net *net, const char *where, const char *format, ...)
{
  char text[512];
  va_list args;

  if (weir_graph_status(net->graph) != WEIR_OK) {
    return WEIR_NO_VALUE; /* a separate message would replace the first one */
  }
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return weir_graph_fail(net->graph, weir_fail(WEIR_ERR_SHAPE, "%s%s(%s): %s", net->scope,
                                               net->scope[0] != 0 ? " " : "", where, text));
}

bool weir_net_name(weir_net *net, const char *name, char *out)
{
  bool good = name != NULL && name[0] != 0;

  for (const char *c = name; good && *c != 0; c++) {
    good = isalnum((unsigned char)*c) || strchr("_-", *c) != NULL;
  }
  if (!good) {
    (void)weir_graph_fail(net->graph,
                          weir_fail(WEIR_ERR_CONFIG,
                                    "\"%s\" below \"%s\": names are letters, digits, _ and -",
                                    name != NULL ? name : "", net->scope));
    return false;
  }
  const int n =
      snprintf(out, WEIR_NET_NAME, "%s%s%s", net->scope, net->scope[0] != 0 ? "/" : "", name);

  if (n < 0 || n >= WEIR_NET_NAME) {
    (void)weir_graph_fail(net->graph,
                          weir_fail(WEIR_ERR_CONFIG, "the name %s/%s is longer than %d bytes",
                                    net->scope, name, WEIR_NET_NAME - 1));
    return false;
  }
  return true;
}

void weir_net_push(weir_net *net, const char *name)
{
  char scope[WEIR_NET_NAME];

  if (weir_net_name(net, name, scope)) {
    memcpy(net->scope, scope, sizeof scope);
  }
}

void weir_net_pop(weir_net *net)
{
  char *end = strrchr(net->scope, '/');

  if (net->scope[0] == 0 && weir_graph_status(net->graph) == WEIR_OK) {
    (void)weir_graph_fail(net->graph,
                          weir_fail(WEIR_ERR_CONFIG, "weir_net_pop without weir_net_push"));
  }
  *(end != NULL ? end : net->scope) = 0;
}

weir_value nn_label(weir_net *net, weir_value v)
{
  return net->scope[0] != 0 ? weir_label(net->graph, v, net->scope) : v;
}

weir_value weir_net_param_value(const weir_net *net, int64_t i)
{
  return i >= 0 && i < net->n_values ? net->value[i] : WEIR_NO_VALUE;
}

static weir_value key_input(weir_net *net, weir_value *key, const char *name)
{
  const weir_array_desc d = {.dtype = WEIR_I64};

  if (key->node < 0) {
    *key = weir_input(net->graph, name, &d);
  }
  return *key;
}

weir_value weir_net_seed(weir_net *net)
{
  return key_input(net, &net->seed, "seed");
}

weir_value weir_net_step(weir_net *net)
{
  return key_input(net, &net->step, "step");
}

/* Records the value of the graph for row i. */
static weir_status keep(weir_net *net, int64_t i, weir_value v)
{
  WEIR_TRY(weir_reserve(&net->value, &net->capacity, i + 1, sizeof *net->value));
  while (net->n_values <= i) {
    net->value[net->n_values++] = WEIR_NO_VALUE;
  }
  net->value[i] = v;
  return WEIR_OK;
}

/* What stands for an array while it is declared: an input of the graph that is thrown away. */
static weir_value stand_in(weir_net *net, const char *name, int rank, const int64_t *shape)
{
  weir_array_desc d = {.dtype = net->params->dtype, .rank = rank};
  char input[WEIR_NET_NAME + 16];

  memcpy(d.shape, shape, (size_t)rank * sizeof *shape);
  snprintf(input, sizeof input, "parameter %s", name);
  return weir_input(net->graph, input, &d);
}

static bool same_shape(int rank, const int64_t *a, int other_rank, const int64_t *b)
{
  return rank == other_rank && memcmp(a, b, (size_t)rank * sizeof *a) == 0;
}

static weir_status wrong_shape(const char *name, int rank, const int64_t *shape, int declared_rank,
                               const int64_t *declared)
{
  char text[256], other[256];

  return weir_fail(WEIR_ERR_SHAPE, "parameter '%s' is requested as %s but was declared as %s", name,
                   nn_shape_text(rank, shape, text, sizeof text),
                   nn_shape_text(declared_rank, declared, other, sizeof other));
}

static weir_status unknown(const char *name)
{
  return weir_fail(WEIR_ERR_CONFIG,
                   "parameter '%s' was not declared: the network differs from the one that "
                   "declared the parameters",
                   name);
}

static const weir_store *store_of(const weir_net *net)
{
  return net->store != NULL ? net->store : net->params->store;
}

/* The stored array that contains the row; *first: its first element of the flat buffer. */
static weir_value bank_of(weir_net *net, const weir_param_row *row, int64_t *first)
{
  char name[64];
  int64_t k = 0;

  while (k < net->n_slices && net->slice[k].first + net->slice[k].count <= row->first) {
    k++;
  }
  *first = k < net->n_slices ? net->slice[k].first : 0;
  (void)snprintf(name, sizeof name, "%s%s", WEIR_PARAMS_FLAT,
                 k < net->n_slices ? net->slice[k].name : "");
  return weir_stored(net->graph, store_of(net), name);
}

/* The slice of the flat buffer, as an array of its shape. */
static weir_value view_of(weir_net *net, const weir_param_row *row, const char *where)
{
  weir_graph *g = net->graph;
  int64_t first = 0;
  const weir_value bank = bank_of(net, row, &first);
  const weir_slice_spec slice = {.start = row->first - first,
                                 .stop = row->first - first + row->count};
  weir_reshape_spec shape = {.rank = row->rank};

  memcpy(shape.shape, row->shape, sizeof shape.shape);
  return weir_label(g, weir_reshape_at(g, weir_slice_at(g, bank, &slice, where), &shape, where),
                    row->name);
}

static weir_status use_row(weir_net *net, const char *name, const weir_param_spec *spec,
                           const char *where, weir_value *out)
{
  const int64_t i = weir_params_find(net->params, name);

  if (i < 0) {
    return unknown(name);
  }
  const weir_param_row *row = &net->params->row[i];

  if (!same_shape(spec->rank, spec->shape, row->rank, row->shape)) {
    return wrong_shape(name, spec->rank, spec->shape, row->rank, row->shape);
  }
  if (weir_net_param_value(net, i).node >= 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "parameter '%s' is used twice: to share it, pass the value on", name);
  }
  *out = view_of(net, row, where);
  return keep(net, i, *out);
}

static weir_status take_param(weir_net *net, const char *name, const weir_param_spec *spec,
                              const char *where, weir_value *out)
{
  if (net->params->store != NULL) {
    return use_row(net, name, spec, where, out);
  }
  WEIR_TRY(nn_params_declare(net->params, name, spec));
  *out = stand_in(net, name, spec->rank, spec->shape);
  return keep(net, net->params->n_rows - 1, *out);
}

/* The graph's error, with the source location of the layer. */
static weir_value refuse(weir_net *net, const char *where, weir_status status)
{
  char text[512];

  snprintf(text, sizeof text, "%s", weir_last_message());
  return weir_graph_fail(net->graph, weir_fail(status, "parameter (%s): %s",
                                               where != NULL ? where : "location unknown", text));
}

weir_value weir_param_at(weir_net *net, const char *name, const weir_param_spec *spec,
                         const char *where)
{
  char full[WEIR_NET_NAME];
  weir_value v = WEIR_NO_VALUE;

  if (weir_graph_status(net->graph) != WEIR_OK || !weir_net_name(net, name, full)) {
    return WEIR_NO_VALUE;
  }
  const weir_status status = take_param(net, full, spec, where, &v);

  return status == WEIR_OK ? v : refuse(net, where, status);
}

static weir_status take_buffer(weir_net *net, const char *name, const nn_buffer *wanted,
                               weir_value *out)
{
  if (net->params->store == NULL) {
    WEIR_TRY(
        nn_params_declare_buffer(net->params, name, wanted->rank, wanted->shape, wanted->initial));
    *out = stand_in(net, name, wanted->rank, wanted->shape);
    return WEIR_OK;
  }
  const nn_buffer *s = nn_params_buffer(net->params, name);

  if (s == NULL) {
    return unknown(name);
  }
  if (!same_shape(wanted->rank, wanted->shape, s->rank, s->shape)) {
    return wrong_shape(name, wanted->rank, wanted->shape, s->rank, s->shape);
  }
  *out = weir_stored(net->graph, store_of(net), name);
  return WEIR_OK;
}

weir_value weir_buffer_at(weir_net *net, const char *name, int rank, const int64_t *shape,
                          double initial, const char *where)
{
  nn_buffer wanted = {.rank = rank, .initial = initial};
  char full[WEIR_NET_NAME];
  weir_value v = WEIR_NO_VALUE;

  if (weir_graph_status(net->graph) != WEIR_OK || !weir_net_name(net, name, full)) {
    return WEIR_NO_VALUE;
  }
  if (rank > 0 && rank <= WEIR_MAX_RANK) {
    memcpy(wanted.shape, shape, (size_t)rank * sizeof *shape);
  }
  const weir_status status = take_buffer(net, full, &wanted, &v);

  return status == WEIR_OK ? v : refuse(net, where, status);
}

weir_init nn_init_or(weir_init init, weir_init_kind kind)
{
  if (init.kind == WEIR_INIT_DEFAULT) {
    init.kind = kind;
  }
  return init;
}

weir_value nn_vector(weir_net *net, const char *name, int64_t n, weir_init init, const char *where)
{
  const weir_param_spec spec = {.rank = 1, .shape = {n}, .init = init};

  return weir_param_at(net, name, &spec, where);
}
