/* roughness.h - how much the weights of a locally connected layer differ from position to position.
 */
#ifndef WX_ROUGHNESS_H
#define WX_ROUGHNESS_H
#include "nn/weir_net.h"

/* Returns the mean of |w(j, i) - w(j + 1, i)|, plus mean of |w(j, i) - w(j, i + 1)|, over all
 * entries of the weights and of the bias, over 2 k + 2 (kernel size k: 1): arXiv:2005.08748, where
 * it is multiplied by alpha. Rows are ends; columns go round where `wraps`. The parameters are
 * those of a layer of kernel size 1 by their scoped names: [level,] lat, lon, then the weights of a
 * position. A scalar. */
weir_value wx_roughness(weir_net *net, const char *weight, const char *bias, bool wraps);
#endif
