/* outputs.c - see outputs.h. */
#include "model/outputs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const weir_opt wx_output_row_options[] = {
    WEIR_OPT_STRING(wx_output_row, quantity, "", "one of data.target, as ws500; empty: every one"),
    WEIR_OPT_ENUM(
        wx_output_row, family, WX_NORMAL, WX_FAMILY_CHOICES,
        "truncated and log_normal: values above the bound alone (wind speed); censored: the bound "
        "itself has a probability (precipitation)"),
    WEIR_OPT_REAL(wx_output_row, lower, 0, -1e30, 1e30, "units of the truth",
                  "bound of a truncated or censored family"),
    WEIR_OPT_REAL(
        wx_output_row, upper, WX_NO_UPPER, -1e30, WX_NO_UPPER, "units of the truth",
        "censored_normal and censored_logistic: upper bound (1 of fractions); 1e30: there "
        "is none"),
    WEIR_OPT_REAL(
        wx_output_row, shift, 0, 0, 1e30, "units of the truth",
        "family censored_shifted_gamma, > 0: how far below `lower` the gamma distribution begins"),
    WEIR_OPT_END,
};

enum { NAME = 40 };

/* The name of a family, as options have it. */
static void name_of(wx_family family, char name[NAME])
{
  static const char choices[] = WX_FAMILY_CHOICES;
  const char *at = choices;

  for (int k = 0; k < (int)family; k++) {
    at = strchr(at, '|') + 1;
  }
  (void)snprintf(name, NAME, "%.*s", (int)strcspn(at, "|"), at);
}

/* From the lower to the upper bound as truth is stored; 0 without an upper one. */
static double width_of(const wx_output_row *row)
{
  return row->upper < WX_NO_UPPER ? (double)(float)row->upper - (double)(float)row->lower : 0;
}

weir_status wx_outputs_check(const weir_struct_list *rows)
{
  for (int64_t i = 0; i < rows->count; i++) {
    const wx_output_row *const row = (const wx_output_row *)rows->items + i;

    if ((row->family == WX_CENSORED_SHIFTED_GAMMA) != (row->shift > 0)) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "model.distributions[%lld].shift: %g: family censored_shifted_gamma needs "
                       "one above 0, in units of the quantity, and no other family has it",
                       (long long)i, row->shift);
    }
    if (row->upper < WX_NO_UPPER &&
        !(wx_family_has_upper((wx_family)row->family) && width_of(row) > 0)) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "model.distributions[%lld].upper: %g: families censored_normal and "
                       "censored_logistic alone have an upper bound, which is above lower = %g",
                       (long long)i, row->upper, row->lower);
    }
  }
  return WEIR_OK;
}

static weir_status take_row(int64_t i, const wx_output_row *row, const wx_channel *channel,
                            int64_t n, int64_t *of, wx_output *out)
{
  bool found = false;

  for (int64_t c = 0; c < n; c++) {
    if (row->quantity[0] != 0 && strcmp(row->quantity, channel[c].name) != 0) {
      continue;
    }
    if (of[c] > 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "model.distributions: rows %lld and %lld are both of %s: keep one of them",
                       (long long)of[c] - 1, (long long)i, channel[c].name);
    }
    found = true;
    of[c] = i + 1;
    out[c] =
        (wx_output){(wx_family)row->family, (double)(float)row->lower, row->shift, width_of(row)};
  }
  return found ? WEIR_OK
               : weir_fail(WEIR_ERR_CONFIG,
                           "model.distributions[%lld].quantity: '%s' is none of data.target",
                           (long long)i, row->quantity);
}

weir_status wx_outputs_of(const weir_struct_list *rows, const wx_channel *channel, int64_t n,
                          wx_output *out)
{
  const wx_output_row *const row = rows->items;
  int64_t of[WX_CHANNELS] = {0}; /* 1 + row */

  WEIR_TRY(wx_outputs_check(rows));
  for (int64_t c = 0; c < n; c++) {
    out[c] = (wx_output){.family = WX_NORMAL};
  }
  for (int64_t i = 0; i < rows->count; i++) {
    WEIR_TRY(take_row(i, &row[i], channel, n, of, out));
  }
  return WEIR_OK;
}

bool wx_outputs_differ(const wx_output *output, int64_t n)
{
  bool differ = false;

  for (int64_t c = 0; c < n; c++) {
    differ = differ || output[c].family != WX_NORMAL;
  }
  return differ;
}

bool wx_outputs_bounded(const wx_output *output, int64_t n)
{
  bool bounded = false;

  for (int64_t c = 0; c < n; c++) {
    bounded = bounded || wx_family_is_bounded(output[c].family);
  }
  return bounded;
}

bool wx_outputs_extra(const wx_output *output, int64_t n)
{
  bool extra = false;

  for (int64_t c = 0; c < n; c++) {
    extra = extra || wx_output_extra(&output[c]) > 0;
  }
  return extra;
}

double wx_output_extra(const wx_output *output)
{
  return output->family == WX_CENSORED_SHIFTED_GAMMA ? output->shift : output->width;
}

double wx_output_location(const wx_output *output, double x, double scale)
{
  if (output->family != WX_CENSORED_SHIFTED_GAMMA) {
    return x;
  }
  const double begin = output->lower - output->shift, d = x - begin;

  return begin + (d + hypot(d, WX_OUTPUT_ROUNDING * scale)) / 2;
}

void wx_output_text(const wx_output *output, char *text, size_t size)
{
  char name[NAME];

  name_of(output->family, name);
  if (!wx_family_is_bounded(output->family)) {
    (void)snprintf(text, size, "%s", name);
  } else if (output->family == WX_CENSORED_SHIFTED_GAMMA) {
    (void)snprintf(text, size, "%s, lower %.17g, shift %.17g", name, output->lower, output->shift);
  } else if (output->width > 0) {
    (void)snprintf(text, size, "%s, lower %.17g, upper %.17g", name, output->lower,
                   output->lower + output->width);
  } else {
    (void)snprintf(text, size, "%s, lower %.17g", name, output->lower);
  }
}

/* Reads ", NAME NUMBER" at *text, which is then past it. */
static bool take_number(const char **text, const char *name, double *out)
{
  const size_t n = strlen(name);
  char *end = NULL;

  if (strncmp(*text, ", ", 2) != 0 || strncmp(*text + 2, name, n) != 0 || (*text)[2 + n] != ' ') {
    return false;
  }
  const char *const number = *text + 3 + n;

  *out = strtod(number, &end);
  *text = end;
  return end != number && isfinite(*out);
}

/* Reads the upper bound of a family that may have one, where the text goes on. */
static bool take_upper(const char **text, wx_output *out)
{
  double upper;

  if (**text == 0 || !wx_family_has_upper(out->family)) {
    return true;
  }
  if (!take_number(text, "upper", &upper)) {
    return false;
  }
  out->width = upper - out->lower;
  return out->width > 0;
}

bool wx_output_parse(const char *text, wx_output *out)
{
  const size_t n = strcspn(text, ",");

  for (int f = 0; f < WX_FAMILIES; f++) {
    const bool gamma = f == WX_CENSORED_SHIFTED_GAMMA;
    const char *at = text + n;
    char name[NAME];

    name_of((wx_family)f, name);
    if (strlen(name) != n || memcmp(name, text, n) != 0) {
      continue;
    }
    *out = (wx_output){.family = (wx_family)f};
    return (!wx_family_is_bounded((wx_family)f) || take_number(&at, "lower", &out->lower)) &&
           (!gamma || (take_number(&at, "shift", &out->shift) && out->shift > 0)) &&
           take_upper(&at, out) && *at == 0;
  }
  return false;
}

static const char separator[] = "; ";

void wx_output_list(const wx_output *output, const char *name, char *list, size_t size)
{
  const size_t n = strlen(list);
  char text[WX_NAME];

  wx_output_text(output, text, sizeof text);
  (void)snprintf(list + n, size - n, "%s%s: %s", n > 0 ? separator : "", name, text);
}

bool wx_output_find(const char *list, const char *name, wx_output *out, bool *found)
{
  const char *at = list;

  *found = false;
  while (*at != 0) {
    const char *const end = strstr(at, separator), *const colon = strstr(at, ": ");
    const size_t n = end != NULL ? (size_t)(end - at) : strlen(at);
    char text[WX_NAME];
    wx_output is;

    if (colon == NULL || colon > at + n || n - (size_t)(colon + 2 - at) >= sizeof text) {
      return false;
    }
    (void)snprintf(text, sizeof text, "%.*s", (int)(n - (size_t)(colon + 2 - at)), colon + 2);
    if (!wx_output_parse(text, &is)) {
      return false;
    }
    if (strlen(name) == (size_t)(colon - at) && memcmp(name, at, strlen(name)) == 0) {
      *out = is;
      *found = true;
    }
    at += end != NULL ? n + sizeof separator - 1 : n;
  }
  return true;
}
