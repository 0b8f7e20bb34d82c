use super::{check, solve};
use crate::radix::options::Options;
use crate::radix::sequential::{sequential, unsorted};
use clap::Parser;
use weft_app_common::RegionRank;
use weft_threads::Job;

fn options(words: &str) -> Options {
    Options::parse_from(std::iter::once("radix").chain(words.split_whitespace()))
}

/// Rank 0 says whether it is right.
fn sorts(ranks: u16, words: &str) {
    let options = options(&format!("{words} --verify"));
    let done = Job::new(ranks)
        .packets(|packets| RegionRank::run(&packets, |shared| solve(shared, &options)));
    let first = done.into_iter().next().expect("rank 0");
    let solved = first.unwrap_or_else(|error| panic!("{ranks} ranks, {words}: {error}"));
    assert_eq!(solved.expect("the outcome").traffic.len(), usize::from(ranks));
}

#[test]
fn ranks_sort_as_the_standard_library_does() {
    let small = "--keys 2000 --radix 16 --bits 10";
    for (ranks, words) in [
        (1, ""),
        (2, "--two-party"),
        (3, "--prefetch"),
        (4, "--hint update"),
        (4, "--hint migratory --prefetch"),
        (1, "--pull"),
        (2, "--pull --two-party"),
        (3, "--pull --prefetch"),
        (4, "--pull --prefetch --data puts --region-bytes 1024"),
        (4, "--pull --prefetch --data loans --region-bytes 1024"),
        (3, "--pull --data loans --hint update --region-bytes 1024"),
    ] {
        let regions = if words.contains("--region") { "" } else { "--region-bytes 64" };
        sorts(ranks, &format!("{small} {regions} --seed {ranks} {words}"));
    }
}

#[test]
fn odd_sizes_are_sorted() {
    // Fewer keys than ranks, one region for all, digits that do not divide the bits.
    sorts(4, "--keys 3 --bits 32");
    sorts(4, "--keys 3 --bits 32 --pull --prefetch");
    sorts(3, "--keys 1000 --region-bytes 1048576");
    sorts(2, "--keys 777 --bits 11 --radix 32 --region-bytes 4 --seed 3");
}

#[test]
fn one_rank_sorts_in_ordinary_memory() {
    let options = options("--keys 5000 --radix 32 --bits 17");
    let sorted = sequential(&options, |_| ());
    assert!(check(&sorted, unsorted(&options)).is_ok());
    assert!(sorted.is_sorted() && sorted[0] < sorted[4999]);
}

#[test]
fn a_key_that_is_lost_is_found() {
    assert!(check(&[1, 2, 3], vec![3, 1, 2]).is_ok());
    let error = check(&[1, 1, 3], vec![3, 1, 2]).expect_err("2 is lost").to_string();
    assert_eq!(error, "the keys are not sorted: place 1 has 1 instead of 2");
}
