"""The claims of postech, Park's slides, in a module for each part of the lecture.

The slides print the objective perturbation of 2011, whose noise has density ~ exp(-beta |b|) with
2 beta = epsilon - log(1 + 2c/(n lam) + c^2/(n lam)^2): that is Algorithm 2 here.
"""
