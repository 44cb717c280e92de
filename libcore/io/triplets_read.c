/* triplets_read.c - a matrix of any format, recognised by its first bytes. */
#include <ctype.h>
#include <string.h>
#include <unistd.h>
#include "io/io_numbers.h"
#include "io/io_priv.h"
#include "io/weir_triplets.h"

enum { HEAD = 24 };

static weir_status read_head(const char *path, unsigned char head[HEAD], int64_t *size)
{
  int fd = -1;

  WEIR_TRY(weir_io_open(path, &fd, size));
  *size = *size < HEAD ? *size : HEAD;
  const weir_status status = weir_io_pread(fd, path, head, (size_t)*size, 0);

  close(fd);
  return status;
}

static bool is_text(const unsigned char *head, int64_t size)
{
  for (int64_t i = 0; i < size; i++) {
    if (!isprint(head[i]) && !isspace(head[i])) {
      return false;
    }
  }
  return size > 0;
}

/* The text version of H_4.bin begins with a number, files of Wannier90 with a comment. */
static bool begins_with_number(const unsigned char *head, int64_t size)
{
  int64_t i = 0;

  while (i < size && isspace(head[i])) {
    i++;
  }
  return i < size && isdigit(head[i]);
}

weir_status weir_triplets_read_cells(const char *path, weir_triplets out[2], int *count)
{
  static const unsigned char petsc[] = {0, 0x12, 0x7b, 0x50};
  static const unsigned char wide[] = {0, 0, 0, 0, 0, 0x12, 0x7b, 0x50};
  unsigned char head[HEAD] = {0};
  int64_t size = 0;

  out[0] = out[1] = (weir_triplets){.rows = 0};
  WEIR_TRY(read_head(path, head, &size));
  *count = 1;
  if (memcmp(head, "%%MatrixMarket", 14) == 0) {
    return weir_matrix_market_read(path, out);
  }
  if (memcmp(head, petsc, sizeof petsc) == 0 || memcmp(head, wide, sizeof wide) == 0) {
    return weir_petsc_binary_read(path, out);
  }
  return is_text(head, size) && !begins_with_number(head, size)
             ? weir_wannier_read_ht(path, out, count)
             : weir_omen_read(path, out);
}

weir_status weir_triplets_read(const char *path, weir_triplets *out)
{
  weir_triplets t[2];
  int count = 0;

  *out = (weir_triplets){.rows = 0};
  WEIR_TRY(weir_triplets_read_cells(path, t, &count));
  if (count == 2) {
    weir_triplets_fini(&t[0]);
    weir_triplets_fini(&t[1]);
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: contains a cell and its coupling, as leads do, but one matrix is expected here", path);
  }
  *out = t[0];
  return WEIR_OK;
}
