use super::*;

#[test]
fn a_call_that_is_refused_is_named_and_other_errors_keep_their_numbers() {
    for error in [Errno::PERM, Errno::NOSYS] {
        let said = name_refusal("pidfd_open", error).to_string();
        assert!(said.starts_with(&format!("pidfd_open: {error}; allow pidfd_open")), "{said}");
    }
    let error = name_refusal("pidfd_open", Errno::MFILE);
    assert_eq!(error.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
}
