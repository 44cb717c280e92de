/* conv_choose_dnnl.c - which of the library's primitives is taken. */
#include <string.h>

#include "ops/conv/conv_dnnl.h"

static bool is_named(const_dnnl_primitive_desc_t desc, const char *substring)
{
  const char *name = "";

  return dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name) == dnnl_success &&
         strstr(name, substring) != NULL;
}

/* The library falls back on matrices with windows written out, and then on loops slower than
 * ours. */
static bool is_fast(const conv_dnnl *c, const_dnnl_primitive_desc_t desc)
{
  return is_named(desc, "") && !is_named(desc, "ref") &&
         (c->by_matrices || !is_named(desc, "gemm"));
}

/* oneDNN 2.6.3, of bf16: direct gradients by dilated weights are wrong; strides lead brgconv with
 * tiles (AMX) to jump to address 0, or to write what is not its own. Both in few shapes alone, with
 * no rule that says which. */
static bool is_right(const conv_form *f, const_dnnl_primitive_desc_t desc)
{
  bool strided = false, dilated = false;

  for (int k = 0; k < f->d; k++) {
    strided = strided || f->stride[k] > 1;
    dilated = dilated || (f->dilation[k] > 1 && f->kernel_size[k] > 1);
  }
  return !(strided && is_named(desc, "brgconv") && is_named(desc, "amx")) &&
         !(dilated && f->kind == CONV_WEIGHTS && f->x_dtype == WEIR_BF16 &&
           !is_named(desc, "gemm"));
}

bool conv_dnnl_meets_padding(const conv_form *f)
{
  bool inside = true;

  for (int k = 0; k < f->d; k++) {
    inside = inside && (f->kind == CONV_DATA ? f->kernel_size[k] == 1 && f->stride[k] == 1
                                             : f->lo[k] <= 0 && f->hi[k] <= 0);
  }
  return !inside;
}

/* The first primitive that is right; NULL: there is none. */
static dnnl_primitive_desc_t first_right(const conv_dnnl *c, const dnnl_convolution_desc_t *op,
                                         const_dnnl_primitive_attr_t attr)
{
  dnnl_primitive_desc_iterator_t all = NULL;
  dnnl_primitive_desc_t desc = NULL;
  dnnl_status_t status = dnnl_primitive_desc_iterator_create(&all, op, attr, c->engine, NULL);

  for (; status == dnnl_success && desc == NULL; status = dnnl_primitive_desc_iterator_next(all)) {
    desc = dnnl_primitive_desc_iterator_fetch(all);
    if (desc != NULL && !is_right(&c->inner, desc)) {
      dnnl_primitive_desc_destroy(desc);
      desc = NULL;
    }
  }
  dnnl_primitive_desc_iterator_destroy(all);
  return desc;
}

bool conv_dnnl_choose(conv_dnnl *c, const dnnl_convolution_desc_t *op, dnnl_primitive_desc_t *desc)
{
  const conv_form *f = &c->inner;
  dnnl_primitive_attr_t attr = NULL;

  if (dnnl_primitive_attr_create(&attr) == dnnl_success &&
      dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user) == dnnl_success) {
    *desc = first_right(c, op, attr);
  }
  dnnl_primitive_attr_destroy(attr);
  if (*desc == NULL || !is_fast(c, *desc)) {
    return false;
  }
  /* All of bf16; batches of small matrices (brgconv), of rows with their padding written out. */
  c->mends = c->mends || !conv_form_is(f, WEIR_F32) ||
             (is_named(*desc, "brg") && (f->kind != CONV_WEIGHTS || conv_dnnl_meets_padding(f)));
  return true;
}
