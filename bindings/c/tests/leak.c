// Forgets a group, so that the test knows that leaks are found.

#include <weft.h>

static weft_status
forget(weft_job *job)
{
    weft_group *group;
    uint32_t rank = 0;

    return weft_group_create(job, &rank, 1, &group);
}

int
main(void)
{
    weft_job *job;

    if (weft_join(&job) != WEFT_OK || forget(job) != WEFT_OK)
        return 1;
    return weft_leave(job) != WEFT_OK;
}
