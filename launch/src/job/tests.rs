use super::*;

const NOW: Duration = Duration::from_secs(1);
const LOSS_GRACE: Duration = Duration::from_millis(80);
const KILLED: Ending = Ending::Killed(9);
const CLEAN: Ending = Ending::Exited(0);
const VICTIM: Ending = Ending::Exited(PEER_LOST as i32);

/// A job whose ranks have all joined.
fn joined(ranks: u16) -> Job {
    joined_to(ranks, OnLoss::End)
}

/// One that does this at a loss.
fn joined_to(ranks: u16, on_loss: OnLoss) -> Job {
    let mut job = Job::new((ranks, 0), Some(Duration::from_secs(30)), LOSS_GRACE, on_loss);
    for rank in (0..ranks).map(Rank) {
        job.handle(NOW, Event::Hello(rank));
        job.handle(NOW, Event::Joined(rank));
        assert_eq!(job.next_action(), Some(Action::Welcome(rank)));
    }
    assert_eq!((job.next_action(), job.next_deadline()), (None, None));
    job
}

fn end(job: &mut Job, now: Duration, endings: &[(u16, Ending)]) {
    let endings = endings.iter().map(|&(rank, ending)| (Rank(rank), ending)).collect();
    job.handle(now, Event::Ended(endings));
}

fn actions(job: &mut Job) -> Vec<Action> {
    std::iter::from_fn(|| job.next_action()).collect()
}

fn signals(ranks: &[u16], signal: Signal) -> Vec<Action> {
    ranks.iter().map(|&rank| Action::Signal(Rank(rank), signal)).collect()
}

#[test]
fn a_job_ends_when_its_time_is_over() {
    let limit = Duration::from_secs(60);
    let mut job = joined(2).limited_to(Some(limit));
    assert_eq!(job.next_deadline(), Some(limit));
    job.timeout(limit - Duration::from_nanos(1));
    assert!(!job.is_out_of_time(limit - Duration::from_nanos(1)) && job.is_out_of_time(limit));
    assert_eq!(actions(&mut job), []);
    job.timeout(limit);
    assert_eq!(actions(&mut job), signals(&[0, 1], Signal::TERM));
    assert!(!job.is_out_of_time(limit), "it ends");
    assert_eq!(job.next_deadline(), Some(limit + STOP_GRACE));
    end(&mut job, limit, &[(0, Ending::Killed(Signal::TERM.as_raw()))]);
    job.timeout(limit + STOP_GRACE);
    assert_eq!(
        actions(&mut job),
        [
            Action::AnnounceLoss { lost: Rank(0), cause: Ending::Killed(15) },
            Action::Signal(Rank(1), Signal::KILL)
        ]
    );
    end(&mut job, limit + STOP_GRACE, &[(1, KILLED)]);
    assert!(job.is_over());
    assert_eq!(job.end_cause(), EndCause::OutOfTime(limit));
    // A limit for joining that comes first is first.
    let both = |limit| {
        let join = Some(Duration::from_secs(30));
        Job::new((1, 0), join, LOSS_GRACE, OnLoss::End).limited_to(Some(limit)).next_deadline()
    };
    assert_eq!(both(Duration::from_secs(60)), Some(Duration::from_secs(30)));
    assert_eq!(both(Duration::from_secs(20)), Some(Duration::from_secs(20)));
}

#[test]
fn ranks_that_all_leave_complete_the_job() {
    let mut job = joined(2);
    for rank in 0..2 {
        job.handle(NOW, Event::Leaving(Rank(rank)));
        assert!(!job.is_over());
        end(&mut job, NOW, &[(rank, CLEAN)]);
    }
    assert!(job.is_over());
    assert_eq!(actions(&mut job), []);
    assert_eq!(job.end_cause(), EndCause::Completed);
}

#[test]
fn a_loss_is_announced_at_once_and_the_survivors_are_killed_after_the_grace() {
    let mut job = joined(3);
    end(&mut job, NOW, &[(1, KILLED)]);
    let announced = Action::AnnounceLoss { lost: Rank(1), cause: KILLED };
    assert_eq!(actions(&mut job), [announced]);
    assert_eq!(job.next_deadline(), Some(NOW + LOSS_GRACE));
    job.timeout(NOW + LOSS_GRACE - Duration::from_nanos(1));
    assert_eq!(actions(&mut job), []);
    job.timeout(NOW + LOSS_GRACE);
    assert_eq!(actions(&mut job), signals(&[0, 2], Signal::KILL));
    end(&mut job, NOW + LOSS_GRACE, &[(0, KILLED), (2, KILLED)]);
    assert!(job.is_over());
    assert_eq!(job.end_cause(), EndCause::Failed(Rank(1), Fault::Killed { signal: 9 }));
}

#[test]
fn a_rank_that_does_not_disappear_is_given_up() {
    let mut job = joined(2);
    end(&mut job, NOW, &[(0, Ending::Exited(3))]);
    job.timeout(NOW + LOSS_GRACE);
    assert_eq!(job.next_deadline(), Some(NOW + LOSS_GRACE + KILL_LIMIT));
    assert!(!job.is_over());
    job.timeout(NOW + LOSS_GRACE + KILL_LIMIT);
    assert!(job.is_over());
    assert_eq!(job.running(), [Rank(1)]);
}

#[test]
fn exiting_with_zero_is_a_fault_unless_it_was_said() {
    let mut job = joined(2);
    end(&mut job, NOW, &[(0, CLEAN)]);
    assert_eq!(job.end_cause(), EndCause::Failed(Rank(0), Fault::LeftEarly));
}

#[test]
fn crashing_after_having_left_is_a_fault() {
    let mut job = joined(1);
    job.handle(NOW, Event::Leaving(Rank(0)));
    end(&mut job, NOW, &[(0, Ending::Killed(11))]);
    assert_eq!(job.end_cause(), EndCause::Failed(Rank(0), Fault::Killed { signal: 11 }));
}

#[test]
fn what_happens_after_the_first_loss_is_not_the_cause() {
    let mut job = joined(3);
    end(&mut job, NOW, &[(2, Ending::Exited(3))]);
    end(&mut job, NOW, &[(0, KILLED)]);
    end(&mut job, NOW, &[(1, Ending::Exited(1))]);
    assert_eq!(job.end_cause(), EndCause::Failed(Rank(2), Fault::Exited { status: 3 }));
    let announced = Action::AnnounceLoss { lost: Rank(2), cause: Ending::Exited(3) };
    assert_eq!(actions(&mut job), [announced]);
}

#[test]
fn of_losses_seen_together_the_gravest_is_the_cause() {
    let mut job = joined(3);
    end(&mut job, NOW, &[(0, CLEAN), (1, Ending::Exited(1)), (2, Ending::Killed(11))]);
    assert_eq!(job.end_cause(), EndCause::Failed(Rank(2), Fault::Killed { signal: 11 }));
}

#[test]
fn a_rank_that_says_it_lost_another_is_the_cause_only_if_nothing_else_is() {
    let mut job = joined(3);
    job.handle(NOW, Event::Report(Rank(0), "rank 2 is gone".into()));
    end(&mut job, NOW, &[(0, VICTIM)]);
    let status = i32::from(PEER_LOST);
    assert_eq!(job.end_cause(), EndCause::Failed(Rank(0), Fault::Exited { status }));
    end(&mut job, NOW, &[(2, KILLED)]);
    assert_eq!(job.end_cause(), EndCause::Failed(Rank(2), Fault::Killed { signal: 9 }));
    end(&mut job, NOW, &[(1, Ending::Exited(1))]);
    assert_eq!(job.end_cause(), EndCause::Failed(Rank(2), Fault::Killed { signal: 9 }));
    assert_eq!(job.report(Rank(0)), Some("rank 2 is gone"));
}

#[test]
fn a_victim_is_not_excused_by_ranks_that_were_killed_for_it() {
    let mut job = joined(2);
    job.handle(NOW, Event::Report(Rank(0), "rank 1 is gone".into()));
    end(&mut job, NOW, &[(0, VICTIM)]);
    job.timeout(NOW + LOSS_GRACE);
    end(&mut job, NOW + LOSS_GRACE, &[(1, KILLED)]);
    let status = i32::from(PEER_LOST);
    assert_eq!(job.end_cause(), EndCause::Failed(Rank(0), Fault::Exited { status }));
}

#[test]
fn programs_that_never_ask_are_not_weft_programs() {
    let mut job = Job::new((2, 0), None, LOSS_GRACE, OnLoss::End);
    end(&mut job, NOW, &[(1, CLEAN)]);
    end(&mut job, NOW, &[(0, CLEAN)]);
    assert!(job.is_over());
    assert_eq!(job.end_cause(), EndCause::NotWeft);
}

#[test]
fn a_rank_that_ends_without_asking_fails_a_job_that_others_asked_to_join() {
    let failed = EndCause::Failed(Rank(1), Fault::NeverJoined);
    let mut before = Job::new((2, 0), None, LOSS_GRACE, OnLoss::End);
    end(&mut before, NOW, &[(1, CLEAN)]);
    assert_eq!(before.next_deadline(), None);
    before.handle(NOW, Event::Hello(Rank(0)));
    assert_eq!(before.end_cause(), failed);
    let mut after = Job::new((2, 0), None, LOSS_GRACE, OnLoss::End);
    after.handle(NOW, Event::Hello(Rank(0)));
    end(&mut after, NOW, &[(1, CLEAN)]);
    assert_eq!(after.end_cause(), failed);
}

#[test]
fn a_rank_that_does_not_join_in_time_ends_the_job() {
    let limit = Duration::from_secs(5);
    let mut job = Job::new((2, 0), Some(limit), LOSS_GRACE, OnLoss::End);
    job.handle(NOW, Event::Hello(Rank(0)));
    job.handle(NOW, Event::Joined(Rank(0)));
    assert_eq!(job.next_deadline(), Some(limit));
    job.timeout(limit);
    assert_eq!(job.end_cause(), EndCause::Failed(Rank(1), Fault::LateJoin { limit }));
    let told = [vec![Action::Welcome(Rank(0))], signals(&[0, 1], Signal::TERM)].concat();
    assert_eq!(actions(&mut job), told);
    job.timeout(limit + LOSS_GRACE);
    assert_eq!(actions(&mut job), signals(&[0, 1], Signal::KILL));
}

#[test]
fn the_limit_for_joining_is_over_once_all_have_joined_or_ended() {
    let mut job = Job::new((2, 0), Some(Duration::from_secs(5)), LOSS_GRACE, OnLoss::End);
    job.handle(NOW, Event::Hello(Rank(0)));
    job.handle(NOW, Event::Joined(Rank(0)));
    job.handle(NOW, Event::Hello(Rank(1)));
    assert!(job.next_deadline().is_some());
    job.handle(NOW, Event::Joined(Rank(1)));
    assert_eq!(job.next_deadline(), None);
}

#[test]
fn a_second_process_of_a_rank_cannot_join() {
    let mut job = joined(1);
    job.handle(NOW, Event::Hello(Rank(0)));
    let fault = Fault::BadMessage("a second process of this rank asked to join".into());
    assert_eq!(job.end_cause(), EndCause::Failed(Rank(0), fault));
    assert_eq!(actions(&mut job), signals(&[0], Signal::TERM));
}

#[test]
fn a_wish_to_stop_is_passed_on_once_and_enforced_after_its_grace() {
    let mut job = joined(2);
    job.handle(NOW, Event::Signal(Signal::TERM));
    job.handle(NOW, Event::Signal(Signal::TERM));
    assert_eq!(actions(&mut job), signals(&[0, 1], Signal::TERM));
    end(&mut job, NOW, &[(0, Ending::Killed(15))]);
    let announced = Action::AnnounceLoss { lost: Rank(0), cause: Ending::Killed(15) };
    assert_eq!(actions(&mut job), [announced]);
    assert_eq!(job.next_deadline(), Some(NOW + STOP_GRACE));
    job.timeout(NOW + STOP_GRACE);
    assert_eq!(actions(&mut job), signals(&[1], Signal::KILL));
    assert_eq!(job.end_cause(), EndCause::Interrupted(Signal::TERM));
}

#[test]
fn a_second_wish_after_a_while_means_now() {
    let mut job = joined(1);
    job.handle(NOW, Event::Signal(Signal::INT));
    job.handle(NOW + IMPATIENCE, Event::Signal(Signal::INT));
    let told = [signals(&[0], Signal::INT), signals(&[0], Signal::KILL)].concat();
    assert_eq!(actions(&mut job), told);
}

#[test]
fn a_rank_that_dies_of_a_signal_that_was_passed_on_is_no_culprit() {
    let mut job = joined(2);
    job.handle(NOW, Event::Signal(Signal::HUP));
    assert_eq!(actions(&mut job), signals(&[0, 1], Signal::HUP));
    assert_eq!(job.next_deadline(), None);
    end(&mut job, NOW, &[(0, Ending::Killed(1))]);
    assert_eq!(job.end_cause(), EndCause::Interrupted(Signal::HUP));
}

#[test]
fn stopping_stops_the_ranks_before_the_launcher() {
    let mut job = joined(1);
    job.handle(NOW, Event::Signal(Signal::TSTP));
    job.handle(NOW, Event::Signal(Signal::CONT));
    let rank = Rank(0);
    let expected =
        [Action::Signal(rank, Signal::TSTP), Action::StopSelf, Action::Signal(rank, Signal::CONT)];
    assert_eq!(actions(&mut job), expected);
}

#[test]
fn a_job_whose_output_nobody_reads_is_ended() {
    let mut job = joined(2);
    job.handle(NOW, Event::OutputClosed);
    assert_eq!(actions(&mut job), signals(&[0, 1], Signal::TERM));
    end(&mut job, NOW, &[(0, Ending::Killed(15)), (1, Ending::Killed(15))]);
    assert_eq!(job.end_cause(), EndCause::OutputClosed);
}

mod going_on {
    use super::*;

    const SIGNALLED: Fault = Fault::Killed { signal: 9 };

    /// A job that goes on, whose ranks have all joined.
    fn joined(ranks: u16) -> Job {
        joined_to(ranks, OnLoss::Continue)
    }

    /// One of which none has.
    fn started(ranks: u16) -> Job {
        Job::new((ranks, 0), Some(Duration::from_secs(5)), LOSS_GRACE, OnLoss::Continue)
    }

    /// These end well, which the others are told of.
    fn leave(job: &mut Job, ranks: &[u16]) {
        for &rank in ranks {
            job.handle(NOW, Event::Leaving(Rank(rank)));
            end(job, NOW, &[(rank, CLEAN)]);
            let told = (!job.running().is_empty()).then(|| announced(rank, CLEAN));
            assert_eq!(actions(job), Vec::from_iter(told));
        }
    }

    fn announced(lost: u16, cause: Ending) -> Action {
        Action::AnnounceLoss { lost: Rank(lost), cause }
    }

    fn reported(lost: u16, fault: Fault, left: u16) -> Action {
        Action::ReportLoss { lost: Rank(lost), fault, left }
    }

    /// Asserts that the job is over, after no more than this.
    fn assert_over(job: &mut Job, end_cause: EndCause) {
        assert_eq!(actions(job), []);
        assert!(job.is_over());
        assert_eq!(job.end_cause(), end_cause);
    }

    #[test]
    fn a_loss_is_told_and_nobody_is_killed() {
        for lost in 0..3 {
            let mut job = joined(3);
            end(&mut job, NOW, &[(lost, KILLED)]);
            assert_eq!(actions(&mut job), [announced(lost, KILLED), reported(lost, SIGNALLED, 2)]);
            assert_eq!(job.next_deadline(), None);
            assert!(!job.is_over() && !job.is_done_with(std::iter::once(Rank(lost))));
            let others: Vec<u16> = (0..3).filter(|rank| *rank != lost).collect();
            leave(&mut job, &others);
            assert_over(&mut job, EndCause::Completed);
        }
    }

    #[test]
    fn every_way_to_be_lost_is_a_loss() {
        let exited = |status| (Ending::Exited(status), Fault::Exited { status });
        for (ending, fault) in [
            (KILLED, SIGNALLED),
            (Ending::OutOfMemory, Fault::OutOfMemory),
            exited(3),
            exited(PEER_LOST.into()),
            (CLEAN, Fault::LeftEarly),
        ] {
            let mut job = joined(2);
            job.handle(NOW, Event::Report(Rank(1), "words".into()));
            end(&mut job, NOW, &[(1, ending)]);
            assert_eq!(actions(&mut job), [announced(1, ending), reported(1, fault, 1)]);
            leave(&mut job, &[0]);
            assert_over(&mut job, EndCause::Completed);
        }
    }

    #[test]
    fn losses_one_after_the_other_are_told_each() {
        let mut job = joined(4);
        for (lost, left) in [(1, 3), (0, 2), (3, 1)] {
            end(&mut job, NOW, &[(lost, KILLED)]);
            let told = [announced(lost, KILLED), reported(lost, SIGNALLED, left)];
            assert_eq!(actions(&mut job), told);
        }
        leave(&mut job, &[2]);
        assert_over(&mut job, EndCause::Completed);
    }

    #[test]
    fn losses_seen_together_are_told_each_and_announced_first() {
        let mut job = joined(4);
        end(&mut job, NOW, &[(0, Ending::Exited(3)), (2, KILLED)]);
        let told = [
            announced(2, KILLED),
            announced(0, Ending::Exited(3)),
            reported(2, SIGNALLED, 2),
            reported(0, Fault::Exited { status: 3 }, 2),
        ];
        assert_eq!(actions(&mut job), told);
    }

    #[test]
    fn of_ranks_that_are_all_lost_the_last_is_the_cause_and_is_not_told_before() {
        let mut job = joined(3);
        end(&mut job, NOW, &[(0, KILLED)]);
        assert_eq!(actions(&mut job), [announced(0, KILLED), reported(0, SIGNALLED, 2)]);
        end(&mut job, NOW, &[(1, Ending::Exited(3)), (2, Ending::Exited(4))]);
        let told = [
            announced(1, Ending::Exited(3)),
            announced(2, Ending::Exited(4)),
            reported(1, Fault::Exited { status: 3 }, 0),
        ];
        assert_eq!(actions(&mut job), told);
        assert_over(&mut job, EndCause::Failed(Rank(2), Fault::Exited { status: 4 }));
    }

    #[test]
    fn the_last_loss_is_told_if_others_have_left_well() {
        let mut job = joined(2);
        leave(&mut job, &[0]);
        job.handle(NOW, Event::Leaving(Rank(1)));
        end(&mut job, NOW, &[(1, KILLED)]);
        assert_eq!(actions(&mut job), [announced(1, KILLED), reported(1, SIGNALLED, 0)]);
        assert_over(&mut job, EndCause::Completed);
    }

    #[test]
    fn of_a_lost_host_each_rank_that_ran_is_lost() {
        let mut job = joined(4);
        leave(&mut job, &[1]);
        let host_lost = || Event::HostLost(vec![Rank(1), Rank(2), Rank(3)], "silence".into());
        job.handle(NOW, host_lost());
        let fault = || Fault::HostLost { why: "silence".into() };
        let told = [
            announced(2, LOST_WITH_HOST),
            announced(3, LOST_WITH_HOST),
            reported(2, fault(), 1),
            reported(3, fault(), 1),
        ];
        assert_eq!(actions(&mut job), told);
        job.handle(NOW, host_lost());
        leave(&mut job, &[0]);
        assert_over(&mut job, EndCause::Completed);
    }

    #[test]
    fn a_rank_that_never_joins_is_lost_once_others_ask() {
        let mut job = started(4);
        end(&mut job, NOW, &[(1, CLEAN), (2, CLEAN)]);
        assert_eq!(actions(&mut job), []);
        job.handle(NOW, Event::Hello(Rank(0)));
        let told = [
            Action::Welcome(Rank(0)),
            announced(1, CLEAN),
            announced(2, CLEAN),
            reported(1, Fault::NeverJoined, 2),
            reported(2, Fault::NeverJoined, 2),
        ];
        assert_eq!(actions(&mut job), told);
        job.handle(NOW, Event::Hello(Rank(3)));
        assert_eq!(actions(&mut job), [Action::Welcome(Rank(3))]);
    }

    #[test]
    fn programs_that_never_ask_are_not_weft_programs() {
        let mut job = started(2);
        end(&mut job, NOW, &[(0, CLEAN), (1, CLEAN)]);
        assert_over(&mut job, EndCause::NotWeft);
    }

    #[test]
    fn ranks_that_fail_before_they_ask_are_lost() {
        let mut job = started(2);
        end(&mut job, NOW, &[(0, Ending::Exited(1))]);
        let fault = Fault::Exited { status: 1 };
        let told = [announced(0, Ending::Exited(1)), reported(0, fault.clone(), 1)];
        assert_eq!(actions(&mut job), told);
        end(&mut job, NOW, &[(1, Ending::Exited(1))]);
        assert_eq!(actions(&mut job), [announced(1, Ending::Exited(1))]);
        assert_over(&mut job, EndCause::Failed(Rank(1), fault));
    }

    #[test]
    fn a_rank_that_is_late_still_ends_the_job() {
        let limit = Duration::from_secs(5);
        let mut job = started(3);
        job.handle(NOW, Event::Hello(Rank(0)));
        job.handle(NOW, Event::Joined(Rank(0)));
        end(&mut job, NOW, &[(1, KILLED)]);
        actions(&mut job);
        job.timeout(limit);
        assert_eq!(actions(&mut job), signals(&[0, 2], Signal::TERM));
        assert_eq!(job.end_cause(), EndCause::Failed(Rank(2), Fault::LateJoin { limit }));
    }

    #[test]
    fn what_ends_a_job_otherwise_ends_it_after_a_loss_too() {
        let bad = || Fault::BadMessage("bad".into());
        for (event, end_cause) in [
            (Event::Signal(Signal::TERM), EndCause::Interrupted(Signal::TERM)),
            (Event::Deadlock, EndCause::Deadlocked),
            (Event::OutputClosed, EndCause::OutputClosed),
            (Event::BadMessage(Rank(1), "bad".into()), EndCause::Failed(Rank(1), bad())),
            (
                Event::CannotStart(Rank(1), 8),
                EndCause::Failed(Rank(1), Fault::CannotStart { errno: 8 }),
            ),
        ] {
            let mut job = joined(3);
            end(&mut job, NOW, &[(0, KILLED)]);
            actions(&mut job);
            job.handle(NOW, event);
            assert_eq!(actions(&mut job), signals(&[1, 2], Signal::TERM));
            // A loss while it ends is announced, and no matter for the user.
            end(&mut job, NOW, &[(1, Ending::Killed(15))]);
            assert_eq!(actions(&mut job), [announced(1, Ending::Killed(15))]);
            let kill_at = job.next_deadline().expect("the job ends");
            job.timeout(kill_at);
            assert_eq!(actions(&mut job), signals(&[2], Signal::KILL));
            end(&mut job, kill_at, &[(2, KILLED)]);
            assert_eq!(actions(&mut job), [announced(2, KILLED)]);
            assert_over(&mut job, end_cause);
        }
    }

    #[test]
    fn a_rank_that_dies_of_a_signal_that_was_passed_on_ends_the_job() {
        let mut job = joined(3);
        job.handle(NOW, Event::Signal(Signal::HUP));
        assert_eq!(actions(&mut job), signals(&[0, 1, 2], Signal::HUP));
        end(&mut job, NOW, &[(0, KILLED)]);
        assert_eq!(actions(&mut job), [announced(0, KILLED), reported(0, SIGNALLED, 2)]);
        end(&mut job, NOW, &[(1, Ending::Killed(1))]);
        assert_eq!(actions(&mut job), [announced(1, Ending::Killed(1))]);
        assert_eq!(job.next_deadline(), Some(NOW + LOSS_GRACE));
        job.timeout(NOW + LOSS_GRACE);
        assert_eq!(actions(&mut job), signals(&[2], Signal::KILL));
        assert_eq!(job.end_cause(), EndCause::Interrupted(Signal::HUP));
    }

    #[test]
    fn a_loss_seen_with_the_end_by_a_signal_is_told() {
        let mut job = joined(2);
        job.handle(NOW, Event::Signal(Signal::HUP));
        actions(&mut job);
        end(&mut job, NOW, &[(0, Ending::Killed(11)), (1, Ending::Killed(1))]);
        let told = [
            announced(0, Ending::Killed(11)),
            announced(1, Ending::Killed(1)),
            reported(0, Fault::Killed { signal: 11 }, 0),
        ];
        assert_eq!(actions(&mut job), told);
        assert_over(&mut job, EndCause::Interrupted(Signal::HUP));
    }
}

mod any_order {
    use super::*;
    use proptest::prelude::*;

    fn any_event() -> impl Strategy<Value = Event> {
        let rank = || (0..3u16).prop_map(Rank);
        let ending = prop_oneof![Just(CLEAN), Just(VICTIM), Just(KILLED), Just(Ending::Exited(3))];
        let signal = prop_oneof![Just(Signal::INT), Just(Signal::TERM), Just(Signal::HUP)];
        prop_oneof![
            rank().prop_map(Event::Hello),
            rank().prop_map(Event::GoOn),
            (rank(), 0..3u16).prop_map(|(rank, count)| Event::Spawn(rank, count)),
            rank().prop_map(Event::Joined),
            rank().prop_map(Event::Leaving),
            rank().prop_map(|rank| Event::Report(rank, "words".into())),
            rank().prop_map(|rank| Event::BadMessage(rank, "bad".into())),
            (rank(), ending).prop_map(|(rank, ending)| Event::Ended(vec![(rank, ending)])),
            signal.prop_map(Event::Signal),
            Just(Event::OutputClosed),
        ]
    }

    proptest! {
        /// Whatever happens, a job that has begun to end is over once its deadlines have passed,
        /// and no loss is announced twice.
        #[test]
        fn a_job_that_ends_is_over_in_bounded_time(
            events in proptest::collection::vec(any_event(), 1..40),
            goes_on: bool,
        ) {
            let on_loss = if goes_on { OnLoss::Continue } else { OnLoss::End };
            let mut job = Job::new((3, 2), Some(Duration::from_secs(30)), LOSS_GRACE, on_loss);
            for event in events {
                let ended = matches!(&event, Event::Ended(list) if job.ranks[list[0].0].ended.is_some());
                if !ended {
                    job.handle(NOW, event);
                }
            }
            let mut announced: Vec<_> = actions(&mut job)
                .into_iter()
                .filter_map(|action| match action {
                    Action::AnnounceLoss { lost, .. } => Some(lost),
                    _ => None,
                })
                .collect();
            prop_assert!(job.goes_on() || announced.len() <= 1);
            announced.sort();
            prop_assert!(announced.is_sorted_by(|one, next| one < next));
            let mut deadlines = 0;
            while let Some(deadline) = job.next_deadline().filter(|_| !job.is_over()) {
                job.timeout(deadline);
                deadlines += 1;
                prop_assert!(deadlines <= 3);
            }
            let all_joined = job.running().iter().all(|rank| job.ranks[*rank].stage >= Stage::Joined);
            prop_assert!(job.is_over() || all_joined);
        }
    }
}

/// Programs that say whether the job goes on.
mod asking {
    use super::*;

    fn say(job: &mut Job, rank: u16, goes_on: bool) {
        if goes_on {
            job.handle(NOW, Event::GoOn(Rank(rank)));
        }
        job.handle(NOW, Event::Hello(Rank(rank)));
    }

    fn started(on_loss: OnLoss) -> Job {
        Job::new((3, 0), None, LOSS_GRACE, on_loss)
    }

    #[test]
    fn a_job_goes_on_if_all_programs_ask_for_it() {
        let mut job = started(OnLoss::End);
        (0..3).for_each(|rank| say(&mut job, rank, true));
        while job.next_action().is_some() {}
        end(&mut job, NOW, &[(1, KILLED)]);
        let fault = Fault::Killed { signal: 9 };
        let told = [
            Action::AnnounceLoss { lost: Rank(1), cause: KILLED },
            Action::ReportLoss { lost: Rank(1), fault, left: 2 },
        ];
        assert_eq!([job.next_action(), job.next_action()], told.map(Some));
        assert_eq!(job.next_action(), None);
    }

    #[test]
    fn whoever_asks_otherwise_than_the_first_ends_the_job() {
        for first in [false, true] {
            let mut job = started(OnLoss::End);
            say(&mut job, 2, first);
            say(&mut job, 0, !first);
            assert_eq!(job.end_cause(), EndCause::Failed(Rank(0), Fault::AsksOtherwise));
        }
    }

    #[test]
    fn who_asks_after_it_has_joined_breaks_the_protocol() {
        let mut job = started(OnLoss::End);
        say(&mut job, 1, false);
        job.handle(NOW, Event::GoOn(Rank(1)));
        let EndCause::Failed(Rank(1), Fault::BadMessage(what)) = job.end_cause() else {
            panic!("{:?}", job.end_cause())
        };
        assert_eq!(what, "it asked that the job go on after it had joined");
    }

    #[test]
    fn what_the_user_says_holds_whatever_programs_ask() {
        let mut job = started(OnLoss::Continue);
        say(&mut job, 0, true);
        say(&mut job, 1, false);
        assert_eq!(job.next_action(), Some(Action::Welcome(Rank(0))));
        assert_eq!(job.next_action(), Some(Action::Welcome(Rank(1))));
        assert_eq!(job.next_action(), None);
    }
}

/// Ranks that come later.
mod growing {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);

    /// A job that begins with two ranks, which have joined, and has room for two more.
    fn growing() -> Job {
        let mut job = Job::new((2, 2), Some(LIMIT), LOSS_GRACE, OnLoss::Continue);
        for rank in [0, 1].map(Rank) {
            job.handle(NOW, Event::Hello(rank));
            job.handle(NOW, Event::Joined(rank));
        }
        while job.next_action().is_some() {}
        assert_eq!((job.ranks(), job.next_deadline()), (2, None), "nobody waits for the vacant");
        job
    }

    fn leave(job: &mut Job, rank: u16) {
        job.handle(NOW, Event::Leaving(Rank(rank)));
        end(job, NOW, &[(rank, CLEAN)]);
    }

    #[test]
    fn a_job_is_over_without_those_that_never_came() {
        let mut job = growing();
        leave(&mut job, 0);
        assert!(!job.is_over());
        leave(&mut job, 1);
        assert!(job.is_over());
        assert_eq!(job.end_cause(), EndCause::Completed);
    }

    #[test]
    fn vacant_ranks_are_started_in_their_order_as_long_as_there_are_enough() {
        let mut job = growing();
        job.handle(NOW, Event::Spawn(Rank(1), 3));
        assert_eq!(actions(&mut job), [Action::RefuseSpawn { by: Rank(1), left: 2 }]);
        job.handle(NOW, Event::Spawn(Rank(1), 1));
        assert_eq!(actions(&mut job), [Action::Spawn { by: Rank(1), ranks: vec![Rank(2)] }]);
        assert_eq!((job.ranks(), job.running()), (3, [0, 1, 2].map(Rank).to_vec()));
        job.handle(NOW, Event::Spawn(Rank(0), 2));
        assert_eq!(actions(&mut job), [Action::RefuseSpawn { by: Rank(0), left: 1 }]);
        job.handle(NOW, Event::Spawn(Rank(0), 1));
        assert_eq!(actions(&mut job), [Action::Spawn { by: Rank(0), ranks: vec![Rank(3)] }]);
    }

    #[test]
    fn a_rank_that_comes_has_time_to_join_from_its_own_start_on() {
        let mut job = growing();
        let later = NOW + 10 * LIMIT;
        job.handle(later, Event::Spawn(Rank(0), 1));
        assert_eq!(job.next_deadline(), Some(later + LIMIT));
        job.timeout(later + LIMIT);
        let late = EndCause::Failed(Rank(2), Fault::LateJoin { limit: LIMIT });
        assert_eq!(job.end_cause(), late);
    }

    #[test]
    fn a_rank_that_came_and_is_lost_is_a_loss_like_others_and_its_place_is_not_given_again() {
        let mut job = growing();
        job.handle(NOW, Event::Spawn(Rank(0), 1));
        job.handle(NOW, Event::Hello(Rank(2)));
        while job.next_action().is_some() {}
        end(&mut job, NOW, &[(2, KILLED)]);
        let told = [
            Action::AnnounceLoss { lost: Rank(2), cause: KILLED },
            Action::ReportLoss { lost: Rank(2), fault: Fault::Killed { signal: 9 }, left: 2 },
        ];
        assert_eq!(actions(&mut job), told);
        job.handle(NOW, Event::Spawn(Rank(0), 1));
        assert_eq!(actions(&mut job), [Action::Spawn { by: Rank(0), ranks: vec![Rank(3)] }]);
    }

    #[test]
    fn nobody_is_started_on_a_host_that_is_lost() {
        let mut job = growing();
        job.handle(NOW, Event::HostLost([1, 2].map(Rank).to_vec(), "it is off".into()));
        assert_eq!(job.running(), [Rank(0)]);
        while job.next_action().is_some() {}
        job.handle(NOW, Event::Spawn(Rank(0), 2));
        assert_eq!(actions(&mut job), [Action::RefuseSpawn { by: Rank(0), left: 1 }]);
        job.handle(NOW, Event::Spawn(Rank(0), 1));
        assert_eq!(actions(&mut job), [Action::Spawn { by: Rank(0), ranks: vec![Rank(3)] }]);
        assert_eq!((job.ranks(), job.running()), (4, [0, 3].map(Rank).to_vec()));
        job.handle(NOW, Event::Signal(Signal::TERM));
        assert!(!job.is_done_with([0, 2].map(Rank).into_iter()));
        end(&mut job, NOW, &[(0, CLEAN)]);
        assert!(job.is_done_with([0, 2].map(Rank).into_iter()), "nobody waits for the vacant");
    }

    #[test]
    fn nobody_is_started_for_a_job_that_ends() {
        let mut job = growing();
        job.handle(NOW, Event::Signal(Signal::TERM));
        while job.next_action().is_some() {}
        job.handle(NOW, Event::Spawn(Rank(0), 1));
        assert_eq!(actions(&mut job), []);
    }
}

/// Visitors at the door.
mod door {
    use super::*;

    /// A job of two ranks that has room for three more, one of them on a second host.
    fn open() -> Job {
        let mut job = Job::new((2, 3), Some(NOW), LOSS_GRACE, OnLoss::Continue)
            .on_hosts(|rank| u16::from(rank == Rank(3)));
        for rank in [0, 1].map(Rank) {
            job.handle(NOW, Event::Hello(rank));
            job.handle(NOW, Event::Joined(rank));
        }
        while job.next_action().is_some() {}
        job
    }

    fn visitor(host: u16, number: u32) -> Visitor {
        Visitor { host, number }
    }

    fn knock(job: &mut Job, visitors: &[Visitor]) {
        visitors.iter().for_each(|visitor| job.handle(NOW, Event::Knocked(*visitor)));
        assert_eq!(actions(job), []);
    }

    /// Ranks and visitors when rank 1 lets in `most`.
    fn admitted(job: &mut Job, most: u16) -> Vec<(u16, Visitor)> {
        job.handle(NOW, Event::Admit(Rank(1), most));
        let Some(Action::Admit { by: Rank(1), admitted }) = job.next_action() else {
            panic!("rank 1 has no answer")
        };
        admitted.into_iter().map(|(rank, visitor)| (rank.0, visitor)).collect()
    }

    #[test]
    fn those_who_wait_are_let_in_by_turns_as_far_as_there_are_places_on_their_hosts() {
        let mut job = open();
        assert_eq!(admitted(&mut job, 4), []);
        let all = [visitor(1, 0), visitor(1, 1), visitor(0, 0), visitor(0, 1), visitor(0, 2)];
        knock(&mut job, &all);
        assert_eq!(admitted(&mut job, 0), []);
        assert_eq!(admitted(&mut job, 2), [(3, all[0]), (2, all[2])]);
        assert_eq!((job.visitors_of(0), job.visitors_of(1)), (2, 1));
        assert_eq!(admitted(&mut job, 9), [(4, all[3])]);
        job.handle(NOW, Event::Admit(Rank(0), 1));
        assert_eq!(actions(&mut job), [Action::RefuseSpawn { by: Rank(0), left: 0 }]);
        assert_eq!(job.running(), [0, 1, 2, 3, 4].map(Rank));
    }

    #[test]
    fn who_has_gone_is_not_let_in() {
        let mut job = open();
        let all = [visitor(0, 7), visitor(0, 8), visitor(1, 8)];
        knock(&mut job, &all);
        job.handle(NOW, Event::WentAway(all[0]));
        assert_eq!(actions(&mut job), [Action::Forget(all[0])]);
        job.handle(NOW, Event::HostLost(vec![Rank(3)], "it is off".into()));
        assert_eq!(admitted(&mut job, 3), [(2, all[1])]);
        assert_eq!((job.visitors_of(0), job.visitors_of(1)), (0, 0));
    }

    #[test]
    fn the_end_of_one_that_came_is_what_it_has_said_itself() {
        for (said, fault) in [
            (vec![Event::Leaving(Rank(2))], None),
            (vec![], Some(Fault::Ended)),
            (
                vec![Event::Report(Rank(2), "rank 1 is lost".into())],
                Some(Fault::Exited { status: PEER_LOST.into() }),
            ),
        ] {
            let mut job = open();
            knock(&mut job, &[visitor(0, 0)]);
            assert_eq!(admitted(&mut job, 1), [(2, visitor(0, 0))]);
            job.handle(NOW, Event::Hello(Rank(2)));
            job.handle(NOW, Event::Joined(Rank(2)));
            said.into_iter().for_each(|event| job.handle(NOW, event));
            while job.next_action().is_some() {}
            end(&mut job, NOW, &[(2, Ending::Unseen)]);
            let told = actions(&mut job);
            let reported = told.into_iter().find_map(|action| match action {
                Action::ReportLoss { fault, .. } => Some(fault),
                _ => None,
            });
            assert_eq!(reported, fault);
        }
    }
}
