//! Databases in directories, made in this process.

use std::path::Path;
use weft_apps::awari::{Databases, Files, Made, MakeOptions, make};

/// Options to make databases of up to so many stones in a directory.
pub fn options(directory: &Path, stones: u32) -> MakeOptions {
    MakeOptions { stones, directory: directory.to_owned(), batch: 64, calls: None, again: false }
}

/// Makes databases with one rank.
pub fn make_alone(options: &MakeOptions) -> Made {
    let weft = weft::join().unwrap();
    let made = make(&weft, options).unwrap().expect("rank 0 has a report");
    weft.leave().unwrap();
    made
}

/// Databases of up to so many stones, made by one rank.
pub fn known(stones: u32) -> Databases {
    let folder = tempfile::tempdir().unwrap();
    make_alone(&options(folder.path(), stones));
    Files::new(folder.path()).read_all().unwrap()
}

/// Bytes of all files in a directory, by name.
pub fn bytes(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(directory).unwrap();
    let file = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, std::fs::read(entry.path()).unwrap())
    };
    let mut files: Vec<_> = entries.map(|entry| file(entry.unwrap())).collect();
    files.sort();
    files
}

/// Runs `awari` with these words on so many ranks, as `weft run` does.
pub fn run_in_job(ranks: usize, words: &[&str]) -> std::process::Output {
    let awari = Path::new(env!("CARGO_BIN_EXE_awari"));
    let weft = awari.with_file_name("weft");
    assert!(weft.exists(), "{} is not built: cargo build --workspace", weft.display());
    let mut command = std::process::Command::new(weft);
    command.args(["run", "-n", &ranks.to_string(), "--"]).arg(awari).args(words);
    command.stdin(std::process::Stdio::null()).output().unwrap()
}
