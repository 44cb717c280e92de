/* put.h - elements of a DICOM data set that is written; tags are 0xGGGGEEEE. All fail as
 * weir_writer_write. */
#ifndef WEIR_DICOM_PUT_H
#define WEIR_DICOM_PUT_H
#include "base/weir_file.h"
#include "io/dicom/dicom_priv.h"

/* Tag, VR ("" of an item) and length in bytes; the value follows. */
weir_status weir_dicom_put_head(weir_writer *w, uint32_t tag, const char *vr,
                                uint32_t length) WEIR_CHECKED;
/* A text that fits its VR, filled up to an even length; "" is an element without a value. */
weir_status weir_dicom_put_text(weir_writer *w, uint32_t tag, const char *vr,
                                const char *text) WEIR_CHECKED;
/* n numbers of VR US or UL, and one. */
weir_status weir_dicom_put_ints(weir_writer *w, uint32_t tag, const char *vr,
                                const uint32_t *values, int n) WEIR_CHECKED;
weir_status weir_dicom_put_int(weir_writer *w, uint32_t tag, const char *vr,
                               uint32_t value) WEIR_CHECKED;
weir_status weir_dicom_begin_sequence(weir_writer *w, uint32_t tag) WEIR_CHECKED;
weir_status weir_dicom_begin_item(weir_writer *w) WEIR_CHECKED;
weir_status weir_dicom_end_item(weir_writer *w) WEIR_CHECKED;
weir_status weir_dicom_end_sequence(weir_writer *w) WEIR_CHECKED;
/* A sequence of one code. */
weir_status weir_dicom_put_code(weir_writer *w, uint32_t tag,
                                const weir_dicom_code *c) WEIR_CHECKED;
#endif
