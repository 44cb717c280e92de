/* style.c - runs every rule over a tree and prints the numbers that reviewers watch. */
#include "style.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const style_check style_checks[] = {
    {"layers", "a module includes modules of lower levels only", false, style_layers, style_levels},
    {"cycles", "no files of a module or an app include one another in a cycle", false, NULL,
     style_cycles},
    {"support", "what tests alone include stands in tests/support", false, NULL, style_support},
    {"folders", "a folder directly contains at most 32 production files", false, NULL,
     style_folders},
    {"external", "a library's header is included where the architecture says", false,
     style_external, NULL},
    {"printing", "libcore prints through the log or a FILE passed in", false, style_printing, NULL},
    {"exits", "only main ends the program", false, style_exits, NULL},
    {"environment", "environment variables are read in conf alone", false, style_environment, NULL},
    {"threads", "threads are in device alone", false, style_threads, NULL},
    {"variables", "no variable outlives a call and can change", false, style_variables, NULL},
    {"length", "files and functions stay readable", false, style_length, NULL},
    {"columns", "code stays within 100 columns", false, style_columns, NULL},
    {"names", "names say what a thing holds", false, style_names, NULL},
    {"unfinished", "nothing is left for later", false, style_unfinished, NULL},
    {"paths", "no path of one machine", false, style_paths, NULL},
    {"records", "no recorded data is known by name", false, style_records, NULL},
    {"assertions", "each test asserts something", false, style_assertions, NULL},
    {"contracts", "each public function has a contract comment", false, style_contracts, NULL},
    {"prefix", "public names of libcore start with weir_", false, style_prefix, NULL},
    {"help", "each option has help", false, style_help, NULL},
    {"readmes", "each module and app has a README.md", true, NULL, style_readmes},
    {"links", "what the pages name stands where they say", true, NULL, style_links},
    {"have", "a dependency is known to one file", false, NULL, style_have},
    {"registries", "members of registries without a test of their own are counted", false, NULL,
     style_registries},
    {"dtypes", "a switch over dtypes stands in base, in device or where files are written", false,
     NULL, style_dtypes},
    {"callers", "a program calls each public function", false, NULL, style_callers},
    {"terms", "standard terms, not the words that they replaced (terms.csv)", false, NULL,
     style_terms},
    {NULL, NULL, false, NULL, NULL},
};

int style_check_count(void)
{
  int n = 0;

  while (style_checks[n].name) {
    n++;
  }
  return n;
}

void style_find(style_report *r, const style_file *f, int line, const char *format, ...)
{
  va_list args;

  r->found[r->check]++;
  if (!r->out) {
    return;
  }
  fprintf(r->out, "%s:%d: %s%s: ", f->path, line, style_checks[r->check].advisory ? "advice: " : "",
          style_checks[r->check].name);
  va_start(args, format);
  vfprintf(r->out, format, args);
  va_end(args);
  fputc('\n', r->out);
}

int style_run(const style_tree *tree, style_report *r)
{
  int findings = 0;

  for (int c = 0; style_checks[c].name; c++) {
    r->check = c;
    if (style_checks[c].tree) {
      style_checks[c].tree(tree, r);
    }
    for (int i = 0; style_checks[c].file && i < tree->n_files; i++) {
      style_checks[c].file(&tree->files[i], r);
    }
    findings += style_checks[c].advisory ? 0 : r->found[c];
  }
  return findings;
}

static void print_health(const style_report *r, int files)
{
  printf("files read %d\n", files);
  printf("longest file %d lines (%s); over 600: %d\n", r->longest_file, r->longest_file_path,
         r->long_files);
  printf("longest function %d lines, %s; over 60: %d\n", r->longest_function,
         r->longest_function_name, r->long_functions);
  printf("functions with more than 6 parameters %d\n", r->many_parameters);
  printf("most production files in a folder %d\n", r->fullest_folder);
  printf("uses of WEIR_HAVE_ %d\n", r->have_uses);
  printf("getenv outside conf %d\n", r->env_uses);
  printf("mutable variables that outlive a call %d\n", r->mutable_variables);
  printf("options without help %d\n", r->no_help);
  printf("public functions without a contract comment %d\n", r->no_contract);
  printf("modules whose README.md does not have 10-20 lines %d\n", r->readme_off);
  printf("switches over dtypes %d, not where they belong %d\n", r->dtype_switches, r->dtype_strays);
  printf("public functions that no program calls %d\n", r->uncalled);
  printf("members of registries without a test next to them %d\n", r->untested);
}

static int check_root(const char *root)
{
  style_tree tree;
  int *found = calloc((size_t)style_check_count(), sizeof *found);
  style_report report = {.out = stdout, .found = found};

  if (!found) {
    return EXIT_FAILURE;
  }
  style_tree_read(&tree, root);
  const int findings = style_run(&tree, &report);
  print_health(&report, tree.n_files);
  printf("%d findings that fail\n", findings);
  const bool empty = tree.n_files == 0;
  style_tree_free(&tree);
  free(found);
  return findings == 0 && !empty ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
  if (argc == 2 && strcmp(argv[1], "--self-test") == 0) {
    return style_self_test();
  }
  if (argc != 2) {
    fprintf(stderr, "usage: style ROOT | style --self-test\n");
    return 2;
  }
  return check_root(argv[1]);
}
