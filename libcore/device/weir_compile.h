/* weir_compile.h - the system's C compiler: libraries built from source text at run time. */
#ifndef WEIR_COMPILE_H
#define WEIR_COMPILE_H
#include <stdbool.h>

#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_compiler {
  const char *command;      /* a path, or a name searched for in PATH */
  const char *const *flags; /* at most 32, including those that select a library */
  int n_flags, n_tuning;    /* the first n_tuning are omitted where the compiler refuses them */
  bool keep; /* libraries stay in memory and in the user's folder of weir_objects.h: no text is
              * compiled twice with the same `flags`, nor by another program */
} weir_compiler;

/* Path of a command (NULL or empty: cc; one with a slash is taken as it is), and text that changes
 * when the program does. Fails: WEIR_ERR_UNSUPPORTED. */
weir_status weir_compiler_find(const char *command, char path[4096],
                               char identity[256]) WEIR_CHECKED;

/* Compiles n texts at once into libraries in a new private folder (mode 0700) under TMPDIR, which
 * the caller removes with weir_compile_remove whenever folder[0] != 0. Fails: WEIR_ERR_UNSUPPORTED
 * with the first kilobyte of the compiler output, WEIR_ERR_MEMORY. */
weir_status weir_compile(const weir_compiler *compiler, const char *const *texts, int n,
                         char folder[4096]) WEIR_CHECKED;
/* Writes the path of the library of text k. */
void weir_compiled_path(const char *folder, int k, char path[4096]);
void weir_compile_remove(const char *folder, int n);

#ifdef __cplusplus
}
#endif
#endif
