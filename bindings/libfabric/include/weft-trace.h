/* Spans of a traced run, for libraries between a program and its MPI library: what `weft run --trace` and WEFT_TRACE write down. */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include <stdint.h>

#define WEFT_TRACE_VERSION 1
/* Words of a name, and bytes: zeros stand behind a shorter one. */
#define WEFT_TRACE_NAME 3

struct weft_trace {
    uint32_t version;
    /* Begins a span of time under this name, and returns its number. Never fails or blocks. */
    uint32_t (*begin)(uint64_t name0, uint64_t name1, uint64_t name2);
    /* Ends the span of that number which began last. */
    void (*end)(uint32_t span);
};

/* The functions, as they are in this version and later ones; NULL if the library is older, or the run is not traced. */
const struct weft_trace *weft_trace_table(uint32_t version);

#endif
