import type { Tone } from '../../design/parts.tsx';
import type { WalletWord } from './run.ts';

const TONES: Partial<Record<WalletWord, Tone>> = { included: 'good', proven: 'good', handed: 'good' };
const CALM = new Set<WalletWord>([
  'connecting',
  'switching',
  'confirm',
  'sent',
  'sign',
  'not_signed',
  'refused',
  'approving',
  'clearing',
  'approved_wait',
  'permitting',
  'signing',
]);
/** How a message of a wallet is framed. */
export const toneOf = (word: WalletWord): Tone | 'plain' =>
  TONES[word] ?? (CALM.has(word) ? 'plain' : 'warn');
