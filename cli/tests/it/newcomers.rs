//! Mistakes of those who come from `mpirun`, `srun`, `docker` or `cargo`: each gets one line that
//! says what to do here.

use crate::mistakes::{are_told, folder, is_like, weft};
use std::fs;
use std::process::{Command, Stdio};

/// Words of other commands, status, and the line, of which `...` stands for anything.
const FOREIGN: [(&str, i32, &str); 31] = [
    (
        "run --np 4 -- ./p",
        2,
        "--np: the number of ranks is -n: weft run -n 4 -- ./program (weft run --help shows examples)",
    ),
    ("run --ntasks=4 ./p", 2, "--ntasks: the number of ranks is -n..."),
    ("run -p 4 ./p", 2, "-p: the number of ranks is -n..."),
    (
        "run --host a,b -- ./p",
        2,
        "--host: hosts are given by --hosts: weft run --hosts a:2,b:2 -- ./program...",
    ),
    ("run -f hosts ./p", 2, "-f: a file of hosts is given by --hostfile..."),
    (
        "run -N 2 ./p",
        2,
        "-N: hosts are named here, not counted: weft run --hosts a,b -- ./program...",
    ),
    (
        "run --ntasks-per-node=4 ./p",
        2,
        "--ntasks-per-node: each host has its own number of ranks...",
    ),
    ("run --oversubscribe -n 4 ./p", 2, "--oversubscribe: it is not needed..."),
    ("run --bind-to core ./p", 2, "--bind-to: ranks are put on cores by --bind core..."),
    ("run --allow-run-as-root ./p", 2, "--allow-run-as-root: it is not needed..."),
    ("run --mca btl self ./p", 2, "--mca: that is Open MPI's, to which weft mpirun gives it..."),
    (
        "run --export NAME=3 ./p",
        2,
        "--export: ranks of this host have the environment of weft; -x gives a variable to those of all hosts...",
    ),
    ("run -e NAME=3 ./p", 2, "-e: ranks of this host have the environment of weft..."),
    (
        "run -t 10 ./p",
        2,
        "-t: a time for the whole job is --time-limit: weft run --time-limit 10m -n 4 -- ./program...",
    ),
    (
        "run --workdir /tmp ./p",
        2,
        "--workdir: ranks run in the directory of weft, or in another on all hosts: weft run --chdir...",
    ),
    ("run -l -n 4 ./p", 2, "-l: each line says its rank with --label..."),
    (
        "run -o out ./p",
        2,
        "-o: the output of each rank goes to a file with --output-dir DIRECTORY...",
    ),
    (
        "run -d ./p",
        2,
        "-d: jobs run in the background by the shell: weft run -n 4 -- ./program &...",
    ),
    ("run --rm -it ./p", 2, "--rm: that is of containers, in which weft runs by --rsh..."),
    ("run --release", 2, "--release: that is cargo's: cargo build --release first..."),
    ("run -c 4 ./p", 2, "-c: a rank is a process, which starts the threads that it wants..."),
    ("run --multi-prog conf", 2, "--multi-prog: several programs have a colon between them..."),
    ("run --mem=4G ./p", 2, "--mem: that is Slurm's, which starts programs of weft by srun..."),
    (
        "exec ./p",
        2,
        "exec: programs are run by weft run: weft run -n 4 -- ./program (weft --help shows examples)",
    ),
    (
        "-n 4 ./p",
        2,
        "-n: programs are run by weft run: weft run -n 4 -- ./program (weft --help shows examples)",
    ),
    ("./hello-here", 2, "./hello-here: programs are run by weft run..."),
    ("stop 4711", 2, "stop: a job is ended by weft kill, as weft ps lists it: weft kill 4711..."),
    ("ls", 2, "ls: jobs are listed by weft ps..."),
    ("stats", 2, "stats: what the ranks of a job do is shown by weft top..."),
    ("logs 17", 2, "logs: a job's output is where weft run is..."),
    ("build", 2, "build: that is cargo's: cargo build first..."),
];

/// Other mistakes: numbers, names of programs, and what does not go together.
const OTHERS: [(&str, i32, &str); 62] = [
    (
        "run -n 2 -- weft run -n 2 -- ./p",
        2,
        "weft run starts programs, and weft is none: leave out one of the two (weft run --help shows examples)",
    ),
    (
        "run -n 4k ./p",
        2,
        "invalid value '4k' for '--ranks <P>': that is no number; a job has 1 to 1024 ranks (weft run --help shows examples)",
    ),
    ("run -n 2.5 ./p", 2, "...'2.5'...: a job has 1 to 1024 ranks..."),
    ("run -n 1025 ./p", 2, "...'1025'...: a job has 1 to 1024 ranks..."),
    (
        "run 4 ./hello-here",
        127,
        "cannot find the program \"4\"...; if that is the number of ranks, write -n 4",
    ),
    (
        "run -n 2 -- -x ./hello-here",
        127,
        "cannot find the program \"-x\"...; options of weft run stand before --, and the program after it",
    ),
    (
        "run -- ./kmeans.c",
        126,
        "cannot run \"./kmeans.c\": it is source: compile it, and run the program that comes of it",
    ),
    (
        "run -- ./kmeans.rs",
        126,
        "cannot run \"./kmeans.rs\": it is source: cargo build compiles it, and its program is in target",
    ),
    (
        "run -- ./kmeans.orca",
        126,
        "cannot run \"./kmeans.orca\": it is an Orca program: orcac run starts it",
    ),
    (
        "run -- ./kmeans.py",
        126,
        "cannot run \"./kmeans.py\": it is a Python program: put its interpreter before it...",
    ),
    (
        "run --window 10000 -- ls",
        2,
        "invalid value '10000' for '--window <PACKETS>': it is a number of packets: a power of two, 2 to 4096...",
    ),
    (
        "run --fan-out 1 --hosts a -- ls",
        2,
        "invalid value '1' for '--fan-out <N>': it is 2 to 256 (weft run --help shows examples)",
    ),
    (
        "run --join-limit -1 -- ls",
        2,
        "...'-1'...: it is a time, such as 500ms, 5s or 2min; a number alone is seconds...",
    ),
    ("run --progress-limit -1 -- ls", 2, "...'-1'...: it is a time from 0s to 1h..."),
    (
        "run --link infiniband -- ls",
        2,
        "...'infiniband'... [possible values: auto, shm, udp, xdp, fabric] (weft run --help shows examples)",
    ),
    ("run --bind cores -- ls", 2, "...'cores'...; a similar value exists: 'core'..."),
    ("run --preset lfc -- ls", 2, "...there is no preset 'lfc'; there are nrx-imc..."),
    ("run --tree star -- ls", 2, "...there is no tree shape 'star'; there are binary..."),
    ("run --on-loss go -- ls", 2, "...\"go\" is neither end nor continue..."),
    (
        "run --link xdp -- ls",
        2,
        "an interface does not hear itself; name other hosts with --hosts, or take --link udp...",
    ),
    ("run --room 2 -n 4 -- ls", 2, "--room 2 is less than the 4 ranks that the job begins with..."),
    (
        "run --output-dir d --label -- ls",
        2,
        "the argument '--output-dir <DIR>' cannot be used with '--label'...",
    ),
    (
        "run ./hello-here : ./hello-here",
        2,
        "of several programs each needs its ranks: weft run -n 1 ./a : -n 3 ./b...",
    ),
    ("run -n 1 ./hello-here : -n 1", 2, "after ':' comes -n P and a program, and not '-n 1'..."),
    ("run --hosts a:0 -- ls", 2, "...a:0: a host has 1 to 1024 ranks..."),
    ("run --hosts localhost:2 -n 1 -- ls", 1, "1 rank was asked for, and the list of hosts has 2"),
    ("run --hostfile nothing -- ls", 1, "cannot read nothing: No such file..."),
    (
        "run --hosts a,b --rsh nosuchshell -- ls",
        1,
        "host a: cannot start the remote shell \"nosuchshell\": ... (--rsh names another)",
    ),
    (
        "run --hosts a,b --rsh /bin/true -- ls",
        1,
        "host a: ... has ended there, with status 0: is it weft? (--remote-weft says where that is)",
    ),
    (
        "run --hosts localhost --interface eth99 -- ls",
        1,
        "host localhost: it has no ... \"eth99\"...",
    ),
    (
        "run -x NOT_SET_ANYWHERE -- ls",
        2,
        "invalid value 'NOT_SET_ANYWHERE' for '--env <NAME[=VALUE]>': NOT_SET_ANYWHERE is not set here: give its value, NOT_SET_ANYWHERE=VALUE, or leave it out...",
    ),
    (
        "run -x =3 -- ls",
        2,
        "...'=3'...: it is NAME=VALUE, or NAME of a variable that is set here...",
    ),
    (
        "run -x WEFT_RANK=3 -- ls",
        2,
        "...: WEFT_RANK is how a launcher tells each rank what it is: leave it out...",
    ),
    (
        "run -x WEFT_PRESET=pupa -- ls",
        2,
        "WEFT_PRESET is --preset of weft run, by which all ranks have it: leave out --env (weft run --help shows examples)",
    ),
    ("run -n 2 -x", 2, "...'--env <NAME[=VALUE]>'... (weft run --help shows examples)"),
    (
        "run --chdir nowhere -n 2 -- ls",
        1,
        "host ...: cannot work in .../nowhere: No such file or directory (os error 2) (make it there, or name one that every host has with --chdir)",
    ),
    (
        "run --chdir kmeans.c -- ls",
        1,
        "host ...: cannot work in .../kmeans.c: ...ot a directory...",
    ),
    (
        "run --chdir /tmp -- ./hello-here",
        127,
        "cannot find the program \"/tmp/./hello-here\": there is no such file",
    ),
    (
        "run --time-limit soon -- ls",
        2,
        "...'soon'...: it is a time from 1ms to 1year, such as 500ms, 5s or 2min; a number alone is seconds (weft run --help shows examples)",
    ),
    ("run --time-limit 0 -- ls", 2, "...'0'...: it is a time from 1ms to 1year..."),
    ("run --time-limit -5 -- ls", 2, "...'-5'...: it is a time from 1ms to 1year..."),
    (
        "run --provider tcp -n 2 -- ls",
        2,
        "--provider is for --link fabric: add that, or leave --provider out (weft run --help shows examples)",
    ),
    (
        "run --trace=nowhere/run.weft -n 2 -- true",
        1,
        "cannot write the trace to \"nowhere/run.weft\": No such file...",
    ),
    ("run --output-dir kmeans.c -n 2 -- true", 1, "cannot write the output to \"kmeans.c\": ..."),
    ("mpirun -x NOT_SET_ANYWHERE -n 2 ./p", 2, "...NOT_SET_ANYWHERE is not set here..."),
    ("mpirun --time-limit soon -n 2 ./p", 2, "...it is a time from 1ms to 1year..."),
    ("mpirun -n 2", 1, "weft mpirun needs a program: weft mpirun -n 4 ./program"),
    ("sim strom", 1, "there is no program or scenario 'strom'; there are asp..."),
    (
        "sim storm --seed x",
        2,
        "invalid value 'x' for '--seed <NUMBER>': it is a whole number (weft sim --help shows examples)",
    ),
    ("sim storm -n 0", 2, "...'0'...: a simulated job has 1 to 65534 ranks..."),
    ("sim storm -n 4 --crash 9@12ms", 1, "a crash names rank 9; the job has ranks 0 to 3"),
    (
        "report nothing",
        1,
        "there is no nothing: `weft run --trace=nothing -n 4 -- PROGRAM` writes one",
    ),
    (
        "why abc",
        2,
        "...: a job is a number, as `weft ps` lists it (weft why --help shows examples)",
    ),
    ("why -1", 2, "...'-1'...: a job is a number, as `weft ps` lists it..."),
    (
        "top --interval 0",
        2,
        "...'0'...: it is a time from 100ms to 1m, such as 500ms, 5s or 2min; a number alone is seconds (weft top --help shows examples)",
    ),
    ("kill 99999999", 1, "99999999 is no job of yours on this host: `weft ps` lists them"),
    (
        "kill nobody-runs-this",
        1,
        "no job of yours on this host runs nobody-runs-this: `weft ps` lists them",
    ),
    ("kill -9 4711", 1, "-9: a signal is given by --signal: weft kill --signal KILL JOB"),
    (
        "kill --signal STOP 4711",
        2,
        "...'STOP'...: TERM, INT, QUIT, HUP and KILL end a job, and USR1, USR2, TSTP and CONT go on to its ranks (weft kill --help shows examples)",
    ),
    ("kill --signal", 2, "...'--signal <NAME>'... (weft kill --help shows examples)"),
    ("kill --all 4711", 2, "the argument '--all' cannot be used with '[JOB]...'..."),
    ("help rum", 2, "unrecognized subcommand 'rum'; a similar subcommand exists: 'run'..."),
];

#[test]
fn words_of_other_commands_are_answered_by_what_says_the_same_here() {
    are_told(&FOREIGN);
}

#[test]
fn numbers_names_and_what_does_not_go_together_are_answered_in_a_line() {
    are_told(&OTHERS);
}

#[test]
fn a_command_in_quotes_is_taken_apart_for_its_author() {
    let folder = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["run", "-n", "2", "--", "./hello-here now"]).current_dir(folder.path());
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let expected = "weft: cannot find the program \"./hello-here now\": there is no such file; a program and its \
                    words stand apart, without quotes: ./hello-here now\n";
    assert_eq!((output.status.code(), &*said), (Some(127), expected));
}

#[test]
fn two_launchers_in_one_another_are_remarked_upon_once() {
    let folder = folder();
    let said = |rank: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.args(["run", "-n", "1", "--", "true"]).current_dir(folder.path());
        command.envs([("PMI_RANK", rank), ("PMI_SIZE", "2")]).env_remove("WEFT_QUIET");
        let output = command.stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let remark =
        "weft: mpiexec or srun has started weft run 2 times, and each starts a job of its own: ...";
    assert!(said("0").lines().any(|line| is_like(line, remark)), "{}", said("0"));
    assert!(!said("1").contains("has started weft run"), "{}", said("1"));
}

#[test]
fn a_file_in_the_place_of_a_folder_is_named() {
    let folder = folder();
    fs::write(folder.path().join("file"), "").unwrap();
    let (code, said) = weft(folder.path(), "run -q -n 1 --output-dir file -- true");
    assert_eq!((code, said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.starts_with("weft: cannot write the output to \"file\": "), "{said}");
}
