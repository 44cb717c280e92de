/* attributes.c - age, sex and diagnoses of a record from the comments of its header, and nothing
 * else of them. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/weir_file.h"
#include "site/model.h"

/* The greatest age that stands alone: 45 CFR 164.514(b)(2)(i)(C) asks for one group of 90 and more.
 */
enum { OLD = 90, OLDEST = 130, MAX_WORDS = 64 };

static bool is_word(char c)
{
  return isalnum((unsigned char)c) || c == '_';
}

/* The text behind "WORD:", "<WORD>:" or "WORD=", at any place of the comments; NULL: none. */
static const char *find_value(const char *comments, const char *word)
{
  const size_t size = strlen(word);

  for (const char *at = comments; *at != 0; at++) {
    if (strncasecmp(at, word, size) == 0 && (at == comments || !is_word(at[-1])) &&
        !is_word(at[size])) {
      const char *end = at + size + strspn(at + size, ">) \t");

      if (*end == ':' || *end == '=') {
        return end + 1 + strspn(end + 1, " \t");
      }
    }
  }
  return NULL;
}

/* Years; a number of months or days is none of years. */
static double read_age(const char *text)
{
  char *end = NULL;
  const double age = text != NULL ? strtod(text, &end) : NAN;

  if (text == NULL || end == text || !(age >= 0) || age > OLDEST) {
    return NAN;
  }
  end += strspn(end, " \t-");
  const int unit = tolower((unsigned char)*end);
  /* "8 months", "3 weeks", "5 days"; not "69 M", which is the sex. */
  const bool other = (unit == 'm' || unit == 'w' || unit == 'd') && is_word(end[1]) &&
                     strncasecmp(end, "male", 4) != 0;

  return other ? NAN : age >= OLD ? OLD : floor(age);
}

/* 1 male, 0 female. */
static double read_male(const char *text)
{
  const size_t size = text != NULL ? strcspn(text, " \t\r\n,;<") : 0;

  if ((size == 1 || size == 4) && strncasecmp(text, "male", size) == 0) {
    return 1;
  }
  return (size == 1 || size == 6) && strncasecmp(text, "female", size) == 0 ? 0 : NAN;
}

/* The MIT-BIH databases write "69 M 1085 1629 x1". */
static bool read_mit(const char *comments, double *age, double *male)
{
  char *end = NULL;

  comments += strspn(comments, " \t");
  const long years = strtol(comments, &end, 10);

  if (end == comments || (*end != ' ' && *end != '\t') || years < 0 || years > OLDEST) {
    return false;
  }
  *male = read_male(end + strspn(end, " \t"));
  *age = years >= OLD ? OLD : (double)years;
  return !isnan(*male);
}

static void read_person(const char *comments, double *age, double *male)
{
  const char *sex = find_value(comments, "sex");

  *age = read_age(find_value(comments, "age"));
  *male = read_male(sex != NULL ? sex : find_value(comments, "gender"));
  double mit_age = NAN, mit_male = NAN;

  if (isnan(*age) && isnan(*male) && read_mit(comments, &mit_age, &mit_male)) {
    *age = mit_age;
    *male = mit_male;
  }
}

/* Whether a line of diagnoses has the word: 1 or 0; NaN where there is no such line. */
static double has_word(const char *comments, const char *word)
{
  static const char *const keys[] = {"dx", "diagnosis", "diagnoses"};
  double found = NAN;

  for (int k = 0; k < 3; k++) {
    const char *at = find_value(comments, keys[k]);

    for (; at != NULL; at = find_value(at, keys[k])) {
      const char *end = at + strcspn(at, "\r\n");

      found = isnan(found) ? 0 : found;
      while (at < end) {
        at += strspn(at, " \t,;|");
        const size_t size = strcspn(at, " \t,;|\r\n");

        if (size == strlen(word) && strncasecmp(at, word, size) == 0) {
          found = 1;
        }
        at += size;
        at += at < end && size == 0;
      }
    }
  }
  return found;
}

static weir_status put_number(weir_writer *w, double value)
{
  return isnan(value) ? weir_writer_printf(w, ",") : weir_writer_printf(w, ",%g", value);
}

weir_status ps_attributes_write(const char *out, const char *const *names,
                                const char *const *comments, int64_t n,
                                const weir_string_list *diagnoses)
{
  char path[PS_SITE_PATH];
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;

  for (int64_t k = 0; k < diagnoses->count; k++) {
    const char *word = diagnoses->items[k];
    size_t size = 0;

    while (is_word(word[size])) {
      size++;
    }
    if (size == 0 || word[size] != 0 || size > 32 || diagnoses->count > MAX_WORDS) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "site.diagnoses: at most %d words of letters, digits and '_'", MAX_WORDS);
    }
  }
  WEIR_TRY(weir_path_join(out, "ATTRIBUTES.csv", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &w));
  WEIR_TRY_GOTO(weir_writer_printf(w, "record,age,male"), fail);
  for (int64_t k = 0; k < diagnoses->count; k++) {
    WEIR_TRY_GOTO(weir_writer_printf(w, ",dx_%s", diagnoses->items[k]), fail);
  }
  WEIR_TRY_GOTO(weir_writer_printf(w, "\n"), fail);
  for (int64_t i = 0; i < n; i++) {
    double age = NAN, male = NAN;

    read_person(comments[i], &age, &male);
    WEIR_TRY_GOTO(weir_writer_printf(w, "%s", names[i]), fail);
    WEIR_TRY_GOTO(put_number(w, age), fail);
    WEIR_TRY_GOTO(put_number(w, male), fail);
    for (int64_t k = 0; k < diagnoses->count; k++) {
      WEIR_TRY_GOTO(put_number(w, has_word(comments[i], diagnoses->items[k])), fail);
    }
    WEIR_TRY_GOTO(weir_writer_printf(w, "\n"), fail);
  }
  return weir_writer_commit(&w);
fail:
  weir_writer_destroy(&w);
  return status;
}
