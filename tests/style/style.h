/* style.h - the style test: rules of the code that a compiler does not know, checked on every file.
 *
 * A file is read once into tokens, comments, includes and functions; a check looks at one file or
 * at the whole tree and records findings. `style ROOT` checks a tree; `style --self-test` plants
 * one violation of each rule in a scratch tree and expects exactly that finding. */
#ifndef STYLE_H
#define STYLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum style_kind { STYLE_WORD, STYLE_NUMBER, STYLE_TEXT, STYLE_PUNCT } style_kind;

typedef struct style_token {
  style_kind kind;
  const char *at; /* in the file's text */
  int length, line;
  int depth;      /* braces open before it; those of extern "C" do not count */
  bool directive; /* part of a preprocessor line */
} style_token;

typedef struct style_lines {
  int first, last;
} style_lines;

typedef struct style_include {
  char target[160];
  bool angled;
  int line;
} style_include;

/* A statement at file scope: tokens [first, end); a function's body is tokens (open, close). */
typedef struct style_statement {
  int first, end;
  int open, close; /* of a function body; -1 where there is none */
  int parens;      /* the '(' of its parameter list or function pointer; -1 */
  char name[80];   /* of the function, where parens >= 0 */
} style_statement;

typedef struct style_file {
  char path[512]; /* below the root */
  char *text;
  long size;
  int lines;
  bool is_c;
  style_token *tokens;
  style_lines *comments;
  style_include *includes;
  style_statement *statements;
  int n_tokens, n_comments, n_includes, n_statements;
} style_file;

typedef struct style_tree {
  style_file *files;
  int n_files;
} style_tree;

/* What one run found. The health numbers are printed whether or not they fail. */
typedef struct style_report {
  FILE *out; /* NULL: findings are only counted */
  int *found;
  int check; /* the check that runs now */
  int longest_file, longest_function;
  char longest_file_path[512], longest_function_name[600];
  int long_files, long_functions, many_parameters;
  int have_uses, env_uses, mutable_variables, no_contract, no_help, readme_off, untested,
      dtype_switches, dtype_strays, uncalled, fullest_folder;
} style_report;

/* Counts and prints one violation of the running check. */
void style_find(style_report *r, const style_file *f, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads every text file below root that belongs to the project. Exits when memory or a read fails.
 */
void style_tree_read(style_tree *tree, const char *root);
void style_tree_free(style_tree *tree);
/* Splits f->text into tokens, comments, includes and statements. */
void style_lex(style_file *f);
void style_parse(style_file *f);
/* Zeroed memory for one more element at the end of an array; exits when there is none. */
void *style_grow(void *array, int count, size_t size);

bool style_is(const style_token *t, const char *word);
bool style_one_of(const style_token *t, const char *const *words);
bool style_starts(const char *text, const char *prefix);
bool style_ends(const char *text, const char *suffix);
/* The file name within a path. */
const char *style_base(const char *path);
/* Tests next to the code and below tests/ may do what the library may not. */
bool style_is_test(const style_file *f);
/* The statement declares or defines a function, whose name stands before s->parens. */
bool style_is_function(const style_file *f, const style_statement *s);

/* One rule. A check has `file` or `tree`; findings of an advisory one are printed, and do not fail.
 */
typedef struct style_check {
  const char *name, *rule;
  bool advisory;
  void (*file)(const style_file *f, style_report *r);
  void (*tree)(const style_tree *t, style_report *r);
} style_check;
extern const style_check style_checks[];
/* Runs every check; returns the number of findings that fail. r->found must hold one count a check.
 */
int style_run(const style_tree *tree, style_report *r);
int style_check_count(void);

/* Returns whether an include line that says `target` can mean the file at `path`. */
bool style_can_mean(const char *target, const char *path);
/* Sets used[i] of each file of programs: sources that are no tests, and headers that they include;
 * used[n_files], all false before. */
void style_mark_programs(const style_tree *t, bool *used);
enum { STYLE_MODULES = 19 }; /* of libcore */
/* Returns the level of a module, and sets listed[its number], unless listed is NULL; -1: there is
 * no such module. */
int style_level(const char *module, size_t length, bool *listed);

/* One planted violation a rule. Returns 0 when each is found and nothing else is. */
int style_self_test(void);

void style_layers(const style_file *f, style_report *r);
void style_levels(const style_tree *t, style_report *r);
void style_cycles(const style_tree *t, style_report *r);
void style_support(const style_tree *t, style_report *r);
void style_folders(const style_tree *t, style_report *r);
void style_external(const style_file *f, style_report *r);
void style_printing(const style_file *f, style_report *r);
void style_exits(const style_file *f, style_report *r);
void style_environment(const style_file *f, style_report *r);
void style_threads(const style_file *f, style_report *r);
void style_variables(const style_file *f, style_report *r);
void style_length(const style_file *f, style_report *r);
void style_columns(const style_file *f, style_report *r);
void style_names(const style_file *f, style_report *r);
void style_unfinished(const style_file *f, style_report *r);
void style_paths(const style_file *f, style_report *r);
void style_records(const style_file *f, style_report *r);
void style_assertions(const style_file *f, style_report *r);
void style_contracts(const style_file *f, style_report *r);
void style_prefix(const style_file *f, style_report *r);
void style_help(const style_file *f, style_report *r);
void style_readmes(const style_tree *t, style_report *r);
void style_links(const style_tree *t, style_report *r);
void style_have(const style_tree *t, style_report *r);
void style_registries(const style_tree *t, style_report *r);
void style_dtypes(const style_tree *t, style_report *r);
void style_callers(const style_tree *t, style_report *r);
void style_terms(const style_tree *t, style_report *r);
#endif
