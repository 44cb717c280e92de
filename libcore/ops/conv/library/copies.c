/* copies.c - see copies.h. */
#include "ops/conv/library/copies.h"

#include <inttypes.h>

/* Of n threads; `whole` holds the index of every element of the arrays, `most` of them. */
static void begin(char *text, int64_t n, int64_t most)
{
  const int64_t limit = INT32_MAX - CONV_COPY_THREADS;

  text[0] = '\0';
  weir_device_text_put(text,
                       "  typedef %s whole;\n"
                       "  const whole e = (whole)blockIdx.x * %d + (whole)threadIdx.x;\n"
                       "  if (e < %" PRId64 ") {\n",
                       n < limit && most < limit ? "int" : "long long", CONV_COPY_THREADS, n);
}

static int64_t elements_of_x(const conv_form *f)
{
  int64_t n = f->n * f->groups * f->in;

  for (int k = 0; k < f->d; k++) {
    n *= f->x_extent[k];
  }
  return n;
}

static const char *bits_of(weir_dtype dtype)
{
  const size_t bytes = weir_dtype_size(dtype);

  return bytes == 2 ? "unsigned short" : bytes == 4 ? "unsigned int" : "unsigned long long";
}

void conv_copy_weights(const conv_form *f, const conv_weight_strides *s, int64_t n, bool unpacks,
                       char text[WEIR_DEVICE_TEXT])
{
  const char *type = bits_of(f->w_dtype);

  begin(text, n, n);
  weir_device_text_put(text, "    whole left = e, place = %" PRId64 ";\n", s->base);
  weir_device_text_put(
      text, "    place += left %% %" PRId64 " * %" PRId64 ";\n    left /= %" PRId64 ";\n", f->in,
      s->in, f->in);
  for (int k = f->d - 1; k >= 0; k--) {
    weir_device_text_put(
        text, "    place += left %% %" PRId64 " * %" PRId64 ";\n    left /= %" PRId64 ";\n",
        f->kernel_size[k], s->tap[k], f->kernel_size[k]);
  }
  weir_device_text_put(
      text, "    place += left %% %" PRId64 " * %" PRId64 " + left / %" PRId64 " * %" PRId64 ";\n",
      f->out, s->out, f->out, s->group);
  weir_device_text_put(text, "    ((%s *)p.word[1])[%s] = ((const %s *)p.word[0])[%s];\n  }\n",
                       type, unpacks ? "place" : "e", type, unpacks ? "e" : "place");
}

bool conv_copy_is_packed(const conv_form *f, const conv_weight_strides *s)
{
  int64_t step = f->in;
  bool is = s->base == 0 && (s->in == 1 || f->in == 1);

  for (int k = f->d - 1; k >= 0; k--) {
    is = is && (s->tap[k] == step || f->kernel_size[k] == 1);
    step *= f->kernel_size[k];
  }
  is = is && (s->out == step || f->out == 1);
  return is && (s->group == step * f->out || f->groups == 1);
}

void conv_copy_wider(int64_t n, char text[WEIR_DEVICE_TEXT])
{
  begin(text, n, n);
  weir_device_text_put(text, "    ((unsigned int *)p.word[1])[e] = "
                             "(unsigned int)((const unsigned short *)p.word[0])[e] << 16;\n  }\n");
}

/* The digits of e in [n, extents, channels]: c, and x0, x1, .. along each dimension; left: the
 * sample. */
static void put_digits(const conv_form *f, const int64_t *extent, char *text)
{
  const int64_t channels = f->groups * f->in;

  weir_device_text_put(text,
                       "    const whole c = e %% %" PRId64 ";\n    whole left = e / %" PRId64 ";\n",
                       channels, channels);
  for (int k = f->d - 1; k >= 0; k--) {
    weir_device_text_put(text,
                         "    const whole x%d = left %% %" PRId64 ";\n    left /= %" PRId64 ";\n",
                         k, extent[k], extent[k]);
  }
}

/* f's element for inner's element x<k>, as s<k>. */
static void put_source(const conv_form *f, int k, char *text)
{
  const int64_t n = f->x_extent[k], lo = f->lo[k], period = n > 1 ? 2 * (n - 1) : 1;

  switch (f->border[k]) {
  case WEIR_BORDER_ABSENT:
    weir_device_text_put(text, "    const whole s%d = x%d;\n", k, k);
    break;
  case WEIR_BORDER_WRAP:
    weir_device_text_put(text,
                         "    const whole s%d = ((x%d - %" PRId64 ") %% %" PRId64 " + %" PRId64
                         ") %% %" PRId64 ";\n",
                         k, k, lo, n, n, n);
    break;
  case WEIR_BORDER_REPLICATE:
    weir_device_text_put(text,
                         "    const whole s%d = x%d < %" PRId64 " ? 0 : x%d - %" PRId64
                         " < %" PRId64 " ? x%d - %" PRId64 " : %" PRId64 ";\n",
                         k, k, lo, k, lo, n, k, lo, n - 1);
    break;
  default:
    weir_device_text_put(text,
                         "    const whole r%d = ((x%d - %" PRId64 ") %% %" PRId64 " + %" PRId64
                         ") %% %" PRId64 ";\n    const whole s%d = r%d < %" PRId64
                         " ? r%d : %" PRId64 " - r%d;\n",
                         k, k, lo, period, period, period, k, k, n, k, period, k);
  }
}

void conv_copy_padded(const conv_form *f, const conv_form *inner, char text[WEIR_DEVICE_TEXT])
{
  const char *type = bits_of(f->x_dtype);

  begin(text, elements_of_x(inner), elements_of_x(f));
  put_digits(f, inner->x_extent, text);
  for (int k = 0; k < f->d; k++) {
    put_source(f, k, text);
    weir_device_text_put(text, "    left = left * %" PRId64 " + s%d;\n", f->x_extent[k], k);
  }
  weir_device_text_put(
      text, "    ((%s *)p.word[1])[e] = ((const %s *)p.word[0])[left * %" PRId64 " + c];\n  }\n",
      type, type, f->groups * f->in);
}

/* A loop over inner's elements q<k> that stand for x<k>. */
static void put_standing(const conv_form *f, const conv_form *inner, int k, char *text)
{
  const int64_t n = f->x_extent[k], lo = f->lo[k], end = inner->x_extent[k];
  const int64_t period = n > 1 ? 2 * (n - 1) : 1;

  switch (f->border[k]) {
  case WEIR_BORDER_ABSENT:
    weir_device_text_put(text, "    for (whole q%d = x%d; q%d <= x%d; q%d++)\n", k, k, k, k, k);
    break;
  case WEIR_BORDER_WRAP:
    weir_device_text_put(text,
                         "    for (whole q%d = (x%d + %" PRId64 ") %% %" PRId64 "; q%d < %" PRId64
                         "; q%d += %" PRId64 ")\n",
                         k, k, lo, n, k, end, k, n);
    break;
  case WEIR_BORDER_REPLICATE: /* an end also stands for what lies beyond it */
    weir_device_text_put(text,
                         "    for (whole q%d = x%d > 0 ? x%d + %" PRId64 " : 0; q%d < %" PRId64
                         " && (q%d <= x%d + %" PRId64 " || x%d == %" PRId64 "); q%d++)\n",
                         k, k, k, lo, k, end, k, k, lo, k, n - 1, k);
    break;
  default: /* those mirrored an odd number of times, or the others; ends are none of the former */
    weir_device_text_put(text,
                         "    for (whole q%d = ((%" PRId64 " %s x%d) %% %" PRId64 " + %" PRId64
                         ") %% %" PRId64 "; q%d < %" PRId64 "; q%d += %" PRId64 ")\n",
                         k, lo, f->mirrored[k] ? "-" : "+", k, period, period, period, k, end, k,
                         period);
    if (f->mirrored[k]) {
      weir_device_text_put(text, "    if (x%d > 0 && x%d < %" PRId64 ")\n", k, k, n - 1);
    }
  }
}

void conv_copy_folded(const conv_form *f, const conv_form *inner, char text[WEIR_DEVICE_TEXT])
{
  const char *type = f->dtype == WEIR_F64 ? "double" : "float";

  begin(text, elements_of_x(f), elements_of_x(inner));
  put_digits(f, f->x_extent, text);
  weir_device_text_put(text, "    %s sum = 0;\n", type);
  for (int k = 0; k < f->d; k++) {
    put_standing(f, inner, k, text);
  }
  weir_device_text_put(text, "    {\n      whole at = left;\n");
  for (int k = 0; k < f->d; k++) {
    weir_device_text_put(text, "      at = at * %" PRId64 " + q%d;\n", inner->x_extent[k], k);
  }
  weir_device_text_put(text, "      sum += ((const %s *)p.word[0])[at * %" PRId64 " + c];\n    }\n",
                       type, f->groups * f->in);
  if (f->x_dtype == WEIR_BF16) { /* rounded to nearest, ties to even */
    weir_device_text_put(
        text, "    union { float f; unsigned int u; } b;\n    b.f = sum;\n"
              "    const unsigned int u = b.u;\n"
              "    ((unsigned short *)p.word[1])[e] = (unsigned short)((u & 0x7fffffffu) > "
              "0x7f800000u ? (u >> 16) | 0x40u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);\n");
  } else {
    weir_device_text_put(text, "    ((%s *)p.word[1])[e] = sum;\n", type);
  }
  weir_device_text_put(text, "  }\n");
}
