use super::*;

#[test]
fn a_hosts_name_has_a_place_or_comes_last() {
    for (shell, words) in [
        ("ssh -p 2222", "-p 2222 pod"),
        ("docker exec -i", "exec -i pod"),
        ("kubectl exec -i {} --", "exec -i pod --"),
        ("systemd-run --machine={} --pipe", "--machine=pod --pipe"),
        ("both {} x{}y{}", "pod xpodypod"),
    ] {
        let shell: RemoteShell = shell.parse().unwrap();
        assert_eq!(shell.arguments_for("pod"), words.split(' ').collect::<Vec<_>>());
    }
}

/// Quotes are for shells: what starts programs takes them for a part of the name.
#[test]
fn a_command_has_quotes_only_if_a_shell_needs_them() {
    for (weft, words) in [
        ("/usr/bin/weft-1.0", vec!["/usr/bin/weft-1.0", HOST_AGENT]),
        ("/opt/my tools/weft", vec!["'/opt/my tools/weft' host-agent"]),
        ("/opt/it's/weft", vec!["'/opt/it'\\''s/weft' host-agent"]),
        ("~/weft", vec!["'~/weft' host-agent"]),
    ] {
        assert_eq!(agent_command(OsStr::new(weft)), words);
    }
}
