//! Remote procedure calls between real ranks, over shared memory and over the packet protocols
//! alone.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use weft_endpoint::{Cause, Loss, Rank};
use weft_messaging::rpc::format::{CallHeader, CallKind, CallNumber};
use weft_messaging::rpc::{Client, Request, Rpc, Service};
use weft_messaging::{Barrier, Completer, Completion, Engine, Error, HeaderStack, Mailbox, Port};
use weft_protocol::Preset;
use weft_threads::{Between, Interrupt, Job};

/// A rank with calls and a barrier.
struct Member {
    barrier: Barrier,
    rpc: Arc<Rpc>,
}

impl Member {
    fn rank(&self) -> u16 {
        self.rpc.engine().packets().rank().0
    }

    fn client(&self, name: &str) -> Client {
        Client::new(&self.rpc, name).unwrap()
    }

    fn service(&self, name: &str, handler: impl FnMut(Request) + Send + 'static) -> Service {
        Service::new(&self.rpc, name, handler).unwrap()
    }

    /// Makes progress until `done`.
    fn until(&self, mut done: impl FnMut() -> bool) {
        while !done() {
            self.rpc.engine().progress().unwrap();
        }
    }
}

/// Runs `program` on every rank of `job`; all of them leave together.
fn run<T: Send>(job: Job, program: impl Fn(&Member) -> T + Sync) -> Vec<T> {
    job.run(
        |packets| {
            let engine = Engine::new(packets);
            let interrupted = Arc::clone(&engine);
            let interrupt = move || interrupted.interrupted();
            let barrier = Barrier::new(&engine).unwrap();
            let rpc = Rpc::new(&engine).unwrap();
            (Member { barrier, rpc }, Box::new(interrupt) as Interrupt)
        },
        |member| {
            let result = program(&member);
            member.barrier.leave().unwrap();
            result
        },
    )
}

/// Two ranks: rank 0 serves "service" with `handler` until rank 1 has done what `ask` says.
fn ask<T: Send>(
    job: Job,
    handler: impl Fn(Request) + Clone + Send + Sync + 'static,
    ask: impl Fn(&Member, &Client) -> T + Sync,
) -> T {
    let outcomes = run(job, |member| match member.rank() {
        0 => {
            let service = member.service("service", handler.clone());
            member.barrier.wait().unwrap();
            drop(service);
            None
        }
        _ => {
            let asked = ask(member, &member.client("service"));
            member.barrier.wait().unwrap();
            Some(asked)
        }
    });
    outcomes.into_iter().flatten().next().unwrap()
}

fn kinds_of_job() -> Vec<Job> {
    let small = |mut job: Job| {
        job.memory.window_packets = 4;
        job.memory.frames = 8;
        job.memory.frame_bytes = 256;
        job
    };
    let interrupts = Some(Duration::from_micros(50));
    vec![
        Job::new(2),
        Job { interrupt_delay: interrupts, ..Job::new(2) },
        small(Job::new(2)),
        small(Job { between: Between::Plain, interrupt_delay: interrupts, ..Job::new(2) }),
        Job { interrupt_delay: interrupts, ..Job::over_udp(2, Preset::HrxImc) },
    ]
}

fn pattern(seed: usize, size: usize) -> Vec<u8> {
    (0..size).map(|i| (seed * 131 + i * 7 + i / 256) as u8).collect()
}

/// Replies with the request, reversed.
fn reverse(mut request: Request) {
    let mut bytes = request.message().read_to_vec().unwrap();
    bytes.reverse();
    request.reply(&bytes).unwrap();
}

fn service() -> String {
    "service".into()
}

#[test]
fn requests_and_replies_of_any_size() {
    for job in kinds_of_job() {
        ask(job, reverse, |_, client| {
            for (seed, size) in [0, 1, 20, 300, 5_000, 100_000].into_iter().enumerate() {
                let mut expected = pattern(seed, size);
                let reply = client.call(Rank(0), &expected).unwrap().wait();
                expected.reverse();
                assert_eq!(reply.unwrap().read_to_vec().unwrap(), expected);
            }
        });
    }
}

#[test]
fn many_calls_are_outstanding_and_waited_for_in_any_order() {
    for job in kinds_of_job() {
        ask(job, reverse, |_, client| {
            let mut calls: Vec<_> =
                (0u32..200).map(|i| (i, client.call(Rank(0), &i.to_le_bytes()).unwrap())).collect();
            calls.sort_by_key(|(i, _)| i.wrapping_mul(0x9e37_79b9));
            for (i, call) in calls {
                assert_eq!(call.wait().unwrap().read_to_vec().unwrap(), i.to_be_bytes());
            }
        });
    }
}

#[test]
fn a_reply_may_come_later_and_from_another_thread() {
    ask(
        Job::new(2),
        |request| drop(std::thread::spawn(move || reverse(request))),
        |_, client| {
            let calls: Vec<_> = (1u8..9).map(|i| client.call(Rank(0), &[i, 0]).unwrap()).collect();
            for (i, call) in (1u8..9).zip(calls) {
                assert_eq!(call.wait().unwrap().read_to_vec().unwrap(), [0, i]);
            }
        },
    );
}

#[test]
fn a_rank_serves_while_it_calls() {
    let sums = run(Job::new(4), |member| {
        let _service = member.service("reverse", reverse);
        let client = member.client("reverse");
        let others = (0..4).filter(|&rank| rank != member.rank());
        let calls: Vec<_> = others.map(|rank| client.call(rank, "abc").unwrap()).collect();
        let replies: Vec<String> =
            calls.into_iter().map(|call| call.wait().unwrap().text().unwrap()).collect();
        member.barrier.wait().unwrap();
        replies
    });
    assert_eq!(sums, vec![vec!["cba".to_string(); 3]; 4]);
}

#[test]
fn what_goes_wrong_at_the_server_is_an_error_value() {
    let handler = |mut request: Request| match &*request.message().text().unwrap() {
        "drop" => drop(request),
        "fail" => request.fail("not today").unwrap(),
        "fail at length" => request.fail(&"x".repeat(100_000)).unwrap(),
        "panic" => std::panic::resume_unwind(Box::new("a bug")),
        _ => request.reply("fine").unwrap(),
    };
    ask(Job::new(2), handler, |_, client| {
        let call = |what: &str| client.call(Rank(0), what).unwrap().wait().map(drop);
        let remote =
            |what: &str| Error::Remote { rank: Rank(0), service: service(), what: what.into() };
        assert_eq!(call("drop"), Err(Error::NoReply { rank: Rank(0), service: service() }));
        assert_eq!(call("fail"), Err(remote("not today")));
        assert_eq!(call("panic"), Err(remote("its handler panicked: a bug")));
        let Err(Error::Remote { what, .. }) = call("fail at length") else { panic!("no failure") };
        assert!(what.len() > 100 && what.bytes().all(|byte| byte == b'x'));
        assert_eq!(call("go on"), Ok(()));
    });
}

/// The panic is not the end of a request that its handler has put away.
#[test]
fn a_handler_that_panics_after_it_has_stored_its_request() {
    let stored: Arc<Mutex<Option<Request>>> = Arc::default();
    let handler = move |mut request: Request| {
        if request.message().len() == 0 {
            *stored.lock().unwrap() = Some(request);
            std::panic::resume_unwind(Box::new("a bug"));
        }
        stored.lock().unwrap().take().unwrap().reply("first").unwrap();
        request.reply("second").unwrap();
    };
    ask(Job::new(2), handler, |_, client| {
        let (first, second) =
            (client.call(Rank(0), "").unwrap(), client.call(Rank(0), "release").unwrap());
        assert_eq!(first.wait().unwrap().text().unwrap(), "first");
        assert_eq!(second.wait().unwrap().text().unwrap(), "second");
    });
}

#[test]
fn a_thread_that_panics_with_a_request() {
    let handler = |request: Request| {
        std::thread::spawn(move || {
            let _held = request;
            std::panic::resume_unwind(Box::new("a bug"));
        });
    };
    let outcome =
        ask(Job::new(2), handler, |_, client| client.call(Rank(0), "").unwrap().wait().map(drop));
    let what = "what was to answer it panicked";
    let ours = Error::Remote { rank: Rank(0), service: service(), what: what.into() };
    assert_eq!(outcome, Err(ours));
}

/// All calls of a service that is not there end, waited for and awaited; that there was none is the
/// callers' mistake only. More of them than the service has room for: the last is not even sent.
#[test]
fn a_rank_without_the_service_refuses() {
    let refused = || Error::NoSuchService { rank: Rank(0), name: "nowhere".into() };
    let small = |mut job: Job| {
        job.memory.window_packets = 4;
        job
    };
    for (job, bytes) in [(Job::new(2), 10), (small(Job::new(2)), 10_000)] {
        run(job, |member| {
            if member.rank() == 1 {
                let client = member.client("nowhere");
                let engine = member.rpc.engine();
                let calls = [(); 3].map(|()| client.call(Rank(0), &vec![0; bytes]).unwrap());
                let [first, second, third] = calls;
                assert_eq!(first.wait().map(drop), Err(refused()));
                assert_eq!(engine.block_on(second).unwrap().map(drop), Err(refused()));
                let limited = third.wait_within(Duration::from_secs(100));
                assert_eq!(limited.map(drop), Err(refused()));
                let mut calls = Vec::new();
                let full = loop {
                    match client.call(Rank(0), &vec![0; 100_000]) {
                        Ok(call) => calls.push(call),
                        Err(full) => break full,
                    }
                };
                assert_eq!(full, refused());
                calls.into_iter().for_each(|c| assert_eq!(c.wait().map(drop), Err(refused())));
                member.barrier.wait().unwrap();
            } else {
                member.barrier.wait().unwrap();
                member.until(|| member.rpc.engine().check_unclaimed().is_ok());
            }
        });
    }
}

/// So does the rank itself, for a service of its own.
#[test]
fn a_rank_refuses_its_own_calls() {
    run(Job::new(1), |member| {
        let own = member.client("nowhere").call(Rank(0), "").unwrap().wait().map(drop);
        assert_eq!(own, Err(Error::NoSuchService { rank: Rank(0), name: "nowhere".into() }));
        member.rpc.engine().check_unclaimed().unwrap();
    });
}

/// Calls wait for a service that comes late.
#[test]
fn a_late_service_gets_its_calls() {
    let replies = run(Job::new(2), |member| {
        if member.rank() == 1 {
            let client = member.client("late");
            let call = client.call(Rank(0), "abc").unwrap();
            let engine = member.rpc.engine();
            return Some(engine.block_on(call).unwrap().unwrap().text().unwrap());
        }
        let engine = member.rpc.engine();
        member.until(|| engine.statistics().messages_received == 1);
        let half = Duration::from_millis(500);
        engine.block_on(engine.sleep(half)).unwrap();
        let (completer, served) = Completion::new(engine);
        let mut completer = Some(completer);
        let service = member.service("late", move |request| {
            reverse(request);
            completer.take().unwrap().complete(Ok(()));
        });
        served.wait().unwrap();
        drop(service);
        None
    });
    assert_eq!(replies[1].as_deref(), Some("cba"));
}

#[test]
fn a_rank_calls_itself() {
    for job in [Job::new(1), Job { between: Between::Plain, ..Job::new(1) }] {
        run(job, |member| {
            let client = member.client("service");
            let _service = member.service("service", reverse);
            for size in [0, 3, 100_000] {
                let mut bytes = pattern(1, size);
                let reply = client.call(Rank(0), &bytes).unwrap().wait();
                bytes.reverse();
                assert_eq!(reply.unwrap().read_to_vec().unwrap(), bytes);
            }
            let many: Vec<_> = (0..100u8).map(|i| client.call(Rank(0), &[i, 7]).unwrap()).collect();
            for (i, call) in (0..100u8).zip(many) {
                assert_eq!(call.wait().unwrap().read_to_vec().unwrap(), [7, i]);
            }
        });
    }
}

/// One that waits for the next holds it up, or does not.
#[test]
fn handlers_that_wait() {
    type Gate = Arc<Mutex<Option<Completion<()>>>>;
    async fn pass(mut request: Request, gate: Gate, open: Arc<Mutex<Option<Completer<()>>>>) {
        match &*request.message().bytes().await.unwrap() {
            b"wait" => {
                let gate = gate.lock().unwrap().take().unwrap();
                gate.await.unwrap();
            }
            b"open" => drop(open.lock().unwrap().take().map(|open| open.complete(Ok(())))),
            long => assert_eq!(long, pattern(3, long.len())),
        }
        request.reply("passed").unwrap();
    }
    for job in kinds_of_job() {
        let order = run(job, |member| {
            let engine = member.rpc.engine();
            if member.rank() == 0 {
                let (completer, gate) = Completion::<()>::new(engine);
                let (gate, open) =
                    (Arc::new(Mutex::new(Some(gate))), Arc::new(Mutex::new(Some(completer))));
                let outside = Arc::clone(&open);
                let (first, second) = (Arc::clone(&gate), Arc::clone(&open));
                let pass = move |request| pass(request, Arc::clone(&first), Arc::clone(&second));
                let rpc = &member.rpc;
                let _concurrent = Service::concurrent(rpc, "concurrent", pass.clone()).unwrap();
                let _in_order = Service::with_async(rpc, "in order", pass).unwrap();
                member.barrier.wait().unwrap();
                // The first gate was opened by a request, the second is here.
                let (completer, next) = Completion::<()>::new(engine);
                (*gate.lock().unwrap(), *outside.lock().unwrap()) = (Some(next), Some(completer));
                member.barrier.wait().unwrap();
                member.until(|| gate.lock().unwrap().is_none());
                member.barrier.wait().unwrap();
                outside.lock().unwrap().take().unwrap().complete(Ok(()));
                member.barrier.wait().unwrap();
                return 0;
            }
            let client = member.client("concurrent");
            let [wait, open] = ["wait", "open"].map(|what| client.call(Rank(0), what).unwrap());
            let long = client.call(Rank(0), &pattern(3, 200_000)).unwrap();
            for call in [wait, open, long] {
                assert_eq!(call.wait().unwrap().text().unwrap(), "passed");
            }
            member.barrier.wait().unwrap();
            member.barrier.wait().unwrap();
            let client = member.client("in order");
            let [wait, next] = ["wait", "x"].map(|what| client.call(Rank(0), what).unwrap());
            let soon = next.wait_within(Duration::from_millis(20)).map(drop);
            assert!(matches!(soon, Err(Error::CallTimedOut { .. })), "{soon:?}");
            member.barrier.wait().unwrap();
            assert_eq!(wait.wait().unwrap().text().unwrap(), "passed");
            member.barrier.wait().unwrap();
            1
        });
        assert_eq!(order, [0, 1]);
    }
}

/// Whatever a handler had done before it panicked: its caller gets the text, and others are served.
#[test]
fn handlers_that_panic_when_they_go_on() {
    run(Job::new(1), |member| {
        let engine = member.rpc.engine();
        let sleeper = Arc::clone(engine);
        let handler = move |mut request: Request| {
            let nap = sleeper.sleep(Duration::from_micros(100));
            async move {
                let what = request.message().text().unwrap();
                if what != "go on" {
                    nap.await;
                    std::panic::resume_unwind(Box::new(what));
                }
                request.reply("fine").unwrap();
            }
        };
        let _first = Service::with_async(&member.rpc, "in order", handler.clone()).unwrap();
        let _second = Service::concurrent(&member.rpc, "concurrent", handler).unwrap();
        for name in ["in order", "concurrent"] {
            let client = member.client(name);
            let [bug, fine] = ["a bug", "go on"].map(|what| client.call(Rank(0), what).unwrap());
            let what = "its handler panicked: a bug".into();
            let remote = Error::Remote { rank: Rank(0), service: name.into(), what };
            assert_eq!(bug.wait().map(drop), Err(remote));
            assert_eq!(fine.wait().unwrap().text().unwrap(), "fine");
        }
    });
}

/// They meet at a barrier of threads, which one thread alone would never pass.
#[test]
fn handlers_on_threads_of_their_own() {
    run(Job { interrupt_delay: Some(Duration::from_micros(50)), ..Job::new(1) }, |member| {
        let meeting = std::sync::Barrier::new(2);
        let handler = move |mut request: Request| {
            if request.message().len() > 0 {
                std::panic::resume_unwind(Box::new("a bug"));
            }
            meeting.wait();
            request.reply("met").unwrap();
        };
        let _service = Service::popup(&member.rpc, "service", handler).unwrap();
        let client = member.client("service");
        let calls = [(); 2].map(|()| client.call(Rank(0), "").unwrap());
        calls.into_iter().for_each(|call| assert_eq!(call.wait().unwrap().text().unwrap(), "met"));
        let what = "its handler panicked: a bug".into();
        let remote = Error::Remote { rank: Rank(0), service: service(), what };
        assert_eq!(client.call(Rank(0), "panic").unwrap().wait().map(drop), Err(remote));
    });
}

#[test]
fn a_future_with_a_time_limit() {
    run(Job::new(1), |member| {
        let held: Arc<Mutex<Vec<Request>>> = Arc::default();
        let keeper = Arc::clone(&held);
        let _service =
            member.service("service", move |request| keeper.lock().unwrap().push(request));
        let client = member.client("service");
        let engine = member.rpc.engine();
        let call = client.call(Rank(0), "").unwrap();
        let late = engine.block_on(call.within(Duration::from_millis(1))).unwrap().map(drop);
        assert_eq!(late, Err(Error::CallTimedOut { rank: Rank(0), service: service() }));
        member.until(|| held.lock().unwrap().iter().any(Request::is_cancelled));
        let call = client.call(Rank(0), "").unwrap();
        member.until(|| held.lock().unwrap().len() == 2);
        let request = held.lock().unwrap().pop().unwrap();
        request.reply("in time").unwrap();
        let reply = engine.block_on(call.within(Duration::from_secs(100))).unwrap();
        assert_eq!(reply.unwrap().text().unwrap(), "in time");
        held.lock().unwrap().clear();
    });
}

#[test]
fn a_time_limit_cancels_and_the_late_reply_is_skipped() {
    for job in kinds_of_job() {
        run(job, |member| {
            if member.rank() == 0 {
                let held: Arc<Mutex<Vec<Request>>> = Arc::default();
                let keeper = Arc::clone(&held);
                let _service = member.service("service", move |request| {
                    keeper.lock().unwrap().push(request);
                });
                member.until(|| !held.lock().unwrap().is_empty());
                member.barrier.wait().unwrap();
                // The third says that the first is given up.
                member.until(|| held.lock().unwrap().len() == 3);
                let mut requests = held.lock().unwrap().drain(..).collect::<Vec<_>>().into_iter();
                let (first, second) = (requests.next().unwrap(), requests.next().unwrap());
                member.until(|| first.is_cancelled());
                assert!(!second.is_cancelled());
                for (request, text) in [(first, "late"), (second, "second")] {
                    request.reply(text).unwrap();
                }
                requests.next().unwrap().reply("third").unwrap();
                member.barrier.wait().unwrap();
                return;
            }
            let client = member.client("service");
            let first = client.call(Rank(0), "1").unwrap();
            let second = client.call(Rank(0), "2").unwrap();
            // Else its cancellation might come before it was begun.
            member.barrier.wait().unwrap();
            let expired = first.wait_within(Duration::from_micros(1)).map(drop);
            assert_eq!(expired, Err(Error::CallTimedOut { rank: Rank(0), service: service() }));
            let third = client.call(Rank(0), "3").unwrap();
            assert_eq!(second.wait().unwrap().text().unwrap(), "second");
            assert_eq!(third.wait_within(Duration::MAX).unwrap().text().unwrap(), "third");
            member.barrier.wait().unwrap();
        });
    }
}

#[test]
fn a_request_that_is_cancelled_before_it_is_begun_never_runs() {
    let served = run(Job::new(2), |member| {
        if member.rank() == 1 {
            let client = member.client("service");
            drop(client.call(Rank(0), "cancelled").unwrap());
            let reply = client.call(Rank(0), "begun").unwrap().wait();
            return reply.unwrap().text().unwrap();
        }
        // The two requests and the cancellation.
        member.until(|| member.rpc.engine().statistics().messages_received == 3);
        let served: Arc<Mutex<Vec<String>>> = Arc::default();
        let serving = Arc::clone(&served);
        let _service = member.service("service", move |mut request| {
            serving.lock().unwrap().push(request.message().text().unwrap());
            request.reply("done").unwrap();
        });
        member.until(|| !served.lock().unwrap().is_empty());
        let served = served.lock().unwrap();
        served.concat()
    });
    assert_eq!(served, ["begun", "done"]);
}

/// A peer without calls, which writes to the port of replies what it likes.
struct Forger {
    engine: Arc<Engine>,
    replies: Port,
}

impl Forger {
    fn send(&self, to: u16, kind: CallKind, number: CallNumber, text: &str) {
        let mut headers = HeaderStack::new();
        headers.push(&CallHeader { kind, number }.emit()).unwrap();
        self.replies.send_with(Rank(to), &headers, text).unwrap();
    }

    /// The number of the first call that comes in.
    fn number_of_call(&self) -> CallNumber {
        let mailbox = Mailbox::new(&self.engine, "service").unwrap();
        let mut message = mailbox.receive().unwrap();
        message.headers().pop().and_then(CallHeader::parse).unwrap().number
    }
}

/// Late, twice, from somebody who was not asked, to calls that never were: only the right reply
/// counts.
#[test]
fn forged_and_repeated_replies_are_ignored() {
    Job::new(3).packets(|packets| {
        let rank = packets.rank().0;
        let engine = Engine::new(packets);
        let barrier = Barrier::new(&engine).unwrap();
        if rank == 1 {
            let client = Client::new(&Rpc::new(&engine).unwrap(), "service").unwrap();
            let call = client.call(Rank(0), "").unwrap();
            barrier.wait().unwrap();
            assert_eq!(call.wait().unwrap().text().unwrap(), "right");
            return barrier.leave().unwrap();
        }
        let replies = Port::new(&engine, "weft.rpc", drop).unwrap();
        let forger = Forger { engine, replies };
        let guess = |slot, generation| CallNumber::new(slot, generation).unwrap();
        if rank == 2 {
            (0..4).for_each(|slot| forger.send(1, CallKind::Answer, guess(slot, 1), "not asked"));
            barrier.wait().unwrap();
            return barrier.leave().unwrap();
        }
        let number = forger.number_of_call();
        let (slot, generation) = (number.slot(), number.generation());
        let wrong =
            [guess(slot, generation + 2), guess(slot + 1, generation), guess(slot, generation - 1)];
        wrong.into_iter().for_each(|wrong| forger.send(1, CallKind::Answer, wrong, "wrong"));
        forger.send(1, CallKind::Call, number, "no reply");
        forger.send(1, CallKind::Cancel, number, "no reply");
        barrier.wait().unwrap();
        forger.send(1, CallKind::Answer, number, "right");
        forger.send(1, CallKind::Answer, number, "again");
        forger.send(1, CallKind::Failed, number, "again");
        barrier.leave().unwrap();
    });
}

#[test]
fn a_lost_server_is_an_error_of_call_and_wait() {
    let loss = Loss { rank: Rank(0), cause: Cause::Killed(9) };
    weft_threads::with_loss(loss, |packets, lose| {
        let engine = Engine::new(packets);
        let rpc = Rpc::new(&engine).unwrap();
        let client = Client::new(&rpc, "service").unwrap();
        let waiting = client.call(Rank(0), "").unwrap();
        let awaited = client.call(Rank(0), "").unwrap();
        lose();
        let lost = Error::Packet(weft_endpoint::Error::RankLost(loss));
        assert_eq!(waiting.wait().map(drop).unwrap_err(), lost);
        let mut awaited = pin!(awaited);
        let mut context = Context::from_waker(Waker::noop());
        let Poll::Ready(Err(error)) = awaited.as_mut().poll(&mut context) else {
            panic!("the call is still on its way")
        };
        assert_eq!(error, lost);
        assert_eq!(client.call(Rank(0), "").map(drop).unwrap_err(), lost);
    });
}

struct Count(AtomicU64);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_call_is_a_future_that_wakes_its_task_once() {
    ask(Job::new(2), reverse, |member, client| {
        let count = Arc::new(Count(AtomicU64::new(0)));
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        let mut call = pin!(client.call(Rank(0), "abc").unwrap());
        assert!(call.as_mut().poll(&mut context).is_pending());
        assert!(call.as_mut().poll(&mut context).is_pending());
        member.until(|| count.0.load(Ordering::SeqCst) == 1);
        let Poll::Ready(reply) = call.as_mut().poll(&mut context) else {
            panic!("woken too early")
        };
        assert_eq!(reply.unwrap().text().unwrap(), "cba");
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_rank_has_one_service_of_a_name() {
    run(Job::new(1), |member| {
        let _service = member.service("service", drop);
        let second = Service::new(&member.rpc, "service", drop).map(drop);
        assert_eq!(second, Err(Error::PortTaken(service())));
    });
}
