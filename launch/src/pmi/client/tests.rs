use super::*;
use std::collections::BTreeMap;
use std::thread;

/// A process manager of one rank that answers as `answers` say, after what it must be asked, and
/// returns the store.
fn serve(mut stream: UnixStream, version: Version) -> BTreeMap<String, String> {
    let mut arrived = Arrived::default();
    let (mut store, mut current) = (BTreeMap::new(), Version::One);
    loop {
        let message = loop {
            if let Some(message) = arrived.next(current).unwrap() {
                break message;
            }
            let mut bytes = [0; 7];
            match stream.read(&mut bytes).unwrap() {
                0 => return store,
                count => arrived.push(&bytes[..count]),
            }
        };
        let asked = Reply::parse(current, &message).unwrap();
        let field = |name| asked.get(name).unwrap().to_owned();
        let answer = match &*asked.command {
            "init" => {
                let answer = "cmd=response_to_init pmi_version=V pmi_subversion=0 rc=0\n";
                let answer = answer.replace('V', &field("pmi_version"));
                stream.write_all(answer.as_bytes()).unwrap();
                current = version;
                continue;
            }
            "get_maxes" => "cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=33".into(),
            "get_my_kvsname" => "cmd=my_kvsname kvsname=kvs_1".into(),
            "fullinit" => "cmd=fullinit-response;rc=0;rank=0;size=1;appnum=-1".into(),
            "put" | "kvs-put" => {
                store.insert(field("key"), field("value"));
                let one = asked.command == "put";
                if one { "cmd=put_result rc=0" } else { "cmd=kvs-put-response;rc=0" }.to_owned()
            }
            "get" => match store.get(&field("key")) {
                Some(value) => format!("cmd=get_result rc=0 msg=success value={value}"),
                None => "cmd=get_result rc=-1 msg=not_found".into(),
            },
            "kvs-get" => match store.get(&field("key")) {
                Some(value) => format!("cmd=kvs-get-response;rc=0;found=TRUE;value={value}"),
                None => "cmd=kvs-get-response;rc=0;found=FALSE".into(),
            },
            "barrier_in" => "cmd=barrier_out rc=0".into(),
            "kvs-fence" => "cmd=kvs-fence-response;rc=0".into(),
            "finalize" if current == Version::One => "cmd=finalize_ack".into(),
            "finalize" => "cmd=finalize-response;rc=0".into(),
            other => panic!("{other}"),
        };
        let framed = match current {
            Version::One => format!("{answer}\n"),
            Version::Two => format!("{:<6}{answer};", answer.len() + 1),
        };
        stream.write_all(framed.as_bytes()).unwrap();
    }
}

#[test]
fn values_go_through_a_store_that_limits_words() {
    for version in [Version::One, Version::Two] {
        let (here, there) = UnixStream::pair().unwrap();
        let server = thread::spawn(move || serve(there, version));
        let mut client = Client::begin(here, version, "test".into(), Some((0, 1))).unwrap();
        let value: Vec<u8> = (0..=255).collect();
        client.put("all", &value).unwrap();
        client.put("none", &[]).unwrap();
        client.fence().unwrap();
        assert_eq!(client.get(0, "all").unwrap(), value);
        assert_eq!(client.get(0, "none").unwrap(), [] as [u8; 0]);
        let missing = client.get(1, "all").unwrap_err();
        assert!(matches!(missing, Error::Missing { rank: 1, .. }), "{missing}");
        client.finalize().unwrap();
        drop(client);
        let store = server.join().unwrap();
        // 32 characters a word in PMI-1, of which 6 are the count; 1023 in PMI-2.
        let words = if version == Version::One { 256usize.div_ceil(13) } else { 1 };
        assert_eq!(store.len(), words + 1);
    }
}

/// Error of a client whose process manager says only this.
fn begin_with(says: &[u8]) -> Error {
    let (here, mut there) = UnixStream::pair().unwrap();
    there.write_all(says).unwrap();
    there.shutdown(std::net::Shutdown::Write).unwrap();
    Client::begin(here, Version::One, "test".into(), Some((0, 1))).unwrap_err()
}

#[test]
fn process_managers_that_do_not_answer_well_are_errors() {
    let says = |bytes: &[u8], wanted: &str| {
        let error = begin_with(bytes).to_string();
        assert!(error.contains(wanted), "{error}");
    };
    says(b"cmd=response_to_init pmi_version=2 rc=0\n", "does not speak PMI-1");
    says(b"cmd=response_to_init rc=-1 msg=no\n", "refused 'init': no (-1)");
    says(b"cmd=maxes\n", "unusable: it is 'maxes'");
    says(b"hello\n", "it has no 'cmd'");
    says(b"cmd=response_to_init pmi_version=1\ncmd=maxes vallen_max=8\n", "'vallen_max'");
}

#[test]
fn a_process_manager_that_ends_is_noticed() {
    let (here, there) = UnixStream::pair().unwrap();
    drop(there);
    let error = Client::begin(here, Version::One, "test".into(), Some((0, 1))).unwrap_err();
    assert!(matches!(error, Error::Gone), "{error}");
}
