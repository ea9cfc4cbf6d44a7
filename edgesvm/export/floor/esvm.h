/** @file esvm.h
 * What all exported models share: statuses, and a test of the board's arithmetic.
 *
 * No function here or in a model allocates memory, keeps state of its own or uses more stack than
 * its header states.
 */
#ifndef EDGESVM_ESVM_H
#define EDGESVM_ESVM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Tables stay in flash. On AVR that must be said, and other instructions read it. */
#ifdef __AVR__
#include <avr/pgmspace.h>
#define ESVM_FLASH PROGMEM
#define ESVM_FROM_FLASH(to, from, n) memcpy_P(to, from, n)
#else
#define ESVM_FLASH
#define ESVM_FROM_FLASH(to, from, n) memcpy(to, from, n)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What became of a sample; 0 to 6 are those of the host. */
typedef enum {
    ESVM_UNCHANGED = 0,     /**< learned; the model is unchanged */
    ESVM_CHANGED = 1,       /**< learned; the model changed */
    ESVM_NOT_FINITE = 2,    /**< refused: a feature is NaN or infinite, or too large to square */
    ESVM_BAD_WEIGHT = 3,    /**< refused: the weight is negative, not finite, or of no use */
    ESVM_UNKNOWN_LABEL = 4, /**< refused: there is no such class index */
    ESVM_FULL = 5,          /**< refused: there is no room for another sample */
    ESVM_BAD_TARGET = 6,    /**< refused: a regressor's target is NaN, infinite or too large */
    ESVM_NOT_FITTED = 7,    /**< nothing was learned yet: there is no decision */
    ESVM_BAD_SNAPSHOT = 8   /**< these bytes are no snapshot of this model */
} esvm_status;

/** CRC-32/ISO-HDLC of some bytes; `crc` is that of the bytes before them, 0 at the start. */
uint32_t esvm_crc32(uint32_t crc, const void *bytes, size_t n);

/** What `esvm_self_test` returns where arithmetic is as on the host. */
#define ESVM_SELF_TEST 0x3df0c275u

/** A CRC over sums, quotients, roots, exponentials and subnormal numbers: whether this board and
 * this compiler compute as the host does. If it is not `ESVM_SELF_TEST`, models learned here are
 * not the host's to the bit. Not on AVR, where the models that there are compute in integers.
 */
uint32_t esvm_self_test(void);

#ifdef __cplusplus
}
#endif
#endif
