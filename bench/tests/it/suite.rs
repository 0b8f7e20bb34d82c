use weft::{Backend, Guard, Packets, Weft};
use weft_bench::suite::{Application, Outcome, Size};
use weft_simulator::{MachineModel, Options, Preset, Simulation};
use weft_threads::Job;

/// Place of a rank that is a thread, where nothing interrupts.
struct Place;

impl Backend for Place {
    fn begin(&self, _: Box<dyn FnMut() + Send>) -> weft::Result<Guard> {
        Ok(Box::new(()))
    }

    fn leave(&self) -> weft::Result<()> {
        Ok(())
    }

    fn end_if_lost(&self) {}
}

fn is_whole(outcomes: Vec<Option<Outcome>>, application: Application) {
    let [Some(first), rest @ ..] = &outcomes[..] else { panic!("{application}: no outcome") };
    assert!(rest.iter().all(Option::is_none), "{application}: rank 0 has the outcome");
    assert_eq!(first.traffic.len(), outcomes.len(), "{application}");
    assert!(first.traffic.iter().any(|traffic| traffic.packets_sent > 0), "{application}");
    assert!(!first.time.is_zero(), "{application}");
}

fn simulate(application: Application, ranks: u16, preset: Preset) -> (Vec<Option<Outcome>>, u64) {
    let machine = MachineModel::named("myrinet-compared").unwrap();
    let simulation = Simulation::new(Options::with_preset(machine, ranks, preset)).unwrap();
    let report = simulation.run_joined(move |weft: Weft| {
        application.run(&weft, Size::Small).map_err(|error| error.to_string())
    });
    let trace = report.trace_hash;
    (report.into_values().unwrap_or_else(|error| panic!("{application}, {preset}: {error}")), trace)
}

#[test]
fn all_are_right_on_threads() {
    let connect = |packets: Packets| {
        (Weft::assemble(packets, Box::new(Place)).unwrap(), Box::new(|| ()) as _)
    };
    for application in Application::ALL {
        let outcomes = Job::new(4).run(connect, |weft| {
            let outcome = application.run(&weft, Size::Small);
            let outcome = outcome.unwrap_or_else(|error| panic!("{application}: {error}"));
            weft.leave().unwrap();
            outcome
        });
        is_whole(outcomes, application);
    }
}

#[test]
fn all_are_right_on_simulated_ranks() {
    for (application, preset) in Application::ALL.into_iter().zip(Preset::ALL.into_iter().cycle()) {
        is_whole(simulate(application, 8, preset).0, application);
    }
}

#[test]
fn runs_repeat() {
    for application in [Application::Asp, Application::Awari, Application::Puzzle4] {
        let (once, again) = [(); 2].map(|()| simulate(application, 12, Preset::HrxHmc)).into();
        assert_eq!(once.1, again.1, "{application}");
        let time = |outcomes: &[Option<Outcome>]| outcomes[0].as_ref().unwrap().time;
        assert_eq!(time(&once.0), time(&again.0), "{application}");
    }
}

#[test]
fn names_name() {
    for application in Application::ALL {
        assert_eq!(application.to_string().parse(), Ok(application));
    }
    let error = "ludo".parse::<Application>().unwrap_err().to_string();
    assert!(error.starts_with("there is no application 'ludo'; there are asp, awari, "), "{error}");
}
