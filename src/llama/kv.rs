//! The KV cache as every context of a session shares it: absolute positions of the committed
//! history, cut back with one coordinate.

use std::ops::{Deref, DerefMut};

use crate::error::Result;

/// A cache of decoded tokens, positions `0..len()` of one sequence.
pub trait KvCache {
    /// The number of tokens whose keys and values are held, from position 0; the position at
    /// which the next decoded token goes.
    fn len(&self) -> usize;

    /// Whether nothing has been decoded.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets every token at position `len` and after. Does nothing when fewer are held.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) when the model's memory cannot
    /// be cut in the middle.
    fn truncate(&mut self, len: usize) -> Result<()>;
}

/// A guard over a cache that takes speculative tokens: unless committed it cuts the cache back to
/// the length it had, however the scope is left.
pub struct Rollback<'a, C: KvCache + ?Sized> {
    cache: &'a mut C,
    keep: usize,
}

impl<'a, C: KvCache + ?Sized> Rollback<'a, C> {
    /// Guards `cache` at its present length.
    pub fn new(cache: &'a mut C) -> Self {
        let keep = cache.len();
        Self { cache, keep }
    }

    /// Keeps the first `len` tokens and ends the guard.
    ///
    /// # Errors
    /// Those of [`KvCache::truncate`]; the guard then still rolls back as far as it can.
    pub fn commit(mut self, len: usize) -> Result<()> {
        self.keep = len;
        self.cache.truncate(len)
    }
}

impl<C: KvCache + ?Sized> Deref for Rollback<'_, C> {
    type Target = C;
    fn deref(&self) -> &C {
        self.cache
    }
}

impl<C: KvCache + ?Sized> DerefMut for Rollback<'_, C> {
    fn deref_mut(&mut self) -> &mut C {
        self.cache
    }
}

impl<C: KvCache + ?Sized> Drop for Rollback<'_, C> {
    fn drop(&mut self) {
        if self.cache.len() > self.keep
            && let Err(error) = self.cache.truncate(self.keep)
        {
            log::error!("rolling the KV cache back to {} tokens: {error}", self.keep);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counter(usize);

    impl KvCache for Counter {
        fn len(&self) -> usize {
            self.0
        }
        fn truncate(&mut self, len: usize) -> Result<()> {
            self.0 = self.0.min(len);
            Ok(())
        }
    }

    #[test]
    fn a_dropped_guard_restores_the_length() {
        let mut cache = Counter(3);
        {
            let mut guard = Rollback::new(&mut cache);
            guard.0 = 9;
        }
        assert_eq!(cache.len(), 3);
    }

    #[test]
    fn a_committed_guard_keeps_what_it_was_told() {
        let mut cache = Counter(3);
        let mut guard = Rollback::new(&mut cache);
        guard.0 = 9;
        guard.commit(5).expect("a counter can be cut");
        assert_eq!(cache.len(), 5);
    }
}
