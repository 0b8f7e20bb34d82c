//! Ranks that a process manager starts, in the same places.

use super::*;

use crate::common::mpi::{compile, mpirun, open_mpis};
use crate::common::{self, hydra};
use weft_netns::INTERFACE;

/// Last words of ranks of hydra's that go by UDP, of which one has to fail.
fn said_under_hydra(cluster: &Cluster) -> String {
    let mut command = hydra(cluster, 1, 2, "weft-example hello");
    let output = command.env("WEFT_LINK", "udp").output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    text(&output)
}

#[test]
fn ranks_of_a_manager_name_the_port_that_a_firewall_drops() {
    let Some(two) = cluster(2) else { return };
    // hydra itself goes by TCP.
    filter(&two, 1, DROP);
    let said = said_under_hydra(&two);
    let words = "host a (10.77.0.1) does not reach UDP port ";
    let port = port_behind(&said, words);
    let line = format!(
        "{words}{port} of host b (10.77.0.2), though it is reached from there: let UDP through (firewall, routes)\n"
    );
    assert!(said.contains(&line), "{said}");
}

const PING: &str = "
#include <mpi.h>
int main(int count, char **words)
{
    MPI_Init(&count, &words);
    int rank, number = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 100; turn++) {
        if (rank == turn % 2)
            MPI_Send(&number, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&number, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
";

/// Open MPI takes each host for a machine, and binds the first rank of each to the first core.
#[test]
fn ranks_of_two_hosts_on_one_core_are_warned() {
    let Some(two) = cluster(2) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("ping.c"), folder.path().join("ping"));
    std::fs::write(&source, PING).unwrap();
    compile(&open_mpis("mpicc"), &[source], &[], &program);
    let warning =
        "weft: rank 0 on host a and rank 1 on host b are bound to core 0 of one machine, ";
    for (words, warned) in [("--bind-to core", true), ("", true), ("--bind-to none", false)] {
        let shell = two.remote_shell();
        let words = format!(
            "--host a:1,b:1 {words} --mca oob_tcp_if_include {INTERFACE} --mca plm_rsh_agent {}",
            shell.display()
        );
        let mut command = mpirun(&words, &folder);
        let output = common::on_first_host(&two, command.arg(&program)).output().unwrap();
        let said = text(&output);
        assert!(output.status.success(), "{said}");
        assert_eq!(said.contains(warning), warned, "{words}: {said}");
    }
}
