//! Words of other launchers, of containers' and of cargo's commands, and what says the same here:
//! whoever types one by habit is told what to type instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::path::Path;

/// Words that mean the same, and what to do here.
type Advice = (&'static [&'static str], &'static str);

/// Options of `mpirun`, `srun`, `docker run` and `cargo run`.
const OPTIONS: &[Advice] = &[
    (
        &["--np", "--ntasks", "--n", "-p", "--procs", "-j"],
        "the number of ranks is -n: weft run -n 4 -- ./program",
    ),
    (
        &["--host", "--nodelist", "-H"],
        "hosts are given by --hosts: weft run --hosts a:2,b:2 -- ./program",
    ),
    (&["--machinefile", "--machine-file", "-f"], "a file of hosts is given by --hostfile"),
    (
        &["--nodes", "-N"],
        "hosts are named here, not counted: weft run --hosts a,b -- ./program; those of a job of Slurm srun \
         knows, which starts programs of weft as they are",
    ),
    (
        &["--ntasks-per-node", "--npernode", "--ppn", "--map-by", "--rank-by"],
        "each host has its own number of ranks: weft run --hosts a:4,b:4 -- ./program",
    ),
    (
        &["--oversubscribe", "--use-hwthread-cpus"],
        "it is not needed: a host takes more ranks than it has cores, and they yield to one another",
    ),
    (
        &["--bind-to", "--cpu-bind", "--cpuset-cpus", "--cpu-set"],
        "ranks are put on cores by --bind core; which cores, taskset says: taskset -c 0-3 weft run --bind core -- ./program",
    ),
    (&["--allow-run-as-root"], "it is not needed: root may run programs"),
    (
        &["--mca", "--pmixmca"],
        "that is Open MPI's, to which weft mpirun gives it: weft mpirun --mca ...",
    ),
    (
        &["--export", "-e", "--genv", "-genv", "--env-file"],
        "ranks of this host have the environment of weft; -x gives a variable to those of all hosts: \
         weft run -x NAME=value -n 4 -- ./program",
    ),
    (
        &["-t", "--time", "--timeout"],
        "a time for the whole job is --time-limit: weft run --time-limit 10m -n 4 -- ./program",
    ),
    (
        &["--wdir", "--wd", "--workdir", "-D", "-w"],
        "ranks run in the directory of weft, or in another on all hosts: weft run --chdir /data -n 4 -- ./program",
    ),
    (&["--tag-output", "-l", "--prepend-rank"], "each line says its rank with --label"),
    (
        &["--output-filename", "--output", "--error", "-o"],
        "the output of each rank goes to a file with --output-dir DIRECTORY",
    ),
    (&["-d", "--detach"], "jobs run in the background by the shell: weft run -n 4 -- ./program &"),
    (
        &["--kill-on-bad-exit", "-K"],
        "it is not needed: a job ends when it loses a rank, unless --on-loss continue",
    ),
    (
        &["--rm", "-it", "-ti", "--name", "--network", "--volume", "--image"],
        "that is of containers, in which weft runs by --rsh: weft run --hosts box1,box2 --rsh \"docker exec -i\" -- my-program",
    ),
    (
        &["--release", "--bin", "--example", "--package"],
        "that is cargo's: cargo build --release first, then weft run -n 4 -- target/release/program",
    ),
    (
        &["-c", "--cpus-per-task", "--cpus", "--threads"],
        "a rank is a process, which starts the threads that it wants; --bind core puts each on a core",
    ),
    (
        &["--multi-prog"],
        "several programs have a colon between them: weft run -n 1 -- ./a : -n 3 ./b",
    ),
    (
        &["--exclusive", "--mem", "--partition", "--account"],
        "that is Slurm's, which starts programs of weft by srun",
    ),
];

/// Options with which a command of `mpirun` begins, and none of `weft` does.
const START: &[Advice] = &[(&["-n", "-np", "--ranks", "--hosts", "--hostfile", "-q"], RUNS)];

/// Subcommands of `docker`, of Slurm and of cargo.
const COMMANDS: &[Advice] = &[
    (
        &["stop", "rm", "cancel", "scancel"],
        "a job is ended by weft kill, as weft ps lists it: weft kill 4711",
    ),
    (&["exec", "start", "srun", "mpiexec", "launch"], RUNS),
    (&["ls", "list", "jobs", "squeue", "images", "container"], "jobs are listed by weft ps"),
    (
        &["logs", "attach"],
        "a job's output is where weft run is; files have it with weft run --output-dir DIRECTORY",
    ),
    (&["stats", "htop", "monitor"], "what the ranks of a job do is shown by weft top"),
    (
        &["build", "test", "check", "init", "add"],
        "that is cargo's: cargo build first, then weft run -n 4 -- target/debug/program",
    ),
    (
        &["info", "status"],
        "what works on this machine weft doctor says, and what runs here weft ps",
    ),
    (&["simulate"], "the simulator is weft sim"),
    (&["trace", "profile"], "a trace is written by weft run --trace, and shown by weft report"),
];

/// Command that runs programs.
const RUNS: &str = "programs are run by weft run: weft run -n 4 -- ./program";

/// Advice on the word that `error` is about, if it is one of another command.
pub fn advice(error: &clap::Error) -> Option<String> {
    let (kind, all) = match error.kind() {
        ErrorKind::UnknownArgument if is_of(error, "weft run ") => {
            (ContextKind::InvalidArg, OPTIONS)
        }
        ErrorKind::UnknownArgument if is_of(error, "weft <") => (ContextKind::InvalidArg, START),
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, COMMANDS),
        _ => return None,
    };
    let Some(ContextValue::String(word)) = error.get(kind) else { return None };
    let word = word.split('=').next().unwrap_or_default();
    let found = all.iter().find(|(words, _)| words.contains(&word)).map(|(_, what)| *what);
    let is_program = kind == ContextKind::InvalidSubcommand && Path::new(word).is_file();
    let what = found.or_else(|| is_program.then_some(RUNS))?;
    let of = if is_of(error, "weft run ") { "weft run" } else { "weft" };
    Some(format!("{word}: {what}\n\nUsage: {of}"))
}

/// True if it is about the words of this command.
fn is_of(error: &clap::Error, command: &str) -> bool {
    error.to_string().contains(&format!("\nUsage: {command}"))
}

#[cfg(test)]
mod tests;
