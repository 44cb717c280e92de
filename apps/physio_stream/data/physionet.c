/* physionet.c - where records of PhysioNet databases are, see checksums.h. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "data/checksums.h"

enum { PART = 128 };
#define PREFIX "physionet:"

static bool is_folder(const char *path)
{
  struct stat info;

  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* What a folder has, for a message; in no order that is promised. */
static void list_folder(const char *path, char *text, size_t size)
{
  DIR *const folder = opendir(path);
  size_t used = 0;

  text[0] = 0;
  for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
    if (e->d_name[0] != '.' && used + strlen(e->d_name) + 8 < size) {
      used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", e->d_name);
    }
  }
  if (folder != NULL) {
    (void)closedir(folder);
  }
}

/* Takes the next part of a name, up to '/'; false where there is none. */
static bool take(const char **at, char part[PART])
{
  const size_t n = strcspn(*at, "/");

  if (n == 0 || n >= PART || (*at)[n] != '/') {
    return false;
  }
  memcpy(part, *at, n);
  part[n] = 0;
  *at += n + 1;
  return true;
}

static weir_status refuse_missing(const char *root, const char *database, const char *version)
{
  char folder[4096], has[512];

  (void)snprintf(folder, sizeof folder, "%s/%s", root, database);
  const bool known = is_folder(folder);

  list_folder(known ? folder : root, has, sizeof has);
  return weir_fail(WEIR_ERR_DATA,
                   "%s has no %s %s (it has: %s): fetch it with `wget -r -N -c -np -nH "
                   "--cut-dirs=1 -P %s https://physionet.org/files/%s/%s/`, or set input.physionet",
                   known ? folder : root, known ? "version" : "database",
                   known ? version : database, has[0] != 0 ? has : "nothing", root, database,
                   version);
}

weir_status ps_physionet_path(const char *root, const char *name, char *path, size_t size)
{
  const char *at = name + strlen(PREFIX);
  char database[PART], version[PART];
  int n = 0;

  if (strncmp(name, PREFIX, strlen(PREFIX)) != 0) {
    n = snprintf(path, size, "%s", name);
    return n >= 0 && (size_t)n < size
               ? WEIR_OK
               : weir_fail(WEIR_ERR_CONFIG, "%.64s...: the path is too long", name);
  }
  if (!take(&at, database) || !take(&at, version) || at[0] == 0 || at[0] == '/' ||
      strstr(name, "..") != NULL) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "'%s' is no record of PhysioNet: expected physionet:DATABASE/VERSION/RECORD",
                     name);
  }
  if (root[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: the folder of PhysioNet databases is not known: set input.physionet",
                     name);
  }
  n = snprintf(path, size, "%s/%s/%s", root, database, version);
  if (n < 0 || (size_t)n + strlen(at) + 2 > size) {
    return weir_fail(WEIR_ERR_CONFIG, "%.64s...: the path is too long", name);
  }
  if (!is_folder(path)) {
    return refuse_missing(root, database, version);
  }
  (void)snprintf(path + n, size - (size_t)n, "/%s", at);
  return WEIR_OK;
}
