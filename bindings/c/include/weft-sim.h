// C programs on simulated ranks. Made from bindings/c/src by `cargo run -p xtask -- header`. What
// weft.h says of functions and pointers holds here too; the page weft_simulate(3) has more.

#ifndef WEFT_SIM_H
#define WEFT_SIM_H

#include "weft.h"

// Simulated job: its ranks, their machine, and what goes wrong. All may be 0 or null but ranks.
typedef struct {
    // Number of ranks: 1 to 65534.
    uint32_t ranks;
    // The protocols, such as "irx-imc"; null for those that weft run has.
    const char *preset;
    // The costs of everything: "myrinet", which null is, "myrinet-compared", "host",
    // "fast-ethernet" or "medusa".
    const char *machine;
    // Fixes everything that is random.
    uint64_t seed;
    // Parts of all packets that are lost, arrive twice, are overtaken by others, and have bits
    // that flip: 0 to 1.
    double loss;
    double duplication;
    double reordering;
    double corruption;
    // Stack of each program and each process, in bytes; 0 for 1 MiB. What is not touched takes no
    // memory.
    size_t stack_bytes;
} weft_simulation;

// Program of a simulated rank, which gets its place in the job, as long as it runs, and the
// pointer that weft_simulate() was given. Returns 0 if all is well.
typedef int32_t (*weft_simulated_code)(const weft_job *job, void *user);

// Figures of a simulation.
typedef struct {
    // The time that passed in it, in nanoseconds.
    uint64_t virtual_ns;
    // Data packets sent, and those of them that were sent again.
    uint64_t packets;
    uint64_t retransmissions;
    // Faults of the network that were injected.
    uint64_t faults;
    // Number of events, and a number that stands for all of them: the same for the same program
    // and simulation, on any machine.
    uint64_t events;
    uint64_t trace;
} weft_simulated;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Runs a program on all ranks of a simulated job, in virtual time, in this thread. The ranks take
// turns, and share all variables but those on their stacks; processes of objects are coroutines
// that take turns, too, each until it waits. The program gives back what it got from its job
// before it returns, but not the job. Where it computes, no virtual time passes. If report is not
// null, the figures are put there, also if a program has failed. WEFT_ABANDONED if a program
// returns something other than 0, WEFT_WAITS_FOR_ITSELF if nothing happens any more before all
// have returned: what those had is not freed then. Blocks. Not to be called in a callback or a
// simulated program.
weft_status weft_simulate(const weft_simulation *simulation,
                          weft_simulated_code program,
                          void *user,
                          weft_simulated *report);

// Has the simulated rank that runs keep a pointer, for its program and the processes that begin
// after this: it is to them what a global variable is to a rank that is a process. Returns the one
// that it kept before, null at first. Never blocks.
void *weft_simulated_keep(void *pointer);

// The pointer that the simulated rank that runs keeps. Never blocks.
void *weft_simulated_kept(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WEFT_SIM_H */
