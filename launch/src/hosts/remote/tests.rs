use super::*;

use rustix::io::fcntl_dupfd_cloexec;

/// Hosts whose remote shells say when they are let go, and stay.
fn stuck(count: usize) -> Remotes {
    let script = "cat >/dev/null; echo let go >&2; exec sleep 1000";
    let mut spec = HostsSpec::new(Vec::new());
    spec.remote_shell = RemoteShell {
        program: "sh".into(),
        arguments: ["-c", script].map(OsString::from).to_vec(),
    };
    Remotes((0..count).map(|_| Remote::start("elsewhere", &spec).unwrap()).collect())
}

fn is_ready(file: &OwnedFd, limit: Duration) -> bool {
    !wait_for(&[((), file.as_fd(), PollFlags::IN)], Some(limit)).unwrap().is_empty()
}

#[test]
fn stuck_hosts_have_one_deadline() {
    let remotes = stuck(4);
    let copy = |file: &OwnedFd| fcntl_dupfd_cloexec(file, 0).unwrap();
    let complaints = remotes.iter().filter_map(|remote| remote.complaints.as_ref().map(copy));
    let complaints: Vec<_> = complaints.collect();
    let exits: Vec<_> = remotes.iter().map(|remote| copy(&remote.exit)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| drop(remotes));
        assert!(complaints.iter().all(|said| is_ready(said, Duration::from_secs(60))));
        assert!(!exits.iter().any(|exit| is_ready(exit, Duration::ZERO)), "not one by one");
    });
    assert!(exits.iter().all(|exit| is_ready(exit, Duration::ZERO)), "all are gone");
}

#[test]
fn a_host_whose_shell_stays_is_explained() {
    let mut remotes = stuck(1);
    assert_eq!(remotes[0].explain_end(), "the connection to it has ended: let go");
    assert!(is_ready(&remotes[0].exit, Duration::ZERO));
}
