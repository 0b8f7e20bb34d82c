//! Capabilities, as the guide has them installed: a user without privileges has AF_XDP by
//! `weft-net`, and nothing that this user names is loaded or run with a capability, by any command.
//!
//! The programs are built with the workspace (`make test` does that first).

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{ASP, built, is_in_group, no_program_remains, text};
use tempfile::TempDir;
use weft_netns::{Cluster, HOSTS_MAX, Host, Options, available, write_script};

/// Users, and a group, that have no names anywhere. Hosts here share one kernel, which counts the
/// memory that a user has locked: each host of each test has a user of its own.
static NEXT_USER: AtomicU32 = AtomicU32::new(64_200);
const GROUP: u32 = 64_124;
/// Words of the guide.
const CAPABILITIES: &str = "cap_net_raw,cap_bpf,cap_net_admin+ep";

/// The commands, and what is run with them.
const PROGRAMS: [&str; 5] = ["weft", "weft-bench", "weft-compare", "weft-net", "asp"];

fn set_mode(file: &Path, mode: u32) {
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", text(&output));
}

/// Weft as it is installed, and a place for what a user makes.
struct Installed {
    folder: TempDir,
    first_user: u32,
}

impl Installed {
    /// Gives capabilities to `weft-net`, and to `others`.
    fn new(others: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let first_user = NEXT_USER.fetch_add(HOSTS_MAX as u32, Ordering::Relaxed);
        let installed = Installed { folder, first_user };
        for (place, mode) in [("", 0o755), ("bin", 0o755), ("user", 0o777)] {
            fs::create_dir_all(installed.at(place)).unwrap();
            set_mode(&installed.at(place), mode);
        }
        for program in PROGRAMS {
            // By another process, so that no other has the file open when it is run.
            succeeds(Command::new("cp").arg(built(program)).arg(installed.at("bin")));
        }
        let net = installed.program("weft-net");
        chown(&net, None, Some(GROUP)).unwrap();
        set_mode(&net, 0o750);
        for program in others.iter().chain(&["weft-net"]) {
            succeeds(Command::new("setcap").arg(CAPABILITIES).arg(installed.program(program)));
        }
        installed
    }

    fn at(&self, place: &str) -> PathBuf {
        self.folder.path().join(place)
    }

    fn program(&self, name: &str) -> PathBuf {
        self.at("bin").join(name)
    }

    /// A command of the host's user, who is in these groups.
    fn as_user(&self, host: &Host, program: &Path, groups: &str) -> Command {
        let number = host.name().as_bytes()[0] - b'a';
        let user = self.first_user + u32::from(number);
        let mut command = host.command("setpriv");
        command.args([&format!("--reuid={user}"), &format!("--regid={user}"), groups, "--"]);
        command.arg(program).env_clear().env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::null()).current_dir("/");
        command
    }

    /// A command of the host's user, who is in the group of `weft-net`.
    fn as_member(&self, host: &Host, program: &Path) -> Command {
        self.as_user(host, program, &format!("--groups={GROUP}"))
    }

    /// The user's own script of this name.
    fn script(&self, name: &str, lines: &str) -> PathBuf {
        let file = self.at("user").join(name);
        write_script(&file, &format!("#!/bin/sh\n{lines}\n")).unwrap();
        file
    }
}

/// A remote shell for the user, who may not enter namespaces: one waits on each host but the first,
/// until the cluster goes.
fn remote_shell(installed: &Installed, cluster: &Cluster) -> PathBuf {
    for host in &cluster.hosts()[1..] {
        let pipes = installed.at("user").join(host.name());
        let pipe = |name: &str| format!("{}-{name}", pipes.display());
        succeeds(Command::new("mkfifo").args(["-m", "666"]).args(["words", "in", "out"].map(pipe)));
        let lines = format!(
            "while read words <{0}-words; do eval \"$words\" <{0}-in >{0}-out; done",
            pipes.display()
        );
        let shell = installed.script(&format!("{}-shell", host.name()), &lines);
        drop(installed.as_member(host, &shell).spawn().unwrap());
    }
    installed.script(
        "rsh",
        "cd \"${0%/*}\"; host=$1; shift; echo \"$*\" >$host-words; exec 3<&0; cat <&3 >$host-in & exec cat <$host-out 3<&-",
    )
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    text(&output)
}

#[test]
fn a_user_without_privileges_has_xdp_by_weft_net() {
    if !available() {
        return;
    }
    let three = Cluster::new(3, Options::default()).unwrap();
    let installed = Installed::new(&[]);
    let shell = remote_shell(&installed, &three);
    let asp = |hosts: &str, words: &str| {
        let mut command = installed.as_member(three.host(0), &installed.program("weft"));
        command.args(["run", "-v", "--silence", "10", "--hosts", hosts, "--rsh"]).arg(&shell);
        command.args(words.split(' ')).args(["--"]).args(ASP.split(' '));
        command
    };
    let said = run(&mut asp("a:1,b:1", "--link auto"));
    assert!(said.contains("xdp between (generic, copying, MTU 1500)"), "{said}");
    assert!(said.contains("verified against Dijkstra"), "{said}");
    // Network that copies: `weft-net` stays to hold the groups, and goes with the job.
    let said = run(&mut asp("a:1,b:1,c:1", "--link xdp --multicast ethernet"));
    assert!(said.contains("verified against Dijkstra"), "{said}");
    assert!(said.contains("xdp between"), "{said}");
    no_program_remains(&three);
    assert!(!three.hosts().iter().any(is_in_group));
    // Who is not of the group may not run it, and is told.
    let stranger = |link: &str| {
        let weft = installed.program("weft");
        let mut command = installed.as_user(three.host(0), &weft, "--clear-groups");
        command.args(["run", "-v", "--silence", "10", "--hosts", "a:1,b:1", "--rsh"]).arg(&shell);
        command.args(["--link", link, "--"]).args(ASP.split(' ')).output().unwrap()
    };
    let why = "weft-net, by which weft has AF_XDP, may not be run by this user";
    let insisted = stranger("xdp");
    assert!(!insisted.status.success() && text(&insisted).contains(why), "{}", text(&insisted));
    let either = text(&stranger("auto"));
    assert!(either.contains("udp between (no xdp: host a: ") && either.contains(why), "{either}");
    assert!(either.contains("verified against Dijkstra"), "{either}");
}

#[test]
fn what_weft_net_lacks_is_said_and_so_is_that_it_is_not_there() {
    if !available() {
        return;
    }
    let two = Cluster::new(2, Options::default()).unwrap();
    let installed = Installed::new(&[]);
    let doctor = || -> Output {
        installed.as_member(two.host(0), &installed.program("weft")).arg("doctor").output().unwrap()
    };
    let able = text(&doctor());
    assert!(able.contains("eth0 (MTU 1500, generic"), "{able}");
    let net = installed.program("weft-net");
    succeeds(Command::new("setcap").arg("-r").arg(&net));
    let words = text(&doctor()).split_whitespace().collect::<Vec<_>>().join(" ");
    let lacks = "AF_XDP needs CAP_NET_RAW and CAP_BPF and CAP_NET_ADMIN, which ";
    assert!(words.contains(lacks) && words.contains("as root, `setcap"), "{words}");
    fs::remove_file(&net).unwrap();
    let words = text(&doctor()).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("AF_XDP needs the program weft-net, and it is not in "), "{words}");
}

/// A library that writes down which capabilities the process that loads it has.
const LIBRARY: &str = r#"
#include <stdio.h>
#include <string.h>
extern char *program_invocation_short_name;
__attribute__((constructor)) static void record(void)
{
    char line[256];
    FILE *from = fopen("/proc/self/status", "r"), *to = fopen(RECORDS, "a");
    while (from && to && fgets(line, sizeof line, from))
        if (!strncmp(line, "Cap", 3) && strncmp(line, "CapBnd", 6))
            fprintf(to, "%s %s", program_invocation_short_name, line);
    if (from)
        fclose(from);
    if (to)
        fclose(to);
}
"#;

/// Things that a user has commands load and run.
struct Recorders {
    records: PathBuf,
    library: PathBuf,
    program: PathBuf,
}

impl Recorders {
    fn new(installed: &Installed) -> Self {
        let records = installed.at("user/records");
        fs::write(&records, "").unwrap();
        set_mode(&records, 0o666);
        let (source, library) = (installed.at("recorder.c"), installed.at("librecorder.so"));
        fs::write(&source, LIBRARY).unwrap();
        let define = format!("-DRECORDS=\"{}\"", records.display());
        let mut cc = Command::new("cc");
        cc.args(["-D_GNU_SOURCE", "-shared", "-fPIC", &define, "-o"]).arg(&library).arg(&source);
        succeeds(&mut cc);
        // Of the shell itself, not of what it runs.
        let lines = format!(
            "while read name value; do case $name in CapBnd:) ;; Cap*) echo \"${{0##*/}} $name $value\" >>{};; \
             esac; done </proc/$$/status",
            records.display()
        );
        let program = installed.script("recorder", &lines);
        Recorders { records, library, program }
    }

    /// Names of those that have recorded something since the last time. Asserts that none had any.
    fn seen(&self, case: &str) -> Vec<String> {
        let records = fs::read_to_string(&self.records).unwrap_or_default();
        fs::write(&self.records, "").unwrap();
        let mut seen = Vec::new();
        let mut wrong = String::new();
        for line in records.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words[2] != "0000000000000000" {
                writeln!(wrong, "{line}").unwrap();
            }
            seen.push(words[0].to_owned());
        }
        assert_eq!(wrong, "", "{case}");
        seen.sort();
        seen.dedup();
        seen
    }
}

/// Names by which commands find others in `PATH`, or beside themselves.
const NAMES: [&str; 11] = [
    "weft-net",
    "weft-sim",
    "weft-inspect",
    "ssh",
    "mpirun",
    "mpiexec",
    "mpiexec.hydra",
    "ompi_info",
    "mpichversion",
    "fi_info",
    "ucx_perftest",
];

/// Commands that load or run what their user names.
struct Trial {
    two: Cluster,
    installed: Installed,
    recorders: Recorders,
    shell: PathBuf,
    /// Value of `PATH` in which all names are recorders.
    path: String,
}

impl Trial {
    fn new(others: &[&str]) -> Self {
        let two = Cluster::new(2, Options::default()).unwrap();
        let installed = Installed::new(others);
        let shell = remote_shell(&installed, &two);
        let recorders = Recorders::new(&installed);
        let folder = installed.at("user/path");
        fs::create_dir(&folder).unwrap();
        for name in NAMES {
            symlink(&recorders.program, folder.join(name)).unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", folder.display());
        Trial { two, installed, recorders, shell, path }
    }

    /// A command with these words, which blanks separate.
    fn by(&self, name: &str, words: &str) -> Command {
        let mut command = self.installed.as_member(self.two.host(0), &self.installed.program(name));
        command.args(words.split_whitespace());
        command
    }

    /// A command that looks for others in a folder of the user's.
    fn in_path(&self, name: &str, words: &str) -> Command {
        let mut command = self.by(name, words);
        command.env("PATH", &self.path);
        command
    }

    /// Runs a command in which these at least, and whoever else, must have had no capability.
    fn look(&self, mut command: Command, who: &[&str]) {
        let output = command.output().unwrap();
        let seen = self.recorders.seen(&format!("{command:?}"));
        let all = who.iter().all(|name| seen.iter().any(|seen| seen == name));
        assert!(all, "{command:?}: {seen:?}, not {who:?}: {}", text(&output));
    }

    fn programs(&self) {
        let recorder = self.recorders.program.display();
        self.look(self.by("weft", &format!("run -n 2 -- {recorder}")), &["recorder"]);
        let between = format!("run --hosts a:1,b:1 --rsh {}", self.shell.display());
        for link in ["udp", "auto", "xdp"] {
            let words = format!("{between} --link {link} -- {recorder}");
            self.look(self.by("weft", &words), &["recorder"]);
        }
        // Where no interface can be had, ranks go over UDP.
        self.two.hosts().iter().for_each(|host| host.set_mtu(9000).unwrap());
        self.look(self.by("weft", &format!("{between} -- {recorder}")), &["recorder"]);
        self.two.hosts().iter().for_each(|host| host.set_mtu(1500).unwrap());
    }

    fn shells(&self) {
        let recorder = self.recorders.program.as_os_str();
        let words = format!("run --hosts a:1,b:1 --rsh {} -- asp", recorder.display());
        self.look(self.by("weft", &words), &["recorder"]);
        for (name, words) in
            [("weft", "run --hosts a:1,b:1 -- asp"), ("weft-bench", "latency --hosts a,b")]
        {
            let mut by_variable = self.by(name, words);
            by_variable.env("WEFT_RSH", recorder);
            self.look(by_variable, &["recorder"]);
            self.look(self.in_path(name, words), &["ssh"]);
        }
    }

    fn names(&self) {
        self.look(self.in_path("weft", "sim"), &["weft-sim"]);
        self.look(self.in_path("weft", "ps"), &["weft-inspect"]);
        self.look(self.in_path("weft", "doctor --mpi"), &[]);
        self.look(self.in_path("weft-compare", "--on memory --turns 1"), &[]);
        for stack in ["mpich", "open-mpi"] {
            let words = format!("mpirun -n 1 --stack {stack} /bin/true");
            self.look(self.in_path("weft", &words), &[]);
        }
        // A `weft` at a place of the user's own, with a `weft-net` of the user's.
        let own = self.installed.at("user/path/weft");
        fs::hard_link(self.installed.program("weft"), &own).unwrap();
        let mut command = self.installed.as_member(self.two.host(0), &own);
        command.arg("doctor");
        self.look(command, &["weft-net"]);
    }

    fn libraries(&self) {
        let library = &self.recorders.library.display();
        self.look(self.by("weft", &format!("doctor-fabric {library}")), &["weft"]);
        self.look(self.by("weft", &format!("doctor-fabric {library} {library}")), &["weft"]);
        let words = format!("mpirun -n 1 --provider {library} /bin/true");
        self.look(self.by("weft", &words), &[]);
        let folder = self.installed.at("user/libraries");
        fs::create_dir(&folder).unwrap();
        for name in ["libpmix.so.2", "libfabric.so.1"] {
            symlink(&self.recorders.library, folder.join(name)).unwrap();
        }
        for words in ["doctor", "doctor --mpi"] {
            let mut command = self.by("weft", words);
            command.env("LD_LIBRARY_PATH", &folder);
            self.look(command, &[]);
        }
        // Neither does the loader put another library in front of `weft-net`, nor is it told to.
        for (name, words) in [("weft-net", ""), ("weft", "doctor")] {
            let env = Path::new("/usr/bin/env");
            let mut command = self.installed.as_member(self.two.host(0), env);
            command.arg(format!("LD_PRELOAD={library}")).arg(self.installed.program(name));
            command.args(words.split_whitespace()).output().unwrap();
            let seen = self.recorders.seen(&format!("{command:?}"));
            assert!(!seen.iter().any(|name| name == "weft-net"), "{seen:?}");
        }
    }
}

/// Tries all commands, where `others` have the capabilities besides `weft-net`.
fn nothing_has_a_capability(others: &[&str]) {
    if !available() {
        return;
    }
    let trial = Trial::new(others);
    trial.libraries();
    trial.names();
    trial.shells();
    trial.programs();
    no_program_remains(&trial.two);
}

#[test]
fn nothing_that_a_user_names_has_a_capability() {
    nothing_has_a_capability(&[]);
}

/// Guides of earlier releases had `weft` given capabilities.
#[test]
fn nor_where_the_commands_have_been_given_some() {
    nothing_has_a_capability(&["weft", "weft-bench", "weft-compare"]);
}
