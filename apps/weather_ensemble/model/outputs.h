/* outputs.h - which distribution a network makes of each quantity. */
#ifndef WX_OUTPUTS_H
#define WX_OUTPUTS_H
#include "conf/weir_opt.h"
#include "data/samples/channels.h"
#include "eval/score/distribution.h"

/* A row of model.distributions. */
typedef struct wx_output_row {
  const char *quantity; /* a target; "": every one */
  int family;           /* wx_family */
  double lower;         /* bound of a family that has one, in units of the quantity */
  double upper;         /* of censored normal and logistic, in these units; WX_NO_UPPER */
  double shift;         /* of censored_shifted_gamma, in units of the quantity */
} wx_output_row;
extern const weir_opt wx_output_row_options[];
enum { WX_OUTPUT_ROWS = 64 };

/* The distribution of a channel of y. lower: as truth is stored, in f32; shift: of a shifted gamma
 * distribution, 0 of others; width: from the lower to the upper bound, 0 where there is none. */
typedef struct wx_output {
  wx_family family;
  double lower, shift, width;
} wx_output;

/* Checks rows as far as that needs no channels. Fails: WEIR_ERR_CONFIG. */
weir_status wx_outputs_check(const weir_struct_list *rows) WEIR_CHECKED;
/* Computes the distribution of each of n channels: normal where no row is of it. Fails:
 * WEIR_ERR_CONFIG (a row of no channel, two of the same one, a shift or an upper bound that the
 * family has not, a shift of 0 that it needs, an upper bound that is not above the lower one). */
weir_status wx_outputs_of(const weir_struct_list *rows, const wx_channel *channel, int64_t n,
                          wx_output *out) WEIR_CHECKED;
/* Return whether one of n is not normal; whether one has a bound; and whether one has a shift or an
 * upper bound. */
bool wx_outputs_differ(const wx_output *output, int64_t n);
bool wx_outputs_bounded(const wx_output *output, int64_t n);
bool wx_outputs_extra(const wx_output *output, int64_t n);
/* Returns the shift, or the width from the lower to the upper bound; 0 of neither. */
double wx_output_extra(const wx_output *output);
/* Returns the location that a network's output x stands for, in units of the quantity: x itself,
 * but of a gamma distribution, whose mean is above its beginning b, b + (d + sqrt(d^2 + (scale /
 * 5)^2)) / 2 with d = x - b: no x is beyond what training can correct. scale > 0. */
#define WX_OUTPUT_ROUNDING 0.2
double wx_output_location(const wx_output *output, double x, double scale);
/* Writes "logistic", "truncated_normal, lower 0", "censored_normal, lower 0, upper 1" or
 * "censored_shifted_gamma, lower 0, shift 1e-06". */
void wx_output_text(const wx_output *output, char *text, size_t size);
/* Appends "NAME: TEXT" to a list, the attribute `distributions` of files. */
#define WX_DISTRIBUTIONS_NOTE "distributions"
void wx_output_list(const wx_output *output, const char *name, char *list, size_t size);
/* Finds that of a quantity in such a list. *found: there is one. False: it is no such list. */
bool wx_output_find(const char *list, const char *name, wx_output *out, bool *found);
/* Reads a text again. False: it is no such text. */
bool wx_output_parse(const char *text, wx_output *out);
#endif
