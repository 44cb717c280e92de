/* seed.c - the files of one name, centres and cell. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_units.h"
#include "io/wannier/wannier_priv.h"

enum { MAX_ATOMS = 10000000 };

static bool is_word(weir_csv_field f, const char *word)
{
  return (size_t)f.size == strlen(word) && strncasecmp(f.at, word, (size_t)f.size) == 0;
}

/* A line "X x y z" is a centre, any other symbol an atom. */
static weir_status read_site(weir_io_numbers *t, weir_wannier *w, int64_t *centres,
                             int64_t max_atoms)
{
  weir_wannier_atom atom = {.symbol = ""};
  weir_csv_field symbol;
  bool found = false;

  WEIR_TRY(weir_io_numbers_row(t, "the last centre"));
  WEIR_TRY(weir_io_numbers_word(t, &symbol, &found));
  for (int d = 0; d < 3; d++) {
    WEIR_TRY(weir_io_numbers_real(t, "a coordinate", &atom.position[d]));
  }
  WEIR_TRY(weir_io_numbers_row_end(t));
  if (is_word(symbol, "X")) {
    if (*centres == w->n) {
      return weir_io_numbers_refuse(t, "more centres than the %lld functions of the Hamiltonian",
                                    (long long)w->n);
    }
    memcpy(w->centre[(*centres)++], atom.position, sizeof atom.position);
    return WEIR_OK;
  }
  if (symbol.size >= (int64_t)sizeof atom.symbol || w->n_atoms == max_atoms) {
    return weir_io_numbers_refuse(t, "unknown chemical symbol '%.*s', or an atom too many",
                                  (int)(symbol.size < 40 ? symbol.size : 40), symbol.at);
  }
  memcpy(atom.symbol, symbol.at, (size_t)symbol.size);
  w->atom[w->n_atoms++] = atom;
  return WEIR_OK;
}

static weir_status read_sites(weir_io_numbers *t, weir_wannier *w)
{
  int64_t count = 0, centres = 0;

  WEIR_TRY(weir_io_numbers_row(t, "the number of centres and atoms"));
  WEIR_TRY(weir_io_numbers_int(t, "the number of centres and atoms", w->n, MAX_ATOMS, &count));
  WEIR_TRY(weir_io_numbers_row_end(t));
  WEIR_TRY(weir_io_numbers_claim(t, "centres and atoms", count, 8));
  WEIR_TRY(weir_io_numbers_line(t, "the second line, a comment"));
  weir_free(&w->centre);
  weir_free(&w->atom);
  w->n_atoms = 0;
  WEIR_TRY(weir_alloc(w->n, sizeof *w->centre, (void **)&w->centre));
  WEIR_TRY(weir_alloc(count - w->n, sizeof *w->atom, (void **)&w->atom));
  for (int64_t i = 0; i < count; i++) {
    WEIR_TRY(read_site(t, w, &centres, count - w->n));
  }
  return weir_io_numbers_end(t);
}

weir_status weir_wannier_read_centres(const char *path, weir_wannier *w)
{
  weir_io_numbers *t = NULL;

  WEIR_TRY(weir_io_numbers_open(path, &t));
  const weir_status status = read_sites(t, w);

  weir_io_numbers_close(&t);
  return status;
}

/* The next line of a .win file, without its comment. */
static weir_status next_line(weir_io_numbers *t)
{
  WEIR_TRY(weir_io_numbers_line(t, "the end of the block unit_cell_cart"));
  for (int64_t i = 0; i < t->rest.size; i++) {
    if (t->rest.at[i] == '!' || t->rest.at[i] == '#') {
      t->rest.size = i;
    }
  }
  return WEIR_OK;
}

/* "begin unit_cell_cart", also "begin: unit_cell_cart". */
static weir_status is_cell(weir_io_numbers *t, bool *yes)
{
  weir_csv_field word, name;
  bool first = false, second = false;

  WEIR_TRY(weir_io_numbers_word(t, &word, &first));
  WEIR_TRY(weir_io_numbers_word(t, &name, &second));
  if (second && (is_word(name, ":") || is_word(name, "="))) {
    WEIR_TRY(weir_io_numbers_word(t, &name, &second));
  }
  *yes = first && second && word.size >= 5 && strncasecmp(word.at, "begin", 5) == 0 &&
         (word.size == 5 || strchr(":=", word.at[5])) && is_word(name, "unit_cell_cart");
  return WEIR_OK;
}

/* "spinors = .true.", also with ":" or a blank; as Wannier90 reads it, any value with a T is true,
 * any other with an F false. Leaves other lines alone. */
static weir_status read_spinors(weir_io_numbers *t, weir_wannier *w)
{
  static const char word[] = "spinors";
  const int64_t size = (int64_t)sizeof word - 1;

  if (weir_io_numbers_at_end(t) || t->rest.size <= size ||
      strncasecmp(t->rest.at, word, (size_t)size) != 0 || !strchr(" \t=:", t->rest.at[size])) {
    return WEIR_OK;
  }
  bool is_false = false;

  w->spinors = false;
  for (int64_t i = size; i < t->rest.size; i++) {
    w->spinors = w->spinors || strchr("tT", t->rest.at[i]) != NULL;
    is_false = is_false || strchr("fF", t->rest.at[i]) != NULL;
  }
  return w->spinors || is_false ? WEIR_OK
                                : weir_io_numbers_refuse(t, "spinors is neither true nor false");
}

static weir_status read_cell(weir_io_numbers *t, weir_wannier *w)
{
  double unit = 1;
  int vectors = 0;

  while (vectors < 3) {
    WEIR_TRY(next_line(t));
    const weir_csv_field whole = t->rest;
    weir_csv_field word;
    bool found = false;

    WEIR_TRY(weir_io_numbers_word(t, &word, &found));
    if (found && vectors == 0 && is_word(word, "bohr")) {
      unit = WEIR_BOHR;
    } else if (found && (vectors > 0 || (!is_word(word, "ang") && !is_word(word, "angstrom")))) {
      t->rest = whole;
      for (int d = 0; d < 3; d++) {
        WEIR_TRY(weir_io_numbers_real(t, "a component of the cell", &w->cell[vectors][d]));
        w->cell[vectors][d] *= unit;
      }
      WEIR_TRY(weir_io_numbers_row_end(t));
      vectors++;
    }
  }
  w->has_cell = true;
  return WEIR_OK;
}

weir_status weir_wannier_read_win(const char *path, weir_wannier *w)
{
  weir_io_numbers *t = NULL;
  weir_status status = WEIR_OK;
  bool found = false;

  WEIR_TRY(weir_io_numbers_open(path, &t));
  while (t->lines.offset < t->lines.size) {
    bool here = false;

    WEIR_TRY_GOTO(next_line(t), done);
    WEIR_TRY_GOTO(read_spinors(t, w), done);
    WEIR_TRY_GOTO(is_cell(t, &here), done);
    if (here) {
      WEIR_TRY_GOTO(read_cell(t, w), done);
    }
    found = found || here;
  }
  if (!found) {
    status = weir_fail(WEIR_ERR_DATA, "%s: there is no block 'begin unit_cell_cart'", path);
  }
done:
  weir_io_numbers_close(&t);
  return status;
}

static weir_status join(const char *seed, const char *end, char *path, size_t size)
{
  if ((size_t)snprintf(path, size, "%s%s", seed, end) >= size) {
    return weir_fail(WEIR_ERR_CONFIG, "%.80s...%s: the path is too long", seed, end);
  }
  return WEIR_OK;
}

static weir_status read_hoppings(const char *seed, char *path, size_t size, weir_wannier *out)
{
  WEIR_TRY(join(seed, "_tb.dat", path, size));
  if (weir_file_exists(path)) {
    char hr[4096];

    WEIR_TRY(join(seed, "_hr.dat", hr, sizeof hr));
    return weir_file_exists(hr) ? weir_wannier_read_hr(hr, out) : weir_wannier_read_tb(path, out);
  }
  WEIR_TRY(join(seed, "_hr.dat", path, size));
  return weir_wannier_read_hr(path, out);
}

weir_status weir_wannier_read(const char *seed, bool shifts, weir_wannier *out)
{
  const struct {
    const char *end;
    weir_status (*read)(const char *path, weir_wannier *w);
    bool wanted;
  } files[] = {{"_wsvec.dat", weir_wannier_read_shifts, shifts},
               {"_centres.xyz", weir_wannier_read_centres, true},
               {".win", weir_wannier_read_win, true}};
  char path[4096];
  weir_status status = WEIR_OK;

  *out = (weir_wannier){.n = 0};
  WEIR_TRY(read_hoppings(seed, path, sizeof path, out));
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    WEIR_TRY_GOTO(join(seed, files[i].end, path, sizeof path), failed);
    if (files[i].wanted && weir_file_exists(path)) {
      WEIR_TRY_GOTO(files[i].read(path, out), failed);
    }
  }
  return WEIR_OK;
failed:
  weir_wannier_fini(out);
  return status;
}
