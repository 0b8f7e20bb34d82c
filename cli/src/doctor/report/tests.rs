use super::*;

fn report() -> Report {
    let broken = Finding::problem("pidfd", "pidfd_open: not permitted", "allow it");
    Report {
        host: "h".into(),
        system: "Linux 6.1".into(),
        links: vec![Finding::ok("shm", "the default")],
        needs: vec![broken],
        managers: vec![Finding::ok("process manager", "none")],
        hosts: vec![Finding::absent("remote shell", "there is no ssh", "install it")],
        memory: vec![Memory {
            ranks: 2,
            window_packets: 128,
            rings_bytes: 1 << 16,
            bytes_per_rank: 1 << 20,
            bytes: 2 << 20,
        }],
        costs: vec![Cost { name: "sched_yield", unit: "ns", p50: 900, rounds: 7 }],
        slow: vec![
            Finding::ok("steal", "none"),
            Finding {
                status: Status::Costs,
                ..Finding::problem("huge pages", "none", "have some")
            },
        ],
    }
}

#[test]
fn programs_get_one_object_a_line() {
    let expected = r#"{"doctor":"machine","host":"h","system":"Linux 6.1"}
{"doctor":"link","name":"shm","status":"ok","detail":"the default"}
{"doctor":"need","name":"pidfd","status":"problem","detail":"pidfd_open: not permitted","advice":"allow it"}
{"doctor":"manager","name":"process manager","status":"ok","detail":"none"}
{"doctor":"hosts","name":"remote shell","status":"absent","detail":"there is no ssh","advice":"install it"}
{"doctor":"memory","ranks":2,"window_packets":128,"rings_bytes":65536,"bytes_per_rank":1048576,"bytes":2097152}
{"doctor":"cost","name":"sched_yield","unit":"ns","p50":900,"rounds":7}
{"doctor":"slow","name":"steal","status":"ok","detail":"none"}
{"doctor":"slow","name":"huge pages","status":"costs","detail":"none","advice":"have some"}
"#;
    assert_eq!(report().to_json().unwrap(), expected);
}

#[test]
fn people_get_lines_under_headings() {
    let expected = "\
h, Linux 6.1

links
  ok       shm                   the default

what shm needs
  PROBLEM  pidfd                 pidfd_open: not permitted
                                 -> allow it

inside Slurm, and under mpirun
  ok       process manager       none

for several hosts
  -        remote shell          there is no ssh
                                 -> install it

memory of a job, at most (pages that are never touched cost nothing)
     2 ranks   window 128    1.0 MiB each,  0.1 MiB of it rings      2.0 MiB in all

costs, medians
  sched_yield                      900 ns

what costs performance here now
  ok       steal                 none
  costs    huge pages            none -> have some
";
    assert_eq!(report().to_text(), expected);
}

#[test]
fn what_mpi_programs_need_is_a_report_of_its_own() {
    let findings =
        [Finding::ok("mpirun", "here"), Finding::problem("provider", "nowhere", "install")];
    let expected = "\
MPI programs on Weft
  ok       mpirun                here
  PROBLEM  provider              nowhere
                                 -> install
";
    assert_eq!(of_mpi(&findings, false).unwrap(), expected);
    let expected = r#"{"doctor":"mpi","name":"mpirun","status":"ok","detail":"here"}
{"doctor":"mpi","name":"provider","status":"problem","detail":"nowhere","advice":"install"}
"#;
    assert_eq!(of_mpi(&findings, true).unwrap(), expected);
}
