//! Pages of what real programs did, as a browser shows them: numbers are read back from the page,
//! and are those of the trace.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;
use weft_report::Analysis;
use weft_trace::Trace;

use crate::common;
use crate::common::mpi::{compile, mpirun, open_mpis};
use crate::visit::{compare_sums, sample, visit};

/// Programs that take a moment, of three systems: messages, regions, and collectives.
const PROGRAMS: [&str; 3] = [
    "asp --sample 120 --check 20 --to JFK",
    "barnes --bodies 256 --steps 2",
    "sor --rows 96 --columns 64 --iterations 40",
];

const RANKS: u32 = 4;

/// A program writes this trace, and its page says what the trace does.
fn its_page_adds_up(mut command: Command, file: &Path) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{command:?}: {said:?}");
    let trace = Trace::open(file).unwrap();
    let analysis = Analysis::new(&trace);
    let told = visit(&analysis, &json!({"acts": "sums", "arrows": sample(&analysis)}));
    assert_eq!(told["errors"], json!([]));
    assert_eq!(told["rows"], RANKS);
    compare_sums(&analysis, &told);
    assert_eq!(analysis.findings.lost_events, 0);
    assert_eq!(analysis.findings.matching.received_only, 0);
}

#[test]
fn pages_of_programs_add_up() {
    for words in PROGRAMS {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("the.trace");
        let mut words = words.split(' ');
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.args(["run", "-n", &RANKS.to_string()]);
        command.arg(format!("--trace={}", file.display())).arg("--");
        command.arg(common::built(words.next().unwrap())).args(words);
        its_page_adds_up(command, &file);
    }
}

#[test]
fn a_page_of_an_mpi_program_adds_up() {
    let folder = tempfile::tempdir().unwrap();
    let (program, file) = (folder.path().join("cg"), folder.path().join("the.trace"));
    let source = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../apps/mpi/cg.c"));
    compile(&open_mpis("mpicc"), &[source], &["-lm"], &program);
    let mut command = mpirun(&format!("-n {RANKS}"), &folder);
    command.arg(format!("--trace={}", file.display())).arg(&program);
    command.args(["--rows", "40", "--columns", "31"]);
    its_page_adds_up(command, &file);
}
