// Run-time support of the C that orcac makes: values, their copies, and how they travel.
//
// Each type T of a program has these functions, made by a macro for its kind:
//
//   T_free(x)         gives back what x holds; x is to be assigned or forgotten then
//   T_copy(x)         a copy that holds nothing of x's
//   T_compare(x, y)   less than, equal to or greater than 0: an order of all values
//   T_put(writer, x)  appends x to what travels
//   T_get(reader, x)  reads x; false if there is none, and then x holds nothing
//
// A value that is all zero is the value with which a variable begins: no number, no element, no
// node. A variable holds its value: nobody else frees or changes it.
#include "weft-objects.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A mistake of the program: says what and where, and ends the job.
_Noreturn static void orca_fail(const char *at, const char *format, ...) {
    va_list values;
    va_start(values, format);
    fflush(stdout);
    flockfile(stderr);
    fprintf(stderr, "orca: %s: ", at);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    // No other thread says anything any more.
    _Exit(1);
}

static void *orca_memory(size_t bytes) {
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        orca_fail("memory", "there are no %zu bytes left", bytes);
    return memory;
}

// Values that travel: pieces, each from a multiple of 8 bytes on. Long arrays are gathered where
// they lie (thesis 7.1.3); everything else is copied into chunks, which never move.
enum { ORCA_CHUNK = 4096, ORCA_GATHERED = 256 };

typedef struct orca_chunk {
    struct orca_chunk *before;
    size_t used, room;
    double bytes[];
} orca_chunk;

typedef struct {
    orca_chunk *chunk;
    weft_iov *pieces;
    size_t count, room, length;
    // True where objects travel with their states, and not as numbers.
    bool deep;
} orca_writer;

static size_t orca_padded(size_t bytes) {
    return (bytes + 7) & ~(size_t)7;
}

static void orca_piece(orca_writer *writer, const void *start, size_t bytes) {
    if (writer->count == writer->room) {
        writer->room = writer->room > 0 ? 2 * writer->room : 8;
        weft_iov *pieces = realloc(writer->pieces, writer->room * sizeof *pieces);
        if (pieces == NULL)
            orca_fail("memory", "there is no room for an operation's arguments");
        writer->pieces = pieces;
    }
    writer->pieces[writer->count].base = start;
    writer->pieces[writer->count++].length = bytes;
    writer->length += bytes;
}

// Room for so many bytes, at the end of what was written so far.
static void *orca_append(orca_writer *writer, size_t bytes) {
    orca_chunk *chunk = writer->chunk;
    size_t padded = orca_padded(bytes);
    if (chunk == NULL || chunk->room - chunk->used < padded) {
        size_t room = padded > ORCA_CHUNK ? padded : ORCA_CHUNK;
        chunk = orca_memory(sizeof *chunk + room);
        chunk->before = writer->chunk;
        chunk->room = room;
        writer->chunk = chunk;
    }
    char *start = (char *)chunk->bytes + chunk->used;
    chunk->used += padded;
    weft_iov *last = writer->count > 0 ? &writer->pieces[writer->count - 1] : NULL;
    if (last != NULL && (const char *)last->base + last->length == start) {
        last->length += padded;
        writer->length += padded;
    } else {
        orca_piece(writer, start, padded);
    }
    return start;
}

static void orca_put(orca_writer *writer, const void *value, size_t bytes) {
    memcpy(orca_append(writer, bytes), value, bytes);
}

// Elements that hold nothing, which stay as they are until the writer is ended.
static void orca_put_flat(orca_writer *writer, const void *elements, size_t bytes) {
    if (bytes >= ORCA_GATHERED && bytes % 8 == 0)
        orca_piece(writer, elements, bytes);
    else if (bytes > 0)
        orca_put(writer, elements, bytes);
}

static void orca_end(orca_writer *writer) {
    while (writer->chunk != NULL) {
        orca_chunk *before = writer->chunk->before;
        free(writer->chunk);
        writer->chunk = before;
    }
    free(writer->pieces);
}

// Copies all that was written to where there is room for it, and ends the writer.
static void orca_gather(orca_writer *writer, char *to) {
    for (size_t i = 0; i < writer->count; i++) {
        memcpy(to, writer->pieces[i].base, writer->pieces[i].length);
        to += writer->pieces[i].length;
    }
    orca_end(writer);
}

// All that was written, as the result of an operation or the state of an object.
static void orca_finish(orca_writer *writer, weft_result *result) {
    char *to = writer->length > 0 ? weft_result_extend(result, writer->length) : NULL;
    if (writer->length > 0 && to == NULL)
        orca_fail("memory", "there is no room for the result of an operation");
    orca_gather(writer, to);
}

// All that was written, in one piece, which is the caller's to free.
static void *orca_whole(orca_writer *writer, size_t *length) {
    *length = writer->length;
    char *whole = orca_memory(writer->length);
    orca_gather(writer, whole);
    return whole;
}

// Values that arrived, aligned to 8 bytes.
typedef struct {
    const char *at;
    size_t left;
    bool deep;
} orca_reader;

// The next bytes where they lie; null if there are fewer.
static const void *orca_view(orca_reader *reader, size_t bytes) {
    size_t padded = orca_padded(bytes);
    if (bytes > reader->left || padded > reader->left)
        return NULL;
    const void *start = reader->at;
    reader->at += padded;
    reader->left -= padded;
    return start;
}

static bool orca_get(orca_reader *reader, void *value, size_t bytes) {
    const void *start = orca_view(reader, bytes);
    if (start == NULL) {
        memset(value, 0, bytes);
        return false;
    }
    memcpy(value, start, bytes);
    return true;
}
