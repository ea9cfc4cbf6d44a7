/* The functions of one model, included at the end of its NAME.c, which defines
 *
 *   ESVM_NAME(f)     the public name, NAME_f
 *   ESVM_TOP(f)      the outermost learner's f
 *   ESVM_AT          where the learner is in the arena
 *   ESVM_ARENA, ESVM_HEAD     bytes of the arena, and of a snapshot before it
 *
 * the tables NAME_saved, NAME_head, NAME_first (numbers of an empty arena that are not zero) and NAME_checks
 * (what a snapshot's numbers must be; types.h), and NAME_is_sound (what every core says of an arena). A learner may
 * define ESVM_DRAW(self), which fills an empty arena in. What it learns and answers is in labels.h; of a regressor, which
 * defines ESVM_REGRESSES, in targets.h.
 */

#define ESVM_SELF(model) ((char *)(model) + ESVM_AT)

#ifndef ESVM_DRAW
#define ESVM_DRAW(self) (void)(self)
#endif

void ESVM_NAME(begin)(ESVM_NAME(t) *model) {
    ESVM_FROM_FLASH(model, &ESVM_NAME(saved), sizeof *model);
}

void ESVM_NAME(reset)(ESVM_NAME(t) *model) {
    esvm_word first;
    size_t i;
    memset(model, 0, sizeof *model);
    for (i = 0; i < sizeof ESVM_NAME(first) / sizeof first; i++) {
        ESVM_FROM_FLASH(&first, &ESVM_NAME(first)[i], sizeof first);
        memcpy((char *)model + first.at, &first.word, 8);
    }
    ESVM_DRAW(ESVM_SELF(model));
}

#ifdef ESVM_REGRESSES
#include "targets.h"
#else
#include "labels.h"
#endif

ESVM_STATIC uint8_t ESVM_NAME(head_byte)(uint32_t at) {
    uint8_t byte;
    ESVM_FROM_FLASH(&byte, &ESVM_NAME(head)[at], 1);
    return byte;
}

void ESVM_NAME(snapshot_read)(const ESVM_NAME(t) *model, uint32_t at, uint8_t *out, uint32_t n) {
    const uint8_t *arena = (const uint8_t *)model;
    uint32_t crc = 0, i;
    if (at + n > ESVM_HEAD + ESVM_ARENA) {
        for (i = 0; i < ESVM_HEAD; i++) {
            uint8_t byte = ESVM_NAME(head_byte)(i);
            crc = esvm_crc32(crc, &byte, 1);
        }
        crc = esvm_crc32(crc, arena, ESVM_ARENA);
    }
    for (; n; n--, at++) {
        if (at < ESVM_HEAD) *out++ = ESVM_NAME(head_byte)(at);
        else if (at < ESVM_HEAD + ESVM_ARENA) *out++ = arena[at - ESVM_HEAD];
        else if (at < ESVM_HEAD + ESVM_ARENA + 4) {
            *out++ = (uint8_t)(crc >> 8 * (at - ESVM_HEAD - ESVM_ARENA));
        } else *out++ = 0;
    }
}

/* Whether numbers from an unknown source are within their bounds */
ESVM_STATIC int ESVM_NAME(holds)(const esvm_check *check, const uint8_t *p) {
    uint32_t i;
    for (i = 0; i < check->n; i++) {
        int32_t bits;
        int64_t v;
        if (check->kind == ESVM_FLOATS) {
            memcpy(&bits, p + 4 * i, 4);
            v = bits < 0 ? INT32_MIN - (int64_t)bits : bits;
        } else if (check->kind == ESVM_BYTES) {
            v = (int8_t)p[i];
        } else {
            memcpy(&v, p + 8 * i, 8);
            if (check->kind == ESVM_DOUBLES && v < 0) v = INT64_MIN - v;
        }
        if (v < check->least || v > check->most) return 0;
    }
    return 1;
}

/* Whether bytes are a snapshot of this model, whose numbers are what `holds` says */
ESVM_STATIC int ESVM_NAME(is_whole)(const uint8_t *bytes, uint32_t n) {
    const uint8_t *end = bytes + ESVM_HEAD + ESVM_ARENA;
    esvm_check check;
    uint32_t crc, i;
    size_t k;
    if (n != ESVM_HEAD + ESVM_ARENA + 4) return 0;
    crc = esvm_crc32(0, bytes, ESVM_HEAD + ESVM_ARENA);
    if (crc != (end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24))
        return 0;
    for (i = 0; i < ESVM_HEAD; i++)
        if (bytes[i] != ESVM_NAME(head_byte)(i)) return 0;
    for (k = 0; k < sizeof ESVM_NAME(checks) / sizeof check; k++) {
        ESVM_FROM_FLASH(&check, &ESVM_NAME(checks)[k], sizeof check);
        if (!ESVM_NAME(holds)(&check, bytes + ESVM_HEAD + check.at)) return 0;
    }
    return 1;
}

esvm_status ESVM_NAME(restore)(ESVM_NAME(t) *model, const uint8_t *bytes, uint32_t n) {
    if (!ESVM_NAME(is_whole)(bytes, n)) return ESVM_BAD_SNAPSHOT;
    ESVM_NAME(reset)(model);
    memcpy(model, bytes + ESVM_HEAD, ESVM_ARENA);
    if (ESVM_NAME(is_sound)(ESVM_SELF(model))) return ESVM_UNCHANGED;
    ESVM_NAME(reset)(model);
    return ESVM_BAD_SNAPSHOT;
}
