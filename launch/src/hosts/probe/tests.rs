use super::*;

/// Parts of hosts on one, each with its own secret and MTU.
fn meet<const N: usize>(hosts: [(u8, Mtu); N]) -> [UdpProbe; N] {
    let sockets = hosts.map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
    let addresses: Vec<_> = sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
    let mut own = 0..;
    let mut hosts = hosts.into_iter();
    sockets.map(|socket| {
        let (secret, mtu) = hosts.next().unwrap();
        let job = (7, Secret::new([secret; 16]));
        UdpProbe::new(socket, own.next().unwrap(), job, addresses.clone(), None, mtu).unwrap()
    })
}

#[test]
fn hosts_that_reach_each_other_meet() {
    let mut hosts = meet([(5, Mtu::USUAL); 3]);
    hosts.iter_mut().for_each(UdpProbe::ask);
    // Over loopback what is sent has arrived: questions in the first round, answers in the second.
    (0..2).for_each(|_| hosts.iter_mut().for_each(UdpProbe::take_in));
    for host in &hosts {
        assert_eq!(host.reached(), Reached::default());
    }
}

#[test]
fn outsiders_are_not_answered() {
    let mut hosts = meet([(5, Mtu::USUAL), (6, Mtu::USUAL)]);
    for _ in 0..3 {
        hosts.iter_mut().for_each(UdpProbe::ask);
        hosts.iter_mut().for_each(UdpProbe::take_in);
    }
    let without = |host| Unmet { host, short: false, heard: false };
    assert_eq!(hosts[0].reached().unmet, [without(1)]);
    assert_eq!(hosts[1].reached().unmet, [without(0)]);
}

/// Somebody who sends faster than a host reads.
#[test]
fn outsiders_keep_no_host_from_looking_at_its_deadline() {
    let [mut host, other] = meet([(5, Mtu::USUAL); 2]);
    let outsider = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = host.socket.local_addr().unwrap();
    (0..=TAKEN_AT_ONCE).for_each(|_| assert_eq!(outsider.send_to(b"noise", address).unwrap(), 5));
    host.take_in();
    assert_eq!(host.socket.recv(&mut [0; 8]).unwrap(), 5, "one is left");
    // It is heard all the same, with what comes behind.
    other.send(QUESTION, 0);
    host.take_in();
    assert_eq!(host.sources[&1], other.socket.local_addr().unwrap());
}

#[test]
fn hosts_that_only_short_questions_reach_are_told_apart() {
    // What is longer than a host expects is nothing to it, as if it had been lost.
    let mut hosts = meet([(5, Mtu::USUAL), (5, Mtu::LEAST)]);
    for _ in 0..3 {
        hosts.iter_mut().for_each(UdpProbe::ask);
        hosts.iter_mut().for_each(UdpProbe::take_in);
    }
    let without = |host| Unmet { host, short: true, heard: true };
    assert_eq!(hosts[0].reached().unmet, [without(1)]);
    assert_eq!(hosts[1].reached().unmet, [without(0)]);
}

#[test]
fn the_key_of_greetings_is_not_the_secret() {
    let [first, second] = meet([(5, Mtu::USUAL); 2]);
    let mut question = first.hello(QUESTION, 0, 1);
    let mut tag = SipHasher24::new_with_key(&[5; 16]);
    tag.write(&question[..16]);
    question[16..].copy_from_slice(&tag.finish().to_le_bytes());
    assert_eq!(second.open(&question), None);
}

#[test]
fn only_the_very_bytes_are_a_greeting() {
    let [first, second] = meet([(5, Mtu::USUAL); 2]);
    for kind in [QUESTION, WIDE_QUESTION] {
        let question = first.hello(kind, 0, 1);
        assert_eq!(question.len(), if kind == QUESTION { HELLO_BYTES } else { 1472 });
        assert_eq!(second.open(&question), Some((kind, 0)));
        assert_eq!(first.open(&question), None, "not one's own");
        for at in 0..question.len() {
            let mut bytes = question.clone();
            bytes[at] ^= 1;
            assert_eq!(second.open(&bytes), None, "byte {at} changed");
            assert_eq!(second.open(&question[..at]), None, "cut at {at}");
        }
        assert_eq!(second.open(&[&question[..], &[0]].concat()), None);
    }
}

#[test]
fn a_host_that_comes_from_elsewhere_is_noticed_unless_it_comes_from_its_address_too() {
    let [mut first, mut second] = meet([(5, Mtu::USUAL); 2]);
    let elsewhere = UdpSocket::bind("127.0.0.1:0").unwrap();
    let source = elsewhere.local_addr().unwrap();
    let question = second.hello(QUESTION, 1, 0);
    elsewhere.send_to(&question, first.hosts[0]).unwrap();
    first.take_in();
    assert_eq!(first.reached().translated, [(1, source)]);
    second.ask();
    first.take_in();
    assert_eq!(first.reached().translated, []);
    elsewhere.send_to(&question, first.hosts[0]).unwrap();
    first.take_in();
    assert_eq!(first.reached().translated, []);
}
