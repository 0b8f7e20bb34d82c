use super::{Error, check, run, solve};
use crate::fft::options::Options;
use crate::fft::plan::Plan;
use crate::fft::sequential::sequential;
use clap::Parser;
use weft_app_common::RegionRank;
use weft_threads::Job;

fn options(words: &str) -> Options {
    Options::parse_from(std::iter::once("fft").chain(words.split_whitespace()))
}

#[test]
fn ranks_transform_as_one_does() {
    let jobs = [
        (1, ""),
        (2, "--two-party"),
        (3, "--hint update"),
        (4, "--hint migratory --prefetch"),
        (4, "--prefetch"),
        (3, "--prefetch --hint migratory --data puts"),
        (4, "--prefetch --hint migratory --data puts"),
    ];
    for (ranks, words) in jobs {
        let options = options(&format!("--points 1024 --seed {ranks} --verify {words}"));
        let done = Job::new(ranks)
            .packets(|packets| RegionRank::run(&packets, |shared| solve(shared, &options)));
        let first = done.into_iter().next().expect("rank 0");
        let solved = first.expect("it is right").expect("rank 0 has the outcome");
        assert!(solved.checks.is_some_and(|checks| checks.definition < 1e-6), "{words}");
        assert_eq!(solved.traffic.len(), usize::from(ranks));
    }
}

/// In each of three transpositions a rank takes what others have of its columns, in one message
/// each.
#[test]
fn a_block_travels_once_for_each_transposition() {
    let options = options("--points 256");
    let done =
        Job::new(4).packets(|packets| RegionRank::run(&packets, |shared| solve(shared, &options)));
    let solved = done.into_iter().next().expect("rank 0").expect("right").expect("the outcome");
    // A block of 4 x 4 points, and the header that data has.
    let block = 4 * 4 * 8 + 24;
    for traffic in &solved.traffic {
        let exchanged = 3 * 3 * block;
        assert!(traffic.bytes_sent >= exchanged, "{traffic:?}");
        assert!(traffic.bytes_sent < 2 * exchanged, "{traffic:?}");
    }
}

#[test]
fn more_ranks_than_rows_are_refused() {
    let options = options("--points 4");
    let done = Job::new(3).packets(|packets| {
        RegionRank::run(&packets, |shared| match run(shared, &options) {
            Err(error @ Error::Ranks { ranks: 3, side: 2 }) if shared.rank() == 0 => {
                // The others wait for what rank 0 says.
                shared.barrier()?;
                Ok(error.to_string())
            }
            Err(Error::Ranks { .. }) if shared.rank() > 0 => Ok(String::new()),
            other => panic!("{other:?}"),
        })
    });
    let [first, ..] = &done[..] else { panic!("{done:?}") };
    let told: &Result<String, Error> = first;
    assert!(told.as_ref().is_ok_and(|told| told.contains("at most 2 ranks")), "{told:?}");
}

#[test]
fn one_bit_is_enough() {
    let plan = Plan::new(8, 1);
    let whole = sequential(&plan, |_| ());
    let mut output = whole.clone();
    assert!(check(&plan, &output, &whole).is_ok());
    output[3][1] = f32::from_bits(output[3][1].to_bits() ^ 1);
    let error = check(&plan, &output, &whole).expect_err("a bit differs").to_string();
    assert!(error.starts_with("the transform is wrong: output 3 is"), "{error}");
}
