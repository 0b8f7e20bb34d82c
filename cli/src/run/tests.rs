use super::*;
use clap::Parser;
use weft_launch::{FarLink, OnLoss};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    arguments: Arguments,
}

fn parse(words: &str) -> Result<JobSpec, String> {
    let mut line = Line::try_parse_from(words.split(' ')).map_err(|error| error.to_string())?;
    line.arguments.divide().map_err(|error| error.to_string())?;
    line.arguments.check().map_err(|error| error.to_string())?;
    Ok(spec(line.arguments, 3))
}

#[test]
fn what_is_not_said_is_as_usual() {
    let spec = parse("run -- asp --from AMS").unwrap();
    assert_eq!(spec.settings, Settings::new(3));
    assert_eq!((spec.program, spec.arguments), ("asp".into(), vec!["--from".into(), "AMS".into()]));
    assert_eq!(spec.options, [("preset".into(), "nrx-imc".into())].into());
    assert_eq!((spec.binding, spec.join_limit), (Binding::None, Some(Duration::from_secs(30))));
    assert!(spec.dedicated && !spec.output.label && spec.output.directory.is_none());
}

#[test]
fn everything_can_be_said() {
    let words = "run -n 8 --link shm --preset nrx-hmc --tree chain --interrupt-delay-us 50 --window 16 \
                 --output-dir runs --bind core --join-limit 0 ./prog";
    let spec = parse(words).unwrap();
    assert_eq!(spec.settings, Settings { window_packets: 16, ..Settings::new(8) });
    let options = [("preset", "nrx-hmc"), ("tree", "chain"), ("interrupt-delay-us", "50")];
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(spec.options, options.into());
    assert_eq!((spec.binding, spec.join_limit), (Binding::Core, None));
    assert_eq!(spec.output.directory, Some("runs".into()));
    let spec = parse("run -n 2 --grace 1.5 true").unwrap();
    assert_eq!(spec.options.get("grace-ms").map(String::as_str), Some("1500"));
    let spec = parse("run -n 2 --on-loss continue true").unwrap();
    assert_eq!(spec.on_loss(), OnLoss::Continue);
    assert_eq!(spec.options.get("on-loss").map(String::as_str), Some("continue"));
    assert_eq!(parse("run -n 2 --on-loss end true").unwrap().on_loss(), OnLoss::End);
}

#[test]
fn ranks_on_a_network_get_sockets_and_a_protocol_that_retransmits() {
    let spec = parse("run -n 2 --link udp true").unwrap();
    let options = [("all-far", "true"), ("preset", "pupa")];
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!((spec.sockets, spec.options, spec.mtu), (true, options.into(), None));
    let spec = parse("run --link udp --mtu 1300 true").unwrap();
    assert_eq!(spec.mtu, Mtu::new(1300));
    assert_eq!(spec.protection, Protection::Headers);
    let spec = parse("run --hosts a,b --authenticate true").unwrap();
    assert_eq!(spec.protection, Protection::Tagged);
    let spec = parse("run --hosts a,b --encrypt --authenticate true").unwrap();
    assert_eq!(spec.protection, Protection::Encrypted);
    let spec = parse("run --hosts a,b --silence 2.5 true").unwrap();
    assert_eq!(spec.options.get("silence-ms").map(String::as_str), Some("2500"));
    assert!(!parse("run --hosts a,b --link udp true").unwrap().sockets);
    let spec = parse("run --hosts a,b --lossless --preset nrx-hmc true").unwrap();
    let options = [("lossless", "true"), ("preset", "nrx-hmc")];
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!((spec.settings.frame_bytes, spec.options), (8960, options.into()));
    let spec = parse("run --hosts a,b:4 -n 900 --preset hrx-hmc true").unwrap();
    assert_eq!((spec.sockets, spec.options), (false, [("preset".into(), "hrx-hmc".into())].into()));
}

#[test]
fn hosts_are_given_by_list_or_by_file() {
    let hosts = |words: &str| {
        let line = Line::try_parse_from(words.split(' ')).map_err(anyhow::Error::from)?;
        let ranks = (line.arguments.ranks, line.arguments.room);
        line.arguments.hosts.spec(ranks, line.arguments.link)
    };
    let given = hosts("run --hosts a,b:4 -n 6 --room 9 --interface eth1 true").unwrap().unwrap();
    let names: Vec<_> = given.hosts.iter().map(|host| (host.name.as_str(), host.ranks)).collect();
    assert_eq!(names, [("a", None), ("b", Some(4))]);
    assert_eq!((given.ranks, given.room), (Some(6), Some(9)));
    assert_eq!(given.interface.as_deref(), Some("eth1"));
    assert_eq!(given.far, FarLink::Auto);
    assert_eq!(hosts("run --hosts a,b --link xdp true").unwrap().unwrap().far, FarLink::Xdp);
    assert_eq!(hosts("run --hosts a,b --link udp true").unwrap().unwrap().far, FarLink::Udp);
    assert_eq!(given.remote_shell.program, "ssh");
    assert!(hosts("run true").unwrap().is_none());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, "n1:2 # fast\nn2\n").unwrap();
    let words = format!("run --hostfile {} --rsh rsh --remote-weft /w true", file.path().display());
    let given = hosts(&words).unwrap().unwrap();
    assert_eq!((given.hosts.len(), given.hosts[0].ranks), (2, Some(2)));
    let shell = "rsh".parse().unwrap();
    assert_eq!((given.remote_shell, given.remote_weft), (shell, Some("/w".into())));
    let error = format!("{:#}", hosts("run --hostfile /no/file true").unwrap_err());
    assert!(error.starts_with("cannot read /no/file: No such file"), "{error}");
}

#[test]
fn options_behind_the_program_are_its_own() {
    let spec = parse("run asp -n 4 --label").unwrap();
    assert_eq!(spec.settings.ranks, 3);
    assert_eq!(spec.arguments, ["-n", "4", "--label"]);
}

#[test]
fn ranks_may_run_several_programs() {
    let spec = parse("run -n 1 ./a x -n 9 : -n 3 ./b : -n2 -- ./c -v").unwrap();
    assert_eq!((spec.settings.ranks, spec.program), (6, "./a".into()));
    assert_eq!(spec.arguments, ["x", "-n", "9"]);
    let later = |first, program: &str, arguments: &[&str]| Program {
        first,
        program: program.into(),
        arguments: arguments.iter().map(Into::into).collect(),
    };
    assert_eq!(spec.later, [later(1, "./b", &[]), later(4, "./c", &["-v"])]);
    let each = "of several programs each needs its ranks";
    for (words, why) in [
        ("run ./a : -n 2 ./b", each),
        ("run -n 1 : -n 2 ./b", each),
        ("run -n 1 ./a : ./b", "after ':' comes -n P and a program, and not './b'"),
        ("run -n 1 ./a :", "after ':' comes -n P and a program, and not ''"),
        ("run -n 1 ./a : -n 0 ./b", "after ':' comes -n P and a program, and not '-n 0 ./b'"),
        ("run -n 1000 ./a : -n 25 ./b", "a job has 1 to 1024 ranks"),
    ] {
        let error = parse(words).map(|_| ()).unwrap_err();
        assert!(error.contains(why), "{words}: {error}");
    }
}

#[test]
fn nonsense_is_refused_with_what_is_allowed() {
    for (words, allowed) in [
        ("run -n 0 true", "a job has 1 to 1024 ranks"),
        ("run -n 1025 true", "a job has 1 to 1024 ranks"),
        ("run -n 4 --room 3 true", "--room 3 is less than the 4 ranks"),
        ("run --hosts a,b --room 8 --link fabric true", "--room is for shm, udp and xdp"),
        ("run --room 1025 true", "a job has 1 to 1024 ranks"),
        ("run -n many true", "a job has 1 to 1024 ranks"),
        ("run --preset irx true", "there are nrx-imc, nrx-hmc"),
        ("run --link tcp true", "auto, shm, udp, xdp"),
        ("run --preset irx-imc true", "shared memory loses nothing"),
        ("run --link udp --preset nrx-imc true", "a network loses packets, and nrx-imc never"),
        ("run --hosts a,b --preset nrx-hmc true", "a network loses packets, and nrx-hmc never"),
        ("run --lossless true", "these ranks share memory"),
        ("run --mtu 1300 true", "these ranks share memory"),
        ("run --silence 2 true", "these ranks share memory"),
        ("run --link udp --silence 0.1 true", "it is a time from 500ms to 1h, such as"),
        ("run --grace 4000 true", "it is a time from 0s to 1h, such as"),
        ("run --on-loss kill true", "\"kill\" is neither end nor continue"),
        ("run --link udp --mtu 100 true", "an MTU is a number from 576 to 9000"),
        ("run --hosts a,b --link shm true", "hosts share no memory"),
        ("run --link xdp true", "name other hosts with --hosts"),
        ("run --hosts a:0 true", "a:0: a host has 1 to 1024 ranks"),
        ("run --hosts a --hostfile b true", "cannot be used with"),
        ("run --hosts a,b -n 1025 true", "1 to 1024 ranks"),
        ("run --hosts a,b --rsh= true", "it is empty: name a command, such as ssh"),
        ("run --bind socket true", "none, core"),
        ("run --label --output-dir x true", "cannot be used with"),
        ("run -n 2", "<PROGRAM>"),
    ] {
        let error = parse(words).unwrap_err();
        assert!(error.contains(allowed), "{words}: {error}");
    }
}

#[test]
fn the_first_line_counts() {
    let of = |ranks, cores: Cores| first_line(ranks, &cores, Link::Auto, Preset::NrxImc);
    let line = |ranks, count| of(ranks, Cores { count, quota: None, others: 0 });
    let shared = "4 ranks on 1 host, shm, nrx-imc, 2 cores shared by 4 ranks: waiting yields";
    assert_eq!(line(4, 2), shared);
    assert_eq!(line(2, 2), "2 ranks on 1 host, shm, nrx-imc, 2 cores: waiting spins");
    assert_eq!(line(1, 1), "1 rank on 1 host, shm, nrx-imc, 1 core: waiting spins");
    let shared = "2 ranks on 1 host, shm, nrx-imc, 1 core shared by 2 ranks: waiting yields";
    assert_eq!(line(2, 1), shared);
    let rationed = Cores { count: 2, quota: Some(0.5), others: 0 };
    assert_eq!(
        of(2, rationed),
        "2 ranks on 1 host, shm, nrx-imc, 2 cores: a quota of 0.5 cores: waiting sleeps soon"
    );
    let asked = first_line(2, &rationed, Link::Udp, Preset::Pupa);
    assert!(asked.starts_with("2 ranks on 1 host, udp (asked for), pupa, 2 cores: "), "{asked}");
}

#[test]
fn the_first_line_is_said_unless_somebody_wants_quiet() {
    let says = |words: &str| {
        let line = Line::try_parse_from(words.split(' ')).unwrap();
        (line.arguments.quiet, line.arguments.verbose)
    };
    assert_eq!((says("run -q -- asp"), says("run --quiet -- asp")), ((true, false), (true, false)));
    assert!(says("run -v -- asp").1);
}

#[test]
fn a_fabric_is_taken_by_itself_only_where_nothing_else_was_asked_for() {
    let take = |words: &str| {
        let mut line = Line::try_parse_from(words.split(' ')).unwrap();
        line.arguments.provider = None; // The environment's.
        let why = line.arguments.take_fabric(|| Some("verbs;ofi_rxm".into()));
        (why, line.arguments.link == Link::Fabric, line.arguments.preset())
    };
    let why = Some("verbs;ofi_rxm, with hardware of its own".to_owned());
    assert_eq!(take("run --hosts a,b -- asp"), (why, true, Preset::default()));
    for words in [
        "run -- asp",
        "run --hosts a,b --link udp -- asp",
        "run --hosts a,b --preset pupa -- asp",
        "run --hosts a,b --mtu 1500 -- asp",
        "run --hosts a,b --bulk tcp -- asp",
        "run --hosts a,b --lossless -- asp",
    ] {
        let (why, takes, _) = take(words);
        assert!(why.is_none() && !takes, "{words}");
    }
    let mut line = Line::try_parse_from("run --hosts a,b -- asp".split(' ')).unwrap();
    assert_eq!(line.arguments.take_fabric(|| None), None);
    assert!(line.arguments.link == Link::Auto);
}
