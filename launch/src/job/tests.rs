use super::*;

const NOW: Duration = Duration::from_secs(1);
const LOSS_GRACE: Duration = Duration::from_millis(80);
const KILLED: Ending = Ending::Killed(9);
const CLEAN: Ending = Ending::Exited(0);
const VICTIM: Ending = Ending::Exited(PEER_LOST as i32);

/// A job whose ranks have all joined.
fn joined(ranks: u16) -> Job {
    let mut job = Job::new(ranks, Some(Duration::from_secs(30)), LOSS_GRACE);
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
    let mut job = Job::new(2, None, LOSS_GRACE);
    end(&mut job, NOW, &[(1, CLEAN)]);
    end(&mut job, NOW, &[(0, CLEAN)]);
    assert!(job.is_over());
    assert_eq!(job.end_cause(), EndCause::NotWeft);
}

#[test]
fn a_rank_that_ends_without_asking_fails_a_job_that_others_asked_to_join() {
    let failed = EndCause::Failed(Rank(1), Fault::NeverJoined);
    let mut before = Job::new(2, None, LOSS_GRACE);
    end(&mut before, NOW, &[(1, CLEAN)]);
    assert_eq!(before.next_deadline(), None);
    before.handle(NOW, Event::Hello(Rank(0)));
    assert_eq!(before.end_cause(), failed);
    let mut after = Job::new(2, None, LOSS_GRACE);
    after.handle(NOW, Event::Hello(Rank(0)));
    end(&mut after, NOW, &[(1, CLEAN)]);
    assert_eq!(after.end_cause(), failed);
}

#[test]
fn a_rank_that_does_not_join_in_time_ends_the_job() {
    let limit = Duration::from_secs(5);
    let mut job = Job::new(2, Some(limit), LOSS_GRACE);
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
    let mut job = Job::new(2, Some(Duration::from_secs(5)), LOSS_GRACE);
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

mod any_order {
    use super::*;
    use proptest::prelude::*;

    fn any_event() -> impl Strategy<Value = Event> {
        let rank = || (0..3u16).prop_map(Rank);
        let ending = prop_oneof![Just(CLEAN), Just(VICTIM), Just(KILLED), Just(Ending::Exited(3))];
        let signal = prop_oneof![Just(Signal::INT), Just(Signal::TERM), Just(Signal::HUP)];
        prop_oneof![
            rank().prop_map(Event::Hello),
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
        /// Whatever happens, a job that has begun to end is over once its deadlines have passed.
        #[test]
        fn a_job_that_ends_is_over_in_bounded_time(events in proptest::collection::vec(any_event(), 1..40)) {
            let mut job = Job::new(3, Some(Duration::from_secs(30)), LOSS_GRACE);
            for event in events {
                let ended = matches!(&event, Event::Ended(list) if job.ranks[list[0].0.index()].ended.is_some());
                if !ended {
                    job.handle(NOW, event);
                }
            }
            let announced = actions(&mut job);
            let count = announced.iter().filter(|action| matches!(action, Action::AnnounceLoss { .. })).count();
            prop_assert!(count <= 1);
            let mut deadlines = 0;
            while let Some(deadline) = job.next_deadline().filter(|_| !job.is_over()) {
                job.timeout(deadline);
                deadlines += 1;
                prop_assert!(deadlines <= 3);
            }
            let all_joined = job.running().iter().all(|rank| job.ranks[rank.index()].stage >= Stage::Joined);
            prop_assert!(job.is_over() || all_joined);
        }
    }
}
