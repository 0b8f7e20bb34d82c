//! `weft mpirun` with a stock Open MPI and the applications of `apps/mpi`, and `weft doctor --mpi`
//! where something is wrong.
//!
//! The provider is built with the workspace (`make test` does that first); `setup` installs Open
//! MPI.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tempfile::TempDir;
use weft_netns::{Cluster, Options, available, write_script};
use weft_trace::{NamedThing, Trace, What};

use crate::common;
use crate::common::mpi::{between, compile, compile_fortran, mpirun, open_mpis, weft};

/// Problems that take a moment.
const APPLICATIONS: [(&str, &str); 3] = [
    ("asp", "--nodes 203 --seed 3"),
    ("qr", "--rows 120 --columns 101"),
    ("sor", "--rows 90 --columns 77 --iterations 400 --digits 9"),
];

/// Problems of which ranks mostly wait for one another.
const WAITERS: [(&str, &str); 5] = [
    ("cg", "--rows 40 --columns 31"),
    ("is", "--keys 3000 --bits 10 --rounds 4"),
    ("mg", "--levels 4 --repeat 2"),
    ("transpose", "--rows 33 --rounds 7"),
    ("wave", "--length 500 --texts 2 --rows 3"),
];

/// Problems for programs in Fortran.
const FORTRAN: [(&str, &str); 2] = [
    ("sparse", "--rows 203 --entries 3 --repeat 2"),
    ("sweep", "--rows 31 --columns 40 --strip 3 --sweeps 20"),
];

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// An application, with other sources beside it.
fn application(name: &str, others: &[&str], folder: &TempDir) -> PathBuf {
    let program = folder.path().join(name);
    let own = source(&format!("../apps/mpi/{name}.c"));
    let sources: Vec<_> = std::iter::once(own).chain(others.iter().copied().map(source)).collect();
    compile(&open_mpis("mpicc"), &sources, &["-lm"], &program);
    program
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn both(output: &Output) -> String {
    text(&[&output.stdout[..], &output.stderr].concat())
}

#[test]
fn applications_find_what_one_rank_finds() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in APPLICATIONS {
        let program = application(name, &[], &folder);
        let mut found = Vec::new();
        for ranks in ["1", "3", "4"] {
            let mut command = mpirun(&format!("-n {ranks}"), &folder);
            let output = command.arg(&program).args(options.split(' ')).output().unwrap();
            let (said, errors) = (text(&output.stdout), text(&output.stderr));
            assert!(output.status.success(), "{name} on {ranks}: {said}{errors}");
            assert!(said.contains("\nchecked: all "), "{name} on {ranks}: {said}");
            assert!(errors.starts_with("weft: Open MPI "), "{errors}");
            assert!(errors.contains("--mca mtl_ofi_provider_include weft"), "{errors}");
            let own = format!("{name}: ");
            found.extend(said.lines().find(|line| line.starts_with(&own)).map(str::to_owned));
        }
        assert!(found.len() == 3 && found.iter().all(|line| *line == found[0]), "{found:?}");
    }
}

#[test]
fn calls_of_mpi_are_spans_of_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let program = application("cg", &[], &folder);
    let file = folder.path().join("the.trace");
    let mut command = mpirun("-n 2", &folder);
    command.arg(format!("--trace={}", file.display())).arg(&program);
    let output = command.args(["--rows", "40", "--columns", "31"]).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    assert!(both(&output).contains("the.trace.0 and so on: `weft report "), "{}", both(&output));
    let trace = Trace::open(&file).unwrap();
    assert_eq!(trace.ranks.len(), 2);
    for rank in &trace.ranks {
        let named = |name: &str| rank.names.iter().find(|(_, called)| *called == name);
        let Some(((NamedThing::Span, number), _)) = named("MPI_Allreduce") else {
            panic!("{:?}", rank.names)
        };
        let count = |what| rank.events.iter().filter(|event| event.what == what).count();
        let begun = count(What::SpanBegins(*number));
        assert!(begun > 10 && begun == count(What::SpanEnds(*number)), "{begun}");
    }
}

#[test]
fn ranks_whose_trace_another_job_writes_run_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let program = application("cg", &[], &folder);
    let file = folder.path().join("the.trace");
    // As the job does that has started these by `MPI_Comm_spawn`.
    let run = weft_trace::Run { hosts: vec!["here".into(); 2], ..weft_trace::Run::default() };
    let parts = [0, 1]
        .map(|rank| weft_trace::Writer::create(&weft_trace::part_of(&file, rank), &run).unwrap());
    let mut command = mpirun("-n 2", &folder);
    command.arg(format!("--trace={}", file.display())).arg(&program);
    let output = command.args(["--rows", "40", "--columns", "31"]).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let told = format!("weft: this job is not recorded in {}: another job", file.display());
    assert_eq!(both(&output).matches(&told).count(), 1, "{}", both(&output));
    drop(parts);
    assert!(Trace::open(&file).unwrap().ranks.iter().all(|rank| rank.events.is_empty()));
}

#[test]
fn more_ranks_than_cores_that_wait_for_one_another_find_what_is_right() {
    let folder = tempfile::tempdir().unwrap();
    for (name, problem) in WAITERS {
        let program = application(name, &[], &folder);
        let mut command = mpirun("-n 5", &folder);
        let output = command.arg(&program).args(problem.split(' ')).output().unwrap();
        let said = both(&output);
        assert!(output.status.success(), "{name}: {said}");
        assert!(said.contains("\nchecked: "), "{name}: {said}");
    }
}

#[test]
fn programs_in_fortran_find_what_is_right_and_explain_themselves() {
    let folder = tempfile::tempdir().unwrap();
    for (name, problem) in FORTRAN {
        let program = folder.path().join(name);
        let source = source(&format!("../apps/mpi/{name}.f90"));
        compile_fortran(&open_mpis("mpif90"), &source, &program);
        let run = |ranks: &str, options: &str| {
            let mut command = mpirun(&format!("-n {ranks}"), &folder);
            command.arg(&program).args(options.split(' ')).output().unwrap()
        };
        for ranks in ["1", "5"] {
            let output = run(ranks, problem);
            let said = both(&output);
            assert!(output.status.success(), "{name} on {ranks}: {said}");
            assert!(said.contains("\nchecked: ") && said.contains("time: "), "{name}: {said}");
        }
        let said = text(&run("2", &format!("{problem} --speedup")).stdout);
        assert!(said.contains(" s on 2 ranks\nspeed-up: "), "{name}: {said}");
        assert!(text(&run("2", "--help").stdout).contains(&format!("-n 4 ./{name} ")), "{name}");
        for (wrong, expected) in
            [("--rows 0", "--rows is a number from "), ("--row 7", "there is no option --row (")]
        {
            let output = run("2", wrong);
            let said = both(&output);
            assert!(said.contains(&format!("{name}: {expected}")), "{wrong}: {said}");
            assert_eq!(output.status.code(), Some(2), "{wrong}");
        }
    }
}

#[test]
fn applications_have_their_collectives_by_weft() {
    let folder = tempfile::tempdir().unwrap();
    for (name, problem) in APPLICATIONS {
        let program = application(name, &[], &folder);
        let words = "-n 3 --collectives weft -x WEFT_COLL_VERBOSE=1";
        let mut command = mpirun(words, &folder);
        command.arg(program).args(problem.split(' ')).env("XDG_CACHE_HOME", folder.path());
        let said = both(&command.output().unwrap());
        assert!(said.contains("checked: "), "{name}: {said}");
        let served = said.lines().find(|line| line.contains("weft-coll: rank 0 was served"));
        let served = served.unwrap_or_else(|| panic!("{name}: {said}"));
        assert!(!served.contains("served nothing"), "{served}");
    }
    let made = std::fs::read_dir(folder.path().join("weft")).unwrap().count();
    assert_eq!(made, 1, "it is made once");
}

#[test]
fn applications_notice_a_message_that_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in APPLICATIONS {
        let program = application(name, &["tests/programs/planted.c"], &folder);
        let mut command = mpirun("-n 3", &folder);
        let output = command.arg(&program).args(options.split(' ')).output().unwrap();
        assert!(
            !output.status.success() && both(&output).contains("\nWRONG: "),
            "{}",
            both(&output)
        );
    }
}

#[test]
fn applications_measure_and_explain_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let program = application("asp", &[], &folder);
    let asp = |options: &str| {
        let mut command = mpirun("-n 2", &folder);
        command.arg(&program).args(options.split(' ')).output().unwrap()
    };
    let said = text(&asp("--nodes 100 --speedup").stdout);
    assert!(
        said.contains(" s on 2 ranks\nspeed-up: ") && said.contains("one rank alone: "),
        "{said}"
    );
    let help = text(&asp("--help").stdout);
    assert!(help.contains("weft mpirun -n 4 ./asp"), "{help}");
    for (wrong, expected) in [
        ("--nodes 1", "asp: --nodes is a number from 2 to 16384 (asp --help"),
        ("--nodes x", "asp: --nodes is a number from 2 to 16384 (asp --help"),
        ("--nodes", "asp: --nodes is a number from 2 to 16384 (asp --help"),
        ("--node 7", "asp: there is no option --node (asp --help"),
    ] {
        let output = asp(wrong);
        assert!(both(&output).contains(expected), "{wrong}: {}", both(&output));
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn ranks_on_several_hosts_find_the_provider() {
    if !available() {
        return;
    }
    let two = Cluster::new(2, Options::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = application("sor", &[], &folder);
    let mut command = mpirun(&between(&two), &folder);
    command.arg(&program).args(["--rows", "50"]);
    let output = common::on_first_host(&two, &command).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let said = text(&output.stdout);
    assert!(said.contains(" s on 4 ranks\n") && said.contains("\nchecked: all "), "{said}");
}

/// Those that ask first are read where they belong, over TCP where the ranks have hosts of their
/// own.
#[test]
fn long_messages_between_hosts_end_where_they_belong() {
    if !available() {
        return;
    }
    let two = Cluster::new(2, Options::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("large");
    compile(&open_mpis("mpicc"), &[source("tests/programs/large.c")], &[], &program);
    for (hosts, ranks) in [("a:1,b:1", 2), ("a:2,b:2", 4)] {
        let words = format!("{} -x WEFT_LINK", between(&two).replace("a:2,b:2", hosts));
        let mut command = mpirun(&words, &folder);
        command.env("WEFT_LINK", "udp").arg(&program);
        let output = common::on_first_host(&two, &command).output().unwrap();
        let said = text(&output.stdout);
        assert!(output.status.success(), "{}", both(&output));
        assert!(said.contains(&format!("all bytes are right on {ranks} ranks\n")), "{said}");
    }
}

#[test]
fn the_status_is_mpiruns_own() {
    let folder = tempfile::tempdir().unwrap();
    let script = executable(&folder, "fails", "exit 7");
    let output = mpirun("-n 2", &folder).arg(script).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", both(&output));
}

/// A script in a folder of its own, which can be a PATH.
fn executable(folder: &TempDir, name: &str, script: &str) -> PathBuf {
    let file = folder.path().join(name);
    write_script(&file, &format!("#!/bin/sh\n{script}\n")).unwrap();
    file
}

/// A folder with an `mpirun` that says what it is and does nothing else.
fn fake(said: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    executable(&folder, "mpirun", &format!("echo '{said}'"));
    folder
}

/// A PATH with one folder before those of the system's commands that `weft` itself runs.
fn path_with(folder: &Path) -> String {
    format!("{}:/proc/nowhere", folder.display())
}

#[test]
fn the_command_can_be_looked_at() {
    let folder = fake("mpirun (Open MPI) 4.1.4");
    let mut command = weft("mpirun -n 1 --dry-run --tag-output ./program input");
    let output = command.env("PATH", path_with(folder.path())).output().unwrap();
    let weft = Path::new(env!("CARGO_BIN_EXE_weft"));
    let provider = weft.with_file_name("libfabric");
    let provider = provider.display();
    let expected = format!(
        "FI_PROVIDER_PATH={provider} {} --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include weft -x FI_PROVIDER_PATH \
         -x LD_PRELOAD={provider}/libweft-fi.so:{provider}/host/libfabric.so.1 -n 1 --tag-output ./program input\n",
        folder.path().join("mpirun").display()
    );
    assert_eq!(text(&output.stdout), expected, "{}", text(&output.stderr));
    assert!(output.status.success());
}

#[test]
fn weft_becomes_the_mpirun_and_mpich_is_told_by_its_environment() {
    let folder = tempfile::tempdir().unwrap();
    let script = "case $1 in --version) echo HYDRA build details:; echo '  Version: 5.0.2'; echo ' --with-device=ch4:ucx,ofi';; \
                  *) echo $$ $FI_PROVIDER $MPIR_CVAR_CH4_NETMOD $MPIR_CVAR_NOLOCAL $*;; esac";
    executable(&folder, "mpirun", script);
    let mut command = weft("mpirun --stack mpich -n 3 ./program");
    command.env("PATH", path_with(folder.path())).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // The process is mpirun's own, so signals are.
    let expected = format!("{} weft ofi 1 -n 3 ./program\n", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stdout), expected, "{}", text(&output.stderr));
    assert!(text(&output.stderr).starts_with("weft: MPICH 5.0.2 ("));
}

#[test]
fn a_dry_run_asks_nobody_for_the_programs_libraries() {
    let folder = fake("mpirun (Open MPI) 4.1.4");
    let mark = folder.path().join("ran");
    executable(&folder, "ldd", &format!("touch {}", mark.display()));
    let mut command = weft("mpirun --dry-run -n 2 true");
    let output = command.env("PATH", path_with(folder.path())).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!mark.exists(), "ldd was run");
}

#[test]
fn who_cannot_have_collectives_by_weft_is_told_why() {
    let folder = fake("mpirun (Open MPI) 4.1.4");
    let failed = |expected: &str| {
        let mut command = weft("mpirun --collectives weft -n 2 true");
        command.env("PATH", path_with(folder.path())).env("XDG_CACHE_HOME", folder.path());
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        assert!(
            said.starts_with("weft: --collectives weft: ") && said.contains(expected),
            "{said}"
        );
        assert_eq!(output.status.code(), Some(1), "{said}");
    };
    failed("there is no mpicc in ");
    executable(&folder, "mpicc", "echo no headers here >&2; exit 1");
    failed("mpicc cannot make libweft-coll.so: no headers here");
    for name in ["a folder", "a:folder"] {
        let mut command = weft("mpirun --collectives weft -n 2 true");
        command.env("XDG_CACHE_HOME", folder.path().join(name));
        let output = command.env("PATH", path_with(folder.path())).output().unwrap();
        let said = text(&output.stderr);
        assert!(said.contains("libweft-coll.so has a blank or a colon in its name"), "{said}");
    }
}

#[test]
fn an_interpreter_has_its_mpi_library_beside_it() {
    let (own, other) = (fake("mpirun (Open MPI) 5.0.11"), fake("mpirun (Open MPI) 4.1.4"));
    let python = executable(&own, "python3", "");
    let mut command = weft("mpirun --dry-run");
    command.arg(python).arg("job.py").env("PATH", path_with(other.path()));
    let said = text(&command.output().unwrap().stderr);
    let expected =
        format!("weft: Open MPI 5.0.11 ({}), told ", own.path().join("mpirun").display());
    assert!(said.starts_with(&expected), "{said}");
}

#[test]
fn what_is_missing_for_a_job_is_said() {
    let empty = tempfile::tempdir().unwrap();
    let other = fake("LAM/MPI 7.1.4");
    let debians = fake("HYDRA build details:\n    Version:    4.0.2\n    --with-device=ch4:ucx");
    let open_mpi = fake("mpirun (Open MPI) 4.1.4");
    for (folder, words, expected) in [
        (&empty, "true", "there is no mpirun in PATH: install an MPI library"),
        (&other, "true", "is neither Open MPI's, MPICH's nor Intel MPI's"),
        (&debians, "true", "is built for ch4:ucx, without libfabric"),
        (&open_mpi, "--stack mpich true", "there is no mpirun of MPICH, which --stack asks for"),
        (
            &open_mpi,
            "--provider /proc/nowhere true",
            "--provider /proc/nowhere: there is no libweft-fi.so",
        ),
        (&open_mpi, "--mca pml ob1 true", "--mca pml ob1 contradicts --mca pml cm"),
        (&open_mpi, "-n 4", "weft mpirun needs a program"),
        (
            &open_mpi,
            "--trace=/proc/nowhere/run.weft true",
            "cannot write the trace to \"/proc/nowhere/run.weft\": there is no folder /proc/nowhere",
        ),
    ] {
        let mut command = weft(&format!("mpirun {words}"));
        let output = command.env("PATH", path_with(folder.path())).output().unwrap();
        let said = text(&output.stderr);
        assert!(said.starts_with("weft: ") && said.contains(expected), "{words}: {said}");
        assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{words}: {said}");
    }
}

/// Report of `weft doctor --mpi` about an Open MPI in PATH, with these variables set, and true if
/// all is well.
fn doctor(variables: &[(&str, &OsStr)]) -> (String, bool) {
    let open_mpi = fake("mpirun (Open MPI) 4.1.4");
    let mut command = weft("doctor --mpi --json");
    command.env("PATH", path_with(open_mpi.path())).envs(variables.iter().copied());
    let output = command.output().unwrap();
    (both(&output), output.status.success())
}

/// The line about a problem, of which there has to be one only.
fn problem(variables: &[(&str, &OsStr)]) -> String {
    let (said, well) = doctor(variables);
    let problems: Vec<_> = said.lines().filter(|line| line.contains("\"problem\"")).collect();
    assert!(!well && problems.len() == 1, "{said}");
    problems[0].to_owned()
}

#[test]
fn the_doctor_finds_nothing_wrong_where_nothing_is() {
    let (said, well) = doctor(&[]);
    assert!(well, "{said}");
    for name in [
        "mpirun",
        "libfabric",
        "provider",
        "weft in libfabric",
        "FI_PROVIDER",
        "Open MPI's settings",
        "persistent sends",
    ] {
        assert!(
            said.contains(&format!("{{\"doctor\":\"mpi\",\"name\":\"{name}\",\"status\":\"ok\"")),
            "{said}"
        );
    }
    // This mpirun has no mpicc beside it.
    assert!(said.contains("\"name\":\"collectives\",\"status\":\"absent\""), "{said}");
}

#[test]
fn the_doctor_names_what_the_environment_has_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("libweft-coll.so");
    for (name, value, expected) in [
        ("FI_PROVIDER", OsStr::new("wefft"), "\\\"weft\\\" is the nearest name"),
        ("FI_PROVIDER", OsStr::new("tcp"), "tcp, and so not weft"),
        ("FI_PROVIDER_PATH", folder.path().as_os_str(), "where there is no libweft-fi.so"),
        ("OMPI_MCA_pml", OsStr::new("ob1"), "OMPI_MCA_pml is ob1, where Weft needs cm"),
        ("OMPI_MCA_mtl_ofi_provider_include", OsStr::new("tcp"), "is tcp, where Weft needs weft"),
        ("LD_PRELOAD", gone.as_os_str(), "libweft-coll.so, which is not there"),
    ] {
        let line = problem(&[(name, value)]);
        assert!(line.contains(expected) && line.contains("advice"), "{line}");
    }
}

#[test]
fn the_doctor_tries_whether_the_provider_loads() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("libweft-fi.so"), "nothing that could be loaded").unwrap();
    let line = problem(&[("FI_PROVIDER_PATH", folder.path().as_os_str())]);
    assert!(line.contains("\"weft in libfabric\"") && line.contains("does not load: "), "{line}");
}

/// A folder with a libfabric made of this C.
fn libfabric(code: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libfabric.c");
    std::fs::write(&file, code).unwrap();
    compile("cc", &[file], &["-shared", "-fPIC"], &folder.path().join("libfabric.so.1"));
    folder
}

#[test]
fn the_doctor_knows_a_libfabric_that_is_too_old() {
    let old = libfabric("unsigned fi_version(void) { return 1 << 16 | 8; }");
    let line = problem(&[("LD_LIBRARY_PATH", old.path().as_os_str())]);
    assert!(
        line.contains("version 1.8, too old") && line.contains("install libfabric 1.9 or later"),
        "{line}"
    );
}

#[test]
fn the_doctor_survives_a_libfabric_that_is_broken() {
    let empty = libfabric("int nothing;");
    let line = problem(&[("LD_LIBRARY_PATH", empty.path().as_os_str())]);
    assert!(line.contains("fi_version"), "{line}");
    let crashing = libfabric("#include <stdlib.h>\nunsigned fi_version(void) { abort(); }");
    let line = problem(&[("LD_LIBRARY_PATH", crashing.path().as_os_str())]);
    assert!(line.contains("loading it ended with signal: 6"), "{line}");
}

#[test]
fn the_doctor_notices_that_libfabric_does_not_offer_the_provider() {
    let deaf = libfabric(
        "unsigned fi_version(void) { return 1 << 16 | 17; }\n\
         int fi_getinfo(unsigned v, const char *n, const char *s, long f, const void *h, void **i)\n\
         { (void)v; (void)n; (void)s; (void)f; (void)h; *i = 0; return -61; }",
    );
    let line = problem(&[("LD_LIBRARY_PATH", deaf.path().as_os_str())]);
    assert!(line.contains("does not offer it"), "{line}");
}

#[test]
fn the_doctor_says_that_there_is_no_mpi() {
    let empty = tempfile::tempdir().unwrap();
    let output = weft("doctor --mpi").env("PATH", empty.path()).output().unwrap();
    let said = text(&output.stdout);
    assert!(!output.status.success(), "{said}");
    assert!(said.starts_with("MPI programs on Weft\n  PROBLEM  mpirun "), "{said}");
    assert!(
        said.contains("there is no mpirun in PATH") && said.contains("-> install Open MPI"),
        "{said}"
    );
}
