/* fields.c - the wire format of protobuf (protobuf.dev/programming-guides/encoding). */
#include "io/protobuf/fields.h"
#include <stdio.h>

bool protobuf_varint(protobuf_span *s, uint64_t *value)
{
  uint64_t made = 0;

  for (int shift = 0; shift < 64 && s->at < s->end; shift += 7) {
    const uint8_t byte = *s->at++;

    if (shift == 63 && byte > 1) {
      return false;
    }
    made |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = made;
      return true;
    }
  }
  return false;
}

static bool wrong(protobuf_why *why, const char *text)
{
  (void)snprintf(why->text, sizeof why->text, "%s", text);
  return false;
}

bool protobuf_next(protobuf_span *s, protobuf_field *f, protobuf_why *why)
{
  uint64_t tag = 0, length = 0;

  f->tag = s->at;
  if (s->at == s->end) {
    return false;
  }
  if (!protobuf_varint(s, &tag) || tag >> 3 == 0 || tag >> 32 != 0) {
    return wrong(why, "no field of protobuf begins here");
  }
  f->number = (int64_t)(tag >> 3);
  f->wire = (int)(tag & 7);
  f->varint = 0;
  f->body.at = s->at;
  if (f->wire == PROTOBUF_VARINT) {
    f->body.end = s->at;
    if (!protobuf_varint(s, &f->varint)) {
      return wrong(why, "a number does not end");
    }
    f->body.end = s->at;
    return true;
  }
  if (f->wire == PROTOBUF_BYTES) {
    if (!protobuf_varint(s, &length)) {
      return wrong(why, "a length does not end");
    }
  } else if (f->wire == PROTOBUF_FIXED64 || f->wire == PROTOBUF_FIXED32) {
    length = f->wire == PROTOBUF_FIXED64 ? 8 : 4;
  } else {
    return wrong(why, "groups of protobuf and wire types over 5 are not read");
  }
  if (length > (uint64_t)(s->end - s->at)) {
    (void)snprintf(why->text, sizeof why->text, "a field claims %llu bytes where %lld are left",
                   (unsigned long long)length, (long long)(s->end - s->at));
    return false;
  }
  f->body = (protobuf_span){s->at, s->at + length};
  s->at += length;
  return true;
}
