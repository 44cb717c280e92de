/* sierra_priv.h - resting ECGs of Philips, XML with the root restingecgdata. Sources: the schemas
 * of Philips, SierraECGSchema 1.03 and PhilipsECG 1.04.01, as sierra-ecg-tools (C. A. Watford, MIT
 * licence) publishes them with a description of the compression XLI and of the limb leads. */
#ifndef WEIR_SIERRA_PRIV_H
#define WEIR_SIERRA_PRIV_H
#include "io/xml/weir_leads.h"

/* Parses a file: the leads of its parsedwaveforms, and pace pulses as events. Fails: as
 * weir_xml_read, for what is malformed or has a meaning that is not documented with the line. */
weir_status weir_sierra_parse(const char *path, weir_leads *out) WEIR_CHECKED;

/* A lead of XLI, from the beginning of data[0, size): a head of eight bytes, low byte first (bytes
 * that follow it, 32 bits; 16 bits without a known meaning; a first difference d, 16 bits, signed),
 * then codes of LZW of ten bits, high bit first, of which 1023 ends the text and 256 to 1022 are
 * strings. The text has the high bytes of n numbers r, then their low bytes. Samples are
 *   x_0 = r_0,  x_1 = r_1,  x_i = 2 x_(i-1) - x_(i-2) - e_(i-1),  e_1 = d,  e_i = r_i - 64.
 * samples[0, n) are set. Returns NULL and the bytes of the lead in *used, or what is wrong. */
const char *weir_sierra_xli(const uint8_t *data, int64_t size, int32_t *samples, int64_t n,
                            int64_t *used);
/* The leads III, aVR, aVL and aVF of XLI hold differences from what I and II predict:
 *   III = II - I - r,  aVR = -(I + II)/2 - r,  aVL = (I - III)/2 - r,  aVF = (II + III)/2 - r,
 * halves rounded towards 0. `lead` is that of I, II, III, aVR, aVL, aVF. */
void weir_sierra_limb_leads(int32_t *lead[6], int64_t n);
#endif
