/* dicom_objects.h - waveform objects put together by the tests of DICOM in one buffer, written to
 * one path, and opened or refused. */
#ifndef WEIR_DICOM_OBJECTS_H
#define WEIR_DICOM_OBJECTS_H
#include "support/io/dicom_make.h"
#include "support/io/io_test.h"

#define GENERAL_ECG "1.2.840.10008.5.1.4.1.1.9.1.2"
#define SECOND INT64_C(1000000000)

static char path[512];
static dicom_file file;

/* What one channel states; NULL: nothing. */
typedef struct channel {
  const char *code, *label, *sensitivity, *correction, *baseline, *unit, *skew;
} channel;

/* A group of samples 0, 1, 2... in order of the data, in `type`. */
typedef struct group {
  const char *originality, *type, *frequency, *offset;
  int channels, samples, bits;
  int32_t first;   /* value of the first sample */
  int32_t padding; /* 0: none */
} group;

static const channel lead_ii = {"2:2", NULL, "2.5", "1.01", "10", "uV", "0"};
static const group plain = {"ORIGINAL", "SS", "500", NULL, 2, 10, 16, -5, 0};

static inline void text_unless_null(int group_number, int element, const char *vr, const char *text)
{
  if (text != NULL) {
    dicom_text(&file, group_number, element, vr, text);
  }
}

static inline void add_channel(const channel *c)
{
  dicom_item(&file);
  text_unless_null(0x003a, 0x0203, "SH", c->label);
  dicom_code(&file, 0x003a, 0x0208, c->code, "MDC", "Lead");
  text_unless_null(0x003a, 0x0210, "DS", c->sensitivity);
  if (c->unit != NULL) {
    dicom_code(&file, 0x003a, 0x0211, c->unit, "UCUM", "unit");
  }
  text_unless_null(0x003a, 0x0212, "DS", c->correction);
  text_unless_null(0x003a, 0x0213, "DS", c->baseline);
  text_unless_null(0x003a, 0x0215, "DS", c->skew);
  dicom_text(&file, 0x003a, 0x0220, "DS", "0.05");
  dicom_text(&file, 0x003a, 0x0221, "DS", "150");
  dicom_text(&file, 0x003a, 0x0222, "DS", "0");
  dicom_item_end(&file);
}

static inline void add_group(const group *g, const channel *c)
{
  const int bytes = g->bits / 8;
  int32_t values[256];

  for (int i = 0; i < g->channels * g->samples; i++) {
    values[i] = g->first + i;
  }
  dicom_item(&file);
  text_unless_null(0x0018, 0x1068, "DS", g->offset);
  dicom_text(&file, 0x003a, 0x0004, "CS", g->originality);
  dicom_int(&file, 0x003a, 0x0005, "US", g->channels);
  dicom_int(&file, 0x003a, 0x0010, "UL", g->samples);
  dicom_text(&file, 0x003a, 0x001a, "DS", g->frequency);
  dicom_begin(&file, 0x003a, 0x0200);
  for (int k = 0; k < g->channels; k++) {
    add_channel(&c[k]);
  }
  dicom_end(&file);
  dicom_int(&file, 0x5400, 0x1004, "US", g->bits);
  dicom_text(&file, 0x5400, 0x1006, "CS", g->type);
  if (g->padding != 0) {
    dicom_ints(&file, 0x5400, 0x100a, bytes == 1 ? "OB" : "OW", bytes, &g->padding, 1);
  }
  dicom_ints(&file, 0x5400, 0x1010, bytes == 1 ? "OB" : "OW", bytes, values,
             (int64_t)g->channels * g->samples);
  dicom_item_end(&file);
}

static inline void start(weir_dicom_syntax syntax)
{
  dicom_start(&file, syntax, GENERAL_ECG);
  dicom_text(&file, 0x0008, 0x002a, "DT", "20240229101500.25+0100");
  dicom_text(&file, 0x0010, 0x0010, "PN", "Doe^J\xe4ne");
}

static inline void one_group(weir_dicom_syntax syntax, const group *g, const channel *c)
{
  start(syntax);
  dicom_begin(&file, 0x5400, 0x0100);
  add_group(g, c);
  dicom_end(&file);
}

static inline weir_record *opened(void)
{
  weir_record *r = NULL;

  dicom_write(&file, path);
  weir_log_set_level(WEIR_LOG_ERROR);
  assert_ok(weir_record_open(path, NULL, &r));
  weir_log_set_level(WEIR_LOG_INFO);
  return r;
}

/* To channel `number` of the group, 0 for all of them. */
static inline void add_note_to(int number, const char *text, const char *name, const char *range,
                               int group_number, const int32_t *places, int n, const char *seconds)
{
  const int32_t of[] = {group_number, number};

  dicom_item(&file);
  if (name != NULL) {
    dicom_code(&file, 0x0040, 0xa043, "1", "SCPECG", name);
  }
  dicom_ints(&file, 0x0040, 0xa0b0, "US", 2, of, 2);
  text_unless_null(0x0040, 0xa130, "CS", range);
  if (n > 0) {
    dicom_ints(&file, 0x0040, 0xa132, "UL", 4, places, n);
  }
  text_unless_null(0x0040, 0xa138, "DS", seconds);
  text_unless_null(0x0070, 0x0006, "ST", text);
  dicom_item_end(&file);
}

static inline void add_note(const char *text, const char *name, const char *range, int group_number,
                            const int32_t *places, int n, const char *seconds)
{
  add_note_to(0, text, name, range, group_number, places, n, seconds);
}

static inline void assert_refused(weir_status want, const char *reason)
{
  const int64_t before = weir_alloc_bytes();
  weir_record *r = NULL;

  dicom_write(&file, path);
  assert_int_equal(weir_record_open(path, NULL, &r), want);
  if (strstr(weir_last_message(), reason) == NULL) {
    fail_msg("%s", weir_last_message());
  }
  assert_null(r);
  assert_int_equal(weir_alloc_bytes(), before);
}
#endif
