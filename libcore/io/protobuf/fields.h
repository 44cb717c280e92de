/* fields.h - fields of a protobuf message, one after the other. Every length is compared with the
 * bytes that are there before it is followed. */
#ifndef WEIR_PROTOBUF_FIELDS_H
#define WEIR_PROTOBUF_FIELDS_H
#include <stdbool.h>
#include <stdint.h>

enum { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_FIXED32 = 5 };

typedef struct protobuf_span {
  const uint8_t *at, *end;
} protobuf_span;

typedef struct protobuf_field {
  int64_t number;
  int wire;           /* one of the above */
  uint64_t varint;    /* of PROTOBUF_VARINT                            */
  protobuf_span body; /* of all; of PROTOBUF_VARINT: its bytes         */
  const uint8_t *tag; /* where the field begins                    */
} protobuf_field;

/* What is wrong with a message; "": nothing. */
typedef struct protobuf_why {
  char text[96];
} protobuf_why;

/* Takes a number of at most 64 bits; false where it does not end or has more. */
bool protobuf_varint(protobuf_span *s, uint64_t *value);
/* Takes the next field; false at the end and where the message is malformed: *why, empty before,
 * then says so. */
bool protobuf_next(protobuf_span *s, protobuf_field *f, protobuf_why *why);
#endif
