//! The language server, asked over a connection.

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use weft_orca::server::serve_over;

const TEXT: &str = "\
object implementation Int;
  x: integer;
  operation inc();
  begin
    x := x + 1;
  end;
end;
process OrcaMain();
  one: Int;
begin
end;
";

/// An editor that has begun to talk to a server.
fn talk(talk: impl FnOnce(&Connection)) {
    let (editor, server) = Connection::memory();
    let thread = std::thread::spawn(move || serve_over(&server).map_err(|error| error.to_string()));
    ask(&editor, 1, "initialize", json!({"capabilities": {}}));
    tell(&editor, "initialized", json!({}));
    talk(&editor);
    ask(&editor, 99, "shutdown", Value::Null);
    tell(&editor, "exit", Value::Null);
    assert_eq!(thread.join().expect("the server ends"), Ok(()));
}

fn tell(editor: &Connection, method: &str, params: Value) {
    let notification = Notification::new(method.to_owned(), params);
    editor.sender.send(Message::Notification(notification)).expect("the server listens");
}

fn ask(editor: &Connection, id: i32, method: &str, params: Value) -> Response {
    let request = Request::new(RequestId::from(id), method.to_owned(), params);
    editor.sender.send(Message::Request(request)).expect("the server listens");
    match editor.receiver.recv().expect("the server answers") {
        Message::Response(response) => response,
        other => panic!("{other:?}"),
    }
}

/// Diagnostics that the server shows next.
fn shown(editor: &Connection) -> Value {
    match editor.receiver.recv().expect("the server answers") {
        Message::Notification(notification) => notification.params["diagnostics"].clone(),
        other => panic!("{other:?}"),
    }
}

fn open(editor: &Connection, address: &str, text: &str) {
    let document = json!({"uri": address, "languageId": "orca", "version": 1, "text": text});
    tell(editor, "textDocument/didOpen", json!({"textDocument": document}));
}

#[test]
fn errors_are_shown_and_go_when_they_are_mended() {
    talk(|editor| {
        open(editor, "file:///a.orca", &TEXT.replace("x + 1", "y + 1"));
        let errors = shown(editor);
        assert_eq!(errors.as_array().unwrap().len(), 1);
        assert_eq!(errors[0]["code"], "O101");
        let start = json!({"line": 4, "character": 9});
        assert_eq!(errors[0]["range"]["start"], start);
        let changed = json!({
            "textDocument": {"uri": "file:///a.orca", "version": 2},
            "contentChanges": [{"text": TEXT}],
        });
        tell(editor, "textDocument/didChange", changed);
        assert_eq!(shown(editor), json!([]));
    });
}

#[test]
fn names_lead_to_their_declarations() {
    let text =
        TEXT.replace("one: Int;\nbegin\n", "one: Int;\nbegin\n  WriteLine(\"ä𝄞\"); one$inc();\n");
    talk(|editor| {
        open(editor, "file:///a.orca", &text);
        assert_eq!(shown(editor), json!([]));
        let mut id = 2;
        let mut declared = |line: u32, character: u32| {
            let at = json!({
                "textDocument": {"uri": "file:///a.orca"},
                "position": {"line": line, "character": character},
            });
            id += 1;
            let found = ask(editor, id, "textDocument/definition", at).result.unwrap();
            (
                found["range"]["start"]["line"].as_u64(),
                found["range"]["start"]["character"].as_u64(),
            )
        };
        assert_eq!(declared(4, 9), (Some(1), Some(2))); // x
        assert_eq!(declared(8, 8), (Some(0), Some(22))); // Int
        // Behind a letter that is two units wide.
        assert_eq!(declared(10, 20), (Some(8), Some(2))); // one
        assert_eq!(declared(10, 25), (Some(2), Some(12))); // inc
        assert_eq!(declared(10, 5), (None, None)); // WriteLine is every program's.
        assert_eq!(declared(500, 5), (None, None));
    });
}

#[test]
fn names_of_instances_lead_to_them_and_to_what_is_generic() {
    let text = "generic (type T)\nobject implementation Cell;\n  value: T;\n\
                operation Put(x: T);\nbegin\n  value := x;\nend;\nend generic;\n\
                object Texts = new Cell(string);\nprocess OrcaMain();\n  texts: Texts;\nbegin\n\
                texts$Put(\"a\");\nend;\n";
    talk(|editor| {
        open(editor, "file:///a.orca", text);
        assert_eq!(shown(editor), json!([]));
        let uses = [((10, 10), (8, 7)), ((12, 7), (3, 10)), ((5, 3), (2, 2)), ((5, 11), (3, 14))];
        for (id, ((line, character), (to_line, to_character))) in (2..).zip(uses) {
            let at = json!({
                "textDocument": {"uri": "file:///a.orca"},
                "position": {"line": line, "character": character},
            });
            let found = ask(editor, id, "textDocument/definition", at).result.unwrap();
            let start = json!({"line": to_line, "character": to_character});
            assert_eq!(found["range"]["start"], start, "{line}:{character}");
        }
    });
}

#[test]
fn what_is_imported_is_looked_for_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let module = "module specification M; const C = 1; end;\nmodule implementation M; end;\n";
    std::fs::write(folder.path().join("m.orca"), module).unwrap();
    std::fs::write(folder.path().join("other.orca"), "process OrcaMain(); begin end;").unwrap();
    let main = "from M import C;\nprocess OrcaMain(); begin WriteLine(C); end;\n";
    talk(|editor| {
        let address = format!("file://{}/main%2Eorca", folder.path().display());
        open(editor, &address, main);
        assert_eq!(shown(editor), json!([]));
        let at = json!({
            "textDocument": {"uri": address}, "position": {"line": 1, "character": 36},
        });
        let found = ask(editor, 5, "textDocument/definition", at).result.unwrap();
        assert!(found["uri"].as_str().unwrap().ends_with("/m.orca"), "{found}");
    });
}

#[test]
fn what_is_not_served_is_said() {
    talk(|editor| {
        let response = ask(editor, 7, "textDocument/hover", json!({}));
        assert_eq!(response.error.unwrap().message, "`textDocument/hover` is not served");
    });
}
