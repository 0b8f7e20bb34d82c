/*
 * What the MPI applications share, so that each of them is about its problem: options, blocks of rows, numbers that look
 * random, time measured with and without the others, and the verdict in the end.
 *
 * Plain MPI, nothing of Weft: they run on any MPI library and any network.
 */
#ifndef COMMON_H
#define COMMON_H

#include <errno.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks;

/* An option that takes a whole number. */
struct number {
    const char *name;
    long *value;
    long least, most;
};

/* What a program is told on its command line; the last number has no name. */
struct options {
    const char *program;
    const char *help;
    const struct number *numbers;
    bool speedup;
};

/* Ends all ranks, with a line from this one. */
static inline void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "rank %d: ", rank);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        fail("no memory for %zu times %zu bytes", count, size);
    return memory;
}

/* Ends this rank as all others end, after rank 0 has said why. */
static inline void leave(int status)
{
    MPI_Finalize();
    exit(status);
}

static inline void misused(const struct options *options, const char *format, ...)
{
    if (rank == 0) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "%s: ", options->program);
        vfprintf(stderr, format, arguments);
        fprintf(stderr, " (%s --help says what there is)\n", options->program);
        va_end(arguments);
    }
    leave(2);
}

static inline void read_number(const struct options *options, const struct number *number, const char *text)
{
    char *end = NULL;
    errno = 0;
    long value = text ? strtol(text, &end, 10) : 0;
    if (!text || *text == '\0' || *end != '\0' || errno || value < number->least || value > number->most)
        misused(options, "%s is a number from %ld to %ld", number->name, number->least, number->most);
    *number->value = value;
}

/* Starts MPI and reads the command line, which is the same at all ranks. */
static inline void start(struct options *options, int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < argc; i++) {
        const struct number *number = options->numbers;
        while (number->name && strcmp(number->name, argv[i]))
            number++;
        if (number->name) {
            const char *text = i + 1 < argc ? argv[i + 1] : NULL;
            read_number(options, number, text);
            i++;
        } else if (!strcmp(argv[i], "--speedup")) {
            options->speedup = true;
        } else if (!strcmp(argv[i], "--help")) {
            if (rank == 0)
                fputs(options->help, stdout);
            leave(0);
        } else {
            misused(options, "there is no option %s", argv[i]);
        }
    }
}

/* Rows are divided in contiguous blocks, whose sizes differ by one at most. */
static inline long first_row(long rows, int owner, int owners)
{
    return rows * owner / owners;
}

static inline int owner_of(long row, long rows, int owners)
{
    int owner = (int)(row * owners / rows);
    while (first_row(rows, owner + 1, owners) <= row)
        owner++;
    return owner;
}

/* The index-th of a sequence of numbers that look random, which its seed fixes (SplitMix64). */
static inline uint64_t mixed(uint64_t bits)
{
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
}

static inline uint64_t random_bits(uint64_t seed, uint64_t index)
{
    const uint64_t step = 0x9e3779b97f4a7c15u;
    return mixed(mixed(seed * step) ^ (index + 1) * step);
}

/* The same as a number between -1 and 1. */
static inline double noise(uint64_t seed, uint64_t index)
{
    return (double)(random_bits(seed, index) >> 11) * (2.0 / (double)(1ull << 53)) - 1.0;
}

/*
 * All ranks wait for rank 0. They sleep between two looks: a rank that waits inside MPI may keep a core busy, and rank 0
 * would be measured beside it.
 */
static inline void wait_for_rank_0(void)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

enum { TURNS = 3 };

static inline int earlier(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/*
 * Has rank 0 solve the whole problem alone, and all ranks solve it together; each once, or three times in turn where a speed-up
 * is wanted. Rank 0 says how long it took.
 */
static inline void measure(const struct options *options, void (*solve)(MPI_Comm))
{
    double alone[TURNS], together[TURNS];
    int turns = options->speedup ? TURNS : 1;
    for (int turn = 0; turn < turns; turn++) {
        double begin = MPI_Wtime();
        if (rank == 0)
            solve(MPI_COMM_SELF);
        alone[turn] = MPI_Wtime() - begin;
        wait_for_rank_0();
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        solve(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        together[turn] = MPI_Wtime() - begin;
    }
    qsort(alone, turns, sizeof *alone, earlier);
    qsort(together, turns, sizeof *together, earlier);
    double one = alone[turns / 2], all = together[turns / 2];
    if (rank != 0)
        return;
    printf("time: %.3f s on %d rank%s\n", all, ranks, ranks == 1 ? "" : "s");
    if (options->speedup)
        printf("speed-up: %.2f (one rank alone: %.3f s; medians of %d turns)\n", one / all, one, turns);
}

/* All ranks end with the status that rank 0 has. */
static inline void end(int status)
{
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    leave(status);
}

/* Rank 0 says what was checked, or what is wrong, and ends; the others hear of it where they end. */
static inline void conclude(bool right, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs(right ? "checked: " : "WRONG: ", stdout);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    fflush(stdout);
    end(right ? 0 : 1);
}

#endif
