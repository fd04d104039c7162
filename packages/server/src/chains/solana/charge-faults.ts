import { tokenAccountOf } from '@florin/signer/solana';
import type { ChargeFault, SignedTx, TxStatus } from '../port/port.ts';
import type { HeadFeed } from './heads.ts';
import type { SolanaNode } from './node.ts';
import { orUnavailable, readBase64, readContext, readRecord } from './node-answers.ts';
import { readSigned } from './signing.ts';

const U64_BYTES = 8;
const AMOUNT_BEGIN = 64;

/**
 * Why a charge failed. The token program has one code for too small a balance and too small an allowance, and looks at the balance
 * first; what the account holds by now tells them apart. One endpoint's word is enough: it names a decline, and no money follows.
 *
 * @throws ChainUnavailable
 */
export async function explainCharge(
  { node, feed }: { node: SolanaNode; feed: HeadFeed },
  tx: SignedTx,
  status: TxStatus,
): Promise<TxStatus> {
  if (status.state !== 'failed') return status;
  const transfer = readSigned(tx.raw)?.message.instructions.find((step) => step.kind === 'transfer');
  // What an owner sends is no charge.
  if (transfer === undefined || transfer.source === tokenAccountOf(transfer.authority, transfer.mint))
    return status;
  const named = (reason: ChargeFault) => ({ ...status, reason });
  // Nobody's delegate, or somebody else's.
  if (status.reason === 'wrong_owner') return named('insufficient_allowance');
  if (status.reason === 'account_frozen') return status;
  const { tip } = await feed.heads();
  const held = await readHeld(node, transfer.source, tip.slot);
  if (held === undefined || held < transfer.amount) return named('insufficient_balance');
  return status.reason === 'insufficient_funds' ? named('insufficient_allowance') : status;
}

/** Undefined: the account is closed. */
async function readHeld(node: SolanaNode, account: string, minSlot: bigint): Promise<bigint | undefined> {
  const dataSlice = { offset: AMOUNT_BEGIN, length: U64_BYTES };
  const config = { encoding: 'base64', dataSlice, commitment: 'confirmed', minContextSlot: Number(minSlot) };
  const answer = await orUnavailable(node.call('getAccountInfo', [account, config]));
  const { value } = readContext(answer, 'getAccountInfo');
  if (value === null) return undefined;
  const bytes = readBase64(readRecord(value, `the account ${account}`).data, `the account ${account}`);
  if (bytes.length < U64_BYTES) return undefined;
  return new DataView(bytes.buffer, bytes.byteOffset, U64_BYTES).getBigUint64(0, true);
}
