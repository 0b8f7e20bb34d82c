use super::sockets::{Sockets, Waiting};
use super::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Runs `program` at both ends, over loopback; returns what it returns at the first.
fn both<T: Send>(address: IpAddr, program: impl Fn(Sockets, End) -> T + Sync) -> T {
    let waiting = Waiting::at(0).unwrap();
    let port = waiting.port().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| program(waiting.accept().unwrap(), End::Second));
        let first =
            scope.spawn(|| program(Sockets::connect(port, &[address]).unwrap(), End::First));
        first.join().unwrap()
    })
}

#[test]
fn both_kinds_of_sockets_carry_all_patterns() {
    let shapes = [
        Shape { pattern: Pattern::PingPong, size: 8, count: 3, unit: Unit::OneWay, each: true },
        Shape {
            pattern: Pattern::PingPong,
            size: 4000,
            count: 3,
            unit: Unit::RoundTrip,
            each: false,
        },
        Shape {
            pattern: Pattern::Stream,
            size: 64,
            count: 200,
            unit: Unit::PerSecond,
            each: false,
        },
        Shape {
            pattern: Pattern::Stream,
            size: 100_000,
            count: 2,
            unit: Unit::BytesPerSecond,
            each: false,
        },
    ];
    for address in [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()] {
        let measured = both(address, |mut sockets, end| {
            let Sockets { side, tcp, udp } = &mut sockets;
            let lines: &mut [&mut dyn Line] = &mut [tcp, udp];
            shapes.map(|shape| measure(lines, &shape, 2, end, side).unwrap())
        });
        for (lines, shape) in measured.into_iter().zip(shapes) {
            assert_eq!(lines.len(), 2);
            for line in lines {
                assert_eq!(line.samples.len(), if shape.each { 2 * 3 } else { 2 });
                assert!(line.samples.iter().all(|&figure| figure > 0.0 && figure.is_finite()));
                assert!(line.processor_ns > 0.0);
            }
        }
    }
}

/// A line that only counts.
#[derive(Default)]
struct Counted {
    sent: Vec<usize>,
    received: Vec<usize>,
}

impl Line for Counted {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.sent.push(bytes.len());
        Ok(())
    }

    fn receive(&mut self, size: usize) -> Result<()> {
        self.received.push(size);
        Ok(())
    }
}

#[test]
fn a_stream_ends_with_one_message_back() {
    let shape =
        Shape { pattern: Pattern::Stream, size: 5, count: 3, unit: Unit::PerSecond, each: false };
    let (mut first, mut second) = (Counted::default(), Counted::default());
    shape.sample(&mut first, End::First, &[7; 5]).unwrap();
    shape.sample(&mut second, End::Second, &[7; 5]).unwrap();
    assert_eq!((first.sent, first.received), (vec![5, 5, 5], vec![1]));
    assert_eq!((second.sent, second.received), (vec![1], vec![5, 5, 5]));
    assert_eq!(shape.messages(), 3);
}

#[test]
fn figures_are_in_their_units() {
    let shape = |unit| Shape { pattern: Pattern::PingPong, size: 100, count: 10, unit, each: true };
    let took = Duration::from_micros(100);
    let figure = |unit: Unit| shape(unit).figure(took, 10);
    assert!((figure(Unit::OneWay) - 5_000.0).abs() < 1e-6);
    assert!((figure(Unit::RoundTrip) - 10_000.0).abs() < 1e-6);
    assert!((figure(Unit::PerSecond) - 100_000.0).abs() < 1e-6);
    assert!((figure(Unit::BytesPerSecond) - 1e7).abs() < 1e-3);
}

#[test]
fn an_end_that_has_gone_is_an_error() {
    let error = both(Ipv4Addr::LOCALHOST.into(), |mut sockets, end| match end {
        End::First => sockets.side.exchange(1.0).unwrap_err().to_string(),
        End::Second => String::new(),
    });
    assert!(error.contains("the other end has gone") || error.contains("reset"), "{error}");
}
