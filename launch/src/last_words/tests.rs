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

fn last_of(lines: &[&str]) -> String {
    let mut words = LastWords::default();
    for line in lines {
        words.take_in(line.as_bytes());
    }
    words.get().unwrap_or_default().to_owned()
}

/// Found by fuzzing: a space before what cannot be printed passed for something said.
#[test]
fn a_line_of_spaces_and_control_characters_says_nothing() {
    assert_eq!(last_of(&["out of luck\n", " \u{1}\n"]), "out of luck");
}

#[test]
fn the_last_line_that_says_something_is_kept() {
    assert_eq!(LastWords::default().get(), None);
    assert_eq!(last_of(&["one\n", "  two\n", " \n", "\r"]), "two");
    assert_eq!(last_of(&["\u{1b}[31mred\r"]), "[31mred");
    assert_eq!(last_of(&["é".repeat(1000).as_str()]), "é".repeat(WORDS_CHARS_MAX));
    let mut words = LastWords::default();
    words.take_in(b"bytes \xff");
    assert_eq!(words.get(), Some("bytes \u{fffd}"));
}

#[test]
fn of_a_panic_the_message_is_kept() {
    let panic = [
        "\n",
        "thread 'main' (77) panicked at row.rs:3:5:\n",
        "assertion `left == right` failed\n",
        "  left: 1\n",
        " right: 2\n",
        "stack backtrace:\n",
        "   0: core::panicking::panic\n",
        "note: Some details are omitted, run with `RUST_BACKTRACE=full`\n",
    ];
    assert_eq!(last_of(&panic), "assertion `left == right` failed");
    let survived =
        [&panic[..], &["note: that was caught\n", "going on\n", "  indented\n"]].concat();
    assert_eq!(last_of(&survived), "indented");
}

#[test]
fn of_an_allocation_that_failed_the_message_is_kept() {
    let failed = "memory allocation of 1572864 bytes failed";
    for traces in [
        ["stack backtrace:\n", "   0: alloc::alloc\n", "note: Some details are omitted\n"],
        ["\n", "skipping backtrace printing to avoid potential recursion\n", "\n"],
    ] {
        assert_eq!(last_of(&[&[failed], &traces[..]].concat()), failed);
    }
}
