//! A program whose sum is computed by a kernel.

extern "C" {
    fn sum() -> i32;
}

fn main() {
    println!("sum {}", unsafe { sum() });
}
