import { admitPayment, checkFrozen, checkIsNamed, checkMerchant, checkTopUp, placeIn } from './admit.ts';
import { admitCharge, type Charge, chargesBefore } from './admit-charge.ts';
import { fromHex, type Hex } from './bytes.ts';
import type { SignOnceEntry } from './entries.ts';
import { digestOf, feesOf, type Memory } from './memory.ts';
import { differs } from './paid-items.ts';
import type { Policy } from './policy.ts';
import type { Purpose, PurposeItem, SignRequest } from './protocol.ts';
import { Refused } from './refusal.ts';
import { BadEncoding } from './rlp.ts';
import { decodeSolanaMessage } from './solana/message.ts';
import { matchSolanaPurpose, type SolanaBook, type SolanaPurpose } from './solana/purposes.ts';
import type { Payment } from './statement.ts';
import { matchTronPurpose, type TronBook, type TronPurpose } from './tron/purposes.ts';
import { decodeTronTransaction } from './tron/transaction.ts';

// On Tron and Solana nothing takes a signed transaction's place as a nonce does on Ethereum: each one that was signed may come into
// a block. So an attempt has one transaction for ever, and an item another one only where the first is past its time.

/** What a decision is made from. */
export interface OnceKnowledge {
  memory: Memory;
  policy: Policy;
  tron: TronBook;
  solana: SolanaBook;
  /** Unix milliseconds, not below the newest entry of the memory: sums of hours and days are of it. */
  now: number;
  /** Unix milliseconds of this machine's clock: what ends at a time is compared with it. */
  clock: number;
  /** Attempts whose transactions the signer's own node shows to be dead. */
  dead?: ReadonlySet<string>;
  /** Those that it shows to have taken, in a final block. */
  landed?: ReadonlySet<string>;
}

/** The bytes to sign, and what has to be remembered before the signature leaves; null: it is known. */
export interface OnceVerdict {
  network: 'trc20' | 'spl';
  /** The wallet whose transaction it is. */
  sender: string;
  unsigned: Hex;
  entry: SignOnceEntry | null;
}

/** A head block that is late by less changes nothing. */
const EXPIRY_MARGIN_MS = 300_000;

/** Above all numbers that fit into a transaction. */
const UNBOUNDED = 2n ** 128n;

/** What the bytes do, as the signer reads them. */
interface Reading {
  sender: string;
  payment?: { purpose: Payment; items: readonly PurposeItem[] };
  topUp?: bigint;
  charge?: Charge;
  /** Of the charge. */
  mandateId?: string;
  /** In the smallest unit of the network's coin. */
  cost: bigint;
  /** Unix milliseconds from which on it is in no block; null: nobody knows. */
  expires: number | null;
}

/**
 * Decides whether a request for trc20 or spl is signed. An attempt that was signed before gets the same bytes again, whichever
 * the request has.
 *
 * @throws Refused
 */
export function judgeOnce(request: SignRequest, knowledge: OnceKnowledge): OnceVerdict {
  const { memory, now, clock } = knowledge;
  const { network, attempt } = request;
  if (network === 'erc20') throw new RangeError('requests for erc20 are judged by their sequence');
  checkFrozen(memory);
  checkGenesis(request, knowledge);
  const known = memory.signedOnce(attempt.attemptId);
  if (known === undefined ? memory.placeOf(attempt.attemptId) !== undefined : known.network !== network)
    throw new Refused('sequence', 'this attempt was signed for another network.');
  const unsigned = known?.unsigned ?? (request.unsigned as Hex);
  // What was signed before was judged then: a ceiling that is lower now keeps nobody from the bytes.
  const reading = readBytes(
    request,
    fromHex(unsigned),
    known === undefined
      ? knowledge
      : { ...knowledge, policy: withoutCeilings(knowledge.policy), clock: known.at },
  );
  const numbers = placeIn(reading.sender, request, knowledge);
  if (known !== undefined) return { network, sender: reading.sender, unsigned, entry: null };
  const other = memory.attemptOf(digestOf(unsigned));
  if (other !== undefined)
    throw new Refused(
      'limit',
      `this transaction was signed for the attempt ${other}: give each its own time.`,
    );
  if (reading.expires !== null && reading.expires <= clock)
    throw new Refused('limit', "it has expired by this machine's clock: build it again, or set the clock.");
  return {
    network,
    sender: reading.sender,
    unsigned,
    entry: {
      type: 'sign_once',
      at: now,
      policy: knowledge.policy.digest,
      history: attempt.history,
      network,
      account: request.account,
      sender: reading.sender,
      attempt: attempt.attemptId,
      numbers: numbers.map(([ordinal, id]) => [String(ordinal), id]),
      unsigned,
      ...(reading.expires !== null && { deadFrom: reading.expires + EXPIRY_MARGIN_MS }),
      fee: String(checkCost(request, reading.cost, knowledge)),
      kind: request.purpose.kind,
      ...admit(request, reading, knowledge),
    },
  };
}

/** The attempts on spl that this one comes after, for the same items or the same charge, or in the window of a charge. */
export function attemptsBefore(
  { network, account, attempt, purpose }: SignRequest,
  { memory }: Pick<OnceKnowledge, 'memory'>,
): string[] {
  if (network !== 'spl' || memory.signedOnce(attempt.attemptId) !== undefined) return [];
  if (purpose.kind === 'charge') return chargesBefore(purpose, memory);
  if (purpose.kind !== 'payout' && purpose.kind !== 'refund') return [];
  const items = purpose.places.map((place) => memory.item({ network, account }, purpose.id, place));
  return [...new Set(items.flatMap((item) => item?.attempts ?? []))];
}

function rulesOf<Network extends 'trc20' | 'spl'>(
  network: Network,
  policy: Policy,
): NonNullable<Policy[Network]> {
  const rules = policy[network];
  if (rules === null) throw new Refused('policy', `the policy has no ${network}.`);
  return rules;
}

/** The ceilings of a single transaction's fee. */
const withoutCeilings = (policy: Policy): Policy => ({
  ...policy,
  trc20: policy.trc20 && { ...policy.trc20, feeLimit: UNBOUNDED },
  spl: policy.spl && { ...policy.spl, computeUnits: Number.MAX_SAFE_INTEGER, priorityFee: UNBOUNDED },
});

/** Neither network's bytes name it. What a server builds for a test network is refused by its word alone. */
function checkGenesis({ network, genesis }: SignRequest, { policy }: OnceKnowledge): void {
  if (network === 'erc20') return;
  const rules = rulesOf(network, policy);
  if (genesis !== rules.genesis)
    throw new Refused(
      'policy',
      `it is for the network that begins with ${genesis ?? 'nothing'}, the policy for ${rules.genesis}.`,
    );
}

function readBytes(request: SignRequest, bytes: Uint8Array, knowledge: OnceKnowledge): Reading {
  try {
    return request.network === 'spl'
      ? readSolana(request, bytes, knowledge)
      : readTron(request, bytes, knowledge);
  } catch (error) {
    if (error instanceof BadEncoding)
      throw new Refused('purpose', `the transaction cannot be read: ${error.message}.`);
    throw error;
  }
}

function readTron({ account, purpose }: SignRequest, bytes: Uint8Array, knowledge: OnceKnowledge): Reading {
  const { policy, tron: book, clock: now } = knowledge;
  const tx = decodeTronTransaction(bytes);
  const rules = rulesOf('trc20', policy);
  const movement = matchTronPurpose({ account, purpose: tronPurposeOf(purpose), tx, rules, book, now });
  return { ...movement, expires: Number(tx.expiration) };
}

function tronPurposeOf(purpose: Purpose): TronPurpose {
  switch (purpose.kind) {
    case 'sweep': {
      const [deposit, ...more] = purpose.deposits;
      if (deposit === undefined || more.length > 0) throw differs('a sweep is of one address');
      return { kind: 'sweep', account: purpose.account, ...deposit };
    }
    case 'payout':
    case 'refund':
    case 'account':
    case 'activate':
    case 'charge':
    case 'gas':
    case 'energy':
      return purpose;
    case 'approve':
    case 'deploy':
    case 'fill':
    case 'move':
      throw differs(`nothing on trc20 is to ${purpose.kind}`);
  }
}

function readSolana({ account, purpose }: SignRequest, bytes: Uint8Array, knowledge: OnceKnowledge): Reading {
  const { policy, solana: book } = knowledge;
  const message = decodeSolanaMessage(bytes);
  const rules = rulesOf('spl', policy);
  const movement = matchSolanaPurpose({ account, purpose: solanaPurposeOf(purpose), message, rules, book });
  return {
    ...movement,
    sender: book.hot(account),
    ...(purpose.kind === 'charge' && { charge: purpose }),
    expires: null,
  };
}

function solanaPurposeOf(purpose: Purpose): SolanaPurpose {
  switch (purpose.kind) {
    case 'payout':
    case 'refund':
    case 'sweep':
    case 'charge':
      return purpose;
    case 'account':
    case 'activate':
    case 'approve':
    case 'deploy':
    case 'energy':
    case 'fill':
    case 'gas':
    case 'move':
      throw differs(`nothing on spl is to ${purpose.kind}`);
  }
}

/** One merchant's transactions leave some of the day's fees to the others. */
function checkCost({ network, account }: SignRequest, cost: bigint, knowledge: OnceKnowledge): bigint {
  const { memory, policy, now } = knowledge;
  if (network === 'erc20') throw new RangeError('fees on erc20 are of a sequence');
  const rules = rulesOf(network, policy);
  const days = [
    ['native_fee_per_day', feesOf(network), rules.nativeFeePerDay],
    ...(account === 0
      ? []
      : [['native_fee_per_merchant_day', feesOf(network, account), rules.nativeFeePerMerchantDay] as const]),
  ] as const;
  for (const [name, sum, most] of days)
    if (memory.day(sum).total(now) + cost > most)
      throw new Refused(
        'fee',
        `${name} of the policy for ${network}, ${most}, is used up: this may burn ${cost}.`,
      );
  return cost;
}

/** What is checked and remembered beside the bytes. */
function admit(
  request: SignRequest,
  { sender, payment, topUp, charge, mandateId }: Reading,
  knowledge: OnceKnowledge,
): Pick<SignOnceEntry, 'payment' | 'topUp' | 'charge'> {
  const { account, network } = request;
  const { policy } = knowledge;
  if (topUp !== undefined)
    return { topUp: String(checkTopUp(topUp, { network, ...rulesOf('trc20', policy) }, knowledge)) };
  if (charge !== undefined) {
    const { charges } = rulesOf('spl', policy);
    if (charges === null) throw new Refused('policy', 'the policy has no charges for spl.');
    checkIsNamed({ network, account }, policy);
    return { charge: admitCharge(account, { charge, mandateId }, charges, knowledge) };
  }
  if (payment === undefined) return {};
  checkMerchant({ network, account }, payment.purpose.merchant, knowledge);
  return { payment: admitPayment({ network, account, sender }, { ...payment, via: null }, knowledge) };
}
