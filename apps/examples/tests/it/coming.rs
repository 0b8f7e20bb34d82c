//! The right-hand side of the guide's page for those who come from other libraries, run on four
//! simulated ranks. What that page has in its column of Rust stands here.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use weft::collective::Sum;
use weft::prelude::*;
use weft::{Atomic, Selection};
use weft_object::{Objects, Placement};
use weft_region::coherence::Policy;
use weft_region::{RegionId, Regions};
use weft_simulator::{Options, Simulation};

const RANKS: usize = 4;

fn from_mpi(weft: &Weft) -> weft::Result<()> {
    let (me, size) = (weft.rank(), weft.size());
    let next = Rank((me.0 + 1) % size as u16);
    let data = weft.mailbox("data")?;
    data.send_keyed(next, 17, &[me.0 as u8])?;
    let message = data.receive_selected(Selection::with_key(17))?;
    assert_eq!(usize::from(message.source().0), (usize::from(me.0) + size - 1) % size);
    drop(message);

    data.send(next, "anything")?;
    let mut message = data.receive()?;
    assert_eq!(message.text()?, "anything");
    drop(message);
    assert!(data.try_receive()?.is_none());

    let mut x = [1.0];
    weft.all_reduce(&mut x, Sum)?;
    assert_eq!(x, [size as f64]);

    let all = weft.everyone();
    let sum = all.begin_all_reduce(vec![1u32], Sum)?;
    weft.work(1);
    assert_eq!(sum.wait()?, [4]);
    let even = all.split(Some(u32::from(me.0) % 2), 0)?;
    assert_eq!(even.map(|team| team.size()), Some(2));

    let variable = Variable::new(Rank(0), 7);
    weft.fetch_and_add(variable, 1)?;
    weft.atomic(variable, Atomic::Max(2))?;
    weft.barrier()
}

fn from_zeromq(weft: &Weft) -> weft::Result<()> {
    let me = weft.rank();
    let work = weft.mailbox("work")?;
    work.send(0, "a task")?;
    if me == 0 {
        for _ in weft.ranks() {
            assert_eq!(work.receive()?.text()?, "a task");
        }
    }

    let heard = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&heard);
    let news = weft.port("weather", move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    })?;
    let readers = weft.group(&[Rank(0), Rank(1), Rank(2)])?;
    if me == 0 {
        news.broadcast("rain")?;
        news.multicast(readers, &[&b"more"[..], &b" rain"[..]])?;
    }
    let expected = [0, 2, 2, 1][me.index()];
    weft.poll_until(|| heard.load(Ordering::Relaxed) == expected)?;

    work.send(me, &[&[1, 2][..], &[3][..]])?;
    let mut message = work.receive()?;
    let length = message.chunk()?.len();
    message.consume(length);
    drop(message);
    let nothing = work.receive_within(Duration::from_millis(1));
    assert!(nothing?.is_none());
    weft.barrier()
}

#[weft::service]
trait Greeter {
    fn greet(&self, name: String) -> Result<String, String>;
}

struct Polite;

impl Greeter for Polite {
    fn greet(&self, name: String) -> Result<String, String> {
        if name.is_empty() { Err("who?".into()) } else { Ok(format!("good morning, {name}")) }
    }
}

fn from_grpc(weft: &Weft) -> weft::Result<()> {
    let _server = GreeterServer::new(weft, Polite)?;
    let client = GreeterClient::new(weft)?;
    let greeter = client.at(0);
    assert_eq!(greeter.greet("all".into()).wait().unwrap(), "good morning, all");
    let within = Duration::from_secs(10);
    assert!(greeter.greet("all".into()).wait_within(within).is_ok());
    assert!(weft.block_on(greeter.greet("all".into()))?.is_ok());
    let calls: Vec<_> = weft.ranks().map(|rank| client.at(rank).greet("you".into())).collect();
    for call in calls {
        assert!(call.wait().is_ok());
    }
    assert!(matches!(greeter.greet(String::new()).wait(), Err(weft::CallError::Service(_))));
    drop(greeter.greet("nobody waits".into()));

    let _plain = weft.service("sum", |mut request| {
        let bytes = request.message().read_to_vec().unwrap_or_default();
        let _ = request.reply(&[bytes.iter().sum::<u8>()]);
    })?;
    let mut reply = weft.client("sum")?.call(0, &[1, 2, 3])?.wait()?;
    assert_eq!(reply.read_to_vec()?, [6]);
    weft.barrier()
}

#[derive(serde::Serialize, serde::Deserialize, Default)]
struct Account(u64);

#[weft_object::object]
impl Account {
    #[write]
    fn add(&mut self, sum: u64) -> u64 {
        self.0 += sum;
        self.0
    }

    #[read(when = self.0 >= *least)]
    fn once_it_has(&self, least: u64) -> u64 {
        self.0
    }
}

fn from_upcxx(weft: &Weft) -> Result<(), Box<dyn Error>> {
    let me = weft.rank();
    let regions = Regions::open(weft.packets());
    regions.create(8 * 100, Policy::default())?;
    regions.barrier()?;
    let theirs = regions.map::<f64>(RegionId { home: Rank(0), index: 0 })?;
    if me == 1 {
        theirs.write()?[42] = 1.5;
    }
    regions.barrier()?;
    assert_eq!(theirs.read()?[42], 1.5);

    let types = weft_object::Types::default().with::<Account>();
    let objects = Objects::new(weft.orders(), weft.rpc(), types)?;
    let account = match me {
        Rank(0) => objects.create("account", &Account::default(), Placement::Single(me))?,
        _ => objects.find::<Account>("account")?,
    };
    account.add(1)?;
    assert_eq!(account.once_it_has(RANKS as u64)?, RANKS as u64);

    let team = weft.team(&[Rank(0), Rank(1)])?;
    drop(team);
    weft.spawn(async {});
    weft.poll()?;
    weft.barrier()?;
    Ok(())
}

fn run(program: impl Fn(&Weft) -> Result<(), Box<dyn Error>> + Send + Sync + 'static) {
    let options = Options::new(RANKS as u16).unwrap();
    let simulation = Simulation::new(options).unwrap();
    let report = simulation.run(move |weft| program(&weft).map_err(|error| panic!("{error}")));
    assert!(report.is_success(), "{:?}", report.outcomes);
}

#[test]
fn what_is_said_to_those_who_come_from_elsewhere_runs() {
    run(|weft| Ok(from_mpi(weft)?));
    run(|weft| Ok(from_zeromq(weft)?));
    run(|weft| Ok(from_grpc(weft)?));
    run(from_upcxx);
}
