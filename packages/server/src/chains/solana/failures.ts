import type { SolanaInstruction, SolanaMessage } from '@florin/signer/solana';

/** Why a transaction of ours failed. */
export interface Failure {
  /** For people. */
  reason: string;
  /** The step that the network refused; undefined: the transaction as a whole. */
  step?: SolanaInstruction;
}

type Kind = SolanaInstruction['kind'];
type Codes = Readonly<Record<number, string>>;

const OF_TOKEN_PROGRAM: Codes = {
  1: 'insufficient_funds',
  3: 'wrong_mint',
  4: 'wrong_owner',
  11: 'account_not_empty',
  17: 'account_frozen',
};
/** Each program has codes of its own: 1 is the payer's balance where coins move, and the fee payer's where an account is opened. */
const CODES: Partial<Record<Kind, Codes>> = {
  transfer: OF_TOKEN_PROGRAM,
  close: OF_TOKEN_PROGRAM,
  createTokenAccount: { 1: 'rent_unpaid' },
};

const REASON_MAX = 100;

/** @param err `{"InstructionError":[3,{"Custom":17}]}` and the like, as nodes show it @param message what was sent */
export function failureOf(err: unknown, message: Pick<SolanaMessage, 'instructions'> | undefined): Failure {
  if (typeof err === 'string') return { reason: err.slice(0, REASON_MAX) };
  if (typeof err !== 'object' || err === null) return { reason: 'refused' };
  const found: unknown = 'InstructionError' in err ? err.InstructionError : undefined;
  const [place, inner]: unknown[] = Array.isArray(found) ? found : [];
  // `{"InsufficientFundsForRent":{"account_index":0}}` and others that name no instruction.
  if (typeof place !== 'number') return { reason: (Object.keys(err)[0] ?? 'refused').slice(0, REASON_MAX) };
  const step = message?.instructions[place];
  const code = typeof inner === 'object' && inner !== null && 'Custom' in inner ? inner.Custom : undefined;
  const known = step !== undefined && typeof code === 'number' ? CODES[step.kind]?.[code] : undefined;
  const what = code === undefined ? JSON.stringify(inner) : `error ${JSON.stringify(code)}`;
  const unnamed = `instruction ${place} (${step?.kind ?? 'unknown'}): ${what}`.slice(0, REASON_MAX);
  return { reason: known ?? unnamed, ...(step !== undefined && { step }) };
}
