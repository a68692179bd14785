extern "C" {
    fn sum() -> i32;
}

fn main() {
    println!("sum {}", unsafe { sum() });
}
