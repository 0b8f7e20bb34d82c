//! C programs on the provider: one over libfabric's own interface under `weft run`, one over a
//! stock Open MPI.
//!
//! The library and `weft` are built with the workspace (`make test` does that first); `setup`
//! installs the others.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

#[cfg(feature = "pypi")]
#[path = "programs/applications.rs"]
mod applications;
#[cfg(feature = "pypi")]
#[path = "programs/pypi.rs"]
mod pypi;
#[cfg(feature = "pypi")]
#[path = "programs/suites.rs"]
mod suites;

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use weft_netns::{Cluster, INTERFACE, Options, available};

const CHECKED: [&str; 4] = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"];

/// The folder that Cargo builds into.
fn built() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap().to_path_buf();
    for file in ["weft", "libweft_fi.so", "libweft_host.so"] {
        let path = folder.join(file);
        assert!(path.exists(), "{} is not built: cargo build --workspace", path.display());
    }
    folder
}

/// A folder for programs, with the provider under the name by which libfabric looks for it.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    symlink(built().join("libweft_fi.so"), folder.path().join("libweft-fi.so")).unwrap();
    folder
}

/// Runs a command and returns what it wrote; it has to succeed.
fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| {
        panic!("{command:?}: {error}; ./setup installs what is missing");
    });
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{text}{errors}", output.status);
    text.into_owned()
}

fn compile(compiler: &str, source: &str, flags: &[&str], folder: &TempDir) -> PathBuf {
    let program = folder.path().join("program");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    run(compiling(compiler).args(CHECKED).arg(source).arg("-o").arg(&program).args(flags));
    program
}

/// A compiler. That of Intel MPI has to be told where its library is; no other reads this.
fn compiling(compiler: &str) -> Command {
    let mut command = Command::new(compiler);
    if let Some(prefix) = Path::new(compiler).ancestors().nth(2) {
        command.env("I_MPI_ROOT", prefix);
    }
    command
}

fn weft(link: &[&str], ranks: &str, folder: &TempDir) -> Command {
    let mut command = Command::new(built().join("weft"));
    command.args(["run", "-n", ranks]).args(link).arg("--");
    command.env("FI_PROVIDER_PATH", folder.path());
    command
}

/// Name of a program of Open MPI: where several packages have an `mpirun`, Debian keeps Open MPI's
/// under its full name.
fn open_mpi(program: &str) -> String {
    let full = format!("{program}.openmpi");
    if Path::new("/usr/bin").join(&full).exists() { full } else { program.into() }
}

/// An `mpirun` with its arguments: the number of ranks, and the options by which they use Weft.
fn on_weft(mut mpirun: Command, ranks: &str, folder: &TempDir) -> Command {
    mpirun.args(["--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", ranks]);
    mpirun.args(["--mca", "pml", "cm", "--mca", "mtl", "ofi"]);
    mpirun.args(["--mca", "mtl_ofi_provider_include", "weft", "-x", "FI_PROVIDER_PATH"]);
    mpirun.arg("--mca").arg("orte_tmpdir_base").arg(folder.path());
    mpirun.env("FI_PROVIDER_PATH", folder.path());
    mpirun
}

/// Makes `libweft-coll.so` by a compiler of an MPI library.
fn collectives(compiler: &str, folder: &TempDir) -> PathBuf {
    let library = folder.path().join("libweft-coll.so");
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = compiling(compiler);
    command.args(CHECKED).args(["-fPIC", "-shared", "-fvisibility=hidden", "-I"]);
    command.arg(crate_folder.join("include")).arg(crate_folder.join("../mpi/coll.c"));
    run(command.arg("-o").arg(&library));
    library
}

/// Has a stock Open MPI leave collectives to Weft, and say which.
fn by_weft(mut mpirun: Command, library: &Path) -> Command {
    mpirun.arg("-x").arg(format!("LD_PRELOAD={}", library.display()));
    mpirun.args(["-x", "WEFT_COLL_VERBOSE=1"]);
    mpirun
}

/// Calls by their kind.
type Counts<'a> = BTreeMap<&'a str, u64>;

/// Of what `libweft-coll.so` says at the end, how many calls of each kind Weft has served, and how
/// many not.
fn served(text: &str) -> (Counts<'_>, Counts<'_>) {
    let line = text.lines().find_map(|line| line.split_once("weft-coll: rank 0 was served"));
    let (_, counts) = line.unwrap_or_else(|| panic!("nothing of weft-coll in {text:?}"));
    let (by_weft, left) = counts.split_once("; left to the MPI library:").unwrap();
    (counted(by_weft), counted(left))
}

fn counted(words: &str) -> Counts<'_> {
    let pairs = words.trim().split(", ").filter_map(|pair| pair.split_once(' '));
    pairs.map(|(number, kind)| (kind, number.parse().unwrap())).collect()
}

/// Collectives of `collective.c`.
const KINDS: [&str; 5] = ["barriers", "broadcasts", "reduces", "allreduces", "allgathers"];
/// All others that are served.
const OTHERS: [&str; 10] = [
    "gathers",
    "scatters",
    "alltoalls",
    "scans",
    "exscans",
    "reduce-scatters",
    "gathervs",
    "scattervs",
    "allgathervs",
    "alltoallvs",
];

/// Those that do not block.
const STARTED: [&str; 15] = [
    "ibarriers",
    "ibroadcasts",
    "ireduces",
    "iallreduces",
    "iallgathers",
    "igathers",
    "iscatters",
    "ialltoalls",
    "iscans",
    "iexscans",
    "ireduce-scatters",
    "igathervs",
    "iscattervs",
    "iallgathervs",
    "ialltoallvs",
];

fn has_all(counts: &Counts<'_>, kinds: &[&str]) -> bool {
    kinds.iter().all(|kind| counts.contains_key(kind))
}

/// Warning of an `mpirun` that gave a remote shell its process group after the shell had called
/// `execve`, which the kernel refuses with `EACCES`. The shell has taken that group itself.
const GROUP_TAKEN: &str = "plm:rsh: Warning: setpgid(";

/// Runs a command that has to succeed, and returns all that it wrote but for that warning.
fn run_for_all(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let both = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&both).into_owned();
    assert!(output.status.success(), "{command:?}: {}\n{text}", output.status);
    text.split_inclusive('\n').filter(|line| !line.contains(GROUP_TAKEN)).collect()
}

/// Lines in no particular order.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

const BOTH: [&str; 2] = ["rank 0: all messages are there", "rank 1: all messages are there"];
const REMOTE: [&str; 2] =
    ["rank 0: all memory is as it should be", "rank 1: all memory is as it should be"];
const WOKEN: [&str; 2] = ["rank 0: was woken for all of it", "rank 1: was woken for all of it"];
const TOLD: [&str; 2] = ["rank 0: was told of all that came", "rank 1: was told of all that came"];
/// Clients of libfabric's own interface, and what they say.
const CLIENTS: [(&str, [&str; 2]); 4] =
    [("messages.c", BOTH), ("remote.c", REMOTE), ("waiting.c", WOKEN), ("sets.c", TOLD)];

#[test]
fn clients_over_shared_memory() {
    let folder = folder();
    for (source, expected) in CLIENTS {
        let program = compile("cc", source, &["-lfabric"], &folder);
        for kind in ["map", "table"] {
            let text = run(weft(&[], "2", &folder).arg(&program).arg(kind));
            assert_eq!(sorted(&text), expected);
        }
    }
}

/// The one that has no other provider, as ranks of Open MPI 4 load it.
#[test]
fn clients_with_a_libfabric_of_wefts_own() {
    let (folder, host) = (folder(), tempfile::tempdir().unwrap());
    symlink(built().join("libweft_host.so"), host.path().join("libfabric.so.1")).unwrap();
    for (source, expected) in CLIENTS {
        let program = compile("cc", source, &["-lfabric"], &folder);
        let mut pair = weft(&[], "2", &folder);
        let text = run(pair.arg(&program).env("LD_LIBRARY_PATH", host.path()));
        assert_eq!(sorted(&text), expected);
    }
}

/// Output of a process that has copied long bytes out of another one's memory, if `fetched.c` is
/// preloaded.
const FETCHED: &str = "long bytes were fetched";

/// One copy of long messages is for ranks that share cores: here they have one.
#[test]
fn clients_that_share_a_core() {
    let (folder, beside) = (folder(), tempfile::tempdir().unwrap());
    let telling = compile("cc", "fetched.c", &["-shared", "-fPIC"], &beside);
    let preload = format!("LD_PRELOAD={}", telling.display());
    let doctor = run(Command::new(built().join("weft")).arg("doctor"));
    let one_copy = doctor.contains("long MPI messages take one copy");
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let core = list.trim().split([',', '-']).next().unwrap();
    for (source, expected) in CLIENTS {
        let program = compile("cc", source, &["-lfabric"], &folder);
        let run_weft = weft(&[], "2", &folder);
        let mut pinned = Command::new("taskset");
        pinned.args(["-c", core]).arg(run_weft.get_program()).args(run_weft.get_args());
        pinned.args(["env", &preload]).env("FI_PROVIDER_PATH", folder.path());
        let text = run(pinned.arg(&program));
        let (fetched, told): (Vec<_>, Vec<_>) =
            sorted(&text).into_iter().partition(|line| *line == FETCHED);
        assert_eq!(told, expected);
        // Of remote.c one rank fetches what is written to it, and the other one what it reads.
        let both = if one_copy { 2 } else { 0 };
        assert_eq!(fetched.len(), both, "{source}: {text}{doctor}");
    }
}

#[test]
fn clients_over_udp() {
    let folder = folder();
    for (source, expected) in CLIENTS {
        let program = compile("cc", source, &["-lfabric"], &folder);
        let text = run(weft(&["--link", "udp", "--silence", "10"], "2", &folder).arg(&program));
        assert_eq!(sorted(&text), expected);
    }
}

const ENDED: [&str; 2] = ["rank 0: all has ended", "rank 1: all has ended"];

#[test]
fn whatever_is_under_way_everything_closes() {
    let folder = folder();
    let program = compile("cc", "closing.c", &["-lfabric"], &folder);
    for link in [&[][..], &["--link", "udp", "--silence", "10"]] {
        let text = run(weft(link, "2", &folder).arg(&program));
        assert_eq!(sorted(&text), ENDED, "{link:?}");
    }
}

/// A process manager gives a place again, over PMI-1.
#[test]
fn a_process_that_has_closed_its_last_domain_opens_another() {
    let folder = folder();
    let program = compile("cc", "closing.c", &["-lfabric"], &folder);
    let mut hydra = Command::new("mpiexec.hydra");
    hydra.args(["-n", "2"]).env("FI_PROVIDER_PATH", folder.path());
    let text = run(hydra.arg(&program).arg("3"));
    assert_eq!(sorted(&text), ENDED);
}

#[test]
fn layouts_are_those_of_the_headers() {
    let folder = folder();
    let include = format!("-I{}", concat!(env!("CARGO_MANIFEST_DIR"), "/include"));
    let program = compile("cc", "layouts.c", &[&include], &folder);
    run(&mut Command::new(program));
}

#[test]
fn a_stock_open_mpi() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "stock.c", &[], &folder);
    for ranks in ["1", "2", "3", "5"] {
        let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), ranks, &folder);
        let text = run(mpirun.arg(&program));
        assert_eq!(text, format!("{ranks} ranks have had all their messages\n"));
    }
}

/// Without the provider before it this Open MPI sends other bytes. A libfabric with no other
/// provider starts it sooner.
#[test]
fn elements_that_lie_behind_their_address() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "offset.c", &[], &folder);
    let (provider, host) = (folder.path().join("libweft-fi.so"), built().join("libweft_host.so"));
    let preload = format!("LD_PRELOAD={}:{}", provider.display(), host.display());
    for ranks in ["1", "2", "3"] {
        for algorithm in ["0", "1"] {
            let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), ranks, &folder);
            mpirun.args(["-x", &preload, "--mca", "coll_tuned_use_dynamic_rules", "1"]);
            mpirun.args(["--mca", "coll_tuned_alltoall_algorithm", algorithm]);
            mpirun.args(["--mca", "coll_tuned_alltoallv_algorithm", algorithm]);
            let text = run(mpirun.arg(&program));
            assert_eq!(text, format!("{ranks} ranks have sent what lies behind\n"));
        }
    }
}

/// Its processes are of several jobs then, which do not reach one another.
#[test]
fn a_rank_that_starts_others_is_told_at_once() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "spawn.c", &[], &folder);
    let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), "1", &folder);
    let output = mpirun.arg(&program).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("is to reach a process of another job"), "{text}");
}

/// Runs a command without each of the system calls that every rank needs: one line names the call,
/// and says what to do.
fn refused_calls_are_named_once(command: &Command) {
    let beside = tempfile::tempdir().unwrap();
    let refusing = compile("cc", "refused.c", &[], &beside);
    for call in ["memfd_create", "pidfd_open"] {
        let mut refused = Command::new(&refusing);
        refused.arg(call).arg(command.get_program()).args(command.get_args());
        refused.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = refused.stdin(Stdio::null()).output().unwrap();
        let both = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&both);
        assert!(!output.status.success(), "{text}");
        let said: Vec<_> = text.lines().filter(|line| line.contains("weft: cannot")).collect();
        let advice = format!("; allow {call} in the container's system-call filter");
        assert!(said.len() == 1 && said[0].ends_with(&advice), "{text}");
    }
}

#[test]
fn calls_that_a_filter_refuses() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "stock.c", &[], &folder);
    refused_calls_are_named_once(weft(&[], "3", &folder).arg(&program));
    let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), "3", &folder);
    refused_calls_are_named_once(mpirun.arg(&program));
}

#[test]
fn a_stock_open_mpi_with_threads() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "threads.c", &["-pthread"], &folder);
    let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), "2", &folder);
    assert_eq!(run(mpirun.arg(&program)), "4 threads have had all their messages\n");
}

#[test]
fn very_many_messages_of_a_stock_open_mpi() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "flood.c", &[], &folder);
    let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), "2", &folder);
    let text = run(mpirun.arg(&program));
    assert_eq!(text, "200000 messages have found their receives, twice\n");
}

#[test]
fn one_sided_communication_of_a_stock_open_mpi() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "onesided.c", &[], &folder);
    for ranks in ["1", "2", "3"] {
        // Messages carry it: what else this Open MPI has dies of a compare-and-swap, without Weft,
        // too.
        let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), ranks, &folder);
        let text = run(mpirun.args(["--mca", "osc", "pt2pt"]).arg(&program));
        assert_eq!(text, format!("{ranks} ranks have had all of each other's memory\n"));
    }
}

#[test]
fn collectives_of_a_stock_open_mpi() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "collective.c", &[], &folder);
    let library = collectives(&open_mpi("mpicc"), &folder);
    for ranks in ["1", "2", "3", "5", "8"] {
        let mpirun = on_weft(Command::new(open_mpi("mpirun")), ranks, &folder);
        let text = run_for_all(by_weft(mpirun, &library).arg(&program));
        assert!(text.contains(&format!("{ranks} ranks have done all together\n")), "{text}");
        let (by_weft, left) = served(&text);
        assert_eq!(has_all(&by_weft, &KINDS), ranks != "1", "{text}");
        // Those of communicators of one rank, or of two groups.
        assert!(has_all(&left, &KINDS), "{text}");
    }
}

/// By default what is faster, and on request all that can be; either way the results are the same.
#[test]
fn all_collectives_are_what_a_stock_open_mpi_makes_of_them() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "compared.c", &[], &folder);
    let library = collectives(&open_mpi("mpicc"), &folder);
    for (ranks, all) in [("2", "1"), ("3", "1"), ("4", "1"), ("4", "0")] {
        let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), ranks, &folder);
        mpirun.arg("-x").arg(format!("WEFT_COLL_ALL={all}"));
        let text = run_for_all(by_weft(mpirun, &library).arg(&program));
        assert!(text.contains(&format!("{ranks} ranks have had the same of both\n")), "{text}");
        let (by_weft, left) = served(&text);
        match all {
            "1" => {
                assert!(has_all(&by_weft, &OTHERS), "{text}");
                // Of lengths that differ.
                assert_eq!(left.into_keys().collect::<Vec<_>>(), ["reduce-scatters"], "{text}");
            }
            _ => {
                assert!(has_all(&by_weft, &["gathers", "scatters", "reduce-scatters"]), "{text}");
                assert!(
                    has_all(&left, &["scans", "exscans", "scatters", "gathervs", "scattervs"]),
                    "{text}"
                );
            }
        }
    }
}

/// Several under way at once, by default those that are faster, and on request all.
#[test]
fn collectives_that_do_not_block() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "started.c", &[], &folder);
    let library = collectives(&open_mpi("mpicc"), &folder);
    for (ranks, all) in [("2", "1"), ("3", "1"), ("4", "1"), ("4", "0")] {
        let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), ranks, &folder);
        mpirun.arg("-x").arg(format!("WEFT_COLL_ALL={all}"));
        let text = run_for_all(by_weft(mpirun, &library).arg(&program));
        assert!(
            text.contains(&format!("{ranks} ranks have ended all that they started\n")),
            "{text}"
        );
        let (by_weft, left) = served(&text);
        match all {
            "1" => {
                // What combines by the program's own function, and of a communicator that no other
                // call has used.
                let expected = ["iallreduces", "ibarriers", "ibroadcasts"];
                let left: Vec<_> = left.into_keys().collect();
                // Of two ranks each is alone in its half.
                assert!(ranks == "2" || left == expected, "{text}");
                let kinds = STARTED.iter().filter(|kind| by_weft.contains_key(*kind));
                assert_eq!(kinds.count(), 12, "{text}");
            }
            _ => {
                assert!(has_all(&by_weft, &["ibarriers", "iallreduces"]), "{text}");
                assert!(has_all(&left, &["ibroadcasts", "iallreduces", "igathervs"]), "{text}");
            }
        }
    }
}

#[test]
fn collectives_that_do_not_block_are_what_a_stock_open_mpi_makes_of_them() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "compared.c", &["-DSTARTED"], &folder);
    let library = collectives(&open_mpi("mpicc"), &folder);
    for ranks in ["2", "3", "4"] {
        let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), ranks, &folder);
        mpirun.args(["-x", "WEFT_COLL_ALL=1"]);
        let text = run_for_all(by_weft(mpirun, &library).arg(&program));
        assert!(text.contains(&format!("{ranks} ranks have had the same of both\n")), "{text}");
        let kinds: Vec<_> = served(&text).0.into_keys().collect();
        // All but barriers, broadcasts and reductions to a root, and the barriers before them.
        assert_eq!(kinds.iter().filter(|kind| STARTED.contains(kind)).count(), 12, "{text}");
    }
}

#[test]
fn collectives_of_programs_in_fortran() {
    let folder = folder();
    let library = collectives(&open_mpi("mpicc"), &folder);
    for module in ["-UMODERN", "-DMODERN"] {
        let program = folder.path().join(format!("fortran{module}"));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/collective.f90");
        let mut compiler = Command::new(open_mpi("mpif90"));
        run(compiler.args(["-cpp", module, source, "-o"]).arg(&program));
        let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), "3", &folder);
        mpirun.args(["-x", "WEFT_COLL_ALL=1"]);
        let text = run_for_all(by_weft(mpirun, &library).arg(&program));
        assert!(text.contains("3 ranks have done all in Fortran\n"), "{text}");
        let (by_weft, left) = served(&text);
        assert!(has_all(&by_weft, &KINDS) && has_all(&by_weft, &OTHERS), "{text}");
        assert!(has_all(&by_weft, &STARTED) && left.is_empty(), "{text}");
    }
}

/// Lengths that differ, where MPI wants them to be the same.
#[test]
fn ranks_that_disagree_about_lengths_are_told() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "disagreeing.c", &[], &folder);
    let library = collectives(&open_mpi("mpicc"), &folder);
    for (call, said) in [
        ("gather", "a part of another collective operation than this rank has begun"),
        ("gatherv", "a part of another collective operation than this rank has begun"),
        ("scan", "a part of another collective operation than this rank has begun"),
        ("alltoall", "weft-coll: MPI_Alltoall: a rank gives 8 bytes, and takes 4 of each"),
        // In packets, and in shared memory.
        ("iallreduce", "a part of another collective operation than this rank has begun"),
        ("ibcast", "a part of another collective operation than this rank has begun"),
    ] {
        let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), "2", &folder);
        mpirun.args(["-x", "WEFT_COLL_ALL=1"]);
        let output = by_weft(mpirun, &library).arg(&program).arg(call).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!output.status.success(), "{call}: {text}");
        // Each rank says it once, if it finds out before it is ended.
        assert!((1..=2).contains(&text.matches(said).count()), "{call}: {text}");
    }
}

#[test]
fn collectives_of_a_stock_open_mpi_with_threads() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "collective-threads.c", &["-pthread"], &folder);
    let library = collectives(&open_mpi("mpicc"), &folder);
    let mpirun = on_weft(Command::new(open_mpi("mpirun")), "3", &folder);
    let text = run_for_all(by_weft(mpirun, &library).arg(&program));
    assert!(text.contains("4 threads have done all together\n"), "{text}");
    assert!(served(&text).1.is_empty(), "{text}");
}

#[test]
fn one_sided_communication_beside_collectives() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "onesided.c", &[], &folder);
    let library = collectives(&open_mpi("mpicc"), &folder);
    let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), "3", &folder);
    mpirun.args(["--mca", "osc", "pt2pt"]);
    let text = run_for_all(by_weft(mpirun, &library).arg(&program));
    assert!(text.contains("3 ranks have had all of each other's memory\n"), "{text}");
}

#[test]
fn collectives_without_the_provider_are_the_librarys_own() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "collective.c", &[], &folder);
    let library = collectives(&open_mpi("mpicc"), &folder);
    let mut mpirun = Command::new(open_mpi("mpirun"));
    mpirun.args(["--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", "3"]);
    mpirun.args(["--mca", "pml", "ob1", "--mca", "btl", "vader,self"]);
    mpirun.arg("--mca").arg("orte_tmpdir_base").arg(folder.path());
    mpirun.arg("-x").arg(format!("LD_PRELOAD={}", library.display()));
    assert_eq!(run(mpirun.arg(&program)), "3 ranks have done all together\n");
}

#[test]
fn a_killed_rank_ends_the_others() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "killed.c", &[], &folder);
    ends_by_a_kill(on_weft(Command::new(open_mpi("mpirun")), "3", &folder).arg(&program), 1);
}

#[test]
fn a_rank_killed_in_a_collective_ends_the_others() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "killed.c", &[], &folder);
    let library = collectives(&open_mpi("mpicc"), &folder);
    let mpirun = on_weft(Command::new(open_mpi("mpirun")), "3", &folder);
    ends_by_a_kill(by_weft(mpirun, &library).arg(&program).arg("together"), 1);
}

/// Each host says at most once what it sees of the loss.
fn ends_by_a_kill(mpirun: &mut Command, hosts: usize) {
    let output = mpirun.stdin(Stdio::null()).output().unwrap();
    let both = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&both);
    assert!(!output.status.success(), "{text}");
    assert!(!text.contains("has heard"), "{text}");
    // Weft says it, or Open MPI if it was so fast in ending the ranks that none of them could.
    let wefts = text.contains("weft: rank 1 of 3 (pid ") && text.contains("SIGKILL");
    assert!(wefts || text.contains("exited on signal 9"), "{text}");
    assert!(text.matches("weft: rank ").count() <= hosts, "{text}");
}

#[test]
fn clients_between_hosts() {
    if !available() {
        return;
    }
    let two = Cluster::new(2, Options::default()).unwrap();
    let folder = folder();
    for (source, expected) in CLIENTS {
        let program = compile("cc", source, &["-lfabric"], &folder);
        for link in ["udp", "xdp", "fabric --provider tcp;ofi_rxm"] {
            let mut weft = two.host(0).command(built().join("weft"));
            weft.args(["run", "--hosts", "a:1,b:1", "--silence", "10", "--link"]);
            weft.args(link.split(' ')).args(["--", "env"]);
            weft.arg(format!("FI_PROVIDER_PATH={}", folder.path().display())).arg(&program);
            let text = run(weft.env("WEFT_RSH", two.remote_shell()));
            assert_eq!(sorted(&text), expected, "{source} over {link}");
        }
    }
}

/// An `mpirun` on the first host of a cluster, for so many ranks on these of its hosts.
fn between(cluster: &Cluster, hosts: &str, ranks: &str, folder: &TempDir) -> Command {
    let mut mpirun = on_weft(cluster.host(0).command(open_mpi("mpirun")), ranks, folder);
    mpirun.args(["--mca", "oob_tcp_if_include", INTERFACE, "--host", hosts]);
    mpirun.arg("--mca").arg("plm_rsh_agent").arg(cluster.remote_shell());
    mpirun
}

/// Two hosts where ranks reach each other over AF_XDP or not at all.
fn two_without_udp() -> Cluster {
    let two = Cluster::new(2, Options::default()).unwrap();
    two.hosts().iter().for_each(|host| host.lose_datagrams(1.0).unwrap());
    two
}

/// Waits until no interface has an XDP program: the kernel gives it up some time after the last
/// rank has ended.
fn no_program_remains(cluster: &Cluster) {
    for host in cluster.hosts() {
        let mut show = host.command("ip");
        show.args(["link", "show", INTERFACE]);
        assert!((0..1000).any(|_| !run(&mut show).contains("xdp")), "{}", host.name());
    }
}

#[test]
fn collectives_between_hosts() {
    if !available() {
        return;
    }
    let two = Cluster::new(2, Options::default()).unwrap();
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "collective.c", &[], &folder);
    let library = collectives(&open_mpi("mpicc"), &folder);
    for (hosts, ranks, link) in
        [("a,b", "2", "udp"), ("a:2,b:2", "4", "udp"), ("a:2,b:2", "4", "xdp")]
    {
        let mut mpirun = between(&two, hosts, ranks, &folder);
        mpirun.arg("-x").arg(format!("WEFT_LINK={link}"));
        let text = run_for_all(by_weft(mpirun, &library).arg(&program).arg("quick"));
        assert!(text.contains(&format!("{ranks} ranks have done all together\n")), "{text}");
        assert!(has_all(&served(&text).0, &KINDS), "{text}");
    }
    let program = compile(&open_mpi("mpicc"), "compared.c", &[], &folder);
    let mut mpirun = between(&two, "a:2,b:1", "3", &folder);
    mpirun.args(["-x", "WEFT_LINK=udp", "-x", "WEFT_COLL_ALL=1"]);
    let text = run_for_all(by_weft(mpirun, &library).arg(&program).arg("quick"));
    assert!(text.contains("3 ranks have had the same of both\n"), "{text}");
    assert!(has_all(&served(&text).0, &OTHERS), "{text}");
    let program = compile(&open_mpi("mpicc"), "started.c", &[], &folder);
    let mut mpirun = between(&two, "a:2,b:1", "3", &folder);
    mpirun.args(["-x", "WEFT_LINK=udp", "-x", "WEFT_COLL_ALL=1"]);
    let text = run_for_all(by_weft(mpirun, &library).arg(&program).arg("quick"));
    assert!(text.contains("3 ranks have ended all that they started\n"), "{text}");
}

#[test]
fn a_stock_open_mpi_between_hosts() {
    if !available() {
        return;
    }
    let two = Cluster::new(2, Options::default()).unwrap();
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "stock.c", &[], &folder);
    for (hosts, ranks) in [("a,b", "2"), ("a:2,b:2", "4")] {
        let mut mpirun = between(&two, hosts, ranks, &folder);
        let text = run(mpirun.args(["-x", "WEFT_LINK=udp"]).arg(&program));
        assert_eq!(text, format!("{ranks} ranks have had all their messages\n"));
    }
}

#[test]
fn a_stock_open_mpi_between_hosts_over_xdp() {
    if !available() {
        return;
    }
    let (two, folder) = (two_without_udp(), folder());
    let program = compile(&open_mpi("mpicc"), "stock.c", &[], &folder);
    for (hosts, ranks) in [("a,b", "2"), ("a:2,b:2", "4")] {
        let text = run_for_all(between(&two, hosts, ranks, &folder).arg(&program));
        assert_eq!(text, format!("{ranks} ranks have had all their messages\n"));
        no_program_remains(&two);
    }
    // Of the environment of `mpirun` the ranks on its own host know, and what one of them asks for
    // is asked for.
    let text = run(between(&two, "a,b", "2", &folder).env("WEFT_LINK", "xdp").arg(&program));
    assert_eq!(text, "2 ranks have had all their messages\n");
}

#[test]
fn a_rank_killed_between_hosts_leaves_nothing() {
    if !available() {
        return;
    }
    let (two, folder) = (two_without_udp(), folder());
    let program = compile(&open_mpi("mpicc"), "killed.c", &[], &folder);
    // On a host of its own, whose interface it has taken; and beside rank 0, which has taken it.
    for hosts in ["a:1,b:2", "a:2,b:1"] {
        ends_by_a_kill(between(&two, hosts, "3", &folder).arg(&program), 2);
        no_program_remains(&two);
    }
}

#[test]
fn xdp_that_cannot_be_had_is_said_to_a_stock_open_mpi() {
    if !available() {
        return;
    }
    let two = Cluster::new(2, Options { mtu: 9000, ..Options::default() }).unwrap();
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "stock.c", &[], &folder);
    let mut mpirun = between(&two, "a,b", "2", &folder);
    let output = mpirun.args(["-x", "WEFT_LINK=xdp"]).arg(&program).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(!output.status.success() && !text.contains("have had"), "{text}");
    assert!(
        text.contains("WEFT_LINK is \"xdp\", which cannot be had: host a: the MTU of eth0"),
        "{text}"
    );
    let text = run_for_all(between(&two, "a,b", "2", &folder).arg(&program));
    assert!(text.contains("weft: udp between hosts, not xdp: host a: the MTU of eth0"), "{text}");
    assert!(text.contains("2 ranks have had all their messages\n"), "{text}");
}
