use super::name::Name;
use super::templates::{C, MPI, ORCA, RUST, Template};
use std::path::Path;

const ALL: [&Template; 4] = [&RUST, &C, &MPI, &ORCA];

#[test]
fn nothing_of_the_templates_name_is_left() {
    let name = Name::of(Path::new("two-words")).unwrap();
    for template in ALL {
        let texts = template.files.iter().flat_map(|(path, text)| [path, text]);
        for text in texts.chain(template.next) {
            let put = name.put_into(text);
            assert!(!put.contains("my-program") && !put.contains("my_program"), "{put}");
        }
    }
}

#[test]
fn every_file_of_the_folders_is_in_a_template() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/new");
    for (language, template) in [("c", &C), ("mpi", &MPI), ("orca", &ORCA), ("rust", &RUST)] {
        let mut left = vec![folder.join(language)];
        let mut files = 0;
        while let Some(path) = left.pop() {
            match path.is_dir() {
                true => left.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path())),
                false => files += 1,
            }
        }
        assert_eq!(files, template.files.len(), "{language}");
    }
}
