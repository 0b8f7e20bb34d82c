// A program: types of objects and of processes, and the process that begins.
typedef struct {
    const weft_object_type *types;
    size_t type_count;
    const weft_process_type *processes;
    size_t process_count;
    const char *main;
} orca_program;

// Runs a program on this rank of a job, and returns when its processes have ended.
static void orca_run(const weft_job *job, const orca_program *program) {
    orca_check(weft_rank(job, &orca_rank), "start");
    orca_check(weft_size(job, &orca_ranks), "start");
    orca_check(weft_objects_create(job, program->types, program->type_count, program->processes,
                                   program->process_count, &orca_objects),
               "start");
    orca_check(weft_objects_run(orca_objects, program->main, NULL, 0), "the program");
    orca_check(weft_objects_destroy(orca_objects), "end");
}

#ifdef ORCA_SIMULATED
static int32_t orca_simulated(const weft_job *job, void *program) {
    orca_place here = {0};
    weft_simulated_keep(&here);
    orca_run(job, program);
    return 0;
}

static void orca_print_figures(const weft_simulated *figures) {
    fprintf(stderr,
            "simulated  %.3f ms, %llu packets, %llu sent again, %llu faults injected\n"
            "trace      %016llx of %llu events\n",
            (double)figures->virtual_ns / 1e6, (unsigned long long)figures->packets,
            (unsigned long long)figures->retransmissions, (unsigned long long)figures->faults,
            (unsigned long long)figures->trace, (unsigned long long)figures->events);
}

// Simulates the ranks that the command line describes: the words of `orcac sim`, in its order.
static int orca_main(int argc, char **argv, const orca_program *program) {
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (argc != 9) {
        fprintf(stderr, "orca: a program for simulated ranks is started by `orcac sim`\n");
        return 2;
    }
    weft_simulation simulation = {
        .ranks = (uint32_t)strtoul(argv[1], NULL, 10),
        .preset = argv[2],
        .machine = argv[3],
        .seed = strtoull(argv[4], NULL, 10),
        .loss = strtod(argv[5], NULL),
        .duplication = strtod(argv[6], NULL),
        .reordering = strtod(argv[7], NULL),
        .corruption = strtod(argv[8], NULL),
        .stack_bytes = 8 << 20,
    };
    weft_simulated figures = {0};
    weft_status status = weft_simulate(&simulation, orca_simulated, (void *)program, &figures);
    fflush(stdout);
    if (figures.events > 0)
        orca_print_figures(&figures);
    if (status != WEFT_OK)
        fprintf(stderr, "orca: simulation: %s\n", weft_error_text());
    return status != WEFT_OK;
}
#else
static int orca_main(int argc, char **argv, const orca_program *program) {
    (void)argc, (void)argv;
    weft_job *job;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    orca_check(weft_join(&job), "start");
    orca_run(job, program);
    orca_check(weft_leave(job), "end");
    return 0;
}
#endif
