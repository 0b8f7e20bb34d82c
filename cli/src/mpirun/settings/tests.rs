use super::super::words::split;
use super::*;
use std::time::Duration;
use weft_launch::OnDeadlock;

fn given(line: &str) -> Vec<Given> {
    split(line.split_whitespace().map(OsString::from).collect()).options
}

fn settings(stack: Stack, line: &str, set: &'static [&str]) -> Result<String, String> {
    let provider = Provider { folder: "/p".into() };
    let settings = Settings::of(stack, &provider, &given(line), |name| set.contains(&name));
    settings.map(|settings| settings.to_string()).map_err(|error| error.to_string())
}

const OPEN_MPIS: &str =
    "--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include weft -x FI_PROVIDER_PATH";

#[test]
fn open_mpi_is_told_on_its_command_line() {
    let told = settings(Stack::OpenMpi, "-n 1 --tag-output true", &[]).unwrap();
    assert_eq!(told, format!("FI_PROVIDER_PATH=/p {OPEN_MPIS}"));
}

#[test]
fn a_provider_that_the_environment_names_is_overruled() {
    let told = settings(Stack::OpenMpi, "-n 1 true", &["FI_PROVIDER"]).unwrap();
    let expected = format!("FI_PROVIDER_PATH=/p FI_PROVIDER=weft {OPEN_MPIS} -x FI_PROVIDER");
    assert_eq!(told, expected);
}

#[test]
fn mpich_is_told_in_the_environment() {
    let told = settings(Stack::Mpich, "-n 64 true", &["FI_PROVIDER"]).unwrap();
    let expected =
        "FI_PROVIDER_PATH=/p FI_PROVIDER=weft MPIR_CVAR_CH4_NETMOD=ofi MPIR_CVAR_NOLOCAL=1";
    assert_eq!(told, expected);
}

#[test]
fn intel_mpi_is_told_in_the_environment() {
    let told = settings(Stack::IntelMpi, "-n 64 true", &[]).unwrap();
    let expected =
        "FI_PROVIDER_PATH=/p FI_PROVIDER=weft I_MPI_FABRICS=ofi I_MPI_ADJUST_ALLGATHER=1";
    assert_eq!(told, expected);
}

#[test]
fn ranks_are_told_to_encrypt_and_to_check() {
    let told = |stack| {
        let mut settings = Settings::default();
        settings.ask_for(ENCRYPT, stack);
        settings.ask_for(CHECK, stack);
        settings.to_string()
    };
    assert_eq!(told(Stack::Mpich), "WEFT_ENCRYPT=1 WEFT_CHECK=1");
    let exported = "WEFT_ENCRYPT=1 WEFT_CHECK=1 -x WEFT_ENCRYPT -x WEFT_CHECK";
    assert_eq!(told(Stack::OpenMpi), exported);
}

#[test]
fn ranks_are_told_of_deadlocks_as_far_as_the_user_says() {
    let told = |deadlocks: Deadlocks| {
        let mut settings = Settings::default();
        settings.watch(&deadlocks, Stack::OpenMpi);
        settings.to_string()
    };
    assert_eq!(told(Deadlocks::default()), "");
    let all = Deadlocks {
        progress_limit: Some(Duration::from_millis(2500)),
        on_deadlock: Some(OnDeadlock::End),
    };
    let said =
        "WEFT_PROGRESS_LIMIT=2.5 WEFT_ON_DEADLOCK=end -x WEFT_PROGRESS_LIMIT -x WEFT_ON_DEADLOCK";
    assert_eq!(told(all), said);
}

#[test]
fn what_is_said_already_is_not_said_twice() {
    let told = settings(Stack::OpenMpi, "--mca pml cm -mca mtl ofi true", &[]).unwrap();
    assert_eq!(told, "FI_PROVIDER_PATH=/p --mca mtl_ofi_provider_include weft -x FI_PROVIDER_PATH");
}

#[test]
fn ranks_over_a_fabric_are_told_how_it_is_to_work() {
    let told = |variables: &[(&str, &str)]| {
        let mut settings = Settings::default();
        settings.set_up_fabric(Stack::Mpich, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        settings.to_string()
    };
    let (link, over_tcp) = (("WEFT_LINK", "fabric"), ("WEFT_PROVIDER", "tcp;ofi_rxm"));
    assert!(told(&[link, over_tcp]).contains("FI_OFI_RXM_EAGER_LIMIT=65536"));
    assert!(!told(&[link, ("WEFT_PROVIDER", "verbs;ofi_rxm")]).contains("EAGER"));
    let own = told(&[link, over_tcp, ("FI_OFI_RXM_EAGER_LIMIT", "1"), ("HFI_NO_BACKTRACE", "0")]);
    assert_eq!(own, "IPATH_NO_BACKTRACE=1");
    assert_eq!(told(&[("WEFT_LINK", "udp"), over_tcp]), "");
}

#[test]
fn what_contradicts_is_refused() {
    let error = settings(Stack::OpenMpi, "-n 2 --mca pml ob1 true", &[]).unwrap_err();
    assert!(error.starts_with("--mca pml ob1 contradicts --mca pml cm"), "{error}");
    let line = "--mca mtl_ofi_provider_include tcp true";
    assert!(settings(Stack::OpenMpi, line, &[]).unwrap_err().contains("include weft"));
}

#[test]
fn more_ranks_than_cores_share_them() {
    let room = |line: &str| {
        let mut settings = Settings::default();
        settings.make_room(&given(line), 4);
        settings.to_string()
    };
    for fitting in ["-n 4 true", "true", "-n many true", "-np 3 true"] {
        assert_eq!(room(fitting), "", "{fitting}");
    }
    for crowded in ["-n 5 true", "-np 8 true", "--np 8 true", "-c 5 true"] {
        assert_eq!(room(crowded), "--oversubscribe --bind-to none", "{crowded}");
    }
    assert_eq!(room("-n 5 --bind-to core true"), "--oversubscribe");
    for own in ["--host a:8", "--hostfile f", "--oversubscribe", "--map-by :OVERSUBSCRIBE"] {
        assert_eq!(room(&format!("-n 8 {own} true")), "", "{own}");
    }
}

#[test]
fn there_is_a_core() {
    let threads = available_parallelism().unwrap().get();
    assert!((1..=threads).contains(&cores()));
}

#[test]
fn ranks_alone_are_told_what_to_load() {
    let told = |stack, already: Option<&str>| {
        let mut settings = Settings::default();
        settings.preload(stack, &["/c/l.so".as_ref()], already.map(OsString::from));
        settings.to_string()
    };
    assert_eq!(told(Stack::OpenMpi, None), "-x LD_PRELOAD=/c/l.so");
    assert_eq!(told(Stack::OpenMpi, Some("/a.so")), "-x LD_PRELOAD=/c/l.so:/a.so");
    assert_eq!(told(Stack::Mpich, Some("")), "-genv LD_PRELOAD /c/l.so");
}

#[test]
fn what_the_users_own_options_preload_is_not_lost() {
    for (line, value, expected, left) in [
        ("-n 2 true", Some("/t.so"), Some("/t.so"), 1),
        ("-n 2 true", Some(""), None, 1),
        ("-genv LD_PRELOAD /t.so true", None, Some("/t.so"), 0),
        ("-genv LD_PRELOADS /t.so -genv A b true", None, None, 2),
    ] {
        let mut options = given(line);
        let mut variables = vec![variable("A", "1")];
        variables.extend(value.map(|value| variable(PRELOAD, value)));
        let taken = take_preload(&mut options, &mut variables);
        assert_eq!(taken, expected.map(OsString::from), "{line}");
        assert_eq!((options.len(), variables.len()), (left, 1), "{line}");
    }
}

fn variable(name: &str, value: &str) -> Variable {
    Variable { name: name.into(), value: value.into() }
}

#[test]
fn ranks_have_variables_and_a_directory_in_the_words_of_their_library() {
    let told = |stack| {
        let mut settings = Settings::default();
        let variables = [variable("A", "1"), variable("B", "x=y")];
        settings.surround(&variables, Some("/data".into()), stack).unwrap();
        settings.to_string()
    };
    assert_eq!(told(Stack::OpenMpi), "-x A=1 -x B=x=y --wdir /data");
    assert_eq!(told(Stack::Mpich), "-genv A 1 -genv B x=y -wdir /data");
    assert_eq!(told(Stack::IntelMpi), told(Stack::Mpich));
    let mut settings = Settings::default();
    settings.ask_for(CHECK, Stack::OpenMpi);
    let error = settings.surround(&[variable(CHECK, "0")], None, Stack::OpenMpi).unwrap_err();
    assert!(error.to_string().starts_with("weft mpirun sets WEFT_CHECK itself"), "{error}");
}
