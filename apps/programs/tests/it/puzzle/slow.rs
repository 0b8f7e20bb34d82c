//! Korf's first ten instances, by four ranks. As many of them as KORF_INSTANCES says: none in a
//! usual test, all in `make soak`.

use std::process::Command;
use weft_apps::puzzle::KORF;

#[test]
fn published_instances_have_their_published_lengths() {
    let count = std::env::var("KORF_INSTANCES").ok().map_or(0, |count| count.parse().unwrap());
    let puzzle = std::path::Path::new(env!("CARGO_BIN_EXE_puzzle"));
    for (number, (_, moves)) in (1..).zip(KORF).take(count) {
        let mut command = Command::new(puzzle.with_file_name("weft"));
        command.args(["run", "-q", "-n", "4", "--"]).arg(puzzle);
        let output = command.args(["--korf", &number.to_string()]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        assert!(text.contains(&format!("\n{moves} moves, as is known   ")), "{text}");
        println!("{text}");
    }
}
