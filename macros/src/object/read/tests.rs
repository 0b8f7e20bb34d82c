use super::*;
use quote::quote;

/// Error of a block in which this function stands.
fn said(function: proc_macro2::TokenStream) -> String {
    let block = parse_quote! {
        impl Jobs {
            #[read]
            fn first(&self, name: &str, row: &[f64]) -> Vec<u8> { vec![] }
            #function
        }
    };
    match ObjectType::read(Options::default(), block) {
        Ok(_) => "nothing".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn operations_and_alternatives_are_found() {
    let block = parse_quote! {
        impl Jobs {
            /// Takes one.
            #[write(when = !self.waiting.is_empty())]
            pub fn take(&mut self) -> Option<Job> { self.waiting.pop_front() }
            #[read(when = self.is_closed, or = take)]
            fn end(&self) -> Option<Job> { None }
            #[write]
            fn put(&mut self, job: Job, row: &[f64], name: &str, counts: Vec<u16>) {}
        }
    };
    let read = ObjectType::read(Options { name: Some("jobs".into()) }, block).unwrap();
    assert_eq!(
        (read.own.to_string(), &*read.name, read.operations.len()),
        ("Jobs".into(), "jobs", 2)
    );
    let [take, put] = &read.operations[..] else { panic!("two") };
    assert_eq!((take.reads.len(), take.writes.len(), take.documentation.len()), (1, 1, 1));
    assert_eq!(take.reads[0].function, "end");
    assert!(take.writes[0].guard.is_some() && put.writes[0].guard.is_none());
    let ways: Vec<&Way> = put.arguments.iter().map(|argument| &argument.way).collect();
    let [
        Way::Value,
        Way::Array { is_owned: false, .. },
        Way::Text,
        Way::Array { is_owned: true, .. },
    ] = ways[..]
    else {
        panic!("an argument does not travel as it should")
    };
    let marks = read.item.items.iter().filter(|item| match item {
        ImplItem::Fn(function) => {
            function.attrs.iter().any(|a| a.path().is_ident("read") || a.path().is_ident("write"))
        }
        _ => true,
    });
    assert_eq!(marks.count(), 0, "the marks are taken away");
}

#[test]
fn what_cannot_be_an_operation_is_said_where_it_stands() {
    let unmarked = said(quote!(
        fn put(&mut self) {}
    ));
    assert_eq!(unmarked, "say whether this operation may write: `#[read]` or `#[write]`");
    let both = said(quote!(
        #[read]
        #[write]
        fn put(&mut self) {}
    ));
    assert_eq!(both, "an operation has one of `#[read]` and `#[write]`");
    let reads = said(quote!(
        #[read]
        fn put(&mut self) {}
    ));
    assert_eq!(reads, "one that reads takes `&self`");
    let writes = said(quote!(
        #[write]
        fn put(&self) {}
    ));
    assert_eq!(writes, "one that writes takes `&mut self`");
    let free = said(quote!(
        #[write]
        fn put(job: u64) {}
    ));
    assert_eq!(free, "an operation takes `&self` or `&mut self`");
    let waits = said(quote!(
        #[write]
        async fn put(&mut self) {}
    ));
    assert_eq!(waits, "an operation does not wait inside; it waits for its guard: `when = ...`");
    let generic = said(quote!(
        #[write]
        fn put<T>(&mut self, job: T) {}
    ));
    assert_eq!(generic, "an operation is not generic");
    let clause = said(quote!(
        #[write(if = true)]
        fn put(&mut self) {}
    ));
    assert_eq!(clause, "expected identifier, found keyword `if`");
    let clause = said(quote!(
        #[write(whne = true)]
        fn put(&mut self) {}
    ));
    assert_eq!(clause, "`when = guard` and `or = operation` may stand here");
    let or = said(quote!(
        #[read(or = frist)]
        fn put(&self) {}
    ));
    assert_eq!(or, "no operation above has this name");
    let or = said(quote!(
        #[read(or = first)]
        fn put(&self, name: &str) {}
    ));
    assert_eq!(or, "an alternative of `first` has the same arguments");
    assert_eq!(
        said(quote!(
            const A: u8 = 1;
        )),
        "operations, and nothing else, stand here"
    );
}

#[test]
fn arguments_and_results_travel() {
    let borrowed = "an argument may travel to another rank: it is owned, or `&str`, or an array of numbers such as `&[f64]`";
    assert_eq!(
        said(quote!(
            #[write]
            fn put(&mut self, job: &Job) {}
        )),
        borrowed
    );
    assert_eq!(
        said(quote!(
            #[write]
            fn put(&mut self, jobs: &[Job]) {}
        )),
        borrowed
    );
    assert_eq!(
        said(quote!(
            #[write]
            fn put(&mut self, row: &mut [f64]) {}
        )),
        borrowed
    );
    let plain = said(quote!(
        #[write]
        fn put(&mut self, (a, b): (u8, u8)) {}
    ));
    assert_eq!(plain, "an argument of an operation has a plain name");
    let result = said(quote!(
        #[read]
        fn name(&self) -> &str {
            ""
        }
    ));
    assert_eq!(result, "a result may travel to another rank, so it is owned");
    assert_eq!(
        said(quote!(
            #[write]
            fn put(&mut self, job: Job) -> Job {
                job
            }
        )),
        "nothing"
    );
}

#[test]
fn only_a_plain_type_has_objects() {
    let said = |block| ObjectType::read(Options::default(), block).err().unwrap().to_string();
    assert_eq!(
        said(parse_quote!(
            impl<T> Jobs<T> {}
        )),
        "a type of objects is not generic"
    );
    assert_eq!(said(parse_quote!(impl a::Jobs {})), "a type has a plain name");
    let of_trait = said(parse_quote!(impl Clone for Jobs {}));
    assert_eq!(of_trait, "operations stand in a block of the type itself");
    let options = |text| syn::parse_str::<Options>(text).err().unwrap().to_string();
    assert_eq!(options("nmae = \"jobs\""), "the only option is `name = \"...\"`");
    assert_eq!(options("name = \"\""), "the name of a type has 1 to 255 bytes");
}
