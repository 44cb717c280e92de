/* muse_priv.h - exports of the MUSE cardiology information system (GE), XML with the root
 * RestingECG. Sources: the table of attributes of ecg2dcm 1.3.1 and muse2csv 1.0.0 (PyPI), and an
 * export of MUSE 9.0.9: samples in base64, signed, 16 bits, low byte first; LeadDataCRC32 is CRC-32
 * of IEEE 802.3 over these bytes; times of QRSTimesTypes count ms from the first sample (decision
 * 0083). */
#ifndef WEIR_MUSE_PRIV_H
#define WEIR_MUSE_PRIV_H
#include "io/xml/weir_leads.h"

/* Parses a file: the leads of its rhythm, and times of QRS complexes as events. Fails: as
 * weir_xml_read, for what is malformed or has a meaning that is not documented with the line. */
weir_status weir_muse_parse(const char *path, weir_leads *out) WEIR_CHECKED;

/* CRC-32 of IEEE 802.3: polynomial 0x04C11DB7, low bit first. */
uint32_t weir_muse_crc32(const uint8_t *data, int64_t size);
#endif
