//! Shared words, for links that have them.

use std::time::Duration;
use weft_link::Link;
use weft_link::bell::Waiter;
use weft_wire::Rank;

pub fn add_up<L: Link>(links: &[L]) {
    let Some(first) = links[0].services().words else { return };
    std::thread::scope(|scope| {
        for link in links {
            let words = link.services().words.expect("all links of a job are alike");
            scope.spawn(move || {
                for _ in 0..1000 {
                    words.fetch_add(Rank(1), 5, 2);
                    words.fetch_add(Rank(2), 5, 1);
                }
            });
        }
    });
    assert_eq!(first.load(Rank(1), 5), 2000 * links.len() as u64);
    assert_eq!(first.fetch_add(Rank(2), 5, 0), 1000 * links.len() as u64);
    assert_eq!(first.load(Rank(0), 5), 0);
    assert_eq!(first.load(Rank(1), 4), 0);
}

pub fn wake_sleepers<L: Link>(links: Vec<L>) {
    let mut links = links;
    let Some(words) = links[0].services().words else { return };
    let mut sleeper = links.pop().expect("two links");
    let ticket = sleeper.arm(Waiter::Host).expect("nothing has arrived");
    std::thread::scope(|scope| {
        let bells = sleeper.bells();
        scope.spawn(|| {
            words.fetch_add(Rank(0), 0, 1);
            words.wake_sleepers();
        });
        bells.wait(Waiter::Host, ticket, Duration::from_secs(3600));
    });
    assert_eq!(words.load(Rank(0), 0), 1);
}
