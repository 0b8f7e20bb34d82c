//! Last words of survivors (`weft-example survivors`) in jobs that go on.

use super::mortal::Ended;
use std::collections::{BTreeMap, BTreeSet};

/// Account of a rank that is left.
#[derive(Debug)]
struct Account<'a> {
    /// Messages of the order, and their digest.
    messages: &'a str,
    count: u64,
    mine: u64,
    /// Values of regions, by their homes; `None` if they are lost.
    regions: Vec<Option<u64>>,
}

impl<'a> Account<'a> {
    fn parse(line: &'a str) -> Option<(u16, Self)> {
        let (_, line) = line.strip_prefix('[')?.split_once("] rank ")?;
        let (rank, line) = line.split_once(" of ")?;
        let (messages, line) = line.split_once(" left: ")?.1.split_once(", count ")?;
        let (count, line) = line.split_once(" of which ")?;
        let (mine, line) = line.split_once(" are mine; regions ")?;
        let (regions, _failed) = line.split_once("; ")?;
        let regions = regions.split(' ').map(|value| value.parse().ok()).collect();
        let (count, mine) = (count.parse().unwrap(), mine.parse().unwrap());
        Some((rank.parse().unwrap(), Account { messages, count, mine, regions }))
    }
}

/// Judges what ranks that do `rounds` rounds have said: all that are left the same. True if all
/// that were killed were lost.
pub fn judge(ended: &Ended, rounds: u64, what: &str) -> bool {
    let Ended { size, lines, killed, .. } = ended;
    let (said, lost) = (ended.said(what), ended.lost(what));
    let told = lines.iter().filter_map(|line| Account::parse(line));
    let mut accounts: BTreeMap<u16, Account<'_>> = told.collect();
    // Who is lost may have said it before.
    accounts.retain(|rank, _| !lost.contains(rank));
    let left: BTreeSet<u16> = (0..*size as u16).filter(|rank| !lost.contains(rank)).collect();
    assert_eq!(accounts.keys().copied().collect::<BTreeSet<_>>(), left, "{said}");
    let (_, first) = accounts.first_key_value().unwrap();
    let (of_each, ranks) = (rounds * (rounds + 1) / 2, *size as u64);
    for (rank, account) in &accounts {
        assert_eq!((account.messages, account.count), (first.messages, first.count), "{said}");
        assert_eq!(account.mine, of_each, "rank {rank}, {said}");
        for home in 0..*size {
            let (seen, first) = (account.regions[home], first.regions[home]);
            let lives = left.contains(&(home as u16));
            assert!(!lives || seen == first, "the region of rank {home}, {said}");
            assert!(seen.is_some() || !lost.is_empty(), "the region of rank {home}, {said}");
            assert!(seen.is_none_or(|value| value <= rounds * ranks), "{said}");
        }
    }
    let added = left.len() as u64 * of_each;
    let most = added + lost.len() as u64 * of_each;
    assert!((added..=most).contains(&first.count), "{added} to {most} are added, {said}");
    lost == *killed
}
