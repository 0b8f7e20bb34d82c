use super::*;

fn wishes(text: &str) -> Vec<(String, Option<u16>)> {
    parse_hosts(text).unwrap().into_iter().map(|host| (host.name, host.ranks)).collect()
}

fn wish(name: &str, ranks: Option<u16>) -> (String, Option<u16>) {
    (name.into(), ranks)
}

#[test]
fn lists_and_files_are_read() {
    assert_eq!(wishes("a,b:4"), [wish("a", None), wish("b", Some(4))]);
    assert_eq!(wishes("a, a,b:2,a:3"), [wish("a", Some(5)), wish("b", Some(2))]);
    assert_eq!(
        wishes("# two\nnode1:2\n\nme@node2 # slow\n"),
        [wish("node1", Some(2)), wish("me@node2", None)]
    );
}

#[test]
fn files_for_mpi_libraries_are_read() {
    let file = "node1 slots=2\nnode2 slots=4 # more\nnode1 slots=1\nnode3\n";
    let expected = [wish("node1", Some(3)), wish("node2", Some(4)), wish("node3", None)];
    assert_eq!(wishes(file), expected);
    let error = parse_hosts("node1 slots=2 max_slots=4").unwrap_err();
    assert_eq!(error, "max_slots=4: of a host only slots=N is understood");
    assert!(parse_hosts("node1 slots=many").unwrap_err().contains("1 to 1024"));
}

#[test]
fn ipv6_addresses_have_brackets_where_there_is_a_number() {
    assert_eq!(
        wishes("fd00::1,[fd00::2]:4,[fd00::3],fe80::1%eth0"),
        [
            wish("fd00::1", None),
            wish("fd00::2", Some(4)),
            wish("fd00::3", None),
            wish("fe80::1%eth0", None)
        ]
    );
    let error = parse_hosts("fd00:0:0:0:0:0:0:1:4").unwrap_err();
    assert!(error.ends_with("are written [fd00:0:0:0:0:0:0:1]:4"), "{error}");
    assert!(parse_hosts("[fd00::2]4").unwrap_err().contains("is no host"));
    assert!(parse_hosts("[fd00::2]:0").unwrap_err().contains("1 to 1024"));
}

#[test]
fn nonsense_is_refused() {
    for (text, part) in [
        ("", "no host"),
        ("# only this", "no host"),
        ("a:0", "1 to 1024"),
        ("a:1025", "1 to 1024"),
        ("a:many", "1 to 1024"),
        (":3", "is no host"),
        ("-oProxyCommand=x", "is no host"),
    ] {
        let error = parse_hosts(text).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
    let many: Vec<String> = (0..=HOSTS_MAX).map(|number| format!("h{number}")).collect();
    assert!(parse_hosts(&many.join(",")).unwrap_err().contains("at most"));
}

#[test]
fn ranks_are_distributed() {
    let counts = |text, asked| distribute(&parse_hosts(text).unwrap(), &[2, 3, 80], asked);
    assert_eq!(counts("a,b,c", None).unwrap(), [2, 3, 80]);
    assert_eq!(counts("a,b:1", None).unwrap(), [2, 1]);
    assert_eq!(counts("a,b,c", Some(8)).unwrap(), [3, 3, 2]);
    assert_eq!(counts("a:5,b,c", Some(8)).unwrap(), [5, 2, 1]);
    assert_eq!(counts("a:2,b:2", Some(4)).unwrap(), [2, 2]);
    for (text, asked, part) in [
        ("a,b,c", 2, "2 ranks were asked for, and the list of hosts has at least 3"),
        ("a:2,b:2", 5, "5 ranks were asked for, and the list of hosts has 4"),
        ("a:2,b:2", 3, "has 4"),
        ("a,b:1", 1026, "1025 ranks on a"),
        ("a:600,a:600", 1200, "1200 ranks on a"),
    ] {
        let error = counts(text, Some(asked)).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
}
