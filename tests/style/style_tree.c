/* style_tree.c - the files of the project below a root. */
#include "style.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXT_LIMIT = 2 << 20 };

static const char *const suffixes[] = {".c",   ".h",         ".cu",  ".cuh",  ".md",   ".sh",
                                       ".awk", ".cmake",     ".txt", ".yaml", ".json", ".env",
                                       "/run", "/terms.csv", ".cc",  NULL};

static bool is_text(const char *path)
{
  for (const char *const *s = suffixes; *s; s++) {
    if (style_ends(path, *s)) {
      return true;
    }
  }
  return false;
}

static void fail_read(const char *path)
{
  perror(path);
  exit(1);
}

static void read_file(style_tree *tree, const char *root, const char *path, long size)
{
  char full[1200];

  snprintf(full, sizeof full, "%s/%s", root, path);
  tree->files = style_grow(tree->files, tree->n_files, sizeof *tree->files);
  style_file *f = &tree->files[tree->n_files++];
  snprintf(f->path, sizeof f->path, "%s", path);
  f->is_c = style_ends(path, ".c") || style_ends(path, ".h") || style_ends(path, ".cu") ||
            style_ends(path, ".cuh") || style_ends(path, ".cc");
  f->text = malloc((size_t)size + 1);
  FILE *in = fopen(full, "rb");
  if (!f->text || !in) {
    fail_read(full);
    return;
  }
  f->size = (long)fread(f->text, 1, (size_t)size, in);
  f->text[f->size] = 0;
  fclose(in);
  for (const char *p = f->text; (p = strchr(p, '\n')) != NULL; p++) {
    f->lines++;
  }
  if (f->is_c) {
    style_lex(f);
    style_parse(f);
  }
}

/* Build trees, results and what git keeps do not belong to the project. */
static bool is_foreign(const char *path)
{
  static const char *const foreign[] = {"build", "out", ".git", ".cache", NULL};

  for (const char *const *name = foreign; *name; name++) {
    if (strcmp(path, *name) == 0) {
      return true;
    }
  }
  return false;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
  return strcmp((*a)->d_name, (*b)->d_name);
}

static void walk(style_tree *tree, const char *root, const char *below)
{
  char full[1200];
  struct dirent **entries = NULL;

  snprintf(full, sizeof full, "%s/%s", root, below);
  const int n = scandir(full, &entries, NULL, by_name);
  if (n < 0) {
    fail_read(full);
  }
  for (int i = 0; i < n; i++) {
    char path[512];
    struct stat info;
    const char *name = entries[i]->d_name;

    const int length = snprintf(path, sizeof path, "%s%s%s", below, *below ? "/" : "", name);
    snprintf(full, sizeof full, "%s/%s", root, path);
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || length >= (int)sizeof path ||
        is_foreign(path) || lstat(full, &info) != 0) {
      free(entries[i]);
      continue;
    }
    if (S_ISDIR(info.st_mode)) {
      walk(tree, root, path);
    } else if (S_ISREG(info.st_mode) && info.st_size <= TEXT_LIMIT && is_text(path)) {
      read_file(tree, root, path, (long)info.st_size);
    }
    free(entries[i]);
  }
  free(entries);
}

void style_tree_read(style_tree *tree, const char *root)
{
  memset(tree, 0, sizeof *tree);
  walk(tree, root, "");
}

void style_tree_free(style_tree *tree)
{
  for (int i = 0; i < tree->n_files; i++) {
    style_file *f = &tree->files[i];
    free(f->text);
    free(f->tokens);
    free(f->comments);
    free(f->includes);
    free(f->statements);
  }
  free(tree->files);
  memset(tree, 0, sizeof *tree);
}
