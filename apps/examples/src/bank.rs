//! Methods that hold a lock while they wait for other ranks' methods.

use weft::collective::Sum;
use weft::prelude::*;
use weft::sync::Mutex;

const TRANSFERS: i64 = 20;

#[weft::service]
trait Bank {
    /// Moves `sum` from this rank's current account to the savings account of the next rank.
    async fn transfer(&self, sum: i64);
    async fn deposit(&self, sum: i64);
    async fn balance(&self) -> i64;
}

struct Branch {
    current: Mutex<i64>,
    savings: Mutex<i64>,
    bank: BankClient,
    next: Rank,
}

impl Bank for Branch {
    // As plain methods these would wait for one another for ever: `transfer` would keep its rank's
    // service, `deposit` included, until the next rank's `deposit` has returned, which that rank's
    // `transfer` keeps. Here both step aside. That leaves the locks: always current before savings,
    // so never in a circle.
    async fn transfer(&self, sum: i64) {
        let mut current = self.current.lock().await;
        *current -= sum;
        // That a rank is lost is told to whoever waits; anything else, the sum of all shows.
        let _ = self.bank.at(self.next).deposit(sum).await;
    }

    async fn deposit(&self, sum: i64) {
        *self.savings.lock().await += sum;
    }

    async fn balance(&self) -> i64 {
        let current = self.current.lock().await;
        *current + *self.savings.lock().await
    }
}

/// Every rank has a branch with 1000 in its current account, and asks the next rank for transfers
/// to the one after it: a circle of ranks whose methods wait for each other's, with their accounts
/// locked.
///
/// # Errors
/// A lost rank.
pub fn bank(weft: Weft) -> weft::Result<()> {
    let bank = BankClient::new(&weft)?;
    let next = Rank((weft.rank().0 + 1) % weft.size() as u16);
    let (current, savings) = (Mutex::new(1000), Mutex::default());
    let _server = BankServer::new(&weft, Branch { current, savings, bank: bank.clone(), next })?;
    let transfers: Vec<_> = (1..=TRANSFERS).map(|sum| bank.at(next).transfer(sum)).collect();
    for transfer in transfers {
        transfer.wait()?;
    }
    weft.barrier()?; // All transfers are done, everywhere.
    let mut total = [bank.at(weft.rank()).balance().wait()?];
    weft.all_reduce(&mut total, Sum)?;
    assert_eq!(total[0], 1000 * weft.size() as i64);
    if weft.rank() == 0 {
        let transfers = weft.size() as i64 * TRANSFERS;
        println!("{transfers} transfers, and the ranks have {} together, as before", total[0]);
    }
    Ok(())
}
