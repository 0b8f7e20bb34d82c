//! Instances: of the command line and of files.

use super::*;
use clap::Parser;
use weft_search::Puzzle;

fn options(words: &[&str]) -> Options {
    Options::try_parse_from([&["puzzle"], words].concat()).unwrap()
}

fn said(words: &[&str]) -> String {
    instances(&options(words)).unwrap_err().to_string()
}

#[test]
fn instances_of_a_file_are_chosen_by_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boards.csv");
    let text = "instance,board,optimal_moves\n\
                3,1 0 2 3 4 5 6 7 8 9 10 11 12 13 14 15,1\n\
                5,4 1 2 3 0 5 6 7 8 9 10 11 12 13 14 15,\n";
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let all = instances(&options(&["--file", path, "--korf", "1"])).unwrap();
    let known: Vec<_> = all.iter().map(|it| (it.name.as_str(), it.moves)).collect();
    let korf = ("Korf's instance 1", Some(57));
    assert_eq!(known, [korf, ("instance 3", Some(1)), ("instance 5", None)]);
    let chosen = instances(&options(&["--file", path, "--instances", "5"])).unwrap();
    assert_eq!((chosen.len(), chosen[0].board), (1, Board::SOLVED.play(1)));
    assert!(said(&["--file", path, "--instances", "5,6"]).ends_with("there is no instance 6"));
}

#[test]
fn instances_are_numbers_and_ranges() {
    let all = instances(&options(&["--korf", "9-11,42,100"])).unwrap();
    let names: Vec<_> = all.iter().map(|it| it.name.rsplit(' ').next().unwrap()).collect();
    assert_eq!(names, ["9", "10", "11", "42", "100"]);
    assert!(all.iter().all(|it| it.moves.is_some_and(|moves| moves >= it.board.lower_bound())));
    for (words, why) in [
        ("--korf=0-3", "Korf's instances are 1 to 100"),
        ("--korf=5,99-101", "Korf's instances are 1 to 100"),
        ("--korf=3-1", "'3-1' is neither a number nor a range such as 1-10"),
        ("--korf=x", "'x' is neither a number"),
    ] {
        let error = Options::try_parse_from(["puzzle", words]).unwrap_err().to_string();
        assert!(error.contains(why), "{words}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boards.csv");
    let line = |number| format!("{number},1 0 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n");
    std::fs::write(&path, format!("instance,board\n{}{}", line(3), line(4))).unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(instances(&options(&["--file", path, "--instances", "3-4"])).unwrap().len(), 2);
    assert!(said(&["--file", path, "--instances", "4-6"]).ends_with("there is no instance 5"));
}

#[test]
fn mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boards.csv");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    let name = path.to_str().unwrap();
    assert!(said(&[]).starts_with("no board is given"));
    assert!(said(&["1 2"]).starts_with("'1 2': a board has 16 numbers"));
    assert!(said(&["--file", "nowhere.csv"]).starts_with("nowhere.csv: No such file"));
    write("instance,tiles\n");
    assert!(said(&["--file", name]).ends_with("there is no column 'board' in its first line"));
    write("instance,board\n1,0 1\n");
    assert!(said(&["--file", name]).contains("boards.csv:2: a board has 16 numbers"));
    write("instance,board\none,0 1\n");
    assert!(said(&["--file", name]).contains("boards.csv:2: 'one' is no number"));
}
