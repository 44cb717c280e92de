/* example_priv.h - features of a tf.train.Example, one after the other. */
#ifndef WEIR_TF_EXAMPLE_PRIV_H
#define WEIR_TF_EXAMPLE_PRIV_H
#include "io/protobuf/fields.h"
#include "io/tfrecord/tfrecord_priv.h"

/* Bytes of a message not yet parsed. */
typedef protobuf_span weir_tf_span;

typedef struct weir_tf_example {
  const uint8_t *begin;
  weir_tf_span message, features; /* of the Example, of its Features */
  int64_t at;                     /* byte of the message where it is wrong */
  char key[64];                   /* of the feature that is wrong, as far as it can be printed */
  char why[128];                  /* "": nothing is wrong */
} weir_tf_example;

/* A message of size bytes, which must outlive it. */
void weir_tf_example_init(weir_tf_example *e, const uint8_t *message, int64_t size);
/* The next feature; false at the end, and where the message is wrong (e->why). All that a feature
 * says lies in the message, and its list is sound. */
bool weir_tf_example_next(weir_tf_example *e, weir_tf_feature *f);
bool weir_tf_is(const weir_tf_feature *f, const char *key);
/* Calls visit for every feature in the order of the message. */
weir_status weir_tfrecord_each(const weir_tfrecord *r,
                               void (*visit)(void *context, const weir_tf_feature *f),
                               void *context) WEIR_CHECKED;
#endif
