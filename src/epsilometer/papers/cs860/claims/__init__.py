"""The claims of cs860, Kamath's lecture 13 on private risk minimisation: output, objective and gradient perturbation.

The lecture's risk is a sum over records, F(theta) = sum_i l(theta; x_i, y_i), over a set C of diameter |C|; l is convex and
L-Lipschitz. The lecture does not fix the adjacency; unless a claim says otherwise, a record is exchanged (replace-one).
"""
