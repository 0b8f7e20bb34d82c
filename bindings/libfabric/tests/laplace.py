"""Laplace's equation in a square by PETSc's solvers of linear equations, on all ranks: each says how many steps it took, and has to
leave a small residual, which is computed anew."""

import sys

import petsc4py

petsc4py.init(sys.argv)

from petsc4py import PETSc

SIDE = 96
TOLERANCE = 1e-7
# Solvers, and what they are preceded by: of one rank's unknowns, or of all, by multigrid.
SOLVERS = [("cg", "jacobi"), ("cg", "bjacobi"), ("gmres", "asm"), ("bcgs", "bjacobi"), ("cg", "gamg"), ("cg", "hypre")]


def equations(grid):
    """The matrix of five points."""
    matrix = grid.createMatrix()
    point, other = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    (left, right), (low, high) = grid.getRanges()
    for row in range(low, high):
        for column in range(left, right):
            point.index = (column, row)
            matrix.setValueStencil(point, point, 4.0)
            for beside in [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]:
                if all(0 <= place < SIDE for place in beside):
                    other.index = beside
                    matrix.setValueStencil(point, other, -1.0)
    matrix.assemble()
    matrix.setOption(PETSc.Mat.Option.SPD, True)
    return matrix


def solve(matrix, given, solver, before):
    """Steps that it took, and the residual."""
    ksp = PETSc.KSP().create()
    ksp.setOperators(matrix)
    ksp.setType(solver)
    ksp.getPC().setType(before)
    ksp.setTolerances(rtol=TOLERANCE / 1000, max_it=2000)
    found = given.duplicate()
    ksp.solve(given, found)
    left = given.duplicate()
    matrix.mult(found, left)
    left.aypx(-1.0, given)
    return ksp.getIterationNumber(), left.norm() / given.norm()


def main():
    grid = PETSc.DMDA().create([SIDE, SIDE], dof=1, stencil_width=1)
    matrix = equations(grid)
    given = grid.createGlobalVec()
    start, end = given.getOwnershipRange()
    given.setValues(range(start, end), [1 + place % 7 for place in range(start, end)])
    given.assemble()
    for solver, before in SOLVERS:
        steps, residual = solve(matrix, given, solver, before)
        if residual > TOLERANCE:
            sys.exit(f"{solver} and {before} leave {residual} after {steps} steps")
        if PETSc.COMM_WORLD.rank == 0:
            print(f"{solver} and {before}: {steps} steps")


main()
