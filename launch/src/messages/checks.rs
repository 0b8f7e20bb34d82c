//! Checks of what types leave open: numbers that have limits.

use weft_datagram::seal::Protection;
use weft_link_shm::{MAX_RANKS, Settings};
use weft_wire::Rank;

use super::bounds::{HOSTS_MAX, RANKS_MAX};
use super::format::BadMessage;

/// An error that names what is out of range, unless it `holds`.
pub fn ensure(holds: bool, what: &'static str) -> Result<(), BadMessage> {
    if holds { Ok(()) } else { Err(BadMessage::Range(what)) }
}

/// An error if a list has more elements than it may have.
pub fn at_most<T>(list: &[T], most: usize) -> Result<(), BadMessage> {
    ensure(list.len() <= most, "count")
}

/// Checks the number of a host.
pub fn check_host(host: u16) -> Result<(), BadMessage> {
    ensure(usize::from(host) < HOSTS_MAX, "host")
}

/// Checks the number of a rank.
pub fn check_rank(rank: Rank) -> Result<(), BadMessage> {
    ensure(rank.0 < RANKS_MAX, "rank")
}

/// Checks that one host may have this number of ranks.
pub fn check_settings(settings: &Settings) -> Result<(), BadMessage> {
    ensure((1..=MAX_RANKS).contains(&settings.ranks), "number of ranks")
}

/// Checks that a job may have this protection: one is of a link's own datagrams only.
pub fn check_protection(protection: Protection) -> Result<(), BadMessage> {
    ensure(protection != Protection::Datagrams, "protection")
}

/// Checks a time in seconds: a number, and not negative.
pub fn check_time(seconds: f64) -> Result<(), BadMessage> {
    ensure(seconds.is_finite() && seconds.is_sign_positive(), "time")
}
