"""WindowedSVM in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from reference.retrained_svm import RetrainedSVMCoreRef, filled


class WindowedSVMCoreRef(RetrainedSVMCoreRef):
    """Models by the number of their first batch modulo the window, and the batch so far."""

    def __init__(self, *common, window, **params):
        super().__init__(*common, **params)
        self.window = window

    @property
    def answering(self):
        n = int(self.views["n_batches"])
        return n % self.window if n >= self.window else 0

    def model(self, m):
        v, n = self.views, int(self.views["n_support"][m])
        X = self.get(v["model_rows"][m], n)
        return X, v["model_bound"][m, :n], v["model_beta"][m, :n]

    def value(self, m, x):
        X, _, beta = self.model(m)
        f = float(self.k(x, X)[0] @ beta) if len(X) else 0.0
        return f + float(self.views["intercept"][m])

    def step(self, x, y, weight):
        v, n = self.views, int(self.views["n_waiting"])
        status = self.refuses(x, weight)
        if status != Status.UNCHANGED:
            return status
        v["batch"][n], v["batch_bound"][n] = x, y * self.C * weight
        v["n_waiting"][...] = n = n + 1
        if n == self.batch_size:
            self.learn_batch()
        elif not v["n_batches"] and n & (n - 1) == 0:
            self.begin_model(0)
            v["n_cycles"][...] = v["n_given_up"][...] = 0
        return Status.CHANGED

    def learn_batch(self):
        v, newest = self.views, int(self.views["n_batches"]) % self.window
        for m in range(min(int(v["n_batches"]), self.window)):
            if m != newest:
                self.extend_model(m)
        self.begin_model(newest)
        for name in ("batch", "batch_bound", "n_waiting"):
            v[name][...] = 0
        v["n_batches"] += 1

    def begin_model(self, m):
        n = int(self.views["n_waiting"])
        X, bound = self.views["batch"][:n].copy(), self.views["batch_bound"][:n].copy()
        self.train_model(m, X, bound, np.zeros(n))

    def extend_model(self, m):
        batch, batch_bound = self.views["batch"], self.views["batch_bound"]
        margins = [np.sign(b) * self.value(m, x) for x, b in zip(batch, batch_bound, strict=True)]
        kept = [k for k, yf in enumerate(margins) if self.wants(yf)]
        if kept:
            X, bound, beta = self.model(m)
            self.train_model(
                m,
                np.vstack([X, batch[kept]]),
                np.concatenate([bound, batch_bound[kept]]),
                np.concatenate([beta, np.zeros(len(kept))]),
            )

    def train_model(self, m, X, bound, beta):
        v = self.views
        X, bound, beta, _, v["intercept"][m] = self.train(X, bound, beta)
        self.put(v["model_rows"][m], X)
        filled(v["model_bound"][m], bound)
        filled(v["model_beta"][m], beta)
        v["n_support"][m] = len(X)

    def decide(self, x):
        return self.value(self.answering, x) if np.isfinite(x @ x) else np.nan
