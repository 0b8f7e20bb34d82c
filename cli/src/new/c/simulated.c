// The same program on simulated ranks, in virtual time. A seed fixes all that is random; with a
// part of packets that are lost, protocols are used that send them again.
//
//     ./simulated RANKS SEED LOSS

#include "my-program.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft-sim.h>

int
main(int count, char **words)
{
    weft_simulation simulation = {.ranks = 64, .seed = 1};
    weft_simulated report;

    if (count > 1)
        simulation.ranks = (uint32_t)strtoul(words[1], NULL, 10);
    if (count > 2)
        simulation.seed = strtoull(words[2], NULL, 10);
    if (count > 3) {
        simulation.loss = strtod(words[3], NULL);
        simulation.preset = "irx-imc";
    }
    if (weft_simulate(&simulation, program, NULL, &report) != WEFT_OK) {
        fprintf(stderr, "simulated: %s\n", weft_error_text());
        return 1;
    }
    printf("simulated %.3f us, %" PRIu64 " packets, %" PRIu64 " sent again, %" PRIu64 " lost\n",
           (double)report.virtual_ns / 1000, report.packets, report.retransmissions, report.faults);
    printf("trace     %016" PRIx64 " of %" PRIu64 " events\n", report.trace, report.events);
    return 0;
}
