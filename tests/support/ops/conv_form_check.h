/* conv_form_check.h - a convolution whose nodes are read as forms. Tests only. */
#ifndef CONV_FORM_CHECK_H
#define CONV_FORM_CHECK_H
#include "ops/conv/conv_form.h"

#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "pass/autodiff/weir_gradients.h"

/* y = conv(x, w), and the gradients of sum(y t). */
typedef struct subject {
  weir_graph *g;
  weir_value x, w, y, t, gx, gw;
  weir_array_desc desc[3]; /* x, w, y */
} subject;

static inline void make_subject(subject *s, const weir_array_desc *x, const weir_array_desc *w,
                                const weir_conv_spec *spec)
{
  weir_value grad[2];

  s->g = new_graph();
  s->x = weir_input(s->g, "x", x);
  s->w = weir_input(s->g, "w", w);
  s->y = weir_conv(s->g, spec, s->x, s->w);
  assert_ok(weir_graph_status(s->g));
  s->desc[0] = *x;
  s->desc[1] = *w;
  s->desc[2] = *weir_value_desc(s->g, s->y);
  s->t = weir_input(s->g, "t", &s->desc[2]);
  weir_value loss = weir_mul(s->g, s->y, s->t);

  for (int k = x->rank - 1; k >= 0; k--) {
    loss = weir_sum(s->g, loss, k);
  }
  assert_ok(weir_gradients(s->g, loss, (weir_value[]){s->x, s->w}, 2, grad));
  s->gx = grad[0];
  s->gw = grad[1];
  weir_output(s->g, "y", s->y);
  weir_output(s->g, "gx", s->gx);
  weir_output(s->g, "gw", s->gw);
}

static inline bool reads_node(const weir_node *node, conv_form *f)
{
  const weir_derivation derivation = weir_node_derivation(node);

  return conv_form_of(&node->access, &derivation, f);
}
#endif
