/* Every cut and changed byte of a stream; or, as a target of libFuzzer, frames of any content. The
 * identities of FORMATS.md hold after all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOD_LINK_LATE 16
#define MOD_LINK_RESTORE 1
#define MOD_LINK_PUSH 5
#include "mod_link.h"
static mod_t model;
static mod_link *link_;
static unsigned long n_out;
static void send(void *context, const uint8_t *bytes, size_t n) {
    (void)context;
    for (; n; n--) n_out += *bytes++;
}
static void check(const esvm_link_counts *c) {
    uint32_t labels = c->label_matched + c->label_duplicate + c->label_expired + c->label_unknown;
    if (c->bytes_in != c->bytes_ok + c->bytes_rejected + c->delimiters + c->pending) abort();
    if (c->frames != c->ok + c->bad_cobs + c->bad_crc + c->bad_len + c->oversize) abort();
    if (c->ok != c->samples + labels + c->bad_label + c->label_mismatch + c->schemas +
        c->scale_pages + c->heartbeats + c->acks + c->logs + c->ignored + c->bad_version +
        c->bad_control + c->snapshot_asks + c->snapshot_pages) abort();
    if (c->samples != c->taken + c->duplicate + c->too_old + c->bad_nan + c->bad_inf +
        c->bad_dimension + c->bad_flags + c->schema_mismatch) abort();
    if (c->span != c->unique + c->missing) abort();
    if (c->taken != c->learned + c->unlabelled + c->refused_value + c->unknown_label +
        c->label_expired + c->late_waiting) abort();
}
static void run(const unsigned char *bytes, unsigned long n) {
    mod_reset(&model);
    mod_link_begin(link_, &model, send, NULL, 77);
    mod_link_feed(link_, bytes, n);
    mod_link_tick(link_, 1000);
    check(mod_link_counts(link_));
}
#ifdef FUZZ
/* A frame of these bytes, header and body, with a right CRC */
static void frame(const unsigned char *bytes, size_t n) {
    unsigned char raw[260], run[262];
    size_t i, out = 1, at = 0;
    uint32_t crc = esvm_crc32(0, bytes, n);
    memcpy(raw, bytes, n);
    for (i = 0; i < 4; i++) raw[n + i] = (unsigned char)(crc >> 8 * i);
    for (i = 0; i < n + 4; i++) {
        if (raw[i]) run[out++] = raw[i];
        if (raw[i] == 0 || (out - at == 255 && i + 1 < n + 4)) {
            run[at] = (unsigned char)(out - at);
            at = out++;
        }
    }
    run[at] = (unsigned char)(out - at);
    mod_link_feed(link_, run, out);
    mod_link_feed(link_, (const unsigned char *)"", 1);
}
/* Pieces, each behind its length: frames, or bytes as they are if fewer than a header's */
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n) {
    if (!link_) link_ = malloc(sizeof *link_);
    run(NULL, 0);
    while (n) {
        size_t k = *bytes++;
        if (k > --n) k = n;
        if (k < 8) mod_link_feed(link_, bytes, k);
        else frame(bytes, k);
        check(mod_link_counts(link_));
        mod_link_tick(link_, (uint32_t)(100 * n));
        bytes += k;
        n -= k;
    }
    return 0;
}
#else
int main(int argc, char **argv) {
    static unsigned char stream[1 << 16];
    FILE *file = fopen(argv[1], "rb");
    unsigned long n = fread(stream, 1, sizeof stream, file), i;
    long tried = 0, step = argc > 2 ? atol(argv[2]) : 1;
    unsigned byte;
    fclose(file);
    link_ = malloc(sizeof *link_); /* so that what is beyond it is guarded */
    run(stream, n);
    if (mod_link_counts(link_)->frames != mod_link_counts(link_)->ok) abort();
    if (mod_link_counts(link_)->restored != 1) abort();
    for (i = 0; i < n; i++, tried++) run(stream, i);
    for (i = 0; i < n; i++)
        for (byte = 1 + i % step; byte < 256; byte += step, tried++) {
            stream[i] ^= byte;
            run(stream, n);
            stream[i] ^= byte;
        }
    free(link_);
    printf("%ld\n", tried);
    return 0;
}
#endif
