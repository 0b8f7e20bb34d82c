// What a rank does: a process, which main.c makes of it, or a simulated rank, by simulated.c.

#include <stdint.h>
#include <weft.h>

// Returns 0 if the result is right.
int32_t program(const weft_job *job, void *user);
