import { randomBytes } from 'node:crypto';
import { entropyToMnemonic, mnemonicToEntropy, mnemonicToSeedSync } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { SignerMistake } from './mistake.ts';

const ENTROPY_BYTES = 32;
const WORDS = 24;
const KNOWN = new Set(wordlist);

/** 24 words of BIP 39, made of this machine's randomness. */
export function makeWords(): string {
  return entropyToMnemonic(randomBytes(ENTROPY_BYTES), wordlist);
}

/**
 * The words as a person types them: case and spaces do not count.
 *
 * @throws SignerMistake that names what is wrong by its place and never repeats a word
 */
export function readWords(typed: string): string {
  const words = typed.trim().toLowerCase().split(/\s+/);
  if (words.length !== WORDS)
    throw new SignerMistake(
      'words',
      `these are ${typed.trim() === '' ? 0 : words.length} words, not ${WORDS}.`,
    );
  const unknown = words.findIndex((word) => !KNOWN.has(word));
  if (unknown >= 0) throw new SignerMistake('words', `word ${unknown + 1} is not in the list of BIP 39.`);
  const phrase = words.join(' ');
  try {
    mnemonicToEntropy(phrase, wordlist);
  } catch {
    throw new SignerMistake('words', 'the words do not belong together: one is wrong or two are swapped.');
  }
  return phrase;
}

export const entropyOf = (words: string): Uint8Array => mnemonicToEntropy(words, wordlist);
export const wordsOf = (entropy: Uint8Array): string => entropyToMnemonic(entropy, wordlist);
export const seedOf = (words: string): Uint8Array => mnemonicToSeedSync(words);
