//! Multicasts that leave as one frame and are copied by the bridge between hosts.

use crate::common::*;
use weft_datagram::seal::{FrameRefused, Keys, Protection, Secret};
use weft_link::{Link, Payload};
use weft_net::{Seen, XdpHost};
use weft_netns::{Cluster, Host, Options, available};
use weft_wire::{GroupId, Header, Rank, Tag, TreeId, several};
use weft_xdp::{Xdp, group_of};

const MTU: usize = 1500;

/// Hosts at a bridge with so many ranks each, numbered host by host, whose interfaces have joined
/// the group.
struct Together {
    links: Vec<Xdp>,
    attached: Vec<XdpHost>,
    _cluster: Cluster,
}

impl Together {
    fn new(ranks: &[u16], protection: Protection) -> Self {
        let secret = Secret::new([4; 16]);
        Self::with_keys(ranks, |own| Keys::new(secret.clone(), JOB, Rank(own), protection))
    }

    fn with_keys(ranks: &[u16], keys: impl Fn(u16) -> Keys) -> Self {
        let cluster = Cluster::new(ranks.len(), Options::default()).unwrap();
        let (mut attached, mut ports, mut first) = (Vec::new(), Vec::new(), 0);
        for (host, &count) in cluster.hosts().iter().zip(ranks) {
            let mut program = attach(host, in_driver()).unwrap();
            host.enter(|| program.join(JOB, count)).unwrap().unwrap();
            let here: Vec<Rank> = (first..first + count).map(Rank).collect();
            ports.extend(open(host, &mut program, JOB, &here));
            first += count;
            attached.push(program);
        }
        let links = links_with(ports, keys, Some(group_of(JOB)));
        Together { links, attached, _cluster: cluster }
    }

    /// Has rank 0 multicast to these, with a number for each of them, without a flush.
    fn multicast(&mut self, to: &[u16], number: u16, size: usize) {
        self.multicast_over(0, to, number, size);
    }

    /// Does what `multicast` does, over another's link.
    fn multicast_over(&mut self, link: usize, to: &[u16], number: u16, size: usize) {
        let link = &mut self.links[link];
        let frame = link.alloc(None).unwrap();
        let tree = TreeId::multicast(GroupId::ALL, Rank(0));
        for &to in to {
            let mut header = Header::new(Tag::Mcast, Rank(0), tree, size as u16);
            (header.credits, header.sequence) = (number, u32::from(to));
            link.transmit(Rank(to), &header, Payload::Buffer(frame));
        }
        link.free(frame);
    }

    /// The numbers of the next multicasts at a rank, which are for it.
    fn numbers(&mut self, own: u16, count: usize) -> Vec<u16> {
        let link = &mut self.links[usize::from(own)];
        let next = |_| {
            let received = receive(link);
            assert_eq!(received.header.sequence, u32::from(own));
            let Payload::Buffer(buffer) = received.payload else { panic!("no data") };
            link.free(buffer);
            received.header.credits
        };
        (0..count).map(next).collect()
    }

    fn await_refusal(&mut self, own: u16, reason: FrameRefused, count: u64) {
        let link = &mut self.links[usize::from(own)];
        for _ in 0..1_000_000 {
            assert_eq!(link.receive(), Ok(None));
            if link.counters().refused.of(reason) == count {
                return;
            }
            std::thread::yield_now();
        }
        panic!("{:?}", link.counters());
    }
}

#[test]
fn one_frame_reaches_all() {
    if !available() {
        return;
    }
    let mut job = Together::new(&[1; 4], Protection::Tagged);
    let most = job.links[0].capabilities().multicast_payload;
    assert_eq!(Some(most), several::body_room(MTU, 3));
    for number in 0..20 {
        job.multicast(&[1, 2, 3], number, if number % 2 == 0 { 8 } else { most });
        if number % 5 == 4 {
            job.links[0].flush();
        }
    }
    for own in 1..4 {
        // A receiver may keep a few frames, and more wait in its ring.
        assert_eq!(job.numbers(own, 20), (0..20).collect::<Vec<u16>>(), "in order");
    }
    let counters = job.links[0].counters();
    let sent = counters.sent;
    assert_eq!((sent.datagrams, sent.several, sent.spared, sent.failed), (20, 20, 40, 0));
    assert_eq!(counters.sent.in_place, 0, "what others may join is copied");
    let seen = job.attached.iter().map(|host| host.seen().unwrap());
    let taken = |taken| Seen { taken, ..Seen::default() };
    assert_eq!(seen.collect::<Vec<_>>(), [taken(0), taken(20), taken(20), taken(20)]);
    assert_eq!(job.links[0].receive(), Ok(None), "who sends does not hear itself");
    let all: Vec<_> = (0..SIZES.frames).map_while(|_| job.links[0].alloc(None)).collect();
    assert_eq!(all.len(), SIZES.frames as usize, "all frames came back");
}

#[test]
fn ranks_with_the_same_place_on_their_hosts_share_a_frame() {
    if !available() {
        return;
    }
    // Ranks 2 and 5 are the first on their hosts, 3 and 6 the second, 4 is the third; 1 is beside
    // the sender.
    let mut job = Together::new(&[2, 3, 2], Protection::Tagged);
    job.multicast(&[2, 5, 3, 6, 4], 9, 100);
    job.links[0].flush();
    (2..7).for_each(|own| assert_eq!(job.numbers(own, 1), [9]));
    let sent = job.links[0].counters().sent;
    assert_eq!((sent.datagrams, sent.several, sent.spared), (3, 2, 2));
    for link in &mut job.links {
        assert_eq!(link.receive(), Ok(None));
        assert_eq!(link.counters().refused.total(), 0);
    }
    let unclaimed = job.attached.iter().map(|host| host.seen().unwrap().unclaimed);
    assert_eq!(unclaimed.sum::<u64>(), 0, "what is for one alone goes to its host alone");
}

#[test]
fn packets_too_long_for_several_and_encrypted_ones_go_one_by_one() {
    if !available() {
        return;
    }
    for protection in [Protection::Tagged, Protection::Encrypted] {
        let mut job = Together::new(&[1; 3], protection);
        let longest = job.links[0].capabilities().max_payload;
        job.multicast(&[1, 2], 7, longest);
        job.links[0].flush();
        (1..3).for_each(|own| assert_eq!(job.numbers(own, 1), [7]));
        let sent = job.links[0].counters().sent;
        assert_eq!((sent.datagrams, sent.several), (2, 0));
        let encrypts = protection == Protection::Encrypted;
        assert_eq!(job.links[0].capabilities().multicast_payload == longest, encrypts);
    }
}

#[test]
fn a_rank_that_is_not_meant_drops_its_copy_and_forged_ones_open_nothing() {
    if !available() {
        return;
    }
    // The last three say that they are rank 0: one knows the secret, but not how far that has come;
    // one does not; one is of another job.
    let keys = |own: u16| match own {
        4 => keys(4, JOB, 0),
        5 => keys(5, JOB, 0),
        6 => keys(4, JOB + 1, 0),
        own => keys(4, JOB, own),
    };
    let mut job = Together::with_keys(&[1; 7], keys);
    for number in 0..3 {
        job.multicast(&[1, 2], number, 8);
    }
    job.links[0].flush();
    (1..3).for_each(|own| assert_eq!(job.numbers(own, 3), [0, 1, 2]));
    job.await_refusal(3, FrameRefused::Bystander, 3);
    // The first three numbers have been seen; only then does a tag matter.
    for (adversary, frames, reason, count) in
        [(4, 3, FrameRefused::Replayed, 3), (5, 5, FrameRefused::Tag, 2)]
    {
        (0..frames).for_each(|number| job.multicast_over(adversary, &[1, 2], 9 + number, 8));
        job.links[adversary].flush();
        (1..3).for_each(|own| job.await_refusal(own, reason, count));
    }
    let before = job.attached[1].seen().unwrap();
    job.multicast_over(6, &[1, 2], 9, 8);
    job.links[6].flush();
    let mut after = (0..1_000_000).map(|_| job.attached[1].seen().unwrap());
    let after = after.find(|after| after.unclaimed == 1);
    assert_eq!(after, Some(Seen { unclaimed: 1, ..before }), "no rank was woken for it");
    // None of it kept the right ones out.
    job.multicast(&[1, 2, 3], 3, 8);
    job.links[0].flush();
    (1..4).for_each(|own| assert_eq!(job.numbers(own, 1), [3]));
    (1..3).for_each(|own| assert_eq!(job.links[own].counters().refused.total(), 8));
}

/// The groups that a host's interface accepts frames for.
fn groups(host: &Host) -> String {
    let output = host.command("cat").arg("/proc/net/dev_mcast").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn groups_are_joined_for_as_long_as_the_attachment_is_there() {
    if !available() {
        return;
    }
    let cluster = cluster();
    let host = cluster.host(0);
    let before = groups(host);
    let mut attached = attach(host, in_driver()).unwrap();
    let join = |attached: &mut XdpHost, job, ranks| {
        host.enter(|| attached.join(job, ranks)).unwrap().unwrap();
    };
    join(&mut attached, 0x0a0b_0c0d, 1);
    assert!(groups(host).contains("030b0c0d0000"), "{}", groups(host));
    join(&mut attached, JOB, 2);
    let now = groups(host);
    assert!(now.contains("030b0c0d0000"), "{now}");
    assert!(now.contains("030000070000") && now.contains("030000070001"), "{now}");
    drop(attached);
    // A child that another test starts meanwhile has its descriptors until it executes its program.
    let left = (0..1000).map(|_| groups(host)).find(|left| *left == before);
    assert!(left.is_some(), "{}", groups(host));
}
