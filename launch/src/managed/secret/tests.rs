use super::super::tests::Store;
use super::*;
use crate::managed::card::Card;

/// Keys and cards of so many ranks.
fn job(ranks: usize) -> (Vec<OwnKey>, Cards) {
    let keys: Vec<_> = (0..ranks).map(|_| OwnKey::draw().unwrap()).collect();
    let card = |key: &OwnKey| Card::of_this_process("s", None, key.public()).unwrap();
    let cards = (0..).map(Rank).zip(keys.iter().map(card)).collect();
    (keys, cards)
}

/// Secret that rank 0 drew, and a store with what it handed out.
fn handed_out(keys: &[OwnKey], cards: &Cards) -> (Secret, Store) {
    let mut store = Store::default();
    for (rank, card) in cards {
        store.values.insert((rank.0.into(), "card".into()), card.emit());
    }
    (keys[0].hand_out(cards, &mut store).unwrap(), store)
}

#[test]
fn every_rank_gets_the_secret_and_the_store_does_not_hold_it() {
    let (keys, cards) = job(4);
    let (secret, mut store) = handed_out(&keys, &cards);
    for (rank, key) in (1..).zip(&keys[1..]) {
        assert_eq!(key.take(Rank(rank), &cards, &mut store).unwrap(), secret);
    }
    assert_eq!(store.values.len(), 7);
    for (key, value) in &store.values {
        let shows = value.windows(SECRET_BYTES).any(|bytes| bytes == secret.expose());
        assert!(!shows, "{key:?} has the secret");
    }
}

#[test]
fn nobody_else_opens_it() {
    let (keys, cards) = job(3);
    let (_, mut store) = handed_out(&keys, &cards);
    let refused = |key: &OwnKey, own, cards: &Cards, store: &mut Store| {
        let error = key.take(Rank(own), cards, store).unwrap_err();
        let right = matches!(error, ManagedError::Meet(MeetError::Secret { rank }) if rank == own);
        assert!(right, "{error}");
    };
    refused(&keys[2], 1, &cards, &mut store);
    refused(&OwnKey::draw().unwrap(), 1, &cards, &mut store);
    // Another job's card, or one that somebody changed.
    let mut others = cards.clone();
    others.get_mut(&Rank(0)).unwrap().job ^= 1;
    refused(&keys[1], 1, &others, &mut store);
    let mut others = cards.clone();
    others.get_mut(&Rank(1)).unwrap().socket.push('x');
    refused(&keys[1], 1, &others, &mut store);
    for at in 0..store.values[&(0, key(Rank(1)))].len() {
        let mut changed = Store { values: store.values.clone(), ..Store::default() };
        changed.values.get_mut(&(0, key(Rank(1)))).unwrap()[at] ^= 1;
        refused(&keys[1], 1, &cards, &mut changed);
    }
}

#[test]
fn keys_that_agree_on_nothing_are_refused() {
    let (keys, mut cards) = job(2);
    cards.get_mut(&Rank(1)).unwrap().public_key = [0; 32];
    let error = keys[0].hand_out(&cards, &mut Store::default()).unwrap_err();
    assert!(error.to_string().contains("public key"), "{error}");
}
