/* weir_transformer.h - a transformer's encoder over the patches of 1 to 3 dimensions: layers of
 * Vaswani et al., NeurIPS 2017, on patches as of Dosovitskiy et al., ICLR 2021.
 *
 *   patch      each patch of x becomes a token of `width` channels: a convolution whose stride is
 *              its kernel size
 *   position   a learned vector for each patch is added (position: learned)
 *   layer1 ..  encoder layers (weir_block.h); with norm_first a normalisation after the last
 *   members1 ..  of inputs that are sets: after each of these layers one in which the tokens of a
 *              patch attend to one another, those of all members of a set
 *   unpatch    each token becomes a patch again, of `features` channels: a transposed convolution
 *   head       a convolution of these and x (skip) to the outputs
 *
 * Without skip, unpatch makes the outputs and there is no head. Attention over one axis after the
 * other is that of Ho et al., arXiv:1912.12180; over the members of an ensemble, that of Finn,
 * arXiv:2106.13924. */
#ifndef WEIR_TRANSFORMER_H
#define WEIR_TRANSFORMER_H
#include "conf/weir_opt.h"
#include "nn/weir_conv_block.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_transformer_preset {
  WEIR_TRANSFORMER_TINY,  /* width 32, 2 heads, 2 layers: tests                            */
  WEIR_TRANSFORMER_LITE,  /* width 128, 4 heads, 4 layers: CPU                             */
  WEIR_TRANSFORMER_PAPER, /* width 1024, 16 heads, 24 layers: BERT-large of
                             arXiv:2007.00072, GPU */
} weir_transformer_preset;
typedef enum weir_transformer_position {
  WEIR_TRANSFORMER_LEARNED,
  WEIR_TRANSFORMER_NO_POSITION
} weir_transformer_position;
/* Grid points of a patch, per dimension. */
typedef struct weir_transformer_patch {
  int64_t z, y, x;
} weir_transformer_patch;

typedef struct weir_transformer_opts {
  int preset;
  int64_t width, heads, layers; /* 0: of the preset      */
  int64_t hidden;               /* 0: four times `width` */
  weir_transformer_patch patch;
  int position;
  bool norm_first;
  double epsilon, dropout;
  weir_one_of activation;
  bool skip;
  int64_t features, head_kernel; /* with skip            */
  weir_nn_borders border;        /* of the head          */
} weir_transformer_opts;
/* Rows of the section that holds such a struct. */
extern const weir_opt weir_transformer_options[];

/* x: [n, 1 to 3 dimensions, channels], whose last three (two, one) dimensions are z, y, x; returns
 * [n, .., outputs]. members: number of consecutive inputs that form one set; 0: no sets. Nothing
 * tells the members of a set apart but their values: in another order they give the same outputs in
 * that order, and the same weights serve sets of any size. Fails in the graph's
 * status: WEIR_ERR_SHAPE (rank; patches that do not divide an extent; heads that do not divide the
 * width; members that do not divide n). */
weir_value weir_transformer(weir_net *net, const weir_transformer_opts *opts, int64_t members,
                            int64_t outputs, weir_value x);

#ifdef __cplusplus
}
#endif
#endif
