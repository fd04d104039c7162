import type { Network } from '@florin/contract/money';
import type { Purpose, Refusal, RefusalAnswer, SignAnswer, SignRequest } from '@florin/signer/protocol';
import { ChargeRefused } from '../charges/charge-errors.ts';
import type { SignedApproval } from '../port/authority.ts';
import { type BlockReason, SignerUnavailable, SigningBlocked } from '../port/port-errors.ts';
import { SigningRefused, type SigningRequest } from '../port/wallet-holder.ts';

type Payment = Extract<Purpose, { kind: 'payout' | 'refund' }>;
/** A purpose whose approvals say by which keys they are. */
export type AskedPurpose =
  | Exclude<Purpose, Payment>
  | (Omit<Payment, 'approvals'> & { approvals: readonly SignedApproval[] });
export type SignRequestOf<N extends Network> = Omit<SignRequest, 'network' | 'purpose'> & {
  network: N;
  purpose: AskedPurpose;
};

/** The signer as the server reaches it; whatever its transport throws: nothing is known of the request then. */
export interface AskedSigner<N extends Network> {
  sign(request: SignRequestOf<N>): Promise<SignAnswer | RefusalAnswer>;
}

interface SigningAsk<N extends Network> {
  network: N;
  /** Where its bytes do not name their network. */
  genesis?: string;
  signing: SigningRequest;
  /** Account number of the wallet that sends; 0: the installation's. */
  account: number;
  /** Of its hot wallet; 0 by default. */
  epoch?: number;
  /** Hex, of the network's own bytes without signatures. */
  unsigned: string;
  purpose: AskedPurpose;
}

/**
 * Requests a signature, and a second time with the earlier attempts where the signer lacks them. What it answers is the caller's to
 * compare with what was asked for.
 *
 * @throws SigningRefused where this database is not the one that the signer signs for, or the number is taken; SigningBlocked
 * where people have to act; ChargeRefused; SignerUnavailable
 */
export async function askSigner<N extends Network>(
  signer: AskedSigner<N>,
  order: SigningAsk<N>,
): Promise<SignAnswer> {
  const first = await send(signer, order.network, requestOf(order));
  if (!isRefusal(first)) return first;
  if (first.code !== 'unknown_attempts') throw refused(order, first);
  const from = first.from == null ? null : BigInt(first.from);
  const second = await send(signer, order.network, requestOf(order, await order.signing.before(from)));
  if (isRefusal(second)) throw refused(order, second);
  return second;
}

async function send<N extends Network>(
  signer: AskedSigner<N>,
  network: N,
  request: SignRequestOf<N>,
): Promise<SignAnswer | RefusalAnswer> {
  try {
    return await signer.sign(request);
  } catch (error) {
    throw new SignerUnavailable(network, 'the signer cannot be reached: transfers wait', error);
  }
}

function requestOf<N extends Network>(
  { network, genesis, signing, account, epoch = 0, unsigned, purpose }: SigningAsk<N>,
  before?: readonly string[],
): SignRequestOf<N> {
  const { history, attemptId, ordinal, previous, journal } = signing;
  const attempt = {
    history,
    attemptId,
    ordinal: String(ordinal),
    previous,
    ...(before === undefined ? {} : { before }),
  };
  const known = journal === undefined ? {} : { journal };
  return {
    network,
    ...(genesis !== undefined && { genesis }),
    account,
    // The signer knows requests without an epoch as those of the first one.
    ...(epoch > 0 && { epoch }),
    attempt,
    unsigned,
    purpose,
    ...known,
  };
}

function isRefusal(answer: SignAnswer | RefusalAnswer): answer is RefusalAnswer {
  return 'code' in answer;
}

/** Refusals that people can lift, or that show a fault of ours; the others are of copies of the database. */
const BLOCK_REASON_OF: Readonly<
  Record<Exclude<RefusalAnswer['code'], TakenNumber | OfCharge | 'unknown_attempts'>, BlockReason>
> = {
  frozen: 'frozen',
  approvals: 'approvals',
  limit: 'limit',
  fee: 'fee',
  policy: 'policy',
  purpose: 'purpose',
  epoch: 'epoch',
  item_signed: 'item_signed',
  journal: 'journal',
  invalid_request: 'invalid_request',
};
type TakenNumber = Extract<Refusal, 'history' | 'sequence'>;
/** What is no charge's is a fault of ours. */
type OfCharge = Extract<Refusal, 'cap_exceeded' | 'too_late'>;

function refused(
  { network, signing, purpose }: SigningAsk<Network>,
  { code, message }: RefusalAnswer,
): Error {
  if (code === 'history' || code === 'sequence') {
    return new SigningRefused(network, signing.history, message);
  }
  if (code === 'unknown_attempts') {
    return new SignerUnavailable(network, `the signer still lacks earlier attempts: ${message}`);
  }
  if (code === 'cap_exceeded' || code === 'too_late')
    return purpose.kind === 'charge'
      ? new ChargeRefused(code, message)
      : new SigningBlocked(network, 'policy', message);
  const way = code === 'journal' ? ' (put the newest one back, or florin ledger adopt-journal)' : '';
  return new SigningBlocked(network, BLOCK_REASON_OF[code] ?? 'policy', message + way);
}
