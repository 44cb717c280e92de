/* classic_netcdf.c - the header of a file of the classic formats, before the library, which
 * reads a missing end as zeros and trusts damaged numbers (34 GB, indefinitely).
 * Layout: "File Format Specifications", NetCDF Users Guide (CDF-1, 2 and 5). */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/netcdf/netcdf_priv.h"

enum { DIMENSION = 0x0a, VARIABLE = 0x0b, ATTRIBUTE = 0x0c, PAD = 4 };

/* The header, as far as it is read. */
typedef struct header {
  FILE *file;
  int count_bytes, offset_bytes; /* of a number of elements, of an offset */
  int64_t records, record_bytes, n_record_vars;
  int64_t n_dims, capacity;
  int64_t *length; /* [n_dims]; 0: records */
  int64_t end;     /* of all values but those of records */
  int64_t last;    /* of the first record */
  bool sound;      /* false: it ends early, or says what cannot be */
} header;

/* Big-endian number of n bytes; where there is none, 0, and the header is not sound. */
static int64_t number(header *h, int n)
{
  uint64_t value = 0;

  for (int i = 0; i < n; i++) {
    const int c = fgetc(h->file);

    h->sound = h->sound && c != EOF;
    value = value << 8 | (uint64_t)(c & 0xff);
  }
  h->sound = h->sound && value <= INT64_MAX;
  return h->sound ? (int64_t)value : 0;
}

/* All ones, of a file that was streamed: as many as there are, 0 here. */
static int64_t records(header *h)
{
  const int64_t high = h->count_bytes == 8 ? number(h, 4) : 0, low = number(h, 4);

  if (low == UINT32_MAX && (high == 0 || high == UINT32_MAX)) {
    return 0;
  }
  h->sound = h->sound && high <= INT32_MAX;
  return h->sound ? high << 32 | low : 0;
}

static int64_t padded(int64_t bytes)
{
  return (bytes + PAD - 1) / PAD * PAD;
}

static void skip(header *h, int64_t bytes)
{
  h->sound = h->sound && bytes >= 0 && bytes <= INT32_MAX &&
             fseek(h->file, (long)padded(bytes), SEEK_CUR) == 0;
}

/* Elements of a list of this kind. */
static int64_t list(header *h, int kind)
{
  const int64_t tag = number(h, 4), n = number(h, h->count_bytes);

  h->sound = h->sound && (tag == kind || (tag == 0 && n == 0));
  return h->sound ? n : 0;
}

static int64_t type_bytes(int64_t type)
{
  static const int64_t bytes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8}; /* NC_BYTE = 1 ... */

  return type >= 1 && type < (int64_t)(sizeof bytes / sizeof bytes[0]) ? bytes[type] : 0;
}

static void skip_attributes(header *h)
{
  int64_t n = list(h, ATTRIBUTE);

  for (; h->sound && n > 0; n--) {
    int64_t bytes = 0;

    skip(h, number(h, h->count_bytes));
    const int64_t size = type_bytes(number(h, 4));

    h->sound = h->sound && size > 0 && weir_mul_ok(number(h, h->count_bytes), size, &bytes);
    skip(h, bytes);
  }
}

static weir_status take_dims(header *h)
{
  int64_t n = list(h, DIMENSION);

  for (; h->sound && n > 0; n--) {
    skip(h, number(h, h->count_bytes));
    WEIR_TRY(weir_reserve(&h->length, &h->capacity, h->n_dims + 1, sizeof *h->length));
    h->length[h->n_dims++] = number(h, h->count_bytes);
  }
  return WEIR_OK;
}

static void take_variable(header *h)
{
  int64_t n = 0, bytes = 1, end = 0;
  bool of_records = false;

  skip(h, number(h, h->count_bytes));
  n = number(h, h->count_bytes);
  for (int64_t d = 0; h->sound && d < n; d++) {
    const int64_t dim = number(h, h->count_bytes);

    h->sound = h->sound && dim < h->n_dims;
    const int64_t length = h->sound ? h->length[dim] : 0;

    of_records = of_records || (d == 0 && length == 0);
    h->sound = h->sound && weir_mul_ok(bytes, d == 0 && length == 0 ? 1 : length, &bytes);
  }
  skip_attributes(h);
  const int64_t size = type_bytes(number(h, 4));

  (void)number(h, h->count_bytes); /* what it says of its size is truncated to 32 bits */
  const int64_t begin = number(h, h->offset_bytes);

  h->sound = h->sound && size > 0 && weir_mul_ok(bytes, size, &bytes) &&
             weir_add_ok(begin, bytes, &end) && end <= INT64_MAX - PAD;
  if (!h->sound) {
    return;
  }
  if (of_records) {
    h->last = end > h->last ? end : h->last;
    h->n_record_vars++;
    h->sound = weir_add_ok(h->record_bytes, padded(bytes), &h->record_bytes);
  } else {
    h->end = end > h->end ? end : h->end;
  }
}

/* Bytes that the file has to have, as far as the header is sound. */
static weir_status read_header(header *h, int64_t *bytes)
{
  const int version = (int)number(h, 4) & 0xff;
  int64_t n = 0, rest = 0;

  h->count_bytes = version == 5 ? 8 : 4;
  h->offset_bytes = version == 1 ? 4 : 8;
  h->records = records(h);
  WEIR_TRY(take_dims(h));
  skip_attributes(h);
  n = list(h, VARIABLE);
  for (int64_t v = 0; h->sound && v < n; v++) {
    take_variable(h);
  }
  *bytes = h->end;
  if (h->n_record_vars > 0 && h->records > 0) {
    /* a single variable of records has no padding between them */
    const int64_t loose = h->n_record_vars == 1 ? PAD - 1 : 0;

    h->sound = h->sound && weir_mul_ok(h->records - 1, h->record_bytes - loose, &rest) &&
               weir_add_ok(h->last, rest, &rest);
    *bytes = rest > *bytes ? rest : *bytes;
  }
  return WEIR_OK;
}

weir_status weir_netcdf_check_length(const char *path, int64_t size)
{
  header h = {.sound = true};
  int64_t wanted = 0;
  char magic[4] = "";

  h.file = fopen(path, "rb");
  if (h.file == NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot be opened: %m", path);
  }
  weir_status status = WEIR_OK;

  if (fread(magic, 1, 4, h.file) == 4 && memcmp(magic, "CDF", 3) == 0 &&
      (magic[3] == 1 || magic[3] == 2 || magic[3] == 5)) {
    rewind(h.file);
    status = read_header(&h, &wanted);
  }
  (void)fclose(h.file);
  weir_free(&h.length);
  if (status == WEIR_OK && !h.sound) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: the header ends early or is inconsistent: the file is truncated or "
                     "damaged: copy or create it again",
                     path);
  }
  if (status == WEIR_OK && wanted > size) {
    status = weir_fail(WEIR_ERR_DATA,
                       "%s: the file has %lld bytes, its variables need %lld: it is truncated or "
                       "damaged: copy or create it again",
                       path, (long long)size, (long long)wanted);
  }
  return status;
}
