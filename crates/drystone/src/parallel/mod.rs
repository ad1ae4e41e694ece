//! parallel

pub(crate) mod shared_slice;
pub(crate) mod thread_pool;
