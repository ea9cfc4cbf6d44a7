/* Translated from edgesvm/preprocessing/_window_features.*: change that, then `make translate`. */

#ifndef EDGESVM_WINDOW_FEATURES_H
#define EDGESVM_WINDOW_FEATURES_H

#include "floor.h"
#include "linalg.h"

enum {
    window_features_N_FEATURES = 14
};
typedef struct {
    double b;
    double a1;
    double a2;
} window_features_Section;
#define window_features_LARGEST 1e15
#define window_features_MOST window_features_LARGEST
typedef struct {
    double mean;
    double m2;
    double m3;
    double m4;
    double trend;
    double low;
    double high;
    double n_crossings;
    double is_above;
} window_features_Moments;
typedef enum {
    window_features_MEAN, window_features_STD, window_features_RMS, window_features_MIN,
            window_features_MAX, window_features_PEAK_TO_PEAK, window_features_CREST,
            window_features_SKEWNESS, window_features_KURTOSIS, window_features_CROSSINGS,
            window_features_SLOPE, window_features_POWER, window_features_DOMINANT_BAND,
            window_features_CENTROID
} window_features_Feature;
typedef struct {
    int64_t n_pushed;
    int64_t n_rows;
    int64_t n_dropped;
    int64_t n_run;
} window_features_Counts;

ESVM_STATIC double window_features_filtered(double x, const window_features_Section *by,
        double *delay);
ESVM_STATIC void window_features_add_to(window_features_Moments *of, double x, double n,
        double share);
ESVM_STATIC double window_features_ratio(double a, double b);
ESVM_STATIC double window_features_dominant(const double *power, const double *centers, int n);
ESVM_STATIC double window_features_centroid(const double *power, const double *centers, int n);

ESVM_STATIC double window_features_filtered(double x, const window_features_Section *by,
        double *delay) {
    double y = by->b * x + delay[0];
    delay[0] = delay[1] - by->a1 * y;
    delay[1] = -by->b * x - by->a2 * y;
    return y;
}

ESVM_STATIC void window_features_add_to(window_features_Moments *of, double x, double n,
        double share) {
    double delta = x - of->mean;
    double step = delta * share;
    double term = delta * step * (n - 1.0);
    int is_above = delta > 0.0;
    of->mean += step;
    of->m4 += term * step * step * (n * n - 3.0 * n + 3.0) + 6.0 * step * step * of->m2 - 4.0 *
            step * of->m3;
    of->m3 += term * step * (n - 2.0) - 3.0 * step * of->m2;
    of->m2 += term;
    of->trend += 0.5 * n * (x - of->mean);
    of->low = esvm_min(of->low, x);
    of->high = esvm_max(of->high, x);
    of->n_crossings += n > 2.0 && is_above != (of->is_above > 0.0);
    of->is_above = is_above;
}

ESVM_STATIC double window_features_ratio(double a, double b) {
    return b > 0.0 ? ESVM_DIVIDE(a, b) : 0.0;
}

ESVM_STATIC double window_features_dominant(const double *power, const double *centers, int n) {
    int b;
    double most = 0.0;
    double center = 0.0;
    for (b = 0; b < n; b++) {
        if (power[b] > most) {
            most = power[b];
            center = centers[b];
        }
    }
    return center;
}

ESVM_STATIC double window_features_centroid(const double *power, const double *centers, int n) {
    int b;
    double total = 0.0;
    double moment = 0.0;
    for (b = 0; b < n; b++) {
        total += power[b];
        moment += power[b] * centers[b];
    }
    return window_features_ratio(moment, total);
}

#ifdef WindowFeatures_n_features

#define WindowFeatures_counts ((window_features_Counts *)self)
#define WindowFeatures_sample ((double *)(self + WindowFeatures_AT_sample))
#define WindowFeatures_squares ((double *)(self + WindowFeatures_AT_squares))
#define WindowFeatures_delays ((double *)(self + WindowFeatures_AT_delays))
#define WindowFeatures_moments ((window_features_Moments *)(self + WindowFeatures_AT_moments))
#define WindowFeatures_power ((double *)(self + WindowFeatures_AT_power))
#define WindowFeatures_products ((double *)(self + WindowFeatures_AT_products))
#define WindowFeatures_out ((char *)(self + WindowFeatures_AT_row))

static const int WindowFeatures_codes[window_features_N_FEATURES] = WindowFeatures_CODES;

static const double WindowFeatures_centers[WindowFeatures_MOST_BANDS] = WindowFeatures_CENTERS;

static const window_features_Section WindowFeatures_sections[2 * WindowFeatures_MOST_BANDS] = WindowFeatures_SECTIONS;

ESVM_STATIC int WindowFeatures_is_too_large(char *self, const void *x);
ESVM_STATIC int WindowFeatures_take(char *self, const void *x);
ESVM_STATIC void WindowFeatures_read(char *self, const void *x);
ESVM_STATIC void WindowFeatures_settle(char *self);
ESVM_STATIC void WindowFeatures_filter(char *self);
ESVM_STATIC void WindowFeatures_open(char *self, int64_t slot);
ESVM_STATIC void WindowFeatures_add(char *self, int64_t slot, double n);
ESVM_STATIC void WindowFeatures_write(char *self, int64_t slot);
ESVM_STATIC double WindowFeatures_feature(char *self, int code, const window_features_Moments *of,
        const double *power);

ESVM_STATIC int WindowFeatures_is_too_large(char *self, const void *x) {
    (void)self;
    esvm_index c;
    for (c = 0; c < WindowFeatures_n_channels; c++) {
        if (!(fabs(linalg_entry(x, c)) <= window_features_MOST)) {
            return 1;
        }
    }
    return 0;
}

ESVM_STATIC int WindowFeatures_take(char *self, const void *x) {
    int64_t at = WindowFeatures_counts->n_run;
    int64_t newest = at / WindowFeatures_hop;
    int64_t k, age;
    int is_complete = 0;
    WindowFeatures_read(self, x);
    if (at == 0) {
        WindowFeatures_settle(self);
    }
    WindowFeatures_filter(self);
    if (at % WindowFeatures_hop == 0) {
        WindowFeatures_open(self, newest % WindowFeatures_n_windows);
    }
    for (k = 0 > newest - WindowFeatures_n_windows + 1 ? 0 : newest - WindowFeatures_n_windows +
            1; k < newest + 1; k++) {
        age = at - k * WindowFeatures_hop;
        if (age < WindowFeatures_window) {
            WindowFeatures_add(self, k % WindowFeatures_n_windows, age + 1);
        }
        if (age == WindowFeatures_window - 1) {
            WindowFeatures_write(self, k % WindowFeatures_n_windows);
            is_complete = 1;
        }
    }
    WindowFeatures_counts->n_run += 1;
    WindowFeatures_counts->n_pushed += 1;
    WindowFeatures_counts->n_rows += is_complete;
    return is_complete;
}

ESVM_STATIC void WindowFeatures_read(char *self, const void *x) {
    esvm_index c;
    double square = 0.0;
    for (c = 0; c < WindowFeatures_n_channels; c++) {
        WindowFeatures_sample[c] = linalg_entry(x, c);
        square += WindowFeatures_sample[c] * WindowFeatures_sample[c];
    }
    if (WindowFeatures_has_magnitude) {
        WindowFeatures_sample[WindowFeatures_n_channels] = esvm_sqrt(square);
    }
}

ESVM_STATIC void WindowFeatures_settle(char *self) {
    esvm_index s;
    int b;
    double *delay = WindowFeatures_delays;
    memset(delay, 0, WindowFeatures_n_streams * WindowFeatures_n_bands * 4 * sizeof(double));
    for (s = 0; s < WindowFeatures_n_streams; s++) {
        for (b = 0; b < WindowFeatures_n_bands; b++) {
            delay[0] = -WindowFeatures_sections[2 * b].b * WindowFeatures_sample[s];
            delay[1] = -WindowFeatures_sections[2 * b].b * WindowFeatures_sample[s];
            delay += 4;
        }
    }
}

ESVM_STATIC void WindowFeatures_filter(char *self) {
    esvm_index s;
    int b;
    double y;
    double *delay = WindowFeatures_delays;
    for (s = 0; s < WindowFeatures_n_streams; s++) {
        for (b = 0; b < WindowFeatures_n_bands; b++) {
            y = window_features_filtered(WindowFeatures_sample[s], &WindowFeatures_sections[2 * b],
                    delay);
            y = window_features_filtered(y, &WindowFeatures_sections[2 * b + 1], delay + 2);
            WindowFeatures_squares[s * WindowFeatures_n_bands + b] = y * y;
            delay += 4;
        }
    }
}

ESVM_STATIC void WindowFeatures_open(char *self, int64_t slot) {
    esvm_index s;
    window_features_Moments *of = WindowFeatures_moments + slot * WindowFeatures_n_streams;
    esvm_index n_power = WindowFeatures_n_streams * WindowFeatures_n_bands;
    memset(of, 0, WindowFeatures_n_streams * sizeof(window_features_Moments));
    memset(WindowFeatures_power + slot * n_power, 0, n_power * sizeof(double));
    memset(WindowFeatures_products + slot * WindowFeatures_n_pairs, 0, WindowFeatures_n_pairs *
            sizeof(double));
    for (s = 0; s < WindowFeatures_n_streams; s++) {
        of[s].low = WindowFeatures_sample[s];
        of[s].high = WindowFeatures_sample[s];
    }
}

ESVM_STATIC void WindowFeatures_add(char *self, int64_t slot, double n) {
    esvm_index c, d, s;
    int64_t pair = slot * WindowFeatures_n_pairs;
    esvm_index n_power = WindowFeatures_n_streams * WindowFeatures_n_bands;
    window_features_Moments *of = WindowFeatures_moments + slot * WindowFeatures_n_streams;
    double *power = WindowFeatures_power + slot * n_power;
    double delta;
    double share = ESVM_DIVIDE(1.0, n);
    if (WindowFeatures_n_pairs) {
        for (c = 0; c < WindowFeatures_n_channels; c++) {
            delta = (WindowFeatures_sample[c] - of[c].mean) * (n - 1.0) * share;
            for (d = c + 1; d < WindowFeatures_n_channels; d++) {
                WindowFeatures_products[pair] += delta * (WindowFeatures_sample[d] - of[d].mean);
                pair += 1;
            }
        }
    }
    for (s = 0; s < WindowFeatures_n_streams; s++) {
        window_features_add_to(&of[s], WindowFeatures_sample[s], n, share);
    }
    for (s = 0; s < n_power; s++) {
        power[s] += WindowFeatures_squares[s];
    }
}

ESVM_STATIC void WindowFeatures_write(char *self, int64_t slot) {
    esvm_index c, d, s;
    esvm_index j = 0;
    int64_t pair = slot * WindowFeatures_n_pairs;
    int i, b;
    const window_features_Moments *of = WindowFeatures_moments + slot * WindowFeatures_n_streams;
    const double *power = WindowFeatures_power + slot * WindowFeatures_n_streams *
            WindowFeatures_n_bands;
    double both;
    for (s = 0; s < WindowFeatures_n_streams; s++) {
        for (i = 0; i < WindowFeatures_n_codes; i++) {
            if (WindowFeatures_codes[i] == window_features_POWER) {
                for (b = 0; b < WindowFeatures_n_bands; b++) {
                    linalg_put(WindowFeatures_out, j, power[b] / WindowFeatures_window);
                    j += 1;
                }
            } else {
                linalg_put(WindowFeatures_out, j, WindowFeatures_feature(self,
                        WindowFeatures_codes[i], &of[s], power));
                j += 1;
            }
        }
        power += WindowFeatures_n_bands;
    }
    if (WindowFeatures_n_pairs) {
        for (c = 0; c < WindowFeatures_n_channels; c++) {
            for (d = c + 1; d < WindowFeatures_n_channels; d++) {
                both = esvm_sqrt(of[c].m2) * esvm_sqrt(of[d].m2);
                linalg_put(WindowFeatures_out, j,
                        window_features_ratio(WindowFeatures_products[pair], both));
                j = j + 1;
                pair = pair + 1;
            }
        }
    }
}

ESVM_STATIC double WindowFeatures_feature(char *self, int code, const window_features_Moments *of,
        const double *power) {
    (void)self;
    double n = WindowFeatures_window;
    double variance = ESVM_DIVIDE(of->m2, n);
    double rms = esvm_sqrt(variance + of->mean * of->mean);
    if (code == window_features_MEAN) {
        return of->mean;
    }
    if (code == window_features_STD) {
        return esvm_sqrt(variance);
    }
    if (code == window_features_RMS) {
        return rms;
    }
    if (code == window_features_MIN) {
        return of->low;
    }
    if (code == window_features_MAX) {
        return of->high;
    }
    if (code == window_features_PEAK_TO_PEAK) {
        return of->high - of->low;
    }
    if (code == window_features_CREST) {
        return window_features_ratio(esvm_max(-of->low, of->high), rms);
    }
    if (code == window_features_SKEWNESS) {
        return window_features_ratio(ESVM_DIVIDE(of->m3, n), variance * esvm_sqrt(variance));
    }
    if (code == window_features_KURTOSIS) {
        return of->m2 > 0.0 ? window_features_ratio(ESVM_DIVIDE(of->m4, n), variance * variance) -
                3.0 : 0.0;
    }
    if (code == window_features_CROSSINGS) {
        return ESVM_DIVIDE(of->n_crossings * WindowFeatures_rate, n);
    }
    if (code == window_features_SLOPE) {
        return ESVM_DIVIDE(12.0 * of->trend, n * (n * n - 1.0)) * WindowFeatures_rate;
    }
    if (code == window_features_DOMINANT_BAND) {
        return window_features_dominant(power, WindowFeatures_centers, WindowFeatures_n_bands);
    }
    return window_features_centroid(power, WindowFeatures_centers, WindowFeatures_n_bands);
}

#endif

#endif
