"""Transforms of arrays that all ranks share, by mpi4py-fft: forward they are numpy's of the whole array, and back they are the input."""

import sys

import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, DistArray, newDistArray

WORLD = MPI.COMM_WORLD
SHAPES = [(16, 20), (24, 18, 20), (13, 17, 11), (8, 9, 6, 10)]
# How the ranks divide an array: the first axis among all, or two axes in a grid of ranks.
GRIDS = [(-1,), None]
# Real and complex ones, and how far from numpy's they may be, of the largest value.
TYPES = [("d", 1e-14), ("D", 1e-14), ("f", 1e-5), ("F", 1e-5)]


def drawn(shape, kind):
    """Input, of which each rank draws all."""
    draw = numpy.random.default_rng(7).standard_normal
    parts = draw(shape) + 1j * draw(shape) if kind.isupper() else draw(shape)
    return parts.astype(kind)


def is_near(mine, whole, part, error):
    return numpy.abs(mine - whole[part]).max(initial=0) <= error * numpy.abs(whole).max()


def transform(shape, grid, kind, error):
    if grid is not None:
        grid = list(grid) + [1] * (len(shape) - len(grid))
    fft = PFFT(WORLD, shape, dtype=kind, grid=grid)
    whole = drawn(shape, kind)
    given = newDistArray(fft, False)
    given[:] = whole[given.local_slice()]
    found = fft.forward(given.copy(), newDistArray(fft), normalize=False)
    of_all = (numpy.fft.fftn if kind.isupper() else numpy.fft.rfftn)(whole)
    back = fft.backward(found.copy(), newDistArray(fft, False), normalize=True)
    there = is_near(found, of_all, found.local_slice(), error)
    return there and is_near(back, whole, given.local_slice(), error)


def redistribute(shape):
    """Has an array go from ranks that share one axis to those that share another, which changes no bit."""
    whole = drawn(shape, "d")
    mine = DistArray(shape, alignment=0, dtype="d")
    mine[:] = whole[mine.local_slice()]
    moved = mine.redistribute(axis=len(shape) - 1)
    return numpy.array_equal(moved, whole[moved.local_slice()])


def main():
    right = [redistribute(shape) for shape in SHAPES]
    right += [transform(shape, grid, *kind) for shape in SHAPES for grid in GRIDS for kind in TYPES]
    wrong = WORLD.allreduce(right.count(False))
    if wrong:
        sys.exit(f"rank {WORLD.rank}: {right.count(False)} of {len(right)} are wrong here")
    if WORLD.rank == 0:
        print(f"{len(right)} transforms on {WORLD.size} ranks are right")


main()
