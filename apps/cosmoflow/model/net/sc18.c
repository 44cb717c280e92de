/* sc18.c - the original network (Mathuriya et al., SC'18), as its authors' repository has it:
 * NERSC/CosmoFlow, CosmoNet_noFeed_changed_addedfcl.py (64^3), CosmoNet_128256.py (128^3). */
#include "model/network.h"
#include "model/nets.h"
#include "model/cnn.h"

enum { LAYOUTS = 2, MAX_CONVS = 7 };
#define LAYOUT_CHOICES "auto|side64|side128"
#define NORM_CHOICES "layout|none|batch"

/* filters: times the first convolution's. */
static const struct layout {
  int64_t side;
  int convs, pools, n_hidden;
  bool norm;
  int64_t hidden[CF_DENSE];
  struct {
    int64_t filters, kernel_size, stride;
  } conv[MAX_CONVS];
} layouts[LAYOUTS] = {
    {64,
     6,
     2,
     3,
     true,
     {1024, 512, 256},
     {{1, 3, 1}, {2, 4, 1}, {4, 4, 2}, {4, 3, 1}, {8, 2, 1}, {8, 2, 1}}},
    {128,
     7,
     3,
     2,
     false,
     {2048, 256},
     {{1, 3, 1}, {2, 4, 1}, {4, 4, 1}, {8, 3, 2}, {16, 3, 1}, {16, 2, 1}, {16, 2, 1}}},
};

const weir_opt cf_sc18_options[] = {
    WEIR_OPT_ENUM(cf_sc18_opts, layout, 0, LAYOUT_CHOICES,
                  "its list of layers: that for 64^3, that for 128^3, or by the samples (from 128 "
                  "voxels a side on the latter)"),
    WEIR_OPT_INT(cf_sc18_opts, base, 16, 1, 1024, "1",
                 "filters of the first convolution, the others in proportion"),
    WEIR_OPT_INT_LIST(cf_sc18_opts, hidden, "", 1, 65536, "1",
                      "units of the hidden dense layers, at most 4; none: those of the layout, "
                      "1024, 512, 256 or 2048, 256"),
    WEIR_OPT_ENUM(cf_sc18_opts, norm, 0, NORM_CHOICES,
                  "normalisation between convolution and leaky ReLU; layout: batch of 64^3, none "
                  "of 128^3"),
    WEIR_OPT_REAL(cf_sc18_opts, epsilon, 1e-4, 1e-12, 1, "1",
                  "added to the variance that norm divides by"),
    WEIR_OPT_REAL(cf_sc18_opts, momentum, 0.01, 1e-6, 1, "1",
                  "share of the running statistics of norm = batch that a batch brings"),
    WEIR_OPT_BOOL(cf_sc18_opts, global_mean, false,
                  "the dense layers see means over the voxels that are left, so that weights do "
                  "not depend on the side of samples (data.sizes); false: they see each voxel, as "
                  "published"),
    WEIR_OPT_REAL(cf_sc18_opts, slope, 0.01, 0, 1, "1", "of the leaky ReLU below 0"),
    WEIR_OPT_REAL(cf_sc18_opts, dropout, 0.5, 0, 0.99, "1",
                  "share of what comes into a dense layer that a training step leaves out"),
    WEIR_OPT_END,
};

static const struct layout *layout_of(const cf_sc18_opts *o, int64_t side)
{
  return &layouts[o->layout > 0 ? o->layout - 1 : side >= layouts[1].side];
}

static void fill_hidden(const cf_sc18_opts *o, const struct layout *l, cf_cnn *t)
{
  const bool own = o->hidden.count > 0;

  t->n_hidden = own ? (int)o->hidden.count : l->n_hidden;
  for (int i = 0; i < t->n_hidden; i++) {
    t->hidden[i] = own ? o->hidden.items[i] : l->hidden[i];
  }
}

weir_value cf_sc18(weir_net *net, const void *opts, int64_t outputs, weir_value x)
{
  const cf_sc18_opts *const o = opts;
  const struct layout *const l = layout_of(o, cf_cnn_side_of(net->graph, x));
  const weir_init tenth = {.kind = WEIR_INIT_CONSTANT, .value = 0.1};
  const bool normal = o->norm == 0 ? l->norm : o->norm == 2;
  cf_cnn t = {.name = "sc18",
              .n_blocks = l->convs,
              .norm = {.kind = normal ? WEIR_NORM_BATCH : WEIR_NORM_NONE,
                       .epsilon = o->epsilon,
                       .momentum = o->momentum},
              .global_mean = o->global_mean,
              .slope = o->slope,
              .dropout = o->dropout,
              .drop_first = true,
              .conv_bias = tenth,
              .dense_bias = tenth};

  if (o->hidden.count > CF_DENSE) {
    return weir_graph_fail(net->graph,
                           weir_fail(WEIR_ERR_CONFIG, "sc18: hidden has %lld layers, at most %d",
                                     (long long)o->hidden.count, CF_DENSE));
  }
  fill_hidden(o, l, &t);
  for (int i = 0; i < l->convs; i++) {
    t.block[i] = (cf_block){.filters = o->base * l->conv[i].filters,
                            .kernel_size = l->conv[i].kernel_size,
                            .stride = l->conv[i].stride,
                            .padding = WEIR_NN_VALID,
                            .pool = i < l->pools ? CF_POOL_MEAN2 : CF_POOL_NONE};
  }
  return cf_cnn_build(net, &t, outputs, x);
}

const cf_net cf_net_sc18 = {
    .name = "sc18",
    .cite = "Mathuriya et al., arXiv:1808.04728",
    .help = "the original CosmoFlow of SC'18: convolutions without padding, means over 2 x 2 x 2",
    .opts = cf_sc18_options,
    .opts_size = sizeof(cf_sc18_opts),
    .loss = CF_LOSS_MAE,
    .build = cf_sc18,
};
