use super::{import, import_files};
use crate::input::Input;
use crate::tables::{parse_airports, parse_routes};

const AIRPORTS: &str = r#"580,"Amsterdam Airport Schiphol","Amsterdam","Netherlands","AMS","EHAM",52.308601,4.76389,-11,1,"E","Europe/Amsterdam","airport","OurAirports"
1701,"Atatürk International Airport","Istanbul","Turkey","ISL","LTBA",40.976898,28.8146,163,3,"E","Europe/Istanbul","airport","OurAirports"
4085,"Yinchuan, \"Old\" Airport","Yinchuan","China",\N,"ZLIC",38.481899,106.009003,0,8,"U","Asia/Shanghai","airport","OurAirports"
13696,"Istanbul Airport","Istanbul","Turkey","IST","LTFM",41.275278,28.751944,325,3,\N,\N,"airport","OurAirports"
9999,"Field without a code","Nowhere","Nowhere",\N,\N,1.0,2.0,0,0,"U",\N,"airport","User"
8888,"Field without a route","Elsewhere","Nowhere","ZZZ","ZZZZ",1.0,2.0,0,0,"U",\N,"airport","User"
"#;

const ROUTES: &str = "KL,3090,AMS,580,IST,1701,,0,737\n\
    TK,4951,AMS,580,IST,1701,Y,0,737\n\
    TK,4951,IST,1701,ZLIC,4085,,0,330\n\
    TK,4951,IST,1701,INC,4085,,0,330\n\
    XX,\\N,AMS,580,AMS,580,,0,330\n\
    XX,\\N,AMS,\\N,QQQ,\\N,,0,330\n";

fn input(file: &str, text: &str) -> Input {
    Input { file: file.to_owned(), text: text.to_owned() }
}

#[test]
fn a_small_sample() {
    let imported = import(&input("a", AIRPORTS), &input("r", ROUTES)).expect("well-formed");
    assert_eq!((imported.airport_count, imported.route_count), (3, 2));
    let (airports, codes) = parse_airports(&input("a", &imported.airports)).expect("reads back");
    let named: Vec<&str> = airports.iter().map(|airport| airport.code()).collect();
    assert_eq!(named, ["AMS", "ZLIC", "IST"], "IST is where its code is, INC is nowhere");
    assert_eq!(airports[1].name, "Yinchuan, \"Old\" Airport");
    let routes = parse_routes(&input("r", &imported.routes), &codes).expect("reads back");
    assert_eq!(routes, [(0, 2), (2, 1)], "each pair once, nothing to itself or to nowhere");
}

#[test]
fn malformed_lines_say_where() {
    let error = |airports: &str, routes: &str| {
        import(&input("a.dat", airports), &input("r.dat", routes)).expect_err("bad").to_string()
    };
    assert_eq!(
        error("1,2,3\n", ""),
        "a.dat:1: expected at least 8 fields of an airport, found \"1,2,3\""
    );
    assert_eq!(
        error(&AIRPORTS.replace("40.976898", "x"), ""),
        "a.dat:2: expected a latitude from -90 to 90, found \"x\""
    );
    assert_eq!(
        error(AIRPORTS, "\nKL,3090\n"),
        "r.dat:2: expected at least 5 fields of a route, found \"KL,3090\""
    );
    assert!(
        error("1,\"open\n", "").starts_with("a.dat:1: expected a closing quote, found none in")
    );
    let twice = AIRPORTS.replace("\"IST\"", "\"AMS\"");
    assert_eq!(error(&twice, ""), "a.dat:4: expected a code of no earlier airport, found \"AMS\"");
}

#[test]
fn files_come_out_in_the_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.dat"), AIRPORTS).expect("writable");
    std::fs::write(path("r.dat"), ROUTES).expect("writable");
    let imported =
        import_files(&path("a.dat"), &path("r.dat"), folder.path()).expect("well-formed");
    let text = std::fs::read_to_string(path("routes.tsv")).expect("written");
    assert_eq!(text, imported.routes);
    let nowhere = path("missing").join("deeper");
    let error = import_files(&path("a.dat"), &path("r.dat"), &nowhere).expect_err("no folder");
    assert!(error.to_string().contains("airports.tsv: "), "{error}");
}
