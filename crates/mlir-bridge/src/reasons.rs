//! Why a pass declines: one closed table of reasons for each, from which the enumeration, the texts of remarks and the list that
//! tests go through all come.

use std::fmt::Display;

/// Declares an enumeration of reasons with their texts; `{}` in a text is a place for what [`fill`] puts there.
#[macro_export]
macro_rules! reasons {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$of:meta])* $reason:ident => $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$of])* #[doc = $text] $reason,)+
        }

        impl $name {
            /// The texts of all reasons.
            pub const TEXTS: &[&str] = &[$($text),+];

            /// The reason as remarks give it.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$reason => $text,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.text())
            }
        }

        impl ::std::error::Error for $name {}
    };
}

/// The text of a reason with `values` in its places, from left to right.
pub fn fill(reason: impl Display, values: &[&dyn Display]) -> String {
    let text = reason.to_string();
    let mut parts = text.split("{}");
    let mut made = parts.next().unwrap_or_default().to_owned();
    for (part, value) in parts.zip(values) {
        made.push_str(&value.to_string());
        made.push_str(part);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::fill;

    reasons! {
        /// Reasons of a test.
        pub enum Reason {
            Plain => "it is plain",
            Size => "its {} bytes are over the limit of {}",
        }
    }

    #[test]
    fn fills_places_in_order() {
        assert_eq!(Reason::TEXTS, ["it is plain", "its {} bytes are over the limit of {}"]);
        assert_eq!(Reason::Plain.text(), "it is plain");
        assert_eq!(fill(Reason::Size, &[&8, &4]), "its 8 bytes are over the limit of 4");
    }
}
