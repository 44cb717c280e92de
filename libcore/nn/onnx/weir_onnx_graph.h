/* weir_onnx_graph.h - the graph of a network that an ONNX file describes, of Weir's operators, so
 * that memory, dependence and chunks follow from their accesses.
 *
 * One input and one output, f32; dimension 0 of both is the batch, which no operator of the network
 * may touch: its elements are computed independently of one another. Operators of versions 13 to 22
 * of the default domain, as far as docs/reference/onnx.md says: networks of convolutions over one
 * dimension, recurrent and dense layers. */
#ifndef WEIR_ONNX_GRAPH_H
#define WEIR_ONNX_GRAPH_H
#include "graph/weir_graph.h"
#include "io/onnx/weir_onnx.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { WEIR_ONNX_OPSET_MIN = 13, WEIR_ONNX_OPSET_MAX = 22 };
/* Most steps of a recurrent layer, whose graph has each of them, and of all layers and directions
 * of a file. */
enum { WEIR_ONNX_STEPS = 128, WEIR_ONNX_STEPS_ALL = 512 };

/* Returns the input of the network that is no constant. Fails: WEIR_ERR_UNSUPPORTED for more
 * inputs or another number of outputs, elements that are not f32, and versions not supported. */
weir_status weir_onnx_input(const weir_onnx *m, const char *where,
                            const weir_onnx_value **out) WEIR_CHECKED;
/* Appends the network to the graph: y of x. x: f32; of an input [batch, channels, length], [batch,
 * length, channels]; other inputs, and y, in the order of the file. Weights become constants of the
 * graph. where: the file's name, for messages. Fails: as weir_onnx_input;
 * WEIR_ERR_UNSUPPORTED, naming the node and the operator or attribute that is not supported;
 * WEIR_ERR_DATA for names that nothing defines; WEIR_ERR_SHAPE for shapes that do not agree. */
weir_status weir_onnx_build(weir_graph *g, const weir_onnx *m, const char *where, weir_value x,
                            weir_value *y) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
