/* Raw samples that are missing. Included at the end of a NAME.c with windows, which defines
 * ESVM_WINDOWS(f), and ESVM_AT_WINDOWS, where they are in NAME_t. */

void ESVM_NAME(gap)(ESVM_NAME(t) *model) {
    char *self = (char *)model + ESVM_AT_WINDOWS;
    int64_t n = ESVM_WINDOWS(counts)->n_run, newest, k;
    if (n) {
        newest = (n - 1) / ESVM_WINDOWS(hop);
        k = newest - ESVM_WINDOWS(n_windows) + 1;
        for (k = k > 0 ? k : 0; k <= newest; k++)
            ESVM_WINDOWS(counts)->n_dropped += n < k * ESVM_WINDOWS(hop) + ESVM_WINDOWS(window);
    }
    ESVM_WINDOWS(counts)->n_run = 0;
}
