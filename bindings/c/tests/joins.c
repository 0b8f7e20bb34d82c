// A process joins once: not again while it is a rank, nor when it has left.

#include "check.h"

int
main(void)
{
    weft_job *job, *again;

    FAILS(weft_join(NULL), WEFT_INVALID, "null");
    OK(weft_join(&job));
    FAILS(weft_join(&again), WEFT_CANNOT_JOIN, "already joined its job, and may do so once");
    FAILS(weft_join_packets(&again), WEFT_CANNOT_JOIN, "already joined");
    OK(weft_barrier(job));
    OK(weft_leave(job));
    FAILS(weft_join(&again), WEFT_CANNOT_JOIN, "already joined");
    return 0;
}
