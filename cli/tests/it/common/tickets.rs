//! Last words of those who draw tickets (`weft-example tickets`) in jobs that go on.

use super::mortal::Ended;
use std::collections::BTreeMap;

/// Account of a rank that is left.
struct Account {
    own: u64,
    drawn: u64,
    tickets: u64,
    size: usize,
}

impl Account {
    fn parse(line: &str) -> Option<(u16, Self)> {
        let (_, line) = line.strip_prefix('[')?.split_once("] rank ")?;
        let (rank, line) = line.split_once(" drew ")?;
        let (own, line) = line.split_once(" tickets; ")?;
        let (drawn, line) = line.split_once(" of ")?;
        let (tickets, line) = line.split_once(" are with ")?;
        let (size, _) = line.split_once(" ranks that are left")?;
        let number = |text: &str| text.parse::<u64>().unwrap();
        let (own, drawn, tickets) = (number(own), number(drawn), number(tickets));
        Some((rank.parse().unwrap(), Account { own, drawn, tickets, size: number(size) as usize }))
    }
}

/// Judges what ranks that draw so many tickets have said, each of which has checked that no two of
/// all are the same: all that are left say the same. True if all that were killed were lost.
pub fn judge(ended: &Ended, tickets: u64, what: &str) -> bool {
    let Ended { size, lines, killed, .. } = ended;
    let (said, lost) = (ended.said(what), ended.lost(what));
    let mut accounts: BTreeMap<u16, Account> =
        lines.iter().filter_map(|line| Account::parse(line)).collect();
    // Who is lost may have said it before.
    accounts.retain(|rank, _| !lost.contains(rank));
    assert!(accounts.keys().copied().eq((0..*size as u16).filter(|r| !lost.contains(r))), "{said}");
    let (_, first) = accounts.first_key_value().unwrap();
    let of_one = |account: &Account| (account.drawn, account.tickets, account.size);
    assert!(accounts.values().all(|account| of_one(account) == of_one(first)), "{said}");
    let own: u64 = accounts.values().map(|account| account.own).sum();
    assert!(own <= first.drawn && first.drawn <= tickets, "{own} of {tickets}, {said}");
    assert_eq!(first.tickets, tickets, "{said}");
    // Tickets are missing only if those who have drawn them are lost.
    let all_are_left = first.size == *size;
    assert!(!all_are_left || first.drawn == tickets, "{said}");
    lost == *killed
}
