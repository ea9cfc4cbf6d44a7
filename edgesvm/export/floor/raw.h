/* Raw samples and their windows, ahead of a model that learns no more. Included at the end of its
 * NAME.c, which defines ESVM_WINDOWS(f), and ESVM_AT_WINDOWS as 0. */

int ESVM_NAME(push)(ESVM_NAME(t) *windows, const ESVM_NAME(value) *x, double *score) {
    char *self = (char *)windows;
    *score = 0.0;
    if (ESVM_WINDOWS(is_too_large)(self, x)) return -3;
    if (!ESVM_WINDOWS(take)(self, x)) return -2;
    return ESVM_NAME(predict)((const ESVM_NAME(value) *)ESVM_WINDOWS(out), score);
}

void ESVM_NAME(gap)(ESVM_NAME(t) *model) {
    ESVM_WINDOWS(drop_open)((char *)model + ESVM_AT_WINDOWS);
}
