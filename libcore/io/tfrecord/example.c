/* example.c - the wire format of protobuf (developers.google.com/protocol-buffers/docs/encoding) as
 * far as tf.train.Example needs it. Every length is compared with the bytes that are there before
 * it is followed; fields that are not known are skipped. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "io/tfrecord/example_priv.h"

typedef protobuf_field field;

void weir_tf_example_init(weir_tf_example *e, const uint8_t *message, int64_t size)
{
  *e = (weir_tf_example){.begin = message, .message = {message, message + size}};
}

/* Notes what is wrong, the first time. */
static bool wrong(weir_tf_example *e, const uint8_t *at, const char *why)
{
  if (!e->why[0]) {
    e->at = at - e->begin;
    (void)snprintf(e->why, sizeof e->why, "%s", why);
  }
  return false;
}

/* Takes the next field; false at the end of the span, and where it is wrong. */
static bool take(weir_tf_example *e, weir_tf_span *s, field *f)
{
  protobuf_why why = {""};

  return protobuf_next(s, f, &why) || (why.text[0] != 0 && wrong(e, f->tag, why.text));
}

/* Adds the values of a field of a list. */
typedef bool counter(weir_tf_example *e, const field *v, weir_tf_feature *f);

static bool count_floats(weir_tf_example *e, const field *v, weir_tf_feature *f)
{
  if (v->wire == PROTOBUF_FIXED32) {
    f->count++;
    return true;
  }
  const int64_t bytes = v->body.end - v->body.at;

  if (v->wire != PROTOBUF_BYTES || bytes % 4 != 0) {
    return wrong(e, v->tag, "the length of a list of floats is not a multiple of 4 bytes");
  }
  f->count += bytes / 4;
  return true;
}

static bool count_ints(weir_tf_example *e, const field *v, weir_tf_feature *f)
{
  weir_tf_span s = v->body;

  if (v->wire != PROTOBUF_VARINT && v->wire != PROTOBUF_BYTES) {
    return wrong(e, v->tag, "a list of integers has another content");
  }
  while (s.at < s.end) {
    uint64_t value = 0;

    if (!protobuf_varint(&s, &value)) {
      return wrong(e, v->tag, "a list of integers ends within a number");
    }
    f->count++;
  }
  return true;
}

static bool count_bytes(weir_tf_example *e, const field *v, weir_tf_feature *f)
{
  if (v->wire != PROTOBUF_BYTES) {
    return wrong(e, v->tag, "a list of bytes has another content");
  }
  if (f->count++ == 0) {
    f->bytes = v->body.at;
    f->size = v->body.end - v->body.at;
  }
  return true;
}

/* The list of a feature: field 1 of a message whose number is its kind. */
static bool take_list(weir_tf_example *e, const field *list, weir_tf_feature *f)
{
  static counter *const count[] = {
      [WEIR_TF_BYTES] = count_bytes, [WEIR_TF_FLOATS] = count_floats, [WEIR_TF_INTS] = count_ints};
  weir_tf_span s = list->body;

  if (list->wire != PROTOBUF_BYTES) {
    return wrong(e, list->tag, "a list is not a message");
  }
  if (f->kind != WEIR_TF_EMPTY) {
    return wrong(e, list->tag, "a feature has two lists");
  }
  f->kind = (weir_tf_kind)list->number;
  f->list = s.at;
  f->list_size = s.end - s.at;
  for (field v; take(e, &s, &v);) {
    if (v.number == 1 && !count[f->kind](e, &v, f)) {
      return false;
    }
  }
  return !e->why[0];
}

/* An entry of the map: 1 is the key, 2 the feature, in any order. */
static bool take_entry(weir_tf_example *e, weir_tf_span entry, weir_tf_feature *f)
{
  weir_tf_span feature = {0};

  for (field v; take(e, &entry, &v);) {
    if (v.number > 2) {
      continue;
    }
    if (v.wire != PROTOBUF_BYTES) {
      return wrong(e, v.tag, "key and feature must be messages");
    }
    if (v.number == 1) {
      f->key = (const char *)v.body.at;
      f->key_size = v.body.end - v.body.at;
    } else if (feature.at) {
      return wrong(e, v.tag, "a key has two features");
    } else {
      feature = v.body;
    }
  }
  for (field v; !e->why[0] && feature.at && take(e, &feature, &v);) {
    if (v.number <= WEIR_TF_INTS && !take_list(e, &v, f)) {
      return false;
    }
  }
  return !e->why[0];
}

/* Letters of a key that can be printed; the others as '?'. */
static void note_key(weir_tf_example *e, const weir_tf_feature *f)
{
  const int64_t max_key = (int64_t)sizeof e->key - 1,
                n = f->key_size < max_key ? f->key_size : max_key;

  for (int64_t i = 0; i < n; i++) {
    e->key[i] = isprint((unsigned char)f->key[i]) ? f->key[i] : '?';
  }
  e->key[n] = 0;
}

/* Begins the next Features of the Example; protobuf allows a message in several pieces. */
static bool take_features(weir_tf_example *e)
{
  for (field v; take(e, &e->message, &v);) {
    if (v.number == 1) {
      e->features = v.body;
      return v.wire == PROTOBUF_BYTES || wrong(e, v.tag, "the features are not a message");
    }
  }
  return false;
}

bool weir_tf_example_next(weir_tf_example *e, weir_tf_feature *f)
{
  field v;

  while (!e->why[0]) {
    if (!take(e, &e->features, &v)) {
      if (e->why[0] || !take_features(e)) {
        return false;
      }
      continue;
    }
    if (v.number != 1) {
      continue;
    }
    *f = (weir_tf_feature){.key = ""};
    if (v.wire != PROTOBUF_BYTES) {
      return wrong(e, v.tag, "an entry of the features is not a message");
    }
    if (!take_entry(e, v.body, f)) {
      note_key(e, f);
      return false;
    }
    return true;
  }
  return false;
}

bool weir_tf_is(const weir_tf_feature *f, const char *key)
{
  return f->key_size == (int64_t)strlen(key) && memcmp(f->key, key, strlen(key)) == 0;
}

/* The spans of the list of a feature that was found to be sound, one after the other. */
static bool next_piece(weir_tf_span *s, field *v)
{
  weir_tf_example none = {.begin = s->at};

  while (take(&none, s, v)) {
    if (v->number == 1) {
      return true;
    }
  }
  return false;
}

void weir_tf_floats(const weir_tf_feature *f, float *out)
{
  weir_tf_span s = {f->list, f->list + f->list_size};

  for (field v; next_piece(&s, &v);) {
    for (const uint8_t *at = v.body.at; at < v.body.end; at += 4) {
      const uint32_t bits = weir_tf_u32(at);

      memcpy(out++, &bits, sizeof bits);
    }
  }
}

void weir_tf_ints(const weir_tf_feature *f, int64_t *out)
{
  weir_tf_span s = {f->list, f->list + f->list_size};

  for (field v; next_piece(&s, &v);) {
    for (uint64_t value = 0; v.body.at < v.body.end && protobuf_varint(&v.body, &value);) {
      *out++ = (int64_t)value;
    }
  }
}
