/* onnx.c - see onnx.h. */
#include "beats/onnx.h"
#include <string.h>
#include "conf/weir_number.h"
#include "nn/onnx/weir_onnx_graph.h"
#include "ops/concat/weir_concat.h"
#include "ops/slice/weir_slice.h"

/* Keys, without PS_BEAT_ONNX. All must be there: nothing is assumed about a network. */
enum { VERSION, RATE, BEFORE, AFTER, UNIT, NORMALIZATION, FEATURES, CLASSES, OUTPUT, KEYS };
static const char *const keys[KEYS] = {"version",       "rate_hz",  "before",  "after", "unit",
                                       "normalization", "features", "classes", "output"};
enum { WINDOW, OF_BEAT }; /* inputs */

typedef struct onnx_beats {
  const weir_onnx *m;
  const char *path;
  weir_onnx_text value[KEYS];
  int order[2]; /* numbers of the inputs among those of the file; OF_BEAT: unset without features */
  int column[PS_CLASSES]; /* number of each class in the output; -1: not learnt */
  int n_classes;
} onnx_beats;

static bool has_prefix(weir_onnx_text t)
{
  const int n = (int)strlen(PS_BEAT_ONNX);

  return t.size >= n && memcmp(t.at, PS_BEAT_ONNX, (size_t)n) == 0;
}

bool ps_beat_onnx_is(const weir_onnx *m)
{
  for (int64_t i = 0; i < m->n_metadata; i++) {
    if (has_prefix(m->metadata[i].key)) {
      return true;
    }
  }
  return false;
}

/* ---- Metadata ---- */

static weir_status refuse(const onnx_beats *b, int key, const char *what)
{
  return weir_fail(WEIR_ERR_DATA,
                   "%s: its metadata state " PS_BEAT_ONNX "%s as \"%.*s\": %s (docs/reference/"
                   "onnx.md)",
                   b->path, keys[key], b->value[key].size, b->value[key].at, what);
}

/* Number of a key, KEYS: none has the name. */
static int key_of(weir_onnx_text name)
{
  const int skip = (int)strlen(PS_BEAT_ONNX);
  int k = 0;

  while (k < KEYS && !weir_onnx_is((weir_onnx_text){name.at + skip, name.size - skip}, keys[k])) {
    k++;
  }
  return k;
}

static weir_status find_values(onnx_beats *b)
{
  for (int64_t i = 0; i < b->m->n_metadata; i++) {
    const weir_onnx_entry *const e = &b->m->metadata[i];
    const int k = has_prefix(e->key) ? key_of(e->key) : -1;

    if (k == KEYS || (k >= 0 && b->value[k].at != NULL)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: its metadata state %.*s, which %s (docs/reference/"
                       "onnx.md)",
                       b->path, e->key.size, e->key.at,
                       k == KEYS ? "is none of a network of beats" : "is there twice");
    }
    if (k >= 0) {
      b->value[k] = e->value;
    }
  }
  for (int k = 0; k < KEYS; k++) {
    if (b->value[k].at == NULL) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: its metadata do not state " PS_BEAT_ONNX "%s: a network of beats "
                       "states what it takes (docs/reference/onnx.md)",
                       b->path, keys[k]);
    }
  }
  return WEIR_OK;
}

static weir_status take_number(const onnx_beats *b, int key, double low, double high, bool whole,
                               double *out)
{
  const weir_onnx_text value = b->value[key];
  char text[64] = "";
  int64_t count = 0;

  if (value.size < (int)sizeof text) {
    memcpy(text, value.at, (size_t)value.size);
  }
  if ((whole ? weir_number_int(text, &count) : weir_number_real(text, out)) != WEIR_NUMBER_OK) {
    return refuse(b, key, whole ? "an integer is needed" : "a number is needed");
  }
  *out = whole ? (double)count : *out;
  return *out >= low && *out <= high ? WEIR_OK : refuse(b, key, "it is out of range");
}

static weir_status need(const onnx_beats *b, int key, const char *only)
{
  char what[64];

  (void)snprintf(what, sizeof what, "%s is supported", only);
  return weir_onnx_is(b->value[key], only) ? WEIR_OK : refuse(b, key, what);
}

static weir_status take_window(const onnx_beats *b, ps_beat_window *w)
{
  double before = 0, after = 0;

  WEIR_TRY(need(b, VERSION, "1"));
  WEIR_TRY(take_number(b, RATE, 1, 1e4, false, &w->rate));
  WEIR_TRY(take_number(b, BEFORE, 0, 5 * w->rate + 1, true, &before));
  WEIR_TRY(take_number(b, AFTER, 1, 5 * w->rate + 1, true, &after));
  if (before + after < PS_BEAT_SAMPLES_MIN || before + after > PS_BEAT_SAMPLES_MAX) {
    return refuse(b, AFTER, "windows of 16 to 4096 samples are supported");
  }
  w->before = (int64_t)before;
  w->after = (int64_t)after;
  WEIR_TRY(need(b, UNIT, "mV"));
  w->as_is = weir_onnx_is(b->value[NORMALIZATION], "none");
  if (!w->as_is && !weir_onnx_is(b->value[NORMALIZATION], "zscore")) {
    return refuse(b, NORMALIZATION, "zscore and none are supported");
  }
  return need(b, OUTPUT, "logits");
}

/* Takes the next of the names that commas separate. */
static bool next_name(weir_onnx_text *rest, weir_onnx_text *name)
{
  const char *const comma = rest->size > 0 ? memchr(rest->at, ',', (size_t)rest->size) : NULL;

  if (rest->size < 0) {
    return false;
  }
  *name = *rest;
  if (comma == NULL) {
    rest->size = -1;
    return true;
  }
  name->size = (int)(comma - rest->at);
  rest->at = comma + 1;
  rest->size -= name->size + 1;
  return true;
}

/* Numbers of the names of a key in `names`, each once; -1 in out: not there. */
static weir_status take_names(const onnx_beats *b, int key, const char *const *names, int n_names,
                              int *out, int *n)
{
  weir_onnx_text rest = b->value[key], name;

  for (int k = 0; k < n_names; k++) {
    out[k] = -1;
  }
  for (*n = 0; next_name(&rest, &name); ++*n) {
    int k = 0;

    while (k < n_names && !weir_onnx_is(name, names[k])) {
      k++;
    }
    if (k == n_names || out[k] >= 0) {
      return refuse(b, key, k == n_names ? "a name is not known" : "a name is there twice");
    }
    out[k] = *n;
  }
  return WEIR_OK;
}

static weir_status take_lists(onnx_beats *b, ps_beat_classifier *out)
{
  static const char *const classes[PS_CLASSES] = {"N", "S", "V", "F"};
  int at[PS_FEATURES], n = 0;

  if (!weir_onnx_is(b->value[FEATURES], "none")) {
    WEIR_TRY(take_names(b, FEATURES, ps_feature_name, PS_FEATURES, at, &n));
    for (int k = 0; k < PS_FEATURES; k++) {
      if (at[k] >= 0) {
        out->feature[at[k]] = k;
      }
    }
  }
  out->is.features = n;
  WEIR_TRY(take_names(b, CLASSES, classes, PS_CLASSES, b->column, &b->n_classes));
  for (int c = 0; c < PS_CLASSES; c++) {
    out->is.learnt[c] = b->column[c] >= 0;
  }
  return b->n_classes >= 2 ? WEIR_OK : refuse(b, CLASSES, "two classes or more are needed");
}

/* ---- The network ---- */

/* The window is the input of three dimensions, the features are that of two. */
static weir_status find_inputs(onnx_beats *b, ps_beat_classifier *out)
{
  const int64_t samples = ps_beat_window_samples(&out->is.window);
  const int features = (int)out->is.features;
  const weir_onnx_value *x = NULL, *f = NULL;
  weir_onnx_inputs inputs;

  WEIR_TRY(weir_onnx_find_inputs(b->m, b->path, NULL, &inputs));
  for (int k = 0; k < inputs.n && k < 2; k++) {
    const bool is_window = inputs.at[k]->n_dims == 3;

    *(is_window ? &x : &f) = inputs.at[k];
    b->order[is_window ? WINDOW : OF_BEAT] = k;
  }
  if (inputs.n != 1 + (features > 0) || x == NULL || (f == NULL) != (features == 0) ||
      x->shape[1] < 1 || x->shape[1] > PS_BEAT_LEADS ||
      (x->shape[2] >= 0 && x->shape[2] != samples) ||
      (f != NULL && (f->n_dims != 2 || (f->shape[1] >= 0 && f->shape[1] != features)))) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s: by its metadata its inputs are the window [batch, leads, %lld], with 1 "
                     "to %d leads%s: those of the file are not (docs/reference/onnx.md)",
                     b->path, (long long)samples, PS_BEAT_LEADS,
                     features == 0   ? ", alone"
                     : features == 1 ? ", and one feature [batch, 1]"
                                     : ", and the features, [batch, as many as are named]");
  }
  out->is.leads = x->shape[1];
  return WEIR_OK;
}

/* The classes of this suite, in its order, of those of the file. */
static weir_value order_classes(const onnx_beats *b, weir_graph *g, weir_value y)
{
  weir_value of_class[PS_CLASSES];

  for (int c = 0; c < PS_CLASSES; c++) {
    float never = PS_BEAT_NEVER;
    const weir_tensor t = weir_tensor_wrap(&never, WEIR_F32, 2, (const int64_t[]){1, 1});

    of_class[c] = b->column[c] >= 0 ? weir_slice(g, y, 1, b->column[c], b->column[c] + 1, 1)
                                    : weir_constant(g, &t);
  }
  return weir_concat(g, of_class, PS_CLASSES, 1);
}

static weir_status build(const onnx_beats *b, const ps_beat_network *is, weir_graph *g)
{
  const weir_array_desc x = {.dtype = WEIR_F32,
                             .rank = 3,
                             .shape = {1, ps_beat_window_samples(&is->window), is->leads}},
                        f = {.dtype = WEIR_F32, .rank = 2, .shape = {1, is->features}};
  weir_value in[2], y = WEIR_NO_VALUE;

  in[b->order[WINDOW]] = weir_input(g, "x", &x);
  if (is->features > 0) {
    in[b->order[OF_BEAT]] = weir_input(g, "f", &f);
  }
  WEIR_TRY(weir_onnx_build(g, b->m, b->path, NULL, in, &y));
  const weir_array_desc *const d = weir_value_desc(g, y);

  if (d->rank != 2 || d->shape[1] != b->n_classes) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s: its metadata name %d classes (" PS_BEAT_ONNX "classes), its output is "
                     "not [batch, %d]",
                     b->path, b->n_classes, b->n_classes);
  }
  weir_output(g, "logits", order_classes(b, g, y));
  return weir_graph_status(g);
}

static weir_status take(const weir_onnx *m, const char *path, ps_beat_classifier *out)
{
  onnx_beats b = {.m = m, .path = path};

  WEIR_TRY(find_values(&b));
  WEIR_TRY(take_window(&b, &out->is.window));
  WEIR_TRY(take_lists(&b, out));
  WEIR_TRY(find_inputs(&b, out));
  return build(&b, &out->is, out->graph);
}

weir_status ps_beat_onnx_open(const char *path, ps_beat_classifier *out)
{
  weir_onnx m;

  memset(out, 0, sizeof *out);
  WEIR_TRY(weir_graph_create(&out->graph));
  weir_status status = weir_onnx_read(path, &m);

  if (status == WEIR_OK) {
    status = take(&m, path, out);
  }
  weir_onnx_fini(&m);
  WEIR_TRY(status);
  return ps_beat_classifier_plan(out);
}
