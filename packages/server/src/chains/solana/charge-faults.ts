import { tokenAccountOf } from '@florin/signer/solana';
import type { ChargeFault, SignedTx, TxStatus } from '../port/port.ts';
import type { HeadFeed } from './heads.ts';
import type { SolanaNode } from './node.ts';
import { orUnavailable, readBase64, readContext, readRecord } from './node-answers.ts';
import { readSigned } from './signing.ts';
import type { SolanaStatus } from './status.ts';
import { readAccountState } from './token-accounts.ts';

/** Of a token account. */
const AMOUNT_BEGIN = 64;
const AMOUNT_BYTES = 8;

/**
 * Why a charge failed. The payer's are what the token program says of the pull itself: opening the hot wallet's account, the fee and
 * whatever else the transaction does are ours. The program has one code for too small a balance and too small an allowance, and looks at the
 * balance first; what the account holds by now tells them apart, by one endpoint's word, as either is the payer's. Whose account is frozen, or
 * closed, is the word of two: it says whose fault it is.
 *
 * @throws ChainUnavailable
 */
export async function explainCharge(
  { node, feed }: { node: SolanaNode; feed: HeadFeed },
  tx: SignedTx,
  { failure, ...status }: SolanaStatus,
): Promise<TxStatus> {
  if (failure === undefined) return status;
  const pull = readSigned(tx.raw)?.message.instructions.find((step) => step.kind === 'transfer');
  // What an owner sends is no charge.
  if (pull === undefined || pull.source === tokenAccountOf(pull.authority, pull.mint)) return status;
  const named = (reason: ChargeFault) => ({ ...status, reason });
  if (failure.step?.kind !== 'transfer') return named('our_fault');
  // Nobody's delegate, or somebody else's.
  if (failure.reason === 'wrong_owner') return named('insufficient_allowance');
  const { tip } = await feed.heads();
  if (failure.reason === 'insufficient_funds') {
    const held = await readHeld(node, pull.source, tip.slot);
    return named(held < pull.amount ? 'insufficient_balance' : 'insufficient_allowance');
  }
  const state = await readAccountState(node, { account: pull.source, minSlot: tip.slot });
  if (state === 'missing') return named('insufficient_balance');
  // That the payer's account is frozen has no name in the port.
  return failure.reason === 'account_frozen' && state === 'frozen' ? status : named('our_fault');
}

/** Of a closed account: nothing. */
async function readHeld(node: SolanaNode, account: string, minSlot: bigint): Promise<bigint> {
  const dataSlice = { offset: AMOUNT_BEGIN, length: AMOUNT_BYTES };
  const config = { encoding: 'base64', dataSlice, commitment: 'confirmed', minContextSlot: Number(minSlot) };
  const answer = await orUnavailable(node.call('getAccountInfo', [account, config]));
  const { value } = readContext(answer, 'getAccountInfo');
  if (value === null) return 0n;
  const bytes = readBase64(readRecord(value, `the account ${account}`).data, `the account ${account}`);
  if (bytes.length < AMOUNT_BYTES) return 0n;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getBigUint64(0, true);
}
