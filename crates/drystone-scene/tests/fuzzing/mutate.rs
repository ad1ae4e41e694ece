//! Mutations by chance, the same every time.

/// Words and numbers that readers stumble over.
const WORDS: [&str; 28] = [
    "0",
    "-1",
    "1",
    "-0.0",
    "1e308",
    "-1e308",
    "1e-320",
    "1e999",
    "nan",
    "inf",
    "3.1",
    "65536",
    "2147483648",
    "4294967295",
    "18446744073709551615",
    "99999999999999999999",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    "<",
    "/>",
    "\0",
    "é",
    "../..",
    "null",
];

/// Whole numbers that counts and lengths go wrong at.
const COUNTS: [u32; 8] = [0, 1, 2, 0x7f, 0xffff, 0x7fff_ffff, 0x8000_0000, u32::MAX];

/// Makes files of files.
pub struct Mutator(u64);

impl Mutator {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A whole number below `end`; 0 if that is 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % (end as u64).max(1)) as usize
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let from = self.below(length + 1);
        let most = (length - from).min(1 << self.below(9));
        from..from + self.below(most + 1)
    }

    /// A file of the corpus with one to six changes.
    pub fn mutate(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(6) {
            let other = self.below(corpus.len());
            self.change(&mut bytes, &corpus[other]);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(bytes.len());
        match self.below(9) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
            1 if !bytes.is_empty() => bytes[at] = self.next() as u8,
            2 => drop(bytes.drain(self.range(bytes.len()))),
            3 => {
                // The same again.
                let copy = bytes[self.range(bytes.len())].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => {
                let piece = other[self.range(other.len())].to_vec();
                let gone = self.range(bytes.len());
                bytes.splice(gone, piece);
            }
            5 | 6 => self.replace_number(bytes),
            7 if bytes.len() >= 4 => {
                let at = self.below(bytes.len() - 3);
                let count = COUNTS[self.below(COUNTS.len())];
                bytes[at..at + 4].copy_from_slice(&count.to_le_bytes());
            }
            _ => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(at..at, word.bytes());
            }
        }
    }

    /// Another number or word in place of one that is written in digits.
    fn replace_number(&mut self, bytes: &mut Vec<u8>) {
        let start = self.below(bytes.len());
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let Some(from) = bytes[start..].iter().position(is_digit) else {
            return;
        };
        let from = start + from;
        let digits = bytes[from..].iter().take_while(|byte| is_digit(byte));
        let end = from + digits.count();
        let word = WORDS[self.below(WORDS.len())];
        bytes.splice(from..end, word.bytes());
    }
}
