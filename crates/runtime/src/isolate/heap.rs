//! The heap and array-buffer limits of one isolate.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deno_core::v8;

use super::control::{Cause, RunControl};

/// What the engine's limit callback needs; lives as long as the isolate.
pub(crate) struct HeapGuard {
    control: Arc<RunControl>,
    /// The engine has said that the heap limit is near.
    reached: AtomicBool,
    #[cfg(feature = "v8")]
    buffers: Arc<buffers::Budget>,
}

impl HeapGuard {
    pub(crate) fn new(control: Arc<RunControl>) -> Box<Self> {
        Box::new(Self {
            #[cfg(feature = "v8")]
            buffers: Arc::new(buffers::Budget::new(control.limits.max_array_buffer_bytes)),
            control,
            reached: AtomicBool::new(false),
        })
    }

    /// Parameters for an isolate under the limits.
    pub(crate) fn create_params(&self) -> v8::CreateParams {
        let heap_bytes = self.control.limits.max_old_generation_size_mb << 20;
        let params = v8::CreateParams::default().heap_limits(0, heap_bytes);
        #[cfg(feature = "v8")]
        let params = params.array_buffer_allocator(buffers::allocator(Arc::clone(&self.buffers)));
        params
    }

    /// Arms the limit. `self` must outlive the isolate.
    pub(crate) fn arm(&self, isolate: &mut v8::Isolate) {
        isolate.add_near_heap_limit_callback(near_limit, std::ptr::from_ref(self).cast_mut().cast());
    }

    /// True if the heap limit was reached, also if the program went on.
    pub(crate) fn reached(&self) -> bool {
        self.reached.load(Ordering::Acquire)
    }
}

/// Gives what an isolate had back to the operating system, once it is gone; worth it after a heap limit.
pub(crate) fn give_back() {
    // QuickJS has its memory from `malloc`, which keeps what a thread has freed in that thread's arena.
    #[cfg(all(not(feature = "v8"), target_os = "linux", target_env = "gnu"))]
    // SAFETY: it touches only what nobody has allocated, and may be called at any time.
    unsafe {
        libc::malloc_trim(0)
    };
}

/// V8 does not say how much it wants, tries again, and ends the process if the
/// limit was not raised enough: so it is raised far, and the isolate discarded.
#[cfg(feature = "v8")]
const RAISE_BYTES: usize = 2 << 30;

/// Called by the engine on the isolate's thread. Returns the new limit.
unsafe extern "C" fn near_limit(data: *mut c_void, current: usize, _initial: usize) -> usize {
    // SAFETY: `data` is the guard that `arm` was called on, which outlives the
    // isolate, and all its parts may be shared.
    let guard = unsafe { &*data.cast::<HeapGuard>() };
    #[cfg(feature = "v8")]
    {
        // The engine also asks when the allocator refused an array buffer. Left
        // alone it then throws a RangeError that the program can catch.
        if guard.buffers.take_refusal() {
            return current;
        }
        guard.reached.store(true, Ordering::Release);
        guard.control.trip(Cause::Heap);
        current.saturating_add(RAISE_BYTES)
    }
    #[cfg(not(feature = "v8"))]
    {
        // QuickJS fails inside its own parser when there is nothing left at all,
        // so it gets a little once, to reach the check where it stops.
        let first = !guard.reached.swap(true, Ordering::AcqRel);
        guard.control.trip(Cause::Heap);
        if first { current.saturating_add((current / 4).max(LAST_BYTES)) } else { current }
    }
}

/// What QuickJS gets to come to an end, in bytes.
#[cfg(not(feature = "v8"))]
const LAST_BYTES: usize = 16 << 20;

#[cfg(feature = "v8")]
mod buffers {
    //! A bounded allocator for array buffers.

    use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
    use std::ffi::c_void;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use deno_core::v8;

    /// What one isolate's buffers use and may use, in bytes.
    pub(super) struct Budget {
        used: AtomicUsize,
        limit: usize,
        refused: AtomicBool,
    }

    impl Budget {
        pub(super) fn new(limit: usize) -> Self {
            Self { used: AtomicUsize::new(0), limit, refused: AtomicBool::new(false) }
        }

        /// True once after each refusal.
        pub(super) fn take_refusal(&self) -> bool {
            self.refused.swap(false, Ordering::AcqRel)
        }

        fn take(&self, bytes: usize) -> bool {
            let taken = self
                .used
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| {
                    used.checked_add(bytes).filter(|&sum| sum <= self.limit)
                })
                .is_ok();
            if !taken {
                self.refused.store(true, Ordering::Release);
            }
            taken
        }
    }

    pub(super) fn allocator(budget: Arc<Budget>) -> v8::UniqueRef<v8::Allocator> {
        const VTABLE: &v8::RustAllocatorVtable<Budget> = &v8::RustAllocatorVtable {
            allocate: allocate_zeroed,
            allocate_uninitialized,
            free,
            drop: drop_budget,
        };
        // SAFETY: the handle is a counted reference, which `drop_budget` gives back.
        unsafe { v8::new_rust_allocator(Arc::into_raw(budget), VTABLE) }
    }

    fn layout(len: usize) -> Option<Layout> {
        // Never empty, as the allocator must not be asked for nothing.
        Layout::from_size_align(len.max(1), 16).ok()
    }

    fn allocate(budget: &Budget, len: usize, how: unsafe fn(Layout) -> *mut u8) -> *mut c_void {
        let Some(layout) = layout(len).filter(|_| budget.take(len)) else { return std::ptr::null_mut() };
        // SAFETY: the layout is not empty.
        let memory = unsafe { how(layout) };
        if memory.is_null() {
            budget.used.fetch_sub(len, Ordering::AcqRel);
        }
        memory.cast()
    }

    unsafe extern "C" fn allocate_zeroed(budget: &Budget, len: usize) -> *mut c_void {
        allocate(budget, len, alloc_zeroed)
    }

    unsafe extern "C" fn allocate_uninitialized(budget: &Budget, len: usize) -> *mut c_void {
        allocate(budget, len, alloc)
    }

    unsafe extern "C" fn free(budget: &Budget, data: *mut c_void, len: usize) {
        if let Some(layout) = layout(len) {
            budget.used.fetch_sub(len, Ordering::AcqRel);
            // SAFETY: the engine gives back what it got, with the same length,
            // hence the same layout.
            unsafe { dealloc(data.cast(), layout) };
        }
    }

    unsafe extern "C" fn drop_budget(budget: *const Budget) {
        // SAFETY: this is the reference that `allocator` leaked, given back once.
        drop(unsafe { Arc::from_raw(budget) });
    }
}
