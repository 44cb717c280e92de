/* read.c - ModelProto, GraphProto, NodeProto and what they contain. */
#include "io/onnx/onnx_priv.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "io/io_priv.h"

enum { MAX_TEXT = 4096, NODES = 0, NAMES, ATTRIBUTES, TENSORS, INPUTS, OUTPUTS, METADATA };
static const int64_t max_file = (INT64_C(1) << 31) - 1; /* of protobuf */

weir_status onnx_wrong(const onnx_parse *p, const uint8_t *at, const char *why)
{
  return weir_fail(WEIR_ERR_DATA, "%s: byte %lld: %s: not a complete ONNX model", p->where,
                   (long long)(at - p->begin), why);
}

weir_status onnx_expect(const onnx_parse *p, const protobuf_field *f, int wire)
{
  return f->wire == wire ? WEIR_OK : onnx_wrong(p, f->tag, "a field has another type");
}

static bool has_control_characters(protobuf_span s)
{
  for (const uint8_t *at = s.at; at < s.end; at++) {
    if (*at < ' ' || *at == 0x7f) {
      return true;
    }
  }
  return false;
}

weir_status onnx_text(const onnx_parse *p, const protobuf_field *f, weir_onnx_text *out)
{
  const int64_t size = f->body.end - f->body.at;

  WEIR_TRY(onnx_expect(p, f, PROTOBUF_BYTES));
  if (size > MAX_TEXT) {
    return onnx_wrong(p, f->tag, "a name has more than 4096 bytes");
  }
  if (has_control_characters(f->body)) {
    return onnx_wrong(p, f->tag, "a name has control characters");
  }
  *out = (weir_onnx_text){(const char *)f->body.at, (int)size};
  return WEIR_OK;
}

weir_status onnx_ints(const onnx_parse *p, const protobuf_field *f, int64_t *out, int max, int *n)
{
  protobuf_span s = f->body;

  if (f->wire != PROTOBUF_BYTES && f->wire != PROTOBUF_VARINT) {
    return onnx_wrong(p, f->tag, "a list of integers has another type");
  }
  while (s.at < s.end) {
    uint64_t value = 0;

    if (!protobuf_varint(&s, &value)) {
      return onnx_wrong(p, f->tag, "a list of integers ends within a number");
    }
    if (*n == max) {
      return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: byte %lld: a list of more than %d integers",
                       p->where, (long long)(f->tag - p->begin), max);
    }
    out[(*n)++] = (int64_t)value;
  }
  return WEIR_OK;
}

/* Makes room for one more item of a kind. */
static weir_status grow(const onnx_parse *p, void *array, int kind, int64_t n, size_t size)
{
  if (n >= WEIR_ONNX_ITEMS) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: more than %d nodes, tensors or names", p->where,
                     WEIR_ONNX_ITEMS);
  }
  return weir_reserve(array, &p->m->capacity[kind], n + 1, size);
}

static weir_status add_tensor(const onnx_parse *p, const protobuf_field *f)
{
  weir_onnx *const m = p->m;

  WEIR_TRY(onnx_expect(p, f, PROTOBUF_BYTES));
  WEIR_TRY(grow(p, &m->tensors, TENSORS, m->n_tensors, sizeof *m->tensors));
  WEIR_TRY(onnx_tensor(p, f->body, &m->tensors[m->n_tensors]));
  m->n_tensors++;
  return WEIR_OK;
}

static weir_status add_name(const onnx_parse *p, const protobuf_field *f, int64_t *n)
{
  weir_onnx *const m = p->m;

  WEIR_TRY(grow(p, &m->names, NAMES, m->n_names, sizeof *m->names));
  WEIR_TRY(onnx_text(p, f, &m->names[m->n_names]));
  m->n_names++;
  ++*n;
  return WEIR_OK;
}

/* A field of AttributeProto. */
static weir_status take_attribute(const onnx_parse *p, const protobuf_field *f,
                                  weir_onnx_attribute *a)
{
  uint32_t bits = 0;
  float real = 0;

  switch (f->number) {
  case 1:
    return onnx_text(p, f, &a->name);
  case 2:
    WEIR_TRY(onnx_expect(p, f, PROTOBUF_FIXED32));
    for (int k = 3; k >= 0; k--) {
      bits = bits << 8 | f->body.at[k];
    }
    memcpy(&real, &bits, sizeof real);
    a->real = (double)real;
    return WEIR_OK;
  case 3:
    a->number = (int64_t)f->varint;
    return onnx_expect(p, f, PROTOBUF_VARINT);
  case 4:
    return onnx_text(p, f, &a->text);
  case 5:
    a->tensor = p->m->n_tensors;
    return add_tensor(p, f);
  case 8:
    return onnx_ints(p, f, a->ints, WEIR_ONNX_INTS, &a->n_ints);
  case 9:
    return a->n_texts < WEIR_ONNX_TEXTS
               ? onnx_text(p, f, &a->texts[a->n_texts++])
               : weir_fail(WEIR_ERR_UNSUPPORTED, "%s: an attribute has more than %d texts",
                           p->where, WEIR_ONNX_TEXTS);
  case 20:
    a->kind = f->varint < 100 ? (int)f->varint : 100;
    return onnx_expect(p, f, PROTOBUF_VARINT);
  default:
    return WEIR_OK;
  }
}

static weir_status add_attribute(const onnx_parse *p, const protobuf_field *field)
{
  weir_onnx *const m = p->m;
  weir_onnx_attribute a = {.tensor = -1};
  protobuf_why why = {""};
  protobuf_span s = field->body;
  protobuf_field f;

  WEIR_TRY(onnx_expect(p, field, PROTOBUF_BYTES));
  while (protobuf_next(&s, &f, &why)) {
    WEIR_TRY(take_attribute(p, &f, &a));
  }
  if (why.text[0] != 0) {
    return onnx_wrong(p, f.tag, why.text);
  }
  if (a.kind == WEIR_ONNX_TENSOR && a.tensor < 0) {
    return onnx_wrong(p, field->tag, "an attribute has no tensor");
  }
  WEIR_TRY(grow(p, &m->attributes, ATTRIBUTES, m->n_attributes, sizeof *m->attributes));
  m->attributes[m->n_attributes++] = a;
  return WEIR_OK;
}

/* Those fields of a NodeProto that come in a certain pass: inputs, outputs, all others. */
static weir_status take_node(const onnx_parse *p, const protobuf_field *f, int pass,
                             weir_onnx_node *n)
{
  if (f->number <= 2) {
    return f->number == pass + 1 ? add_name(p, f, pass == 0 ? &n->n_in : &n->n_out) : WEIR_OK;
  }
  if (pass < 2) {
    return WEIR_OK;
  }
  switch (f->number) {
  case 3:
    return onnx_text(p, f, &n->name);
  case 4:
    return onnx_text(p, f, &n->op);
  case 5:
    n->n_attributes++;
    return add_attribute(p, f);
  case 7:
    return onnx_text(p, f, &n->domain);
  default:
    return WEIR_OK;
  }
}

static weir_status add_node(const onnx_parse *p, const protobuf_field *field)
{
  weir_onnx *const m = p->m;
  weir_onnx_node n = {.first_name = m->n_names, .first_attribute = m->n_attributes};
  protobuf_why why = {""};
  protobuf_field f;

  WEIR_TRY(onnx_expect(p, field, PROTOBUF_BYTES));
  for (int pass = 0; pass < 3; pass++) {
    protobuf_span s = field->body;

    while (protobuf_next(&s, &f, &why)) {
      WEIR_TRY(take_node(p, &f, pass, &n));
    }
    if (why.text[0] != 0) {
      return onnx_wrong(p, f.tag, why.text);
    }
  }
  WEIR_TRY(grow(p, &m->nodes, NODES, m->n_nodes, sizeof *m->nodes));
  m->nodes[m->n_nodes++] = n;
  return WEIR_OK;
}

/* ---- Inputs and outputs: ValueInfoProto, TypeProto.Tensor, TensorShapeProto ---- */

typedef weir_status taker(const onnx_parse *p, const protobuf_field *f, weir_onnx_value *v);

/* Calls `take` for the fields of a message. */
static weir_status each(const onnx_parse *p, const protobuf_field *field, taker *take,
                        weir_onnx_value *v)
{
  protobuf_why why = {""};
  protobuf_span s = field->body;
  protobuf_field f;

  WEIR_TRY(onnx_expect(p, field, PROTOBUF_BYTES));
  while (protobuf_next(&s, &f, &why)) {
    WEIR_TRY(take(p, &f, v));
  }
  return why.text[0] == 0 ? WEIR_OK : onnx_wrong(p, f.tag, why.text);
}

static weir_status take_extent(const onnx_parse *p, const protobuf_field *f, weir_onnx_value *v)
{
  if (f->number == 1) {
    v->shape[v->n_dims - 1] = (int64_t)f->varint < 0 ? -1 : (int64_t)f->varint;
    return onnx_expect(p, f, PROTOBUF_VARINT);
  }
  return WEIR_OK;
}

static weir_status take_shape(const onnx_parse *p, const protobuf_field *f, weir_onnx_value *v)
{
  if (f->number != 1) {
    return WEIR_OK;
  }
  if (v->n_dims == WEIR_ONNX_DIMS) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: \"%.*s\" has more than %d dimensions", p->where,
                     v->name.size, v->name.at, WEIR_ONNX_DIMS);
  }
  v->shape[v->n_dims++] = -1;
  return each(p, f, take_extent, v);
}

static weir_status take_tensor_type(const onnx_parse *p, const protobuf_field *f,
                                    weir_onnx_value *v)
{
  if (f->number == 1) {
    v->elements = f->varint < 100 ? (int)f->varint : 100;
    return onnx_expect(p, f, PROTOBUF_VARINT);
  }
  if (f->number == 2) {
    v->has_shape = true;
    return each(p, f, take_shape, v);
  }
  return WEIR_OK;
}

static weir_status take_type(const onnx_parse *p, const protobuf_field *f, weir_onnx_value *v)
{
  return f->number == 1 ? each(p, f, take_tensor_type, v) : WEIR_OK;
}

static weir_status take_value(const onnx_parse *p, const protobuf_field *f, weir_onnx_value *v)
{
  return f->number == 1   ? onnx_text(p, f, &v->name)
         : f->number == 2 ? each(p, f, take_type, v)
                          : WEIR_OK;
}

static weir_status add_value(const onnx_parse *p, const protobuf_field *f, int kind)
{
  weir_onnx *const m = p->m;
  weir_onnx_value **const values = kind == INPUTS ? &m->inputs : &m->outputs;
  int64_t *const n = kind == INPUTS ? &m->n_inputs : &m->n_outputs;
  weir_onnx_value v = {.elements = 0};

  WEIR_TRY(each(p, f, take_value, &v));
  WEIR_TRY(grow(p, values, kind, *n, sizeof v));
  (*values)[(*n)++] = v;
  return WEIR_OK;
}

/* ---- The graph and the model ---- */

/* A field of GraphProto: initialisers in pass 0, so that they are the first tensors. */
static weir_status take_graph(const onnx_parse *p, const protobuf_field *f, int pass)
{
  switch (f->number) {
  case 1:
    return pass == 1 ? add_node(p, f) : WEIR_OK;
  case 5:
    return pass == 0 ? add_tensor(p, f) : WEIR_OK;
  case 11:
    return pass == 1 ? add_value(p, f, INPUTS) : WEIR_OK;
  case 12:
    return pass == 1 ? add_value(p, f, OUTPUTS) : WEIR_OK;
  case 15:
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: sparse tensors are not supported", p->where);
  default:
    return WEIR_OK;
  }
}

static weir_status take_graphs(const onnx_parse *p, const protobuf_field *field)
{
  protobuf_why why = {""};
  protobuf_field f;

  WEIR_TRY(onnx_expect(p, field, PROTOBUF_BYTES));
  for (int pass = 0; pass < 2; pass++) {
    protobuf_span s = field->body;

    while (protobuf_next(&s, &f, &why)) {
      WEIR_TRY(take_graph(p, &f, pass));
    }
    if (why.text[0] != 0) {
      return onnx_wrong(p, f.tag, why.text);
    }
    if (pass == 0) {
      p->m->n_initializers = p->m->n_tensors;
    }
  }
  return WEIR_OK;
}

static weir_status take_opset(const onnx_parse *p, const protobuf_field *field)
{
  weir_onnx_text domain = {NULL, 0};
  int64_t version = 0;
  protobuf_why why = {""};
  protobuf_span s = field->body;
  protobuf_field f;

  WEIR_TRY(onnx_expect(p, field, PROTOBUF_BYTES));
  while (protobuf_next(&s, &f, &why)) {
    if (f.number == 1) {
      WEIR_TRY(onnx_text(p, &f, &domain));
    } else if (f.number == 2) {
      WEIR_TRY(onnx_expect(p, &f, PROTOBUF_VARINT));
      version = (int64_t)f.varint;
    }
  }
  if (why.text[0] != 0) {
    return onnx_wrong(p, f.tag, why.text);
  }
  if (domain.size == 0 || weir_onnx_is(domain, "ai.onnx")) {
    p->m->opset = version;
  }
  return WEIR_OK;
}

/* StringStringEntryProto: an entry of other texts, such as a JSON document, is left out. */
static weir_status add_entry(const onnx_parse *p, const protobuf_field *field)
{
  weir_onnx *const m = p->m;
  weir_onnx_entry entry = {.key = {NULL, 0}};
  bool is_text = true;
  protobuf_why why = {""};
  protobuf_span s = field->body;
  protobuf_field f;

  WEIR_TRY(onnx_expect(p, field, PROTOBUF_BYTES));
  while (protobuf_next(&s, &f, &why)) {
    if (f.number == 1 || f.number == 2) {
      WEIR_TRY(onnx_expect(p, &f, PROTOBUF_BYTES));
      is_text = is_text && f.body.end - f.body.at <= MAX_TEXT && !has_control_characters(f.body);
      *(f.number == 1 ? &entry.key : &entry.value) =
          (weir_onnx_text){(const char *)f.body.at, is_text ? (int)(f.body.end - f.body.at) : 0};
    }
  }
  if (why.text[0] != 0) {
    return onnx_wrong(p, f.tag, why.text);
  }
  if (!is_text) {
    return WEIR_OK;
  }
  WEIR_TRY(grow(p, &m->metadata, METADATA, m->n_metadata, sizeof entry));
  m->metadata[m->n_metadata++] = entry;
  return WEIR_OK;
}

static weir_status take_model(const onnx_parse *p, const protobuf_field *f, bool *has_graph)
{
  switch (f->number) {
  case 1:
    p->m->ir_version = (int64_t)f->varint;
    return onnx_expect(p, f, PROTOBUF_VARINT);
  case 2:
    return onnx_text(p, f, &p->m->producer);
  case 3:
    return onnx_text(p, f, &p->m->producer_version);
  case 7:
    if (*has_graph) {
      return onnx_wrong(p, f->tag, "a second graph begins");
    }
    *has_graph = true;
    return take_graphs(p, f);
  case 8:
    return take_opset(p, f);
  case 14:
    return add_entry(p, f);
  case 25:
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: functions of a model are not supported: export the "
                     "network with its operators inline",
                     p->where);
  default:
    return WEIR_OK;
  }
}

weir_status weir_onnx_parse(const void *bytes, int64_t size, const char *where, weir_onnx *out)
{
  const uint8_t *const begin = bytes;
  const onnx_parse p = {out, begin, where};
  protobuf_span s = {begin, begin + size};
  protobuf_why why = {""};
  bool has_graph = false;
  protobuf_field f;

  *out = (weir_onnx){.opset = 0};
  while (protobuf_next(&s, &f, &why)) {
    WEIR_TRY(take_model(&p, &f, &has_graph));
  }
  if (why.text[0] != 0) {
    return onnx_wrong(&p, f.tag, why.text);
  }
  return has_graph ? WEIR_OK : onnx_wrong(&p, begin, "there is no graph");
}

weir_status weir_onnx_read(const char *path, weir_onnx *out)
{
  char *bytes = NULL;
  int64_t size = 0;

  *out = (weir_onnx){.opset = 0};
  WEIR_TRY(weir_io_read(path, max_file, &bytes, &size));
  const weir_status status = weir_onnx_parse(bytes, size, path, out);

  out->bytes = bytes;
  return status;
}

void weir_onnx_fini(weir_onnx *m)
{
  weir_free(&m->nodes);
  weir_free(&m->names);
  weir_free(&m->attributes);
  weir_free(&m->tensors);
  weir_free(&m->inputs);
  weir_free(&m->outputs);
  weir_free(&m->metadata);
  weir_free(&m->bytes);
  *m = (weir_onnx){.opset = 0};
}

bool weir_onnx_is(weir_onnx_text a, const char *b)
{
  return weir_onnx_same(a, (weir_onnx_text){b, (int)strlen(b)});
}

bool weir_onnx_same(weir_onnx_text a, weir_onnx_text b)
{
  return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, (size_t)a.size) == 0);
}

const weir_onnx_attribute *weir_onnx_find(const weir_onnx *m, const weir_onnx_node *node,
                                          const char *name)
{
  for (int64_t i = 0; i < node->n_attributes; i++) {
    const weir_onnx_attribute *const a = &m->attributes[node->first_attribute + i];

    if (weir_onnx_is(a->name, name)) {
      return a;
    }
  }
  return NULL;
}
