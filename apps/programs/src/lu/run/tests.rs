use super::{same, solve};
use crate::lu::options::Options;
use clap::Parser;
use weft_app_common::RegionRank;
use weft_threads::Job;

fn options(words: &str) -> Options {
    Options::parse_from(std::iter::once("lu").chain(words.split_whitespace()))
}

#[test]
fn ranks_factorise_as_one_does() {
    let jobs = [
        (1, "--order 40 --block 8"),
        (2, "--order 45 --block 8 --two-party"),
        (3, "--order 40 --block 7 --hint update"),
        (4, "--order 64 --block 16 --prefetch"),
        (4, "--order 10 --block 16"),
    ];
    for (ranks, words) in jobs {
        let options = options(&format!("{words} --seed {ranks} --verify"));
        let done = Job::new(ranks)
            .packets(|packets| RegionRank::run(&packets, |shared| solve(shared, &options)));
        let first = done.into_iter().next().expect("rank 0");
        let solved = first.unwrap_or_else(|error| panic!("{ranks} ranks, {words}: {error}"));
        let solved = solved.expect("rank 0 has the outcome");
        assert!(solved.residual.is_some_and(|residual| residual < 1e-13), "{words}");
        assert_eq!(solved.traffic.len(), usize::from(ranks));
    }
}

#[test]
fn one_bit_is_enough() {
    let whole = [vec![1.0, 2.0], vec![3.0, 0.0]];
    let mut factors = whole.clone();
    assert!(same(&factors, &whole).is_ok());
    factors[1][1] = -0.0;
    let error = same(&factors, &whole).expect_err("a bit differs").to_string();
    assert!(error.contains("value 1 of block 1 is -0e0, and 0e0 on one rank"), "{error}");
}
