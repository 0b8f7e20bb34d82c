use super::{Cause, Loss, kept};

#[test]
fn a_loss_has_its_cause_as_numbers_and_as_a_text() {
    let exited = "exited with status 3 before the job was over";
    for (cause, expected, value, text) in [
        (weft::Cause::Exited(3), Cause::Exited, 3, exited),
        (weft::Cause::Killed(9), Cause::Killed, 9, "was killed by signal 9 (SIGKILL)"),
        (weft::Cause::Misbehaved, Cause::Misbehaved, 0, "broke the packet protocol"),
        (weft::Cause::Ended, Cause::Ended, 0, "ended before the job was over"),
        (weft::Cause::Unreachable(8), Cause::Unreachable, 8, "could not be reached for 0.8 s"),
    ] {
        let loss = Loss::of(&weft::Loss { rank: weft::Rank(7), cause });
        assert_eq!((loss.rank, loss.cause, loss.value), (7, expected, value));
        assert_eq!(loss.text, kept(text.to_owned()).as_ptr());
    }
    let cause = weft::Cause::MtuExceeded { bytes: 1400 };
    let loss = Loss::of(&weft::Loss { rank: weft::Rank(7), cause });
    assert_eq!((loss.cause, loss.value), (Cause::MtuExceeded, 1400));
}

#[test]
fn a_text_is_kept_once() {
    let (first, second) = (kept("fell asleep".into()), kept("fell asleep".into()));
    assert_eq!((first, first.as_ptr()), (c"fell asleep", second.as_ptr()));
}
