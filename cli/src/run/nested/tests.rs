//! Jobs in jobs.

use super::*;

fn remark_on(variables: &[(&str, &str)]) -> Option<String> {
    remark(|name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
    })
}

#[test]
fn the_first_of_several_says_who_has_started_them() {
    let said = remark_on(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]).unwrap();
    assert!(said.starts_with("mpiexec or srun has started weft run 2 times, "), "{said}");
    assert_eq!(remark_on(&[("PMI_RANK", "1"), ("PMI_SIZE", "2")]), None);
    assert_eq!(remark_on(&[("PMI_RANK", "0"), ("PMI_SIZE", "1")]), None);
    // The script of a batch job is started once, whatever the job has.
    assert_eq!(remark_on(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]), None);
    assert_eq!(remark_on(&[]), None);
}
