use super::super::tests::Store;
use super::*;

/// Keys and cards of so many ranks.
fn job(ranks: usize) -> (Vec<OwnKey>, Vec<Card>) {
    let keys: Vec<_> = (0..ranks).map(|_| OwnKey::draw().unwrap()).collect();
    let card = |key: &OwnKey| Card::of_this_process("s", None, key.public()).unwrap();
    let cards = keys.iter().map(card).collect();
    (keys, cards)
}

/// Secret that rank 0 drew, and a store with what it handed out.
fn handed_out(keys: &[OwnKey], cards: &[Card]) -> (Secret, Store) {
    let mut store = Store::default();
    for (rank, card) in (0..).zip(cards) {
        store.values.insert((rank, "card".into()), card.emit());
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
    let refused = |key: &OwnKey, own, cards: &[Card], store: &mut Store| {
        let error = key.take(Rank(own), cards, store).unwrap_err();
        let right = matches!(error, JoinError::Meet(MeetError::Secret { rank }) if rank == own);
        assert!(right, "{error}");
    };
    refused(&keys[2], 1, &cards, &mut store);
    refused(&OwnKey::draw().unwrap(), 1, &cards, &mut store);
    // Another job's card, or one that somebody changed.
    let mut others = cards.clone();
    others[0].job ^= 1;
    refused(&keys[1], 1, &others, &mut store);
    let mut others = cards.clone();
    others[1].socket.push('x');
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
    cards[1].public_key = [0; 32];
    let error = keys[0].hand_out(&cards, &mut Store::default()).unwrap_err();
    assert!(error.to_string().contains("public key"), "{error}");
}
