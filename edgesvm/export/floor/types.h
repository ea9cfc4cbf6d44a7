/* Types of a model's tables. */
#ifndef EDGESVM_TYPES_H
#define EDGESVM_TYPES_H

#include <stdint.h>

#if defined(__GNUC__)
#define ESVM_STATIC static __attribute__((unused))
#else
#define ESVM_STATIC static
#endif

#ifndef ESVM_SCRATCH /* where what is zero between samples lies; of a model in flash, in RAM */
#define ESVM_SCRATCH(at) (self + (at))
#endif

typedef struct {
    uint32_t at;            /* byte of the arena */
    uint32_t n;             /* numbers */
    int64_t least, most;    /* of floats their bits, in the order of the floats */
    uint8_t kind;
} esvm_check;

enum { ESVM_FLOATS, ESVM_DOUBLES, ESVM_COUNTS, ESVM_BYTES };

typedef struct {
    uint32_t at;
    uint64_t word;
} esvm_word;

#endif
