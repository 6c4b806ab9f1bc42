"""Arithmetic of the factorizations and solvers that back ends call by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from hloscope.attribute.cost_shapes import element_count
from hloscope.model.hlo import Shape

# jaxlib's names for LAPACK, cuSOLVER and hipSOLVER, XLA's for cuBLAS, libtpu's for its own kernels;
# eigenvalues and singular values are found by iteration, so nobody can say how long
_FACTORIZATIONS = {
    "cholesky": re.compile(
        r"lapack_[sdcz]potrf|(cu|hip)solver_potrf|__cusolver\$cholesky|Cholesky$"
    ),
    "lu": re.compile(r"lapack_[sdcz]getrf|(cu|hip)solver_getrf|Lu(Real)?DecompositionBlock$"),
    "qr": re.compile(r"lapack_[sdcz]geqrf|(cu|hip)solver_geqrf|QrDecompositionBlock$"),
    "reflectors": re.compile(r"lapack_[sd]orgqr|lapack_[cz]ungqr|(cu|hip)solver_(orgqr|ungqr)"),
    "triangular": re.compile(r"(lapack|blas)_[sdcz]trsm|__cublas\$triangularSolve"),
}


def solver_flops(target: str, operands: Sequence[Shape]) -> int | None:
    """Operations of a factorization or triangular solve, `None` for any other target.

    `cholesky` and `triangular-solve` count as XLA counts its own opcodes of these names, so that a
    program costs the same whichever a back end calls. LU, QR and the making of Q from k reflectors
    count by the leading terms of LAPACK Working Note 41, appendix C, an operation on complex
    numbers as one.
    """
    name = next((n for n, text in _FACTORIZATIONS.items() if text.match(target)), None)
    if name is None or not operands or len(operands[0].dims) < 2:
        return None
    matrix = operands[0]
    rows, columns = matrix.dims[-2:]
    if name == "cholesky":
        return columns * element_count(matrix) // 3
    if name == "triangular":
        return 2 * columns * element_count(operands[1]) if len(operands) > 1 else None
    batch, rank = prod(matrix.dims[:-2]), min(rows, columns)
    if name == "lu":
        return batch * _leading(rows, columns, rank) // 3
    if name == "reflectors":
        if len(operands) < 2 or not operands[1].dims:
            return None
        rank = operands[1].dims[-1]
    return 2 * batch * _leading(rows, columns, rank) // 3


def _leading(rows: int, columns: int, rank: int) -> int:
    """Three times 2mnk - (m + n)k^2 + 2/3 k^3: LU with k = min(m, n); QR is twice as much."""
    return 6 * rows * columns * rank - 3 * (rows + columns) * rank**2 + 2 * rank**3
