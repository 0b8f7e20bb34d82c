//! The programs of this repository as users run them: by name, in real processes.
//!
//! They are built with the workspace (`make test` does that first), beside `weft`.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `weft` with these words and returns what the job wrote.
fn run(words: &str) -> String {
    let weft = Path::new(env!("CARGO_BIN_EXE_weft"));
    for program in [
        "asp",
        "awari",
        "qr",
        "sor",
        "leq",
        "tsp",
        "puzzle",
        "weft-game",
        "fft",
        "radix",
        "lu",
        "barnes",
        "water",
    ] {
        let beside = weft.with_file_name(program);
        assert!(beside.exists(), "{} is not built: cargo build --workspace", beside.display());
    }
    let mut command = Command::new(weft);
    let output = command.args(words.split_whitespace()).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "weft {words}: {text}{errors}");
    text
}

#[test]
fn asp_is_verified_under_every_protocol_and_tree() {
    for options in [
        "-n 1",
        "-n 2",
        "-n 8",
        "-n 5 --tree binary --check",
        "-n 5 --tree binomial --preset nrx-hmc",
        "-n 3 --window 2 --interrupt-delay-us 20",
        "-n 3 --link udp --preset irx-imc --check",
    ] {
        let text = run(&format!("run {options} -- asp --sample 300 --check 40 --to JFK"));
        assert!(text.starts_with("AMS -> JFK   5,848 km"), "{options}: {text}");
        assert!(text.contains("verified against Dijkstra from 40 sources"), "{options}: {text}");
    }
}

#[test]
fn sor_agrees_with_one_rank_bit_for_bit() {
    for options in ["-n 1", "-n 2", "-n 7 --preset nrx-hmc --tree binary", "-n 16"] {
        let text = run(&format!("run {options} -- sor --rows 60 --columns 50"));
        assert!(text.contains("verified bit for bit against one rank"), "{options}: {text}");
    }
}

#[test]
fn qr_finds_factors_of_its_matrix() {
    for options in
        ["-n 1", "-n 2 --check", "-n 7 --preset nrx-hmc --tree binary", "-n 3 --link udp"]
    {
        let text = run(&format!("run {options} -- qr 60 --rows 80 --of-rank 25"));
        assert!(text.starts_with("80 x 60 matrix of rank 25   "), "{options}: {text}");
        assert!(text.contains("verified: |AP - QR| / |A| "), "{options}: {text}");
    }
}

#[test]
fn programs_on_objects_check_themselves() {
    for (program, right) in [
        ("asp --sample 200 --to JFK --on objects", "verified against Dijkstra"),
        ("leq --unknowns 100 --verify --speedup", "verified bit for bit against one rank"),
        ("tsp --verify", ": 3,323   verified by dynamic programming"),
    ] {
        for options in ["-n 1", "-n 4 --check", "-n 3 --preset nrx-hmc", "-n 2 --link udp --check"]
        {
            let text = run(&format!("run {options} -- {program}"));
            assert!(text.contains(right), "{options} {program}: {text}");
        }
    }
}

#[test]
fn searches_find_what_is_known() {
    for (program, right) in [
        ("puzzle --grain 20 13,8,14,3,9,1,0,7,15,5,4,10,12,2,6,11", "\n41 moves   "),
        ("puzzle --best-first 64 13,8,14,3,9,1,0,7,15,5,4,10,12,2,6,11", "\n41 moves   "),
        ("weft-game perft othello 7 --grain 2", "55,092 lines of 7 moves   "),
        ("weft-game solve connect-four-5x4 3 3 --table 4", "\na draw\nbest "),
        ("weft-game play connect-four-5x4 --self --depth 3 --table 1", "O plays "),
    ] {
        for options in ["-n 1", "-n 4 --check", "-n 3 --preset nrx-hmc", "-n 2 --link udp --check"]
        {
            let text = run(&format!("run {options} -- {program}"));
            assert!(text.contains(right), "{options} {program}: {text}");
        }
    }
}

#[test]
fn programs_on_regions_check_themselves() {
    for program in [
        "fft --points 4096 --verify --speedup",
        "radix --keys 20000 --verify",
        "lu --order 100 --block 12 --verify",
        "barnes --bodies 150 --steps 1 --verify --hint update",
        "water --molecules 40 --steps 3 --verify --prefetch",
    ] {
        for options in ["-n 1", "-n 2 --check", "-n 3 --preset nrx-hmc", "-n 2 --link udp --check"]
        {
            let text = run(&format!("run {options} -- {program}"));
            assert!(text.contains("   verified "), "{options} {program}: {text}");
        }
        assert!(run(&format!("sim -n 9 {program}")).contains("   verified "), "{program}");
        let mut words = program.split_whitespace();
        let alone = Path::new(env!("CARGO_BIN_EXE_weft")).with_file_name(words.next().unwrap());
        let output = Command::new(alone).args(words).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains("\n1 rank, "), "{program}: {text}");
    }
}

#[test]
fn what_a_program_on_regions_cannot_do_rank_0_says() {
    for (program, said) in [
        ("fft --points 5", "a square matrix whose side is a power of two"),
        ("fft --points 4", "take at most 2 ranks, or more points"),
        ("radix --radix 10", "a power of two from 2 to 65536"),
        ("lu --block many", "'many'"),
        ("barnes --bodies 1", "'1' for '--bodies"),
        (
            "water --molecules 8 --cutoff 1",
            "more than half the side of the space that 8 molecules take",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        let words = ["run", "-n", "3", "--"].into_iter().chain(program.split_whitespace());
        let output = command.args(words).stdin(Stdio::null()).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{program}: {errors}");
        assert!(errors.contains(said) && !errors.contains("weft: rank 1"), "{program}: {errors}");
    }
}

#[test]
fn a_simulated_job_prints_the_same_routes_as_a_real_one() {
    let program = "asp --sample 300 --to JFK";
    let routes = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.contains(" -> ")).map(str::to_owned).collect()
    };
    let real = routes(&run(&format!("run -n 4 -- {program}")));
    assert!(!real.is_empty());
    assert_eq!(routes(&run(&format!("sim -n 64 {program}"))), real);
    assert_eq!(routes(&run(&format!("sim -n 5 --preset hrx-imc --loss 0.01 {program}"))), real);
}
