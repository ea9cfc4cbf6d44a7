/* Translated from edgesvm/learners/stream/_normal_matrix.*: change that, then `make translate`. */

#ifndef EDGESVM_NORMAL_MATRIX_H
#define EDGESVM_NORMAL_MATRIX_H

#include "floor.h"
#include "linalg.h"

ESVM_STATIC void normal_matrix_add_product(double *L, double *v, esvm_index n);
ESVM_STATIC void normal_matrix_solve(const double *L, double *x, esvm_index n);
ESVM_STATIC esvm_index normal_matrix_column(esvm_index j, esvm_index n);
ESVM_STATIC void normal_matrix_factorise(double *A, esvm_index n);

ESVM_STATIC void normal_matrix_add_product(double *L, double *v, esvm_index n) {
    esvm_index j, k;
    double *col;
    double length, c, s, inverse;
    for (j = 0; j < n; j++) {
        col = L + normal_matrix_column(j, n);
        length = esvm_sqrt(col[0] * col[0] + v[j] * v[j]);
        c = ESVM_DIVIDE(length, col[0]);
        s = ESVM_DIVIDE(v[j], col[0]);
        inverse = ESVM_DIVIDE(col[0], length);
        col[0] = length;
        for (k = 1; k < n - j; k++) {
            col[k] = (col[k] + s * v[j + k]) * inverse;
            v[j + k] = c * v[j + k] - s * col[k];
        }
    }
}

ESVM_STATIC void normal_matrix_solve(const double *L, double *x, esvm_index n) {
    esvm_index j;
    const double *col;
    for (j = 0; j < n; j++) {
        col = L + normal_matrix_column(j, n);
        x[j] = ESVM_DIVIDE(x[j], col[0]);
        linalg_add_scaled(-x[j], col + 1, x + j + 1, n - j - 1);
    }
    for (j = n - 1; j > -1; j--) {
        col = L + normal_matrix_column(j, n);
        x[j] = ESVM_DIVIDE(x[j] - linalg_dot_f64(col + 1, x + j + 1, n - j - 1), col[0]);
    }
}

ESVM_STATIC esvm_index normal_matrix_column(esvm_index j, esvm_index n) {
    return j * n - j * (j - 1) / 2;
}

ESVM_STATIC void normal_matrix_factorise(double *A, esvm_index n) {
    esvm_index i, j, k;
    double *col;
    double inverse;
    for (j = 0; j < n; j++) {
        col = A + normal_matrix_column(j, n);
        col[0] = esvm_sqrt(col[0]);
        inverse = ESVM_DIVIDE(1.0, col[0]);
        for (k = 1; k < n - j; k++) {
            col[k] *= inverse;
        }
        for (i = j + 1; i < n; i++) {
            linalg_add_scaled(-col[i - j], col + i - j, A + normal_matrix_column(i, n), n - i);
        }
    }
}

#endif
