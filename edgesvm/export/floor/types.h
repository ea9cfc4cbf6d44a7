/* Types of a model's tables. */
#ifndef EDGESVM_TYPES_H
#define EDGESVM_TYPES_H

#include <stdint.h>

typedef struct {
    uint32_t at;    /* byte of the arena */
    uint32_t n;     /* numbers */
    uint32_t times, apart; /* of all parts: how many, and how many bytes from one to the next */
    uint8_t kind;
    int32_t least, most; /* of an index; of doubles, least 0: none is negative; most: of any sign */
} esvm_check;

enum { ESVM_FLOATS, ESVM_DOUBLES, ESVM_COUNTS, ESVM_INDICES, ESVM_INDICES_32, ESVM_INDICES_8, ESVM_ZEROS };

typedef struct {
    uint32_t at;
    uint64_t word;
} esvm_word;

#endif
