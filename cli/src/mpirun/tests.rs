use super::*;

fn own(words: &[&str]) -> Own {
    Own::try_parse_from(std::iter::once(&"weft").chain(words)).unwrap()
}

#[test]
fn options_before_and_behind_others_add_up() {
    let others: Vec<OsString> = vec!["--stack".into(), "open-mpi".into()];
    let all = own(&["--dry-run", "--provider", "/p"]).and(&others).unwrap();
    assert_eq!(all.stack, Some(Stack::OpenMpi));
    assert_eq!((all.provider, all.dry_run), (Some("/p".into()), true));
    let weft = own(&[]).and(&["--collectives".into(), "weft".into()]).unwrap();
    assert_eq!(weft.collectives, Some(By::Weft));
    assert_eq!(weft.variables().count(), 0);
    let all = own(&["--collectives", "all"]);
    assert!(all.variables().eq([settings::ALL_COLLECTIVES]));
    let error = own(&[]).and(&["--stack".into(), "lam".into()]).err().unwrap().to_string();
    assert!(error.contains("open-mpi, mpich, intel-mpi"), "{error}");
}

#[test]
fn the_program_says_which_stack_is_wanted() {
    let linked = |stack| Linked { stack, ..Linked::default() };
    let (open_mpi, mpich) = (Some(Stack::OpenMpi), Some(Stack::Mpich));
    let wanted = |said, of| wanted(said, &linked(of)).map(|wanted| wanted.map(Wanted::stack));
    assert_eq!(wanted(None, None).unwrap(), None);
    assert_eq!(wanted(None, mpich).unwrap(), mpich);
    assert_eq!(wanted(open_mpi, None).unwrap(), open_mpi);
    assert_eq!(wanted(open_mpi, open_mpi).unwrap(), open_mpi);
    assert_eq!(wanted(Some(Stack::IntelMpi), mpich).unwrap(), Some(Stack::IntelMpi));
    let error = wanted(open_mpi, mpich).unwrap_err().to_string();
    assert_eq!(error, "--stack says Open MPI, but the program is linked with MPICH");
}

#[test]
fn an_mpi_program_does_not_go_on_after_a_loss() {
    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }
    let line = |words: &str| Line::try_parse_from(words.split(' ')).unwrap().arguments;
    for words in ["mpirun --on-loss continue -n 2 asp", "mpirun -n 2 --on-loss continue asp"] {
        let error = run(line(words)).unwrap_err().to_string();
        let said = "an MPI program ends when it loses a rank: --on-loss continue is for weft run";
        assert_eq!(error, said, "{words}");
    }
    // As ever, which needs a program.
    let error = run(line("mpirun --on-loss end -n 2")).unwrap_err().to_string();
    assert!(error.starts_with("weft mpirun needs a program"), "{error}");
}

#[test]
fn a_time_limit_is_kept_by_timeout_which_leaves_the_terminal_to_mpirun() {
    let words = |limit: Option<&str>| {
        let mut given = vec!["weft".to_owned()];
        given.extend(limit.map(|limit| format!("--time-limit={limit}")));
        let own = Own::try_parse_from(given).unwrap();
        let command = limited("/usr/bin/mpirun".as_ref(), own.surroundings.time_limit());
        as_typed(&Settings::default(), &command)
    };
    assert_eq!(words(None), "/usr/bin/mpirun");
    let expected = "timeout --foreground --verbose --kill-after=10 5400s /usr/bin/mpirun";
    assert_eq!(words(Some("1h 30m")), expected);
    let all = own(&["-x", "A=1", "--chdir", "/"]).and(&["-x".into(), "A=2".into()]).unwrap();
    let variables = all.surroundings.variables();
    assert_eq!((&*variables[0].name, &*variables[0].value), ("A".as_ref(), "2".as_ref()));
    assert_eq!((variables.len(), all.surroundings.directory()), (1, Some("/".into())));
}
