use super::*;

use std::os::fd::OwnedFd;

use crate::messages::hosts::RemoteShell;
use crate::messages::{BadMessage, Message as _};

/// An agent with a host below it whose remote shell runs a script: its own connection, and the
/// other end of that to its launcher. The thread is the relay.
fn agent(script: &str, silence_above: Duration) -> (Uplink, Stream, JoinHandle<()>) {
    let ((from_agent, to_above), (from_above, to_agent)) = (pipe(), pipe());
    let stream = Stream::new(from_above, to_above).unwrap();
    let mut uplink = Uplink::new(stream, silence_above);
    let below = crate::messages::hosts::Below { host: 2, parent: 1, name: "elsewhere".into() };
    let subtree = Subtree {
        host: 1,
        hosts: vec![below],
        shell: RemoteShell {
            program: "sh".into(),
            arguments: ["-c", script].map(Into::into).to_vec(),
        },
        weft: "weft".into(),
        silence_above,
        silence_below: Duration::from_secs(60),
        end_limit: Duration::from_secs(60),
    };
    let relay = Relay::start(&mut uplink, &subtree).unwrap();
    (uplink, Stream::new(from_agent, to_agent).unwrap(), relay)
}

/// Next message of an agent, but for signs of life; `None` once none can come.
fn next(launcher: &mut Stream) -> Option<Result<FromAgent, BadMessage>> {
    loop {
        match launcher.take().map(|message| FromAgent::parse(&message)) {
            Some(Ok(FromAgent::Heartbeat)) => continue,
            Some(message) => return Some(message),
            None => {}
        }
        let from: &OwnedFd = launcher.readable()?;
        wait_for(&[((), from.as_fd(), PollFlags::IN)], None).unwrap();
        launcher.read_some().unwrap();
    }
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn an_agent_and_those_below_it_have_one_connection_to_the_launcher() {
    // A remote shell that says what it is sent, which starts with who is below it.
    let (mut own, mut launcher, relay) = agent("exec cat", LONG);
    launcher.send(&ToAgent::Finish.emit());
    assert_eq!(own.next().unwrap(), ToAgent::Finish);
    let finished = FromAgent::Finished(vec![]);
    launcher.send(&ToAgent::ForAll(finished.emit()).emit());
    // To an agent it is no message, and what it knows of the other host is that it has ended.
    assert!(own.next().is_err());
    let mut heard = Vec::new();
    while !heard.contains(&FromAgent::From(2, finished.emit())) {
        heard.extend(next(&mut launcher).unwrap());
    }
    own.send(&finished);
    drop(own);
    while next(&mut launcher).unwrap().unwrap() != finished {}
    drop(launcher);
    relay.join().unwrap();
}

#[test]
fn the_end_of_the_launcher_is_that_of_all_below() {
    for silence in [LONG, Duration::from_millis(100)] {
        let (mut own, launcher, relay) = agent("exec cat >/dev/null", silence);
        // Its connection ends, or stays as it is.
        let launcher = Some(launcher).filter(|_| silence != LONG);
        assert!(matches!(own.next(), Err(AgentError::Gone)));
        relay.join().unwrap();
        drop(launcher);
    }
}

/// A pipe that what is started here does not inherit.
fn pipe() -> (OwnedFd, OwnedFd) {
    pipe_with(PipeFlags::CLOEXEC).unwrap()
}
