//! Registering from several threads at once, as the threads of a test binary do. Alone in its file: only the first
//! registrations of a process can race.

use std::sync::Barrier;

use mlir_bridge::{ir::Ctx, new_context};

#[test]
fn threads_register_at_once() {
    const THREADS: usize = 16;
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                start.wait();
                regrain_dialects::register();
                assert!(Ctx::from(&new_context()).load_dialect("regrain"));
            });
        }
    });
}
