// A rank that is a process:
//
//     weft run -n 4 -- ./my-program

#include "my-program.h"
#include <stdio.h>

int
main(void)
{
    weft_job *job;
    int32_t status;

    if (weft_join(&job) != WEFT_OK) {
        fprintf(stderr, "my-program: %s\n", weft_error_text());
        return 1;
    }
    status = program(job, NULL);
    return weft_leave(job) == WEFT_OK ? status : 1;
}
