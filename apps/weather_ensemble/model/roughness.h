/* roughness.h - how much the weights of a locally connected layer differ from place to place. */
#ifndef WX_ROUGHNESS_H
#define WX_ROUGHNESS_H
#include "nn/weir_net.h"

/* Mean of |w(j, i) - w(j + 1, i)|, plus mean of |w(j, i) - w(j, i + 1)|, over all entries of the
 * weights and of the bias, over 2 taps + 2 (taps of a place: 1): arXiv:2005.08748, where it is
 * multiplied by alpha. Rows are ends; columns go round where `wraps`. The parameters are those of a
 * layer of one tap by their scoped names: [level,] lat, lon, then what a place has. Rank 0. */
weir_value wx_roughness(weir_net *net, const char *weight, const char *bias, bool wraps);
#endif
