/* weir_crc32c.h - checksum CRC-32C. */
#ifndef WEIR_CRC32C_H
#define WEIR_CRC32C_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Continues a CRC-32C (Castagnoli, RFC 3720 B.4), from 0 or from an earlier result, over size
 * bytes. */
uint32_t weir_crc32c(uint32_t crc, const void *data, int64_t size);

#ifdef __cplusplus
}
#endif
#endif
