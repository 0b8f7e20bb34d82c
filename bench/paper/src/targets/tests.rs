use super::*;

#[test]
fn every_row_of_the_papers_is_read() {
    let targets = Targets::read().unwrap();
    let rows = Paper::ALL.map(|paper| targets.of(paper).count());
    assert_eq!(rows, [565, 431, 120, 354]);
    assert_eq!(targets.all().len(), 1470);
}

#[test]
fn values_are_numbers_words_or_nothing() {
    let targets = Targets::read().unwrap();
    let number = |id: &str| targets.get(id).unwrap().number();
    assert_eq!(number("T5.1-os"), Some(1.6));
    assert_eq!(number("S5.1.1-thr-copy-1K"), Some(63.2));
    assert_eq!(number("S5.2-fa-bottleneck"), None, "printed as a word");
    assert_eq!(number("S8.5.4-region"), None, "a range");
    let order = targets.get("S8.3.4-lat").unwrap();
    assert_eq!((order.number(), order.says()), (None, "every Imc < every Hmc"));
}

#[test]
fn what_is_not_asked_has_a_reason() {
    let targets = Targets::read().unwrap();
    for row in targets.all() {
        let needs_one = !matches!(row.role, Role::Predict | Role::Setting);
        assert!(!needs_one || targets.why_not(&row.id).is_some(), "{}: {}", row.id, row.role);
    }
}

#[test]
fn calibration_is_the_tables_that_the_pages_name() {
    let targets = Targets::read().unwrap();
    let calibrate = targets.all().iter().filter(|row| row.role == Role::Calibrate);
    let outside: Vec<&str> =
        calibrate.filter(|row| !is_of_the_tables(row)).map(|row| row.id.as_str()).collect();
    assert_eq!(outside, [""; 0]);
}

/// Tables 5.1 and 8.4 of the thesis (G of table 5.1 is printed a second time, in 5.1.1), table 1 of
/// careful-protocols and the times on one node of its table 4, and of Pupa's the column of 4 bytes
/// and three cells.
fn is_of_the_tables(row: &Target) -> bool {
    const PUPA: [&str; 3] = ["PU-T2-copy-1436", "PU-T2-buf-64", "PU-T2-buf-256"];
    match row.paper {
        Paper::Thesis => {
            matches!(row.section.as_str(), "5.1.2" | "8.2.3")
                || row.note == "same number as T5.1-bigG"
        }
        Paper::Careful => row.section == "6.1 Table 1" || row.id.starts_with("CP-T4-P1-"),
        Paper::Sender => false,
        Paper::Pupa => row.what.ends_with(" 4-byte message") || PUPA.contains(&row.id.as_str()),
    }
}

#[test]
fn broken_data_is_refused_with_its_place() {
    let heading = "id,section,what,value,unit,kind,role,line,note\n";
    let refused = |rows: &str| {
        Targets::parse(&[("test.csv", &format!("{heading}{rows}"))]).unwrap_err().to_string()
    };
    assert_eq!(
        refused("a,1,x,,,order,predict,1,\na,1,y,,,order,predict,1,\n"),
        "two targets are called 'a'"
    );
    let error = refused("a,1,x,,,guess,predict,1,\n");
    assert!(error.starts_with("test.csv: ") && error.contains("guess"), "{error}");
}
