/* fuzz_folder.h - a folder in memory for targets whose readers take paths. */
#ifndef WEIR_FUZZ_FOLDER_H
#define WEIR_FUZZ_FOLDER_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FUZZ_FILES = 4 };

static char fuzz_folder_path[64]; /* empty until the first file */
static char fuzz_folder_files[FUZZ_FILES][96];

static void fuzz_folder_remove(void)
{
  for (int i = 0; i < FUZZ_FILES; i++) {
    if (fuzz_folder_files[i][0]) {
      remove(fuzz_folder_files[i]);
    }
  }
  rmdir(fuzz_folder_path);
}

static void fuzz_folder_create(void)
{
  strcpy(fuzz_folder_path, "/dev/shm/weir-fuzz-XXXXXX");
  if (!mkdtemp(fuzz_folder_path)) {
    strcpy(fuzz_folder_path, "/tmp/weir-fuzz-XXXXXX");
    if (!mkdtemp(fuzz_folder_path)) {
      abort();
    }
  }
  atexit(fuzz_folder_remove);
}

/* Writes file number `index` of the folder; returns its path. */
static const char *fuzz_folder_write(int index, const char *name, const uint8_t *data, size_t size)
{
  if (!fuzz_folder_path[0]) {
    fuzz_folder_create();
  }
  snprintf(fuzz_folder_files[index], sizeof fuzz_folder_files[index], "%s/%s", fuzz_folder_path,
           name);
  FILE *const out = fopen(fuzz_folder_files[index], "wb");

  if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0) {
    abort();
  }
  return fuzz_folder_files[index];
}
#endif
