//! Tickets that ranks of one host draw from one counter, of which three are killed: no two that are
//! left have the same.

use crate::common::mortal::Mortal;
use crate::common::tickets::judge;
use crate::common::traces::Draw;

const RANKS: u16 = 8;
/// Doublings until all that are killed are lost in the middle.
const DOUBLINGS: u32 = 6;

#[test]
fn the_home_is_lost_and_two_others() {
    let in_the_middle = (0..=DOUBLINGS).any(|doublings| {
        let tickets = 10_000 << doublings;
        let words = format!("tickets --work 20 --tickets {tickets}");
        let ended = Mortal::run((RANKS, RANKS), &words, &[0, 4, 1], &mut Draw(doublings.into()));
        judge(&ended, tickets, &format!("{tickets} tickets"))
    });
    assert!(in_the_middle, "nobody says that all of them were lost");
}
