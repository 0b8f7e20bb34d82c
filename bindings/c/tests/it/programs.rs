//! C programs: compiled as their authors would, run as jobs, and looked at by the tools for C.
//!
//! The library and `weft` are built with the workspace (`make test` does that first).

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

const CHECKED: [&str; 5] = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"];
pub const SANITIZED: [&str; 3] =
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"];
/// Leaves out what is only "possibly" lost: blocks of threads that live as long as the process.
const VALGRIND: [&str; 5] = [
    "valgrind",
    "--quiet",
    "--error-exitcode=9",
    "--leak-check=full",
    "--errors-for-leak-kinds=definite,indirect",
];
/// The tests, which write nothing, with the ranks that they run on.
const PROGRAMS: [(&str, u32); 24] = [
    ("tests/atomics.c", 3),
    ("tests/errors.c", 2),
    ("tests/forks.c", 2),
    ("tests/joins.c", 1),
    ("tests/joins.c", 2),
    ("tests/packets.c", 2),
    ("tests/beside.c", 2),
    ("tests/threads.c", 2),
    ("tests/calls.c", 2),
    ("tests/orders.c", 3),
    ("tests/collectives.c", 3),
    ("tests/teams.c", 3),
    ("tests/counters.c", 3),
    ("tests/receives.c", 2),
    ("tests/rendezvous.c", 2),
    ("tests/regions.c", 3),
    ("tests/puts.c", 2),
    ("tests/objects.c", 1),
    ("tests/objects.c", 2),
    ("tests/objects.c", 4),
    ("tests/processes.c", 1),
    ("tests/processes.c", 3),
    ("tests/linda.c", 1),
    ("tests/linda.c", 3),
];

/// Test of simulated ranks, which runs by itself.
const SIMULATION: &str = "tests/simulation.c";

/// Words by which a job of four ranks goes on.
pub const GOES_ON: [&str; 4] = ["-n", "4", "--on-loss", "continue"];
/// Program of two ranks that has two more started.
const GROWS: &str = "tests/grows.c";
/// Program of two ranks that let in two more.
const VISITS: &str = "tests/visits.c";
/// Program of four ranks of which rank 2 kills itself, in a job that goes on.
const LOSSES: &str = "tests/losses.c";

/// The headers.
const HEADERS: [&str; 3] = ["include/weft.h", "include/weft-objects.h", "include/weft-sim.h"];

/// The folder that Cargo builds into.
pub fn built() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap().to_path_buf();
    for file in ["weft", "libweft.so", "libweft.a"] {
        let path = folder.join(file);
        assert!(path.exists(), "{} is not built: cargo build --workspace", path.display());
    }
    folder
}

pub fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command and returns what it wrote; it has to succeed.
pub fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let (text, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{text}{errors}", output.status);
    text.into_owned()
}

/// A folder for programs, with the library under the name that they look for.
pub fn folder() -> TempDir {
    folder_with(&built().join("libweft.so"))
}

fn folder_with(library: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    symlink(library, folder.path().join("libweft.so.0")).unwrap();
    folder
}

/// The library for programs under `wrapper`, in a folder that is kept as long. Valgrind gets one
/// without the tables of its lines, of which there are 45 MB: each rank would read them, which
/// takes longer than most programs. Functions keep their names.
fn library(wrapper: &[&str]) -> (TempDir, PathBuf) {
    let (folder, whole) = (tempfile::tempdir().unwrap(), built().join("libweft.so"));
    if wrapper.is_empty() {
        return (folder, whole);
    }
    let stripped = folder.path().join("libweft.so");
    run(Command::new("strip").arg("--strip-debug").arg(whole).arg("-o").arg(&stripped));
    (folder, stripped)
}

/// Compiles and links a program, and returns its path.
pub fn compile(source: &str, flags: &[&str], folder: &TempDir) -> PathBuf {
    let program = folder.path().join("program");
    let shared = [format!("-L{}", built().display()), "-lweft".into()];
    let mut command = Command::new("cc");
    command
        .args(CHECKED)
        .args(["-g", "-pthread"])
        .args(flags)
        .arg("-I")
        .arg(here().join("include"));
    command.arg(here().join(source)).arg("-o").arg(&program);
    command.args(shared).arg(format!("-Wl,-rpath,{}", folder.path().display()));
    run(&mut command);
    program
}

/// Runs a program on so many ranks, under `wrapper`, and checks what they write.
fn run_job(program: &Path, ranks: u32, wrapper: &[&str], expected: &[&str]) {
    let mut command = Command::new(built().join("weft"));
    command.args(["run", "-n", &ranks.to_string(), "--"]).args(wrapper).arg(program);
    assert_eq!(sorted_lines(&run(&mut command)), expected, "{}", program.display());
}

/// Lines of a text, sorted.
pub fn sorted_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// Does something with each item, two at once: programs wait more than they compute.
pub fn two_at_once<T: Sync>(items: &[T], run: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let take = || items.get(next.fetch_add(1, Ordering::Relaxed));
    let run_on = || std::iter::from_fn(take).for_each(&run);
    std::thread::scope(|scope| {
        scope.spawn(run_on);
        run_on();
    });
}

/// Program whose ranks fork. A child has the memory of its parent and none of its threads, so that
/// what those hold counts as lost there: it is run where nothing looks for leaks.
const FORKS: &str = "tests/forks.c";

/// Runs the tests. Where leaks are looked for each is run once, on the fewest of its ranks that are
/// more than one.
fn run_all(flags: &[&str], wrapper: &[&str]) {
    let mut programs = PROGRAMS.to_vec();
    if !wrapper.is_empty() || flags == SANITIZED {
        programs.retain(|(path, ranks)| *ranks > 1 && *path != FORKS);
        programs.dedup_by_key(|(path, _)| *path);
    }
    let (_kept, library) = library(wrapper);
    two_at_once(&programs, |(source, ranks)| {
        let folder = folder_with(&library);
        run_job(&compile(source, flags, &folder), *ranks, wrapper, &[]);
    });
}

#[test]
fn programs_compile_without_a_warning_and_run() {
    run_all(&["-O2"], &[]);
}

/// The tests call every function; the examples call none besides.
#[test]
fn programs_are_clean_under_valgrind() {
    run_all(&["-O1"], &VALGRIND);
    grows(&["-O1"], &VALGRIND);
    visits(&["-O1"], &VALGRIND);
    survivors_go_on(&["-O1"], &VALGRIND);
}

#[test]
fn programs_are_clean_under_the_sanitizers() {
    run_all(&SANITIZED, &[]);
    grows(&SANITIZED, &[]);
    visits(&SANITIZED, &[]);
    survivors_go_on(&SANITIZED, &[]);
}

/// Those ranks of which it shows that they wait for ever are not freed, so nothing looks for leaks.
#[test]
fn simulated_ranks_run_in_one_process() {
    let folder = folder();
    let program = compile(SIMULATION, &["-O2"], &folder);
    assert_eq!(run(&mut Command::new(program)), "simulated\n");
}

#[test]
fn the_first_program_of_the_guide_runs() {
    let guide = std::fs::read_to_string(here().join("../../docs/guide/c.md")).unwrap();
    let (_, program) = guide.split_once("```c\n").unwrap();
    let (program, _) = program.split_once("```").unwrap();
    let folder = folder();
    let source = folder.path().join("first.c");
    std::fs::write(&source, program).unwrap();
    let heard = ["rank 0 heard 2", "rank 1 heard 0", "rank 2 heard 1"];
    run_job(&compile(source.to_str().unwrap(), &[], &folder), 3, &[], &heard);
}

#[test]
fn a_program_without_a_launcher_joins_once_too() {
    let folder = folder();
    run(&mut Command::new(compile("tests/joins.c", &["-O2"], &folder)));
}

#[test]
fn survivors_of_a_lost_rank_are_told() {
    for program in ["tests/lost.c", "tests/orphans.c"] {
        rank_2_is_lost(program);
    }
}

#[test]
fn survivors_of_a_lost_rank_go_on_where_the_job_does() {
    survivors_go_on(&["-O2"], &[]);
}

/// Runs a program of three ranks of which rank 2 kills itself.
fn rank_2_is_lost(program: &str) {
    let folder = folder();
    let program = compile(program, &["-O2"], &folder);
    // The library ends a survivor that does not do so by itself within that time.
    let options = ["-n", "3", "--grace", "10"];
    let (is_well, lines, errors) = lose(&options, &[&program]);
    assert!(!is_well && errors.contains("rank 2"), "{errors}");
    assert_eq!(lines, ["rank 0: WEFT_RANK_LOST", "rank 1: WEFT_RANK_LOST"], "{errors}");
}

/// Runs a program of four ranks that goes on without rank 2, which kills itself.
fn survivors_go_on(flags: &[&str], wrapper: &[&str]) {
    let (_kept, library) = library(wrapper);
    let folder = folder_with(&library);
    let program = compile(LOSSES, flags, &folder);
    let command: Vec<&Path> = wrapper.iter().map(Path::new).chain([&*program]).collect();
    let lines = goes_on_with_3(&GOES_ON, &command);
    assert_eq!(lines, ["rank 0 went on", "rank 1 went on", "rank 3 went on"]);
}

#[test]
fn a_job_grows() {
    grows(&["-O2"], &[]);
}

/// Runs the program of a job that grows.
fn grows(flags: &[&str], wrapper: &[&str]) {
    let (_kept, library) = library(wrapper);
    let folder = folder_with(&library);
    let program = compile(GROWS, flags, &folder);
    let mut command = Command::new(built().join("weft"));
    command.args(["run", "-n", "2", "--room", "4", "--"]).args(wrapper).arg(program);
    let expected = [0, 1, 2, 3].map(|rank| format!("rank {rank} has left"));
    assert_eq!(sorted_lines(&run(&mut command)), expected);
}

#[test]
fn a_job_lets_in_who_knocks() {
    visits(&["-O2"], &[]);
}

/// Runs the program of a job that has a door, and the two that come.
fn visits(flags: &[&str], wrapper: &[&str]) {
    let (_kept, library) = library(wrapper);
    let folder = folder_with(&library);
    let program = compile(VISITS, flags, &folder);
    let text = visit(&program, wrapper, &folder);
    let expected = [0, 1, 2, 3].map(|rank| format!("rank {rank} has left"));
    assert_eq!(sorted_lines(&text), expected);
}

/// Runs a program on two ranks that have a door, and twice as who knocks there, with the door's
/// file as argument and in the environment. Returns what all of them write.
pub fn visit(program: &Path, wrapper: &[&str], folder: &TempDir) -> String {
    let door = folder.path().join("door");
    let mut command = Command::new(built().join("weft"));
    command.args(["run", "-n", "2", "--room", "4", "--door"]).arg(&door).arg("--");
    command.args(wrapper).arg(program);
    let visit = || {
        while !door.exists() {
            std::thread::yield_now();
        }
        let mut words = wrapper.iter().map(OsStr::new).chain([program.as_os_str()]);
        let mut visitor = Command::new(words.next().unwrap());
        run(visitor.args(words).arg(&door).env("WEFT_DOOR", &door))
    };
    std::thread::scope(|scope| {
        let visitors = [0, 1].map(|_| scope.spawn(visit));
        let host = run(&mut command);
        host + &visitors.map(|visitor| visitor.join().unwrap()).concat()
    })
}

#[test]
fn a_program_may_ask_that_its_job_go_on() {
    let folder = folder();
    let program = compile(LOSSES, &["-O2", "-DASKS"], &folder);
    let lines = goes_on_with_3(&["-n", "4"], &[&program]);
    assert_eq!(lines, ["rank 0 went on", "rank 1 went on", "rank 3 went on"]);
}

/// Runs a job of four ranks that goes on without rank 2, which kills itself, and returns what the
/// others write, sorted.
pub fn goes_on_with_3(options: &[&str], command: &[&Path]) -> Vec<String> {
    let (is_well, lines, errors) = lose(options, command);
    // Valgrind writes there, too, and what it wrote last is in the line.
    let told: Vec<&str> = errors.lines().filter(|line| line.starts_with("weft: rank ")).collect();
    let is_told = |line: &&str| {
        line.starts_with("weft: rank 2 of 4 (pid ")
            && line.contains(" was killed by signal 9 (SIGKILL);")
            && line.ends_with(" the job goes on with 3")
    };
    assert!(is_well && told.len() == 1 && told.iter().all(is_told), "{errors}");
    lines
}

/// Runs a job that loses a rank. Returns whether its status is 0, and what was written: by ranks,
/// sorted, and on standard error.
fn lose(options: &[&str], program: &[&Path]) -> (bool, Vec<String>, String) {
    let mut command = Command::new(built().join("weft"));
    command.arg("run").args(options).arg("--").args(program).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = sorted_lines(&text).into_iter().map(str::to_owned).collect();
    (output.status.success(), lines, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn valgrind_would_find_a_leak_in_the_library() {
    let folder = folder();
    let program = compile("tests/leak.c", &[], &folder);
    let output = Command::new(VALGRIND[0]).args(&VALGRIND[1..]).arg(program).output().unwrap();
    assert_eq!(output.status.code(), Some(9), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_headers_are_cplusplus_too() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("header.cc");
    std::fs::write(
        &source,
        "#include <weft-objects.h>\nweft_status (*join)(weft_job **) = weft_join;\n",
    )
    .unwrap();
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]);
    run(command.arg("-I").arg(here().join("include")).arg(source));
}

#[test]
fn the_library_has_a_version_in_its_name_and_exports_what_the_header_says() {
    let library = built().join("libweft.so");
    let dynamic = run(Command::new("readelf").arg("-d").arg(&library));
    assert!(dynamic.contains("Library soname: [libweft.so.0]"), "{dynamic}");
    let symbols = run(Command::new("nm").args(["-D", "--defined-only"]).arg(&library));
    let mut exported: Vec<&str> =
        symbols.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    exported.sort_unstable();
    assert_eq!(exported, declared(&headers()));
}

#[test]
fn tests_call_every_function() {
    let paths = PROGRAMS.iter().map(|(path, _)| *path);
    let tests = paths.chain([SIMULATION, GROWS, VISITS, LOSSES]);
    let text: String =
        tests.map(|path| std::fs::read_to_string(here().join(path)).unwrap()).collect();
    for name in declared(&headers()) {
        assert!(text.contains(&format!("{name}(")), "{name} is called nowhere");
    }
}

fn headers() -> String {
    HEADERS.map(|header| std::fs::read_to_string(here().join(header)).unwrap()).concat()
}

/// The functions of headers, sorted.
fn declared(header: &str) -> Vec<&str> {
    let code = header.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut declared: Vec<&str> = code.filter_map(function).collect();
    declared.sort_unstable();
    declared
}

/// The function that a line of the header begins to declare.
fn function(line: &str) -> Option<&str> {
    let (before, _) = line.split_once('(')?;
    let name = before.rsplit([' ', '*']).next()?;
    name.starts_with("weft_").then_some(name)
}
