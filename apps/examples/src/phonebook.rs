//! A trait becomes a service that other ranks call.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use weft::CallError;
use weft::prelude::*;

/// Error of a question, as the caller gets it.
#[derive(Serialize, Deserialize, Debug, PartialEq, Eq, thiserror::Error)]
enum Wrong {
    #[error("nobody is called {0}")]
    Unknown(String),
    #[error("{0} has another number already")]
    Taken(String),
}

#[weft::service]
trait Phonebook {
    fn add(&self, name: String, number: u32) -> Result<(), Wrong>;
    fn find(&self, name: String) -> Result<u32, Wrong>;
}

#[derive(Default)]
struct Pages(Mutex<BTreeMap<String, u32>>);

impl Phonebook for Pages {
    fn add(&self, name: String, number: u32) -> Result<(), Wrong> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *pages.entry(name.clone()).or_insert(number) {
            there if there == number => Ok(()),
            _ => Err(Wrong::Taken(name)),
        }
    }

    fn find(&self, name: String) -> Result<u32, Wrong> {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.get(&name).copied().ok_or(Wrong::Unknown(name))
    }
}

/// Rank 0 has a phone book; all ranks write into it and look up one another.
///
/// # Errors
/// A lost rank.
pub fn phonebook(weft: Weft) -> weft::Result<()> {
    let _server = match weft.rank() {
        Rank(0) => Some(PhonebookServer::new(&weft, Pages::default())?),
        _ => None,
    };
    let client = PhonebookClient::new(&weft)?;
    let book = client.at(0);
    let me = weft.rank().0;
    went_well(book.add(format!("rank {me}"), 5550 + u32::from(me)).wait())?;
    weft.barrier()?;

    // All calls are under way before the first answer is waited for.
    let calls: Vec<_> = weft.ranks().map(|rank| book.find(format!("rank {rank}"))).collect();
    for (rank, call) in weft.ranks().zip(calls) {
        let number = went_well(call.wait_within(Duration::from_secs(10)))?;
        assert_eq!(number, 5550 + u32::from(rank.0));
    }
    let wrong = match book.find("Nobody".into()).wait() {
        Err(CallError::Service(wrong)) => wrong,
        other => panic!("somebody is called Nobody: {other:?}"),
    };
    assert_eq!(wrong, Wrong::Unknown("Nobody".into()));
    if me == 0 {
        println!("{} numbers found; and then: {wrong}", weft.size());
    }
    weft.barrier() // The server stays until all have asked.
}

/// For calls whose method cannot have gone wrong.
fn went_well<T>(outcome: Result<T, CallError<Wrong>>) -> weft::Result<T> {
    outcome.map_err(|error| match error {
        CallError::Weft(error) => error,
        CallError::Service(wrong) => panic!("{wrong}"),
    })
}
