//! Jobs that are asked.

use super::*;
use crate::messages::{Doing, RANKS_MAX, RankNow, RankState, Standing};
use rustix::net::{bind, listen};
use weft_link::gauge::Counts;
use weft_wire::Rank;

/// The answer of this process's socket: these bytes.
fn answer(socket: &QuerySocket, question: Question, bytes: &[u8]) -> io::Result<JobAnswer> {
    let client = std::thread::spawn(move || ask(std::process::id(), question));
    while !client.is_finished() {
        answer_all(socket.clients(), bytes);
        std::thread::yield_now();
    }
    client.join().unwrap()
}

#[test]
fn who_asks_hears_how_a_job_stands() {
    let (socket, snapshots) =
        (QuerySocket::open(Question::Why).unwrap(), QuerySocket::open(Question::Snapshot).unwrap());
    let own = std::process::id();
    assert!(jobs().unwrap().contains(&own));
    let mut computing = Standing::outside(Rank(0), Doing::Computes);
    computing.thread = Some(own);
    let roll = JobRoll {
        ranks: 2,
        program: "work".into(),
        time: Duration::from_secs(3),
        standings: vec![computing],
    };
    let answered = answer(&socket, Question::Why, &roll.emit()).unwrap();
    assert_eq!(answered.roll(), Ok(roll.clone()));
    // Of a container's answer numbers of threads mean nothing.
    let elsewhere = JobAnswer { is_here: false, ..answered };
    assert_eq!(elsewhere.roll().unwrap().standings[0].thread, None);
    assert!(matches!(elsewhere.snapshot(), Err(BadMessage::Kind(_))));
    let long = long_snapshot();
    let answered = answer(&snapshots, Question::Snapshot, &long.emit()).unwrap();
    assert_eq!(answered.snapshot().unwrap(), long);
    drop((socket, snapshots));
    assert!(!jobs().unwrap().contains(&own));
    let refused = ask(own, Question::Why).map(drop).map_err(|error| error.kind());
    assert_eq!(refused, Err(io::ErrorKind::ConnectionRefused));
}

/// The snapshot of as many ranks as a job has, each with the longest numbers.
fn long_snapshot() -> Snapshot {
    let rank = |rank| RankNow {
        rank,
        host: Some("h".repeat(64)),
        process: u32::MAX,
        state: RankState::Waits("a message on port 'rows'".into()),
        since: Some(0.5),
        processor_seconds: 0.25,
        memory_bytes: u64::MAX,
        counts: Some(Counts::of_words([u64::MAX; 9])),
    };
    let ranks = (0..RANKS_MAX).map(rank).collect();
    Snapshot { program: "work".into(), seconds: 1.0, ranks }
}

/// A socket that looks like a job's, at which nobody answers and more may not even wait.
#[test]
fn a_socket_with_a_jobs_name_keeps_nobody_from_the_job() {
    let own = std::process::id();
    let name = format!("{}{own}-0", prefix(Question::Memory));
    let name = SocketAddrUnix::new_abstract_name(name.as_bytes()).unwrap();
    let socket = || {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap()
    };
    let squatter = socket();
    bind(&squatter, &name).unwrap();
    listen(&squatter, 0).unwrap();
    let waiting = socket();
    connect(&waiting, &name).unwrap();
    let refused = ask(own, Question::Memory).map(drop).map_err(|error| error.kind());
    assert_eq!(refused, Err(io::ErrorKind::WouldBlock));
    let socket = QuerySocket::open(Question::Memory).unwrap();
    assert_eq!(answer(&socket, Question::Memory, b"here").unwrap().bytes, b"here");
}

#[test]
fn a_socket_of_another_user_is_no_job() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let nobody = u32::MAX;
    let name = SocketAddr::from_abstract_name(format!("{}{nobody}-0", prefix(Question::Snapshot)));
    let as_another = move || {
        let own = rustix::process::Uid::from_raw(64_123);
        rustix::thread::set_thread_res_uid(own, own, own).unwrap();
        UnixListener::bind_addr(&name.unwrap()).unwrap()
    };
    let _squatter = std::thread::spawn(as_another).join().unwrap();
    assert!(!jobs().unwrap().contains(&nobody));
    let refused = ask(nobody, Question::Snapshot).map(drop).map_err(|error| error.kind());
    assert_eq!(refused, Err(io::ErrorKind::PermissionDenied));
}
