use super::*;

#[test]
fn the_field_is_found_by_its_name() {
    let text = "Ip: Forwarding\nIp: 1\nTcp: ActiveOpens RetransSegs InErrs\nTcp: 5 17 2\n";
    assert_eq!(sent_again_in(text), Some(17));
    assert_eq!(sent_again_in("Tcp: RetransSegs\n"), None);
    segments_sent_again().unwrap();
}

#[test]
fn the_writer_keeps_its_pace_and_the_reader_sees_it_all() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (there, _) = listener.accept().unwrap();
    let anywhere = sched_getaffinity(None).unwrap();
    let writer = Stream::start(here, End::First, anywhere).unwrap();
    let reader = Stream::start(there, End::Second, anywhere).unwrap();
    assert_eq!(writer.carried(), 0);
    let start = Instant::now();
    writer.run(true);
    while writer.carried() < 4 * BLOCK as u64 {
        std::thread::yield_now();
    }
    // Whatever this machine does, it is never ahead of its time.
    assert!(start.elapsed().as_secs_f64() >= 4.0 * BLOCK as f64 / RATE);
    writer.run(false);
    while reader.carried() < writer.carried() {
        std::thread::yield_now();
    }
}
