use super::*;
use crate::messages::tests::{check_foreign, check_whole};
use proptest::collection::vec;
use proptest::prelude::*;
use rustix::fs::fstat;
use std::thread;
use weft_link_shm::{Settings, create_memory};

/// Ranks of this one process, and where each listens.
fn ranks(count: usize) -> (Vec<Listener>, Cards) {
    let listeners: Vec<_> = (0..count).map(|_| Listener::open().unwrap()).collect();
    let cards = listeners
        .iter()
        .map(|listener| Card::of_this_process(listener.name(), None, [9; 32]).unwrap());
    let cards = (0..).map(Rank).zip(cards).collect();
    (listeners, cards)
}

fn inode(file: &OwnedFd) -> u64 {
    fstat(file).unwrap().st_ino
}

fn memory() -> Option<OwnedFd> {
    Some(create_memory(&Settings::new(2)).unwrap())
}

/// Ranks know by whose process a connection is. Those here have one process, so that whoever comes
/// first is taken for the first that is missing; and so rank 1 comes to rank 0 before rank 2 does.
#[test]
fn all_get_the_memory_of_the_first() {
    let (listeners, cards) = ranks(3);
    let first = memory();
    let wanted = inode(first.as_ref().unwrap());
    let met: Vec<_> = thread::scope(|scope| {
        let meet = |rank: u16, memory| {
            let (listener, cards) = (&listeners[usize::from(rank)], &cards);
            let here = [0, 1, 2].map(Rank);
            scope.spawn(move || meet(Rank(rank), &here, listener, cards, memory).unwrap())
        };
        let second = meet(1, None);
        assert!(wait(&listeners[0].socket, Instant::now() + LIMIT).is_ok());
        let third = meet(2, None);
        let threads = [meet(0, first), second, third];
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (rank, (peers, memory)) in met.iter().enumerate() {
        assert_eq!(inode(memory), wanted);
        let peers: Vec<_> = peers.iter().map(|peer| peer.rank.index()).collect();
        let others: Vec<_> = (0..3).filter(|other| *other != rank).collect();
        assert_eq!(peers, others);
    }
}

/// Error of rank 0 of two for a peer that sends this.
fn meet_one_that_says(bytes: &[u8], descriptors: usize) -> MeetError {
    let (listeners, cards) = ranks(2);
    let channel = new_socket().unwrap();
    let address = SocketAddrUnix::new_abstract_name(cards[&Rank(0)].socket.as_bytes()).unwrap();
    connect(&channel, &address).unwrap();
    let sent: Vec<_> = (0..descriptors).map(|_| channel.as_fd()).collect();
    channel::send(&channel, bytes, &sent, SendFlags::empty()).unwrap();
    meet(Rank(0), &[Rank(0), Rank(1)], &listeners[0], &cards, memory()).unwrap_err()
}

#[test]
fn peers_of_another_job_are_refused() {
    let hello = ToPeer::Hello { rank: Rank(1), job: 0 };
    let error = meet_one_that_says(&hello.emit(), 0);
    assert!(matches!(error, MeetError::Bad(BadMessage::Range("rank or job"))), "{error}");
    let error = meet_one_that_says(b"nonsense", 0);
    assert!(matches!(error, MeetError::Bad(BadMessage::Mark)), "{error}");
}

#[test]
fn peers_with_memory_of_their_own_are_refused() {
    let (listeners, cards) = ranks(2);
    let channel = new_socket().unwrap();
    let address = SocketAddrUnix::new_abstract_name(cards[&Rank(0)].socket.as_bytes()).unwrap();
    connect(&channel, &address).unwrap();
    let hello = ToPeer::Hello { rank: Rank(1), job: cards[&Rank(0)].job };
    let sent = [channel.as_fd()];
    channel::send(&channel, &hello.emit(), &sent, SendFlags::empty()).unwrap();
    let error = meet(Rank(0), &[Rank(0), Rank(1)], &listeners[0], &cards, memory()).unwrap_err();
    let wanted = BadMessage::Descriptors { got: 1, needed: 0 };
    assert!(matches!(&error, MeetError::Bad(bad) if *bad == wanted), "{error}");
}

#[test]
fn outsiders_are_sent_away() {
    let (listeners, mut cards) = ranks(2);
    // Rank 1 is another process than the one that comes; that one is sent away, and rank 1 never
    // comes.
    cards.get_mut(&Rank(1)).unwrap().process += 1;
    let channel = new_socket().unwrap();
    let address = SocketAddrUnix::new_abstract_name(cards[&Rank(0)].socket.as_bytes()).unwrap();
    connect(&channel, &address).unwrap();
    let deadline = Instant::now() + LIMIT;
    let meeting = Meeting { own: Rank(0), first: Rank(0), cards: &cards, memory: None, deadline };
    assert!(meeting.accept(&listeners[0], vec![Rank(1)]).unwrap().is_none());
    // Others may come as often as they like: that wins no time.
    let meeting = Meeting { deadline: Instant::now(), ..meeting };
    let another = new_socket().unwrap();
    connect(&another, &address).unwrap();
    for _ in 0..2 {
        let error = meeting.accept(&listeners[0], vec![Rank(1)]).unwrap_err();
        assert!(matches!(error, MeetError::Late { rank: 1, .. }), "{error}");
    }
}

#[test]
fn a_rank_behind_too_many_strangers_is_late() {
    let (_listeners, cards) = ranks(2);
    let address = SocketAddrUnix::new_abstract_name(cards[&Rank(0)].socket.as_bytes()).unwrap();
    let stranger = || {
        let socket = new_socket().unwrap();
        rustix::io::ioctl_fionbio(&socket, true).unwrap();
        connect(&socket, &address).map(|()| socket)
    };
    let mut strangers = Vec::new();
    let full = loop {
        match stranger() {
            Ok(stranger) => strangers.push(stranger),
            Err(error) => break error,
        }
    };
    assert_eq!(full, Errno::AGAIN);
    let deadline = Instant::now() + Duration::from_millis(50);
    let meeting = Meeting { own: Rank(1), first: Rank(0), cards: &cards, memory: None, deadline };
    let error = meeting.connect(Rank(0), &cards[&Rank(0)]).unwrap_err();
    assert!(matches!(error, MeetError::Late { rank: 0, .. }), "{error}");
}

#[test]
fn a_rank_that_has_ended_is_named() {
    let (mut listeners, cards) = ranks(2);
    drop(listeners.remove(0));
    let error = meet(Rank(1), &[Rank(0), Rank(1)], &listeners[0], &cards, None).unwrap_err();
    assert!(matches!(error, MeetError::Gone { rank: 0, .. }), "{error}");
}

#[test]
fn messages_to_peers_are_read_as_they_were_written() {
    for message in [ToPeer::Leaving, ToPeer::Hello { rank: Rank(1023), job: 9 }] {
        check_whole(&message);
    }
}

proptest! {
    #[test]
    fn any_body_is_for_a_peer_or_an_error(body in vec(any::<u8>(), 0..60)) {
        check_foreign(&ToPeer::Hello { rank: Rank(1023), job: 9 }, &body);
    }
}
