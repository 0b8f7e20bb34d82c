/* Runs a command to which the system refuses a call, as filters of containers do: refused CALL COMMAND ... */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} CALLS[] = {{"memfd_create", SYS_memfd_create}, {"pidfd_open", SYS_pidfd_open}};

int main(int argc, char **argv)
{
    size_t call = 0, calls = sizeof CALLS / sizeof *CALLS;
    while (argc > 2 && call < calls && strcmp(CALLS[call].name, argv[1]) != 0)
        call++;
    if (argc < 3 || call == calls) {
        fprintf(stderr, "usage: refused memfd_create|pidfd_open COMMAND ...\n");
        return 2;
    }
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[call].number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
        execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
