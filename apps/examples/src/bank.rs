//! Handlers that wait for other ranks' handlers.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use weft::collective::Sum;
use weft::prelude::*;
use weft::{Client, Request};

const TRANSFERS: i64 = 20;

/// Every rank has an account of 1000, and asks the next rank to move money on to the one after it: the
/// handler of that request waits for a call of its own, to a rank whose handlers do the same.
///
/// # Errors
/// A lost rank.
pub fn bank(weft: Weft) -> weft::Result<()> {
    let account = Arc::new(AtomicI64::new(1000));
    let mine = Arc::clone(&account);
    let _deposits = weft.service("deposit", move |mut request| {
        mine.fetch_add(amount(&mut request), Relaxed);
        let _ = request.reply("thanks");
    })?;
    let (deposit, mine, tasks) = (weft.client("deposit")?, Arc::clone(&account), weft.clone());
    let next = Rank((weft.rank().0 + 1) % weft.size() as u16);
    let _transfers = weft.service("transfer", move |request| {
        // The handler returns at once; the transfer goes on beside everything else, and replies later.
        tasks.spawn(transfer(request, Arc::clone(&mine), deposit.clone(), next));
    })?;
    let transfers = weft.client("transfer")?;
    let calls = (1..=TRANSFERS).map(|sum| transfers.call(next, &sum.to_le_bytes()));
    for call in calls.collect::<Result<Vec<_>, _>>()? {
        assert_eq!(call.wait()?.text()?, "done");
    }
    weft.barrier()?; // All transfers are done, everywhere.
    let mut total = [account.load(Relaxed)];
    weft.all_reduce(&mut total, Sum)?;
    assert_eq!(total[0], 1000 * weft.size() as i64);
    if weft.rank() == 0 {
        let transfers = weft.size() as i64 * TRANSFERS;
        println!("{transfers} transfers, and the ranks have {} together, as before", total[0]);
    }
    Ok(())
}

/// Takes from this rank's account, gives to that of `next`, and says so to whoever asked.
async fn transfer(mut request: Request, account: Arc<AtomicI64>, deposit: Client, next: Rank) {
    let sum = amount(&mut request);
    account.fetch_sub(sum, Relaxed);
    let Ok(call) = deposit.call(next, &sum.to_le_bytes()) else { return };
    if call.await.is_ok() {
        let _ = request.reply("done");
    }
}

fn amount(request: &mut Request) -> i64 {
    let mut sum = [0; 8];
    match request.message().read_exact(&mut sum) {
        Ok(()) => i64::from_le_bytes(sum),
        Err(error) => panic!("{error}"), // The caller is told.
    }
}
