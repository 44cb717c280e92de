/* onnx.h - a network of beats in an ONNX file, whose metadata (metadata_props) state what it takes
 * and gives; docs/reference/onnx.md has the keys. */
#ifndef PS_BEATS_ONNX_H
#define PS_BEATS_ONNX_H
#include "beats/network.h"
#include "io/onnx/weir_onnx.h"

/* Returns whether the metadata of a file describe a network of beats: one key begins so. */
#define PS_BEAT_ONNX "beat_network."
bool ps_beat_onnx_is(const weir_onnx *m);
/* Opens the ONNX file `path`, whose layers may be any; filters, hidden and dropout of out->is are
 * 0. A network of the window alone has no features. *out: for ps_beat_classifier_close, also after
 * a failure. Fails: as weir_onnx_read and weir_onnx_build; WEIR_ERR_DATA for metadata that are
 * missing, unknown, stated twice or wrong, naming the key; WEIR_ERR_SHAPE for inputs and an output
 * of other extents than they state. */
weir_status ps_beat_onnx_open(const char *path, ps_beat_classifier *out) WEIR_CHECKED;
#endif
