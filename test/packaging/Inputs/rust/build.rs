//! How a package of cargo's links an object that regrain made.

use std::process::Command;

fn main() {
    println!("cargo:rustc-link-arg={}", std::env::var("SUM_OBJECT").unwrap());
    // The one line:
    print!("{}", String::from_utf8(Command::new("regrain-config").arg("--cargo").output().unwrap().stdout).unwrap());
}
