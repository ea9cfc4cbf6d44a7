/* The functions of one model, included at the end of its NAME.c, which defines
 *
 *   ESVM_NAME(f)     the public name, NAME_f
 *   ESVM_TOP(f)      the outermost learner's f
 *   ESVM_AT          where the learner is in the arena
 *   ESVM_VALUES      decision values of a sample
 *   ESVM_FIRST_LABEL, ESVM_LABELS     class indices that may be learned, and one more
 *   ESVM_ARENA, ESVM_HEAD     bytes of the arena, and of a snapshot before it
 *
 * the tables NAME_head, NAME_first (numbers of an empty arena that are not zero) and NAME_checks
 * (what a snapshot's numbers must be; types.h), and NAME_is_sound (what every core says of an arena).
 */

#include "classes.h"

#define ESVM_SELF(model) ((char *)(model) + ESVM_AT)

void ESVM_NAME(reset)(ESVM_NAME(t) *model) {
    size_t i;
    memset(model, 0, sizeof *model);
    for (i = 0; i < sizeof ESVM_NAME(first) / sizeof(esvm_word); i++)
        memcpy((char *)model + ESVM_NAME(first)[i].at, &ESVM_NAME(first)[i].word, 8);
}

esvm_status ESVM_NAME(learn_weighted)(
    ESVM_NAME(t) *model, const ESVM_NAME(value) *x, int index, double weight) {
    if (index < ESVM_FIRST_LABEL || index >= ESVM_LABELS) return ESVM_UNKNOWN_LABEL;
    return (esvm_status)ESVM_TOP(learn_row)(ESVM_SELF(model), x, ESVM_SLOT_OF(index), weight);
}

esvm_status ESVM_NAME(learn)(ESVM_NAME(t) *model, const ESVM_NAME(value) *x, int index) {
    return ESVM_NAME(learn_weighted)(model, x, index, 1.0);
}

esvm_status ESVM_NAME(decide)(ESVM_NAME(t) *model, const ESVM_NAME(value) *x, double *values) {
    if (ESVM_TOP(n_learned)(ESVM_SELF(model)) == 0) return ESVM_NOT_FITTED;
    return (esvm_status)ESVM_TOP(answer)(ESVM_SELF(model), x, values);
}

int ESVM_NAME(predict)(ESVM_NAME(t) *model, const ESVM_NAME(value) *x, double *score) {
    double values[ESVM_VALUES];
    if (ESVM_NAME(decide)(model, x, values) > ESVM_CHANGED) return -1;
    return ESVM_NAME(index_of)(ESVM_TOP(winner)(ESVM_SELF(model), values, score));
}

void ESVM_NAME(snapshot_read)(const ESVM_NAME(t) *model, uint32_t at, uint8_t *out, uint32_t n) {
    const uint8_t *arena = (const uint8_t *)model;
    uint32_t crc = 0;
    if (at + n > ESVM_HEAD + ESVM_ARENA)
        crc = esvm_crc32(esvm_crc32(0, ESVM_NAME(head), ESVM_HEAD), arena, ESVM_ARENA);
    for (; n; n--, at++) {
        if (at < ESVM_HEAD) *out++ = ESVM_NAME(head)[at];
        else if (at < ESVM_HEAD + ESVM_ARENA) *out++ = arena[at - ESVM_HEAD];
        else if (at < ESVM_HEAD + ESVM_ARENA + 4) {
            *out++ = (uint8_t)(crc >> 8 * (at - ESVM_HEAD - ESVM_ARENA));
        } else *out++ = 0;
    }
}

/* Whether numbers from an unknown source are finite, counts, or zero. */
ESVM_STATIC int ESVM_NAME(holds)(const esvm_check *check, const uint8_t *p) {
    uint32_t i;
    for (i = 0; i < check->n; i++) {
        float f;
        double d;
        int64_t count;
        switch (check->kind) {
        case ESVM_FLOATS:
            memcpy(&f, p + 4 * i, 4);
            if (!esvm_is_finite((double)f)) return 0;
            break;
        case ESVM_DOUBLES:
            memcpy(&d, p + 8 * i, 8);
            if (!esvm_is_finite(d)) return 0;
            break;
        case ESVM_COUNTS:
            memcpy(&count, p + 8 * i, 8);
            if (count < 0 || count >> 62) return 0;
            break;
        default:
            if (p[i]) return 0;
        }
    }
    return 1;
}

/* Whether bytes are a snapshot of this model, whose numbers are what `holds` says */
ESVM_STATIC int ESVM_NAME(is_whole)(const uint8_t *bytes, uint32_t n) {
    const uint8_t *end = bytes + ESVM_HEAD + ESVM_ARENA;
    const esvm_check *check = ESVM_NAME(checks);
    const esvm_check *last = check + sizeof ESVM_NAME(checks) / sizeof(esvm_check);
    uint32_t crc, i;
    if (n != ESVM_HEAD + ESVM_ARENA + 4) return 0;
    crc = esvm_crc32(0, bytes, ESVM_HEAD + ESVM_ARENA);
    if (crc != (end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24))
        return 0;
    if (memcmp(bytes, ESVM_NAME(head), ESVM_HEAD)) return 0;
    for (; check < last; check++)
        for (i = 0; i < check->times; i++)
            if (!ESVM_NAME(holds)(check, bytes + ESVM_HEAD + check->at + i * check->apart))
                return 0;
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

ESVM_STATIC void ESVM_NAME(swap)(ESVM_NAME(t) *model, uint8_t *arena) {
    uint8_t *own = (uint8_t *)model, byte;
    uint32_t i;
    for (i = 0; i < ESVM_ARENA; i++) {
        byte = own[i];
        own[i] = arena[i];
        arena[i] = byte;
    }
}

esvm_status ESVM_NAME(exchange)(ESVM_NAME(t) *model, uint8_t *bytes, uint32_t n) {
    if (!ESVM_NAME(is_whole)(bytes, n)) return ESVM_BAD_SNAPSHOT;
    ESVM_NAME(swap)(model, bytes + ESVM_HEAD);
    if (ESVM_NAME(is_sound)(ESVM_SELF(model))) return ESVM_UNCHANGED;
    ESVM_NAME(swap)(model, bytes + ESVM_HEAD);
    return ESVM_BAD_SNAPSHOT;
}
