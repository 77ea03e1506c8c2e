use std::sync::Arc;

/// Elements of a whole chunk.
const CHUNK: usize = 512;

/// A list that grows at its end and is cheap to clone however long it is: clones share all whole chunks.
#[derive(Clone, Debug)]
pub(crate) struct Chunked<T> {
    chunks: Vec<Arc<[T]>>,
    tail: Vec<T>,
}

impl<T> Default for Chunked<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), tail: Vec::new() }
    }
}

impl<T: Clone + PartialEq> Chunked<T> {
    pub(crate) fn len(&self) -> usize {
        self.chunks.len() * CHUNK + self.tail.len()
    }

    pub(crate) fn push(&mut self, element: T) {
        self.tail.push(element);
        if self.tail.len() == CHUNK {
            self.chunks.push(std::mem::take(&mut self.tail).into());
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        match self.chunks.get(index / CHUNK) {
            Some(chunk) => chunk.get(index % CHUNK),
            None => self.tail.get(index.checked_sub(self.chunks.len() * CHUNK)?),
        }
    }

    /// The elements from an index on.
    pub(crate) fn from(&self, index: usize) -> impl Iterator<Item = &T> {
        (index..self.len()).filter_map(|index| self.get(index))
    }

    /// The first `count` elements, or all when there are fewer.
    pub(crate) fn prefix(&self, count: usize) -> Self {
        let whole = (count / CHUNK).min(self.chunks.len());
        let mut prefix = Self { chunks: self.chunks.iter().take(whole).cloned().collect(), tail: Vec::new() };
        let rest = count.min(self.len()) - whole * CHUNK;
        prefix.tail.extend(self.from(whole * CHUNK).take(rest).cloned());
        prefix
    }

    /// How many elements from the start on are equal in both. Shared chunks are not looked into.
    pub(crate) fn common(&self, other: &Self) -> usize {
        let shared = self.chunks.iter().zip(&other.chunks).take_while(|(a, b)| Arc::ptr_eq(a, b)).count() * CHUNK;
        let equal = self.from(shared).zip(other.from(shared)).take_while(|(a, b)| a == b);
        shared + equal.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(count: usize) -> Chunked<usize> {
        let mut list = Chunked::default();
        (0..count).for_each(|element| list.push(element));
        list
    }

    #[test]
    fn it_is_the_list_that_was_pushed() {
        for count in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 7] {
            let list = counted(count);
            assert_eq!(list.len(), count);
            assert!(list.from(0).copied().eq(0..count));
            assert_eq!(list.get(count), None);
            for cut in [0, 1, count / 2, CHUNK.min(count), count, count + 1] {
                let prefix = list.prefix(cut);
                assert!(prefix.from(0).copied().eq(0..cut.min(count)), "{cut} of {count}");
            }
        }
    }

    #[test]
    fn common_ends_at_the_first_difference() {
        for count in [0, 5, CHUNK, 2 * CHUNK + 9] {
            for cut in [0, 1, 5, CHUNK, CHUNK + 3] {
                let cut = cut.min(count);
                let a = counted(count);
                let mut b = a.prefix(cut);
                b.push(usize::MAX);
                assert_eq!(a.common(&b), cut, "{cut} of {count}");
                assert_eq!(b.common(&a), cut);
                assert_eq!(a.common(&a.clone()), count);
            }
        }
    }
}
