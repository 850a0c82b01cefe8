//! CPU time of a thread, read from any thread.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod imp {
    use std::sync::OnceLock;

    /// The CPU clock of the thread that it is attached to.
    #[derive(Debug, Default)]
    pub(crate) struct ThreadClock(OnceLock<libc::clockid_t>);

    impl ThreadClock {
        /// Binds the clock to the calling thread.
        pub(crate) fn attach_current_thread(&self) {
            let mut id: libc::clockid_t = 0;
            // SAFETY: the thread is the calling one, so it is alive, and `id` is
            // a valid place for the answer.
            if unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut id) } == 0 {
                let _ = self.0.set(id);
            }
        }

        /// Nanoseconds that the thread has worked; 0 before it is attached and
        /// after it has ended.
        pub(crate) fn nanos(&self) -> u64 {
            let Some(&id) = self.0.get() else { return 0 };
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: `time` is a valid place for the answer; the clock of a
            // thread that has ended gives an error and no access.
            if unsafe { libc::clock_gettime(id, &raw mut time) } != 0 {
                return 0;
            }
            u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod imp {
    use std::sync::OnceLock;
    use std::time::Instant;

    /// Where a thread's CPU clock cannot be read from another thread, the time
    /// since it was attached stands for it: waiting for tools counts as well.
    #[derive(Debug, Default)]
    pub(crate) struct ThreadClock(OnceLock<Instant>);

    impl ThreadClock {
        /// Binds the clock to the calling thread.
        pub(crate) fn attach_current_thread(&self) {
            let _ = self.0.set(Instant::now());
        }

        /// Nanoseconds since the clock was attached; 0 before.
        pub(crate) fn nanos(&self) -> u64 {
            self.0.get().map_or(0, |start| u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX))
        }
    }
}

pub(crate) use imp::ThreadClock;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_of_a_working_thread_advances_for_others() {
        let clock = std::sync::Arc::new(ThreadClock::default());
        assert_eq!(clock.nanos(), 0);
        let (attached, wait) = std::sync::mpsc::channel();
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let worker = std::thread::spawn({
            let (clock, stop) = (std::sync::Arc::clone(&clock), std::sync::Arc::clone(&stop));
            move || {
                clock.attach_current_thread();
                attached.send(()).unwrap();
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        });
        wait.recv().unwrap();
        let first = clock.nanos();
        while clock.nanos() == first {
            std::thread::yield_now();
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        worker.join().unwrap();
    }
}
