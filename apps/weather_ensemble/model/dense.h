/* dense.h - a fully connected network of each station, or grid point, by itself, with weights in
 * common and an embedding of its own (Rasp and Lerch 2018, Mon. Weather Rev. 146, 3885,
 * doi:10.1175/MWR-D-18-0187.1):
 *
 *   h_1 = f(x W_1 + e W_e + b_1),   h_i = f(h_{i-1} W_i + b_i),   y = h_l W + b
 *
 * x: [channels] of a position, e: [embedding] learnt numbers that stand for the position; the sum
 * is the first layer of x and e one after the other. */
#ifndef WX_DENSE_H
#define WX_DENSE_H
#include "conf/weir_opt.h"
#include "nn/weir_activation.h"
#include "nn/weir_net.h"

typedef struct wx_dense_opts {
  weir_int_list units; /* of the hidden layers */
  int64_t embedding;   /* 0: none */
  weir_one_of activation;
} wx_dense_opts;
extern const weir_opt wx_dense_options[];

/* Appends the network: x [n, space.., channels] to [n, space.., outputs]. Parameters: embedding
 * [space.., embedding], embedded/weight, hidden1/weight .. output/bias. */
weir_value wx_dense(weir_net *net, const wx_dense_opts *opts, int64_t outputs, weir_value x);
#endif
