/* A board with a sensor of its own that learns, as a program: its line is standard input and output.
 * Arguments: a file of rows, each MOD_N_FEATURES floats and an int32 slot; the boot id; what it waits
 * for before its first sample: a request for a snapshot (0) or a snapshot (1). */
#define _POSIX_C_SOURCE 199309L
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MOD_LINK_RESTORE TAKES_SNAPSHOTS
#include "mod_link.h"

typedef struct {
    float x[MOD_N_FEATURES];
    int32_t slot;
} row;

static mod_t model;
static mod_link line;

static void send(void *context, const uint8_t *bytes, size_t n) {
    (void)context;
    while (n) {
        ssize_t sent = write(1, bytes, n);
        if (sent <= 0) return; /* nobody there */
        bytes += sent;
        n -= (size_t)sent;
    }
}

static uint32_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

int main(int argc, char **argv) {
    FILE *rows = fopen(argv[1], "rb");
    int waits = atoi(argv[3]);
    row next;
    (void)argc;
    mod_reset(&model);
    mod_link_begin(&line, &model, send, NULL, (uint32_t)atol(argv[2]));
    for (;;) {
        struct pollfd in = {0, POLLIN, 0};
        uint8_t bytes[256];
        ssize_t n;
        mod_link_tick(&line, now_ms());
        if (poll(&in, 1, 1) > 0 && (n = read(0, bytes, sizeof bytes)) > 0)
            mod_link_feed(&line, bytes, (size_t)n);
        else if (in.revents)
            poll(NULL, 0, 20); /* the line is unplugged */
        if ((waits ? mod_link_counts(&line)->restored : mod_link_counts(&line)->snapshot_asks) == 0)
            continue;
        if (fread(&next, sizeof next, 1, rows) == 1) mod_link_learn(&line, next.x, next.slot);
    }
}
