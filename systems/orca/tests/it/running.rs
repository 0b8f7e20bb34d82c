//! Programs that are compiled and run, by processes of `weft run`.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use super::{folder, read};

/// A compiled program, which goes with the folder that it is in.
struct Compiled {
    program: PathBuf,
    _folder: TempDir,
}

fn compiled(source: &Path) -> Compiled {
    let folder = tempfile::tempdir().expect("folder");
    let program = folder.path().join("program");
    let mut orcac = Command::new(env!("CARGO_BIN_EXE_orcac"));
    let output = orcac.arg("build").arg(source).arg("-o").arg(&program).output().expect("orcac");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Compiled { program, _folder: folder }
}

/// A command beside `orcac`.
fn built(name: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_orcac")).with_file_name(name);
    let packages = "cargo build -p weft-command -p weft-c -p weft-apps";
    assert!(program.exists(), "build the commands first: {packages}");
    Command::new(program)
}

impl Compiled {
    fn run(&self, ranks: u32) -> Output {
        let mut command = built("weft");
        command.args(["run", "-n", &ranks.to_string(), "--"]).arg(&self.program);
        command.output().expect("weft runs")
    }

    /// Standard output of a run that has to be without errors.
    fn prints(&self, ranks: u32) -> String {
        let output = self.run(ranks);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{ranks} ranks: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

#[test]
fn the_program_of_figures_7_1_and_7_2_runs_on_1_to_16_ranks() {
    let program = compiled(&folder("programs/counter.orca"));
    for ranks in [1, 2, 3, 4, 8, 16] {
        assert_eq!(program.prints(ranks), "");
    }
}

#[test]
fn values_and_objects_come_to_what_they_should() {
    for name in ["values", "objects", "generic"] {
        let source = folder("tests/running").join(name);
        let program = compiled(&source.with_extension("orca"));
        let expected = read(&source.with_extension("txt"));
        for ranks in [1, 2, 3] {
            assert_eq!(program.prints(ranks), expected, "{name} on {ranks} ranks");
        }
    }
}

#[test]
fn programs_come_to_the_same_on_any_number_of_ranks() {
    let programs = [
        ("asp", "sum of all distances: 100823\n"),
        ("leq", "iterations: 9, x[0] = -0.00041693314112753736\n"),
        ("tsp", "shortest tour: 174, by way of "),
        ("shapes", "area 12.56636 oldest 54 count 139\ntrue warmer e 0\n"),
    ];
    for (name, expected) in programs {
        let program = compiled(&folder("programs").join(name).with_extension("orca"));
        for ranks in [1, 4] {
            let printed = program.prints(ranks);
            assert!(printed.starts_with(expected), "{name} on {ranks} ranks: {printed}");
        }
    }
}

/// Of each database the numbers of stones and positions, those of each outcome, and the checksum.
#[test]
fn awari_in_orca_comes_to_the_values_of_awari_in_rust() {
    let source = folder("programs/awari.orca");
    let program = compiled(&source);
    let databases = tempfile::tempdir().expect("folder");
    let mut awari = built("awari");
    let output = awari.args(["make", "--stones", "7"]).current_dir(databases.path()).output();
    let made = String::from_utf8(output.expect("awari runs").stdout).expect("text");
    let expected = rows(made.lines().skip(1).take(8));
    assert_eq!(expected[5], [5, 4368, 2161, 0, 2207, 1886458384], "{made}");
    for ranks in [1, 4] {
        let printed = program.prints(ranks);
        assert_eq!(rows(printed.lines()), expected, "{ranks} ranks: {printed}");
    }
    let (printed, _) = figures(&source, &["-n", "8"]);
    assert_eq!(rows(printed.lines()), expected, "8 simulated ranks: {printed}");
}

/// The numbers of lines.
fn rows<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Vec<u64>> {
    let number = |word: &str| word.replace(',', "").parse().expect("a number");
    lines.map(|line| line.split_whitespace().map(number).collect()).collect()
}

/// Output and errors of a program on simulated ranks.
fn simulated(source: &Path, options: &[&str]) -> Output {
    let mut orcac = Command::new(env!("CARGO_BIN_EXE_orcac"));
    orcac.arg("sim").args(options).arg(source).env("NO_COLOR", "1").output().expect("orcac")
}

/// Output of a good program on simulated ranks, and its last line of figures.
fn figures(source: &Path, options: &[&str]) -> (String, String) {
    let output = simulated(source, options);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{options:?}: {errors}");
    let trace = errors.lines().last().unwrap_or_default().to_owned();
    assert!(trace.starts_with("trace      "), "{errors}");
    (String::from_utf8_lossy(&output.stdout).into_owned(), trace)
}

#[test]
fn simulated_ranks_come_to_the_same_as_one_process() {
    let compare = |name| {
        let source = folder("programs").join(name).with_extension("orca");
        let expected = compiled(&source).prints(1);
        assert_eq!(figures(&source, &["-n", "64"]).0, expected, "{name}");
        let lossy = ["-n", "16", "--preset", "irx-imc", "--loss", "0.02", "--seed", "5"];
        let first = figures(&source, &lossy);
        assert_eq!(first.0, expected, "{name}");
        assert_eq!(figures(&source, &lossy), first, "{name}: a seed fixes the run");
    };
    std::thread::scope(|scope| {
        for name in ["counter", "asp", "leq", "tsp", "shapes"] {
            scope.spawn(move || compare(name));
        }
    });
}

#[test]
fn a_simulation_that_fails_says_why() {
    let folder = tempfile::tempdir().expect("folder");
    let source = folder.path().join("program.orca");
    let stuck = "object implementation Never;
  is: boolean;

  operation await();
  begin
    guard is do od;
  end;

  begin
    is := false;
  end;
end;

process Worker(never: shared Never);
begin
  never$await();
end;

process OrcaMain();
begin
  never: Never;

  fork Worker(never) on 1;
  fork Worker(never) on 1;
  never$await();
end;
";
    let divides = "process OrcaMain();
begin
  n: integer;

  n := 0;
  WriteLine(1 / n);
end;
";
    for (text, what) in [(stuck, "'Worker' on rank 1 in 'await'"), (divides, "is divided by 0")] {
        std::fs::write(&source, text).expect("written");
        let output = simulated(&source, &["-n", "3"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains(what), "{errors}");
    }
    std::fs::write(&source, divides).expect("written");
    let cases: [(&[&str], &str); 2] = [
        (&["--preset", "none"], "no preset 'none'"),
        (&["--loss", "0.1"], "is for networks that lose nothing"),
    ];
    for (options, what) in cases {
        let output = simulated(&source, options);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains(what), "{errors}");
    }
}

/// Types of the mistakes below.
const DECLARATIONS: &str = "\
type G = graph nodes value: integer; end;
type K = (one, two);
type U = union (kind: K) one => a: integer; two => b: integer; end;
object implementation O; x: integer; operation wait(); begin guard x > 0 do od; end; end;
process P(o: shared O); begin end;
";

/// Mistakes, each with the message of the program that makes it.
const MISTAKES: [(&str, &str); 15] = [
    ("a: array[0..2] of integer; begin a[NCPUS() + 4] := 1;", "index 5 is outside 0..2"),
    ("a: array[integer] of real; begin WriteLine(a[1]);", "index 1 of an array without elements"),
    ("x: integer; begin x := 5 div x;", "5 is divided by 0"),
    ("x: integer; begin x := 5 mod x;", "5 is divided by 0"),
    ("begin assert(1 = 2);", "this was to hold, and does not"),
    ("s: string; begin s := \"abc\"; s[3] := 'd';", "index 3 is outside 0..2"),
    ("s: set of integer; begin WriteLine(from(s));", "`from` finds no element"),
    ("begin WriteLine(chr(-1));", "no character has the number -1"),
    ("begin WriteLine(trunc(1.0e300));", "1e+300 is no integer of 64 bits"),
    ("begin for i in 1..max(integer) do exit; od;", "counts to the largest integer"),
    ("g: G; n: nodename of G; begin g[n].value := 1;", "`nil` is no node"),
    (
        "g: G; n: nodename of G; begin n := addnode(g); deletenode(g, n); g[n].value := 1;",
        "this graph has no node of that name (any more)",
    ),
    ("u: U; begin u.kind := two; u.a := 1;", "the field `a` is not there"),
    ("o: O; begin o$wait();", "`wait` waits for ever: no other process has this object"),
    ("o: O; begin fork P(o) on -1;", "there is no processor -1"),
];

/// One program makes them all: as many ranks as it has say which.
#[test]
fn mistakes_of_a_running_program_are_named_with_their_places() {
    let mut text = DECLARATIONS.to_owned();
    let mut calls = String::new();
    for (ranks, (mistake, _)) in (1..).zip(MISTAKES) {
        text += &format!("function F{ranks}(); {mistake} end;\n");
        calls += &format!("| {ranks} => F{ranks}(); ");
    }
    text += &format!("process OrcaMain(); begin case NCPUS() of {calls} esac; end;\n");
    let folder = tempfile::tempdir().expect("folder");
    let source = folder.path().join("wrong.orca");
    std::fs::write(&source, text).expect("written");
    let program = compiled(&source);
    let first_line = DECLARATIONS.lines().count() + 1;
    for (place, (mistake, message)) in MISTAKES.iter().enumerate() {
        let errors = failure(&program.run(place as u32 + 1));
        let begins = format!("wrong.orca:{}:", first_line + place);
        assert!(errors.contains(&begins) && errors.contains(message), "{mistake}\n{errors}");
    }
    let unnamed = failure(&program.run(16));
    assert!(unnamed.contains("no alternative of this `case` is for 16"), "{unnamed}");
}

#[test]
fn processes_that_all_wait_are_listed_with_what_they_wait_for() {
    let text = "object implementation Gate; open: boolean;\n\
                operation pass(); begin guard open do od; end; end;\n\
                process Guest(gate: shared Gate); begin gate$pass(); end;\n\
                process OrcaMain(); gate: Gate; begin fork Guest(gate) on 1; gate$pass(); end;\n";
    let folder = tempfile::tempdir().expect("folder");
    let source = folder.path().join("gate.orca");
    std::fs::write(&source, text).expect("written");
    let program = compiled(&source);
    for ranks in [1, 3] {
        let errors = failure(&program.run(ranks));
        let guest = format!("'Guest' on rank {} in 'pass' on 'gate'", 1 % ranks);
        for expected in
            ["all processes wait for guards: ", "'OrcaMain' on rank 0 in 'pass' on 'gate'", &guest]
        {
            assert!(errors.contains(expected), "{ranks} ranks: {errors}");
        }
        // Once for the job, and not once for each rank.
        let said = errors.lines().filter(|line| {
            line.starts_with("orca: ") && line.contains("all processes wait for guards: ")
        });
        let said = said.count();
        assert_eq!(said, 1, "{ranks} ranks: {errors}");
    }
}

#[test]
fn a_run_that_is_ended_leaves_no_program() {
    let text = "process OrcaMain(); begin WriteLine(\"here\"); while true do od; end;\n";
    // A terminal tells the whole group; whoever uses `kill` tells orcac.
    for (signal, group, expected) in [("INT", "-", 2), ("TERM", "", 15), ("HUP", "", 15)] {
        let (folder, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(folder.path().join("endless.orca"), text).unwrap();
        let mut orcac = Command::new(env!("CARGO_BIN_EXE_orcac"));
        orcac.args(["run", "endless.orca"]).current_dir(folder.path());
        orcac.env("TMPDIR", programs.path()).process_group(0);
        orcac.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut running = orcac.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(running.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "here\n");
        let told = format!("{group}{}", running.id());
        let mut kill = Command::new("kill");
        assert!(kill.args(["-s", signal, "--", &told]).status().unwrap().success());
        let status = running.wait().unwrap();
        assert_eq!(status.code(), Some(128 + expected), "{signal}: {status}");
        assert_eq!(std::fs::read_dir(programs.path()).unwrap().count(), 0);
    }
}

/// Standard error of a run that has to fail.
fn failure(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}
