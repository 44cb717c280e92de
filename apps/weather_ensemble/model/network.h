/* network.h - the U-Net that corrects a forecast, and what it is trained by. In units of the
 * statistics (data/standard.h) throughout. */
#ifndef WX_NETWORK_H
#define WX_NETWORK_H
#include "data/standard.h"
#include "nn/weir_loss.h"
#include "nn/weir_unet.h"

typedef enum wx_loss { WX_LOSS_MSE, WX_LOSS_MAE, WX_LOSS_CRPS } wx_loss;
#define WX_LOSS_CHOICES "mse|mae|crps"

typedef struct wx_model_opts {
  int target, loss; /* wx_target, wx_loss */
  weir_spread_spec spread;
  weir_unet_opts net;
} wx_model_opts;
extern const weir_opt wx_model_options[];

/* What is built. */
typedef struct wx_network {
  const wx_model_opts *opts;
  int64_t n_y;
} wx_network;

/* What the validation reports beside the loss. */
enum { WX_METRICS = 1 };
extern const char *const wx_metric[WX_METRICS];

/* x: [n, level, lat, lon, channels]; *mean, and *raw, from which weir_spread makes the standard
 * deviation (loss crps; else invalid): [n, level, lat, lon, n_y]. */
void wx_network_apply(weir_net *net, const wx_network *network, weir_value x, weir_value *mean,
                      weir_value *raw);
/* weir_train_task.build: in[0] is x, in[1] truth; opts: the wx_network. */
weir_status wx_network_build(weir_net *net, const void *opts, const weir_value *in,
                             weir_value *loss) WEIR_CHECKED;
#endif
