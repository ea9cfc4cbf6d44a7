"""Kernel SVMs kept at their exact optimum: the twin vector machine (Wang & Vucetic 2009) and the
incremental-decremental SVM (Cauwenberghs & Poggio 2000), on one adiabatic solver; SimpleSVM
(Vishwanathan, Smola & Murty 2003), on its margin set."""
