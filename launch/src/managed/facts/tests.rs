use super::super::tests::Store;
use super::*;
use crate::messages::tests::{check_foreign, check_whole};
use proptest::collection::vec;
use proptest::prelude::*;
use std::os::fd::BorrowedFd;

/// A store that counts what is read of it.
#[derive(Debug, Default)]
struct Counted {
    store: Store,
    read: usize,
}

impl PmiClient for Counted {
    fn name(&self) -> &str {
        self.store.name()
    }

    fn rank(&self) -> u32 {
        self.store.rank()
    }

    fn ranks(&self) -> u32 {
        self.store.ranks()
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), crate::pmi::Error> {
        self.store.put(key, value)
    }

    fn fence(&mut self) -> Result<(), crate::pmi::Error> {
        self.store.fence()
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, crate::pmi::Error> {
        self.read += 1;
        self.store.get(rank, key)
    }

    fn abort(&mut self, status: u8, words: &str) {
        self.store.abort(status, words);
    }

    fn finalize(&mut self) -> Result<(), crate::pmi::Error> {
        self.store.finalize()
    }

    fn launcher(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Cards of ranks, so many on each host.
fn cards(ranks: u16, beside: u16) -> Vec<Card> {
    let card = Card::of_this_process("s", None, [9; 32]).unwrap();
    let on = |rank: u16| Card { host: format!("host {}", rank / beside), ..card.clone() };
    (0..ranks).map(on).collect()
}

/// A store in which all ranks have put their cards and what they have gathered; and how often each
/// has read there.
fn published(cards: &[Card]) -> (Counted, Vec<usize>) {
    let mut exchange = Counted::default();
    for (rank, card) in (0..).zip(cards) {
        exchange.store.own = rank;
        exchange.put(CARD, &card.emit()).unwrap();
    }
    let mut reads = Vec::new();
    for (rank, card) in (0..).map(Rank).zip(cards) {
        exchange.store.own = rank.0.into();
        let known = publish((rank, cards.len() as u16), card, &mut exchange).unwrap();
        assert_eq!(rank == Rank(0), known.len() == cards.len());
        reads.push(std::mem::take(&mut exchange.read));
    }
    (exchange, reads)
}

#[test]
fn ranks_read_facts_of_all_and_cards_of_few() {
    let cards = cards(1000, 4);
    let wanted: Vec<Facts> = cards.iter().map(Facts::of).collect();
    let (mut exchange, mut reads) = published(&cards);
    for rank in [1, 4, 32, 500, 999].map(Rank) {
        exchange.store.own = rank.0.into();
        let mut known = Cards::from([(rank, cards[rank.index()].clone())]);
        let facts = gather(rank, 1000, &mut known, &mut exchange).unwrap();
        assert_eq!(facts, wanted);
        reads[rank.index()] += std::mem::take(&mut exchange.read);
        let host = rank.0 / 4;
        let here = [0].into_iter().chain(4 * host..4 * host + 4).map(Rank);
        assert_eq!(known.keys().copied().collect::<Vec<_>>(), {
            let mut here: Vec<Rank> = here.collect();
            here.sort();
            here.dedup();
            here
        });
        assert!(reads[rank.index()] < 32 + 32 + 4, "{rank}: {}", reads[rank.index()]);
    }
    assert_eq!(reads[0], 999, "who hands out the secret reads all keys");
}

#[test]
fn facts_that_are_not_those_of_the_cards_are_refused() {
    let cards = cards(3, 2);
    let (mut exchange, _) = published(&cards);
    let own = || Cards::from([(Rank(1), cards[1].clone())]);
    gather(Rank(1), 3, &mut own(), &mut exchange).unwrap();
    let all: Vec<Facts> = cards.iter().map(Facts::of).collect();
    let mut changed = all.clone();
    changed[0].mtu = Mtu::LEAST;
    for (facts, what) in [(changed, "set of facts"), (all[..2].to_vec(), "number of facts")] {
        exchange.store.values.insert((0, GROUP_FACTS.into()), facts.emit());
        let error = gather(Rank(1), 3, &mut own(), &mut exchange).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn facts_are_read_as_they_were_written() {
    let card = Card::of_this_process("s", Some("10.0.0.1:7".parse().unwrap()), [9; 32]).unwrap();
    let bound = Card { cores: "08".into(), ..card.clone() };
    let mut group = vec![Facts::of(&card); GROUP.into()];
    group[1] = Facts::of(&bound);
    assert_eq!(group[1].only_core, Some(7));
    check_whole(&group);
    let many = [group, vec![Facts::of(&card)]].concat();
    assert_eq!(Vec::<Facts>::parse(&many.emit()), Err(BadMessage::Range("count")));
}

proptest! {
    #[test]
    fn any_body_is_facts_or_an_error(body in vec(any::<u8>(), 0..200)) {
        let card = Card::of_this_process("s", None, [9; 32]).unwrap();
        check_foreign(&vec![Facts::of(&card); 2], &body);
    }
}
