use super::*;

#[test]
fn programs_make_regions_of_the_sizes_under_which_they_are_shown() {
    for ((name, cases), (_, sizes)) in varied().unwrap().iter().zip(&SIZED) {
        for (case, (bytes, _)) in cases.iter().zip(sizes) {
            assert_eq!(case.region_bytes().unwrap(), thousands(*bytes), "{name}");
        }
    }
}
