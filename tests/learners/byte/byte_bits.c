/* Prints, for models of several shapes, a hash of each model and of the logits after every sample of a stream. */
#include <inttypes.h>
#include <stdio.h>

#include "lanes.h"
#include "byte.h"

enum { MOST_BYTES = 20000, MOST_FEATURES = 1100, N_SAMPLES = 90 };

static uint32_t state = 20080710;

static int32_t below(uint32_t n) {
    state = byte_next(state);
    return (int32_t)((uint64_t)state * n >> 32);
}

static uint64_t hashed(uint64_t hash, const void *from, size_t n) { /* FNV-1a */
    const uint8_t *byte = from;
    while (n--) hash = (hash ^ *byte++) * 0x100000001B3u;
    return hash;
}

/* Values of a few deviations, now and then 0, huge or subnormal */
static float value(void) {
    int32_t v = below(2001) + below(2001) - 2000, kind = below(1000);
    return kind == 0 ? 3e38f : kind == 1 ? -1e-42f : kind < 9 ? 0.0f : (float)v / 512.0f;
}

static void learn(int32_t n_bytes, int32_t D, int32_t n_classes, int32_t is_common, int32_t learns_directions) {
    static char model[MOST_BYTES];
    static float x[MOST_FEATURES];
    static int8_t z[MOST_FEATURES];
    int64_t n_per_class[BYTE_MOST_VECTORS] = {0};
    int32_t logit[BYTE_MOST_VECTORS], i, d, most = 2;
    uint64_t hash = 0xCBF29CE484222325u;
    byte_shape s, before;
    memset(&s, 0, sizeof s);
    memset(model, 0, sizeof model);
    byte_lay_out(&s, n_bytes, D, most, is_common, learns_directions, 1, 1234567);
    byte_reset(&s, model);
    for (i = 0; i < N_SAMPLES; i++) {
        int32_t y, weight = i % 5 ? 256 : 1 + below(i % 2 ? 2000 : 65536);
        if (i % 10 == 9 && most < n_classes) { /* they come one by one */
            before = s;
            byte_lay_out(&s, n_bytes, D, ++most, is_common, learns_directions, 1, 1234567);
            byte_grow(&s, &before, model, n_per_class);
        }
        for (d = 0; d < D; d++) x[d] = value();
        y = most > 2 ? below((uint32_t)most) : x[0] > x[D - 1] / 2;
        byte_decide(&s, model, x, z, logit);
        byte_learn(&s, model, x, z, y, weight, (uint32_t)i + 1, n_per_class);
        n_per_class[y]++;
        hash = hashed(hashed(hash, logit, sizeof *logit * (size_t)s.n_vectors), model, (size_t)n_bytes);
    }
    printf("%d %d %d %d %d %d %016" PRIx64 "\n", n_bytes, D, n_classes, is_common, learns_directions, s.n_directions, hash);
}

int main(void) {
    static const int32_t sizes[] = {900, 2500, 6000}, classes[] = {2, 3, 11};
    static const int32_t features[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 30};
    int i, j, k;
    for (i = 0; i < 3; i++)
        for (j = 0; j < 10; j++)
            for (k = 0; k < 3; k++) learn(sizes[i], features[j], classes[k], (i + j + k) % 4 == 0, (i + j + k) % 5 != 0);
    learn(20000, 1100, 2, 0, 1); /* more than the walks have room for */
    learn(20000, 300, 2, 1, 1);
    learn(20000, 2, 40, 0, 1);
    return 0;
}
