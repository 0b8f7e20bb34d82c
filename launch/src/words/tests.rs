use super::*;

#[test]
fn signals_have_the_names_of_this_machine() {
    use rustix::process::Signal;
    let named = [
        (Signal::HUP, "SIGHUP"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::TERM, "SIGTERM"),
        (Signal::CONT, "SIGCONT"),
        (Signal::SYS, "SIGSYS"),
    ];
    for (signal, name) in named {
        assert_eq!(signal_name(signal.as_raw()), name);
    }
    assert_eq!(signal_name(34), "SIG34");
    assert_eq!(signal_name(0), "SIG0");
    assert_eq!(signal_name(-5), "SIG-5");
}

#[test]
fn the_last_line_that_says_something_is_kept() {
    let mut words = LastWords::default();
    assert_eq!(words.get(), None);
    words.say(b"thread 'main' panicked at row.rs:3:5:\n");
    words.say(b"row 17 is out of range\n");
    words.say(b"note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n");
    words.say(b"  \n");
    assert_eq!(words.get(), Some("row 17 is out of range"));
    words.say(b"\x1b[31mred\xff\r");
    assert_eq!(words.get(), Some("[31mred\u{fffd}"));
    words.say("é".repeat(1000).as_bytes());
    assert_eq!(words.get(), Some("é".repeat(WORDS_CHARS_MAX).as_str()));
}
