/* Translated from edgesvm/core/packed_factor.*: change that, then `make translate`. */

#ifndef EDGESVM_PACKED_FACTOR_H
#define EDGESVM_PACKED_FACTOR_H

#include "floor.h"
#include "linalg.h"

typedef struct {
    double *pool;
    int64_t length;
    int64_t width;
    int64_t *order;
    double *lift;
    double *ones;
    double *border;
    double *solution;
} packed_factor_PackedFactor;

ESVM_STATIC esvm_index packed_factor_packed(esvm_index order);
ESVM_STATIC void packed_factor_factor_add_outer(const packed_factor_PackedFactor *f, double rho);
ESVM_STATIC void packed_factor_factor_forward(const packed_factor_PackedFactor *f);
ESVM_STATIC void packed_factor_triangle_forward_f32(const float *L, const float *border, float *y,
        esvm_index m);
ESVM_STATIC void packed_factor_triangle_forward_f64(const double *L, const double *border,
        double *y, esvm_index m);
ESVM_STATIC void packed_factor_triangle_remove_f32(float *L, float *ones, float *c, float *s,
        esvm_index m, esvm_index p);
ESVM_STATIC void packed_factor_triangle_remove_f64(double *L, double *ones, double *c, double *s,
        esvm_index m, esvm_index p);
ESVM_STATIC esvm_index packed_factor_factor_rows(const packed_factor_PackedFactor *f,
        esvm_index order);
ESVM_STATIC double *packed_factor_factor_row(const packed_factor_PackedFactor *f, int64_t p);
ESVM_STATIC void packed_factor_factor_drop_column(const packed_factor_PackedFactor *f,
        esvm_index i, esvm_index n);
ESVM_STATIC esvm_index packed_factor_factor_remove(const packed_factor_PackedFactor *f,
        esvm_index p);
ESVM_STATIC void packed_factor_factor_solve(const packed_factor_PackedFactor *f);
ESVM_STATIC int packed_factor_factor_has_room(const packed_factor_PackedFactor *f);
ESVM_STATIC void packed_factor_factor_append(const packed_factor_PackedFactor *f, double delta,
        const double *row, esvm_index n);
ESVM_STATIC void packed_factor_factor_backward(const packed_factor_PackedFactor *f, double *x);
ESVM_STATIC double packed_factor_factor_complement(const packed_factor_PackedFactor *f,
        double k_ii);

ESVM_STATIC esvm_index packed_factor_packed(esvm_index order) {
    return order * (order + 1) / 2;
}

ESVM_STATIC void packed_factor_factor_add_outer(const packed_factor_PackedFactor *f, double rho) {
    esvm_index i, k;
    esvm_index m = f->order[0];
    const double *z = f->solution + 1;
    double *diagonal = f->ones;
    double *share = f->border + 1;
    double *row;
    double tau;
    double before = 1.0;
    double below;
    for (k = 0; k < m; k++) {
        tau = before + rho * z[k] * z[k];
        diagonal[k] = esvm_sqrt(ESVM_DIVIDE(tau, before));
        share[k] = ESVM_DIVIDE(rho * z[k], esvm_sqrt(tau * before));
        before = tau;
    }
    for (i = 0; i < m; i++) {
        row = f->pool + packed_factor_packed(i);
        below = 0.0;
        for (k = i; k > -1; k--) {
            tau = row[k];
            row[k] = diagonal[k] * tau + below * share[k];
            below += tau * z[k];
        }
    }
}

ESVM_STATIC void packed_factor_factor_forward(const packed_factor_PackedFactor *f) {
    packed_factor_triangle_forward_f64(f->pool, f->border + 1, f->solution + 1, f->order[0]);
}

ESVM_STATIC void packed_factor_triangle_forward_f32(const float *L, const float *border, float *y,
        esvm_index m) {
    esvm_index i;
    const float *row;
    for (i = 0; i < m; i++) {
        row = L + packed_factor_packed(i);
        y[i] = (border[i] - linalg_dot_f32(row, y, i)) / row[i];
    }
}

ESVM_STATIC void packed_factor_triangle_forward_f64(const double *L, const double *border,
        double *y, esvm_index m) {
    esvm_index i;
    const double *row;
    for (i = 0; i < m; i++) {
        row = L + packed_factor_packed(i);
        y[i] = ESVM_DIVIDE(border[i] - linalg_dot_f64(row, y, i), row[i]);
    }
}

ESVM_STATIC void packed_factor_triangle_remove_f32(float *L, float *ones, float *c, float *s,
        esvm_index m, esvm_index p) {
    esvm_index i, k;
    float *row;
    float a, b, length;
    for (i = p; i < m - 1; i++) {
        row = L + packed_factor_packed(i + 1);
        for (k = p; k < i; k++) {
            a = row[k];
            b = row[k + 1];
            float t1_ = c[k] * a + s[k] * b;
            float t2_ = c[k] * b - s[k] * a;
            row[k] = t1_;
            row[k + 1] = t2_;
        }
        length = (float)esvm_sqrt(row[i] * row[i] + row[i + 1] * row[i + 1]);
        float t3_ = row[i] / length;
        float t4_ = row[i + 1] / length;
        c[i] = t3_;
        s[i] = t4_;
        row[i] = length;
        if (ones != NULL) {
            a = ones[i];
            b = ones[i + 1];
            float t5_ = c[i] * a + s[i] * b;
            float t6_ = c[i] * b - s[i] * a;
            ones[i] = t5_;
            ones[i + 1] = t6_;
        }
        memmove(L + packed_factor_packed(i), row, (i + 1) * sizeof(float));
    }
}

ESVM_STATIC void packed_factor_triangle_remove_f64(double *L, double *ones, double *c, double *s,
        esvm_index m, esvm_index p) {
    esvm_index i, k;
    double *row;
    double a, b, length;
    for (i = p; i < m - 1; i++) {
        row = L + packed_factor_packed(i + 1);
        for (k = p; k < i; k++) {
            a = row[k];
            b = row[k + 1];
            double t1_ = c[k] * a + s[k] * b;
            double t2_ = c[k] * b - s[k] * a;
            row[k] = t1_;
            row[k + 1] = t2_;
        }
        length = (double)esvm_sqrt(row[i] * row[i] + row[i + 1] * row[i + 1]);
        double t3_ = ESVM_DIVIDE(row[i], length);
        double t4_ = ESVM_DIVIDE(row[i + 1], length);
        c[i] = t3_;
        s[i] = t4_;
        row[i] = length;
        if (ones != NULL) {
            a = ones[i];
            b = ones[i + 1];
            double t5_ = c[i] * a + s[i] * b;
            double t6_ = c[i] * b - s[i] * a;
            ones[i] = t5_;
            ones[i + 1] = t6_;
        }
        memmove(L + packed_factor_packed(i), row, (i + 1) * sizeof(double));
    }
}

ESVM_STATIC esvm_index packed_factor_factor_rows(const packed_factor_PackedFactor *f,
        esvm_index order) {
    esvm_index room = (f->length - packed_factor_packed(order)) / f->width;
    return room < order ? room : order;
}

ESVM_STATIC double *packed_factor_factor_row(const packed_factor_PackedFactor *f, int64_t p) {
    return f->pool + f->length - (p + 1) * f->width;
}

ESVM_STATIC void packed_factor_factor_drop_column(const packed_factor_PackedFactor *f,
        esvm_index i, esvm_index n) {
    esvm_index p;
    double *row;
    esvm_index t1_ = packed_factor_factor_rows(f, f->order[0]);
    for (p = 0; p < t1_; p++) {
        row = packed_factor_factor_row(f, p);
        memmove(row + i, row + i + 1, (n - i - 1) * sizeof(double));
    }
}

ESVM_STATIC esvm_index packed_factor_factor_remove(const packed_factor_PackedFactor *f,
        esvm_index p) {
    esvm_index m = f->order[0];
    esvm_index n_rows = packed_factor_factor_rows(f, m);
    if (p < n_rows) {
        n_rows -= 1;
        memmove(packed_factor_factor_row(f, n_rows - 1), packed_factor_factor_row(f, n_rows),
                (n_rows - p) * f->width * sizeof(double));
    }
    packed_factor_triangle_remove_f64(f->pool, f->ones, f->border, f->solution, m, p);
    f->order[0] = m - 1;
    return n_rows;
}

ESVM_STATIC void packed_factor_factor_solve(const packed_factor_PackedFactor *f) {
    esvm_index m = f->order[0];
    double *x = f->solution + 1;
    double b;
    packed_factor_factor_forward(f);
    b = ESVM_DIVIDE(linalg_dot_f64(f->ones, x, m) - f->border[0], linalg_dot_f64(f->ones, f->ones,
            m));
    linalg_add_scaled(-b, f->ones, x, m);
    packed_factor_factor_backward(f, x);
    f->solution[0] = b + f->lift[0] * f->border[0];
}

ESVM_STATIC int packed_factor_factor_has_room(const packed_factor_PackedFactor *f) {
    return packed_factor_packed(f->order[0] + 1) <= f->length;
}

ESVM_STATIC void packed_factor_factor_append(const packed_factor_PackedFactor *f, double delta,
        const double *row, esvm_index n) {
    esvm_index m = f->order[0];
    double *last = f->pool + packed_factor_packed(m);
    memcpy(last, f->solution + 1, m * sizeof(double));
    last[m] = esvm_sqrt(delta);
    f->ones[m] = ESVM_DIVIDE(1.0 - linalg_dot_f64(last, f->ones, m), last[m]);
    m += 1;
    f->order[0] = m;
    if (m <= packed_factor_factor_rows(f, m)) {
        memcpy(packed_factor_factor_row(f, m - 1), row, n * sizeof(double));
    }
}

ESVM_STATIC void packed_factor_factor_backward(const packed_factor_PackedFactor *f, double *x) {
    esvm_index i;
    const double *row;
    for (i = f->order[0] - 1; i > -1; i--) {
        row = f->pool + packed_factor_packed(i);
        x[i] = ESVM_DIVIDE(x[i], row[i]);
        linalg_add_scaled(-x[i], row, x, i);
    }
}

ESVM_STATIC double packed_factor_factor_complement(const packed_factor_PackedFactor *f,
        double k_ii) {
    packed_factor_factor_forward(f);
    return k_ii + f->lift[0] - linalg_dot_f64(f->solution + 1, f->solution + 1, f->order[0]);
}

#endif
