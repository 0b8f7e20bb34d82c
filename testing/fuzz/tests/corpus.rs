//! The inputs that fuzzing found worth keeping, run through their targets by the ordinary compiler.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use weft_fuzz::TARGETS;

/// The most files and bytes of one target's corpus: enough for its paths, little to clone.
const MOST_FILES: usize = 100;
const MOST_BYTES: usize = 200_000;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn inputs(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder("corpus").join(target))
        .unwrap_or_else(|error| panic!("{target} has no corpus: {error}"))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn every_input_passes_its_target() {
    let mut passed = 0;
    for (name, _) in TARGETS {
        let inputs = inputs(name);
        let bytes: usize = inputs.iter().map(|(_, input)| input.len()).sum();
        assert!((3..=MOST_FILES).contains(&inputs.len()), "{name} has {} inputs", inputs.len());
        assert!(bytes <= MOST_BYTES, "the inputs of {name} are {bytes} bytes");
        for (path, input) in inputs {
            let outcome = std::panic::catch_unwind(|| weft_fuzz::run(name, &input));
            assert!(outcome.is_ok(), "{name} fails on {}", path.display());
            passed += 1;
        }
    }
    assert!(passed >= 10 * TARGETS.len(), "{passed} inputs are no corpus");
}

#[test]
fn every_target_has_its_program_and_no_corpus_is_left_over() {
    let manifest = fs::read_to_string(folder("cargo-fuzz/Cargo.toml")).unwrap();
    let mut programs: Vec<&str> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .filter(|name| *name != "weft-cargo-fuzz")
        .collect();
    let mut folders: Vec<String> = fs::read_dir(folder("corpus"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    programs.sort_unstable();
    folders.sort_unstable();
    names.sort_unstable();
    assert_eq!(programs, names);
    assert_eq!(folders, names);
}
