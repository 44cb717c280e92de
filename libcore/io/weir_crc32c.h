/* weir_crc32c.h - the sum that says whether bytes are those that were written. */
#ifndef WEIR_CRC32C_H
#define WEIR_CRC32C_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Continues a CRC-32C (Castagnoli, RFC 3720 B.4) of 0 or of what came before over size bytes. */
uint32_t weir_crc32c(uint32_t crc, const void *data, int64_t size);

#ifdef __cplusplus
}
#endif
#endif
