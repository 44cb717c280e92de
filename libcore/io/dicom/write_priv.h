/* write_priv.h - a record that is written as an ECG of DICOM: shared between write.c, which chooses
 * and copies samples, and object.c, which writes the data set. */
#ifndef WEIR_DICOM_WRITE_PRIV_H
#define WEIR_DICOM_WRITE_PRIV_H
#include "io/convert_priv.h"
#include "io/dicom/put.h"

enum {
  WEIR_DICOM_LANES = 96, /* four groups of 24 */
  WEIR_DICOM_SETS = 5,
  WEIR_DICOM_BLOCK = 4096,
  WEIR_DICOM_DS = 17,  /* bytes of a decimal string with its final zero */
  WEIR_DICOM_UID = 48, /* of "2.25." and 128 bits */
};

/* A signal: value = origin + scale * digit. */
typedef struct weir_dicom_lane {
  const weir_signal_info *info;
  int signal;
  bool integers; /* stored ones are written as they are */
  double scale, origin;
  double min, max;   /* of values that are rounded */
  int64_t clipped;   /* of them, beyond the range */
  int32_t low, high; /* digits */
  int64_t present;
  int standard;  /* as weir_dicom_lead_code returns it; 12 of a pressure */
  bool pressure; /* in mmHg; else a lead of an ECG */
  weir_dicom_code source;
} weir_dicom_lane;

/* A multiplex group: the signals of one rate. */
typedef struct weir_dicom_set {
  int64_t fs_num, fs_den, count; /* slots, of the longest signal */
  int n, lanes[WEIR_DICOM_LANES];
  char frequency[40];
  bool padded;
  int32_t padding; /* digit of a missing sample */
} weir_dicom_set;

typedef struct weir_dicom_copy {
  weir_record *r;
  weir_writer *w;
  weir_convert_facts *facts;
  const weir_convert_scale *scale;
  const char *sop_class, *modality;
  int n, n_sets;
  weir_dicom_lane lanes[WEIR_DICOM_LANES];
  weir_dicom_set sets[WEIR_DICOM_SETS];
  char digest[65]; /* of what is written */
  float values[WEIR_DICOM_BLOCK];
  int32_t digits[WEIR_DICOM_BLOCK];
  uint8_t present[WEIR_DICOM_BLOCK];
  uint8_t words[WEIR_DICOM_BLOCK * WEIR_DICOM_LANES * 2];
  uint8_t hashed[64 + 5 * WEIR_DICOM_BLOCK];
} weir_dicom_copy;

/* Reads slots of one signal into `digits` and `present`. */
weir_status weir_dicom_read_block(weir_dicom_copy *c, weir_dicom_lane *l, int64_t at,
                                  int64_t n) WEIR_CHECKED;
/* Continues the digest by `size` bytes, at most 5 WEIR_DICOM_BLOCK. */
void weir_dicom_digest(weir_dicom_copy *c, const void *data, size_t size);
/* A number in the 16 characters of VR DS, with as many digits as they hold. */
void weir_dicom_real_text(double value, char text[WEIR_DICOM_DS]);
/* Writes the whole file. Fails: as weir_record_to_dicom. */
weir_status weir_dicom_put_object(weir_dicom_copy *c, const weir_record_events *events,
                                  const char *comments) WEIR_CHECKED;
#endif
