// What all processes of a rank share: variables of its own, or, where the ranks are simulated in one
// process of the system, what Weft keeps for the one that runs.
#ifdef ORCA_SIMULATED
#include "weft-sim.h"

typedef struct {
    weft_objects *objects;
    uint32_t rank, ranks;
} orca_place;

static inline orca_place *orca_here(void) {
    return weft_simulated_kept();
}

#define orca_objects (orca_here()->objects)
#define orca_rank (orca_here()->rank)
#define orca_ranks (orca_here()->ranks)
#else
static weft_objects *orca_objects;
static uint32_t orca_rank, orca_ranks;
#endif
