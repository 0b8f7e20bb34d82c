use super::*;

fn names(only: &[&str]) -> Vec<&'static str> {
    let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
    all(&Testbed::Host, Path::new("/proc/nowhere"), &only, None)
        .iter()
        .map(|peer| peer.name())
        .collect()
}

#[test]
fn weft_comes_first_whoever_is_asked_for() {
    let all = ["weft", "open-mpi-on-weft", "tcp", "open-mpi", "mpich", "ucx", "libfabric"];
    assert_eq!(names(&[]), all);
    assert_eq!(names(&["ucx", "tcp"]), ["weft", "tcp", "ucx"]);
}

#[test]
fn names_that_may_be_said_are_those_of_peers() {
    for name in names(&[]).into_iter().skip(1) {
        assert!(NAMES.contains(&name), "{name}");
    }
}

#[test]
fn who_is_missing_is_named_with_its_package() {
    let error = installed("mpirun.no-such", "no-such-bin").unwrap_err();
    assert_eq!(error.to_string(), "no mpirun.no-such here (Debian has it in no-such-bin)");
    installed("sh", "dash").unwrap();
}

#[test]
fn settings_say_how_weft_is_run() {
    let weft = |link, preset: Option<&str>| own::Weft { link, preset: preset.map(str::to_owned) };
    let memory = weft(own::Link::Memory, Some("pupa")).settings(&Testbed::Host);
    assert_eq!(memory, "weft run -n 2 --bind core");
    let udp = weft(own::Link::Udp, Some("pupa")).settings(&Testbed::Host);
    assert_eq!(udp, "weft run --hosts a,b -n 2 --silence 10 --link udp --preset pupa");
}
