use super::*;
use rustix::pipe::pipe;

const LIMIT: Duration = Duration::from_millis(50);

/// An agent's end of a connection, and the launcher's.
fn connection(limit: Duration) -> (Uplink, Stream) {
    let ((from_agent, to_launcher), (from_launcher, to_agent)) = (pipe().unwrap(), pipe().unwrap());
    let uplink = Uplink::new(Stream::new(from_launcher, to_launcher).unwrap(), limit);
    (uplink, Stream::new(from_agent, to_agent).unwrap())
}

#[test]
fn a_launcher_that_says_nothing_is_given_up() {
    let (mut uplink, _launcher) = connection(LIMIT);
    assert!(matches!(uplink.next(), Err(AgentError::Gone)));
}

#[test]
fn a_launcher_that_beats_is_waited_for() {
    let (mut uplink, mut launcher) = connection(LIMIT);
    // Three times as long as it might have been silent.
    while uplink.clock.now() < 3 * LIMIT {
        launcher.send(&ToAgent::Heartbeat.emit());
        uplink.wait(&[], None).unwrap();
        assert_eq!(uplink.take().unwrap(), None);
    }
    launcher.send(&ToAgent::Finish.emit());
    assert_eq!(uplink.next().unwrap(), ToAgent::Finish);
}

#[test]
fn what_arrived_while_the_agent_did_not_run_counts() {
    let (mut uplink, mut launcher) = connection(LIMIT);
    launcher.send(&ToAgent::Heartbeat.emit());
    while uplink.time_left() != Some(Duration::ZERO) {
        std::hint::spin_loop();
    }
    uplink.check().unwrap();
    assert!(uplink.take().unwrap().is_none());
    assert_ne!(uplink.time_left(), Some(Duration::ZERO));
}

#[test]
fn a_launcher_that_was_stopped_by_hand_is_waited_for() {
    let (mut uplink, mut launcher) = connection(LIMIT);
    launcher.send(&ToAgent::Pause.emit());
    uplink.wait(&[], None).unwrap();
    assert!(uplink.take().unwrap().is_none());
    assert_eq!(uplink.time_left(), None);
    launcher.close();
    assert!(matches!(uplink.next(), Err(AgentError::Gone)), "until its connection ends");
}

#[test]
fn last_words_that_nobody_takes_are_given_up() {
    let (mut uplink, _launcher) = connection(LIMIT);
    // More than a pipe holds.
    (0..100).for_each(|_| uplink.send(&FromAgent::Finished(vec![0; 1000])));
    assert!(!uplink.stream.is_flushed());
    assert!(matches!(uplink.flush(), Err(AgentError::Gone)));
}

#[test]
fn time_in_which_this_process_did_not_run_is_no_silence() {
    let (mut uplink, _launcher) = connection(4 * HEARTBEAT);
    uplink.clock = Clock::started_before(100 * HEARTBEAT);
    uplink.check().unwrap();
    let left = uplink.time_left().unwrap();
    assert!(left > HEARTBEAT && left <= 2 * HEARTBEAT, "{left:?}");
    assert!(matches!(uplink.next(), Err(AgentError::Gone)), "from then on it is");
}
