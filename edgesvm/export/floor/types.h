/* Types of a model's tables. */
#ifndef EDGESVM_TYPES_H
#define EDGESVM_TYPES_H

#include <stdint.h>

typedef struct {
    uint32_t at;    /* byte of the arena */
    uint32_t n;     /* numbers */
    uint32_t times, apart; /* of all parts: how many, and how many bytes from one to the next */
    uint8_t kind;
} esvm_check;

enum { ESVM_FLOATS, ESVM_DOUBLES, ESVM_COUNTS, ESVM_ZEROS }; /* as budget.rule says */

typedef struct {
    uint32_t at;
    uint64_t word;
} esvm_word;

#endif
