//! Options of `#[weft::main]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitStr, Token};

/// Reaction to losses that the program asks for.
pub enum Options {
    /// None: the job ends.
    Default,
    /// This one, as an expression.
    OnLoss(TokenStream),
}

impl Options {
    /// The call that runs a program.
    pub fn run(&self, program: &Ident) -> TokenStream {
        match self {
            Options::Default => quote!(::weft::run(#program)),
            Options::OnLoss(on_loss) => quote!(::weft::run_for(#on_loss, #program)),
        }
    }
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Ok(Options::Default);
        }
        let name: Ident = input.parse()?;
        if name != "on_loss" {
            let message = "#[weft::main] has the option on_loss alone: \"end\" or \"continue\"";
            return Err(Error::new_spanned(name, message));
        }
        input.parse::<Token![=]>()?;
        let value: LitStr = input.parse()?;
        match value.value().as_str() {
            "end" => Ok(Options::OnLoss(quote!(::weft::OnLoss::End))),
            "continue" => Ok(Options::OnLoss(quote!(::weft::OnLoss::Continue))),
            _ => Err(Error::new_spanned(value, "on_loss is \"end\" or \"continue\"")),
        }
    }
}
