"""Datasets of an HDF5 file that all ranks write together, by h5py: each reads back what all have written."""

import sys

import h5py
import numpy
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
ROWS, COLUMNS = 96, 515
# Whether all ranks write and read at once (collectively) or each for itself.
WAYS = {"collective": True, "independent": False}
# In one piece, or in blocks that several ranks write into.
LAYOUTS = {"contiguous": None, "chunked": (7, 64)}


def parts():
    """What a rank writes: consecutive rows, every so many columns, and a block of a grid of ranks."""
    rank, ranks = WORLD.rank, WORLD.size
    rows = numpy.array_split(numpy.arange(ROWS), ranks)[rank]
    yield "rows", (slice(rows[0], rows[-1] + 1), slice(None))
    yield "columns", (slice(None), slice(rank, None, ranks))
    wide = numpy.array_split(numpy.arange(COLUMNS), (ranks + 1) // 2)[rank // 2]
    low, high = (0, ROWS // 2) if rank % 2 == 0 else (ROWS // 2, ROWS)
    if rank == ranks - 1 and ranks % 2 == 1:
        high = ROWS
    yield "blocks", (slice(low, high), slice(wide[0], wide[-1] + 1))


def whole(number):
    return numpy.arange(ROWS * COLUMNS, dtype="i8").reshape(ROWS, COLUMNS) * 3 + number


def each():
    """Each dataset: its name, its number, whether it is written collectively, its layout, and this rank's part."""
    number = 0
    for way, together in WAYS.items():
        for layout, chunks in LAYOUTS.items():
            for division, part in parts():
                yield f"{way}/{layout}/{division}", number, together, chunks, part
                number += 1


def access(dataset, together, use):
    if not together:
        return use()
    with dataset.collective:
        return use()


def write(path):
    with h5py.File(path, "w", driver="mpio", comm=WORLD) as file:
        for name, number, together, chunks, part in each():
            dataset = file.create_dataset(name, (ROWS, COLUMNS), "i8", chunks=chunks)
            access(dataset, together, lambda: dataset.__setitem__(part, whole(number)[part]))


def read(path):
    """Number of datasets that are right here, and of all."""
    right = total = 0
    with h5py.File(path, "r", driver="mpio", comm=WORLD) as file:
        for name, number, together, _, part in each():
            dataset, expected = file[name], whole(number)
            mine = access(dataset, together, lambda: dataset[part])
            every = access(dataset, together, lambda: dataset[:])
            right += numpy.array_equal(mine, expected[part]) and numpy.array_equal(every, expected)
            total += 1
    return right, total


def main():
    write(sys.argv[1])
    right, total = read(sys.argv[1])
    if WORLD.allreduce(total - right):
        sys.exit(f"rank {WORLD.rank}: {total - right} of {total} datasets are wrong here")
    if WORLD.rank == 0:
        print(f"{total} datasets of {WORLD.size} ranks are right")


main()
