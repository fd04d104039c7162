import type { Key } from './accounts.ts';
import { signStatement } from './approver-files.ts';
import { solanaBookOf, tronBookOf } from './books.ts';
import { fromHex, toHex } from './bytes.ts';
import { type Call, encodeCall } from './calldata.ts';
import type { Entry } from './entries.ts';
import { judgeOnce, type OnceVerdict } from './judge-once.ts';
import { Memory } from './memory.ts';
import { readPolicy } from './policy.ts';
import type { Purpose, PurposeItem, SignRequest } from './protocol.ts';
import { signOnce } from './sign-once.ts';
import { tokenAccountOf } from './solana/address.ts';
import type { SolanaInstruction } from './solana/instruction.ts';
import { encodeSolanaMessage } from './solana/message.ts';
import { memoOf } from './solana/purposes.ts';
import { type MandateChanges, mandateOf } from './solana/test-mandate.ts';
import { type Payment, statementOf } from './statement.ts';
import { ADA, allNetworksText } from './test-policy.ts';
import { keys, MERCHANTS, START } from './test-requests.ts';
import { accountOfTron } from './tron/address.ts';
import { encodeTronTransaction, type TronContract } from './tron/transaction.ts';

/** For tests: requests for trc20 and spl of a server that does everything right, to be made wrong in one place each. */
export const tron = tronBookOf(keys);
export const solana = solanaBookOf(keys);
const { trc20: TRON_TEXT, spl: SOLANA_TEXT } = allNetworksText().networks;
const USDT_ON_TRON = TRON_TEXT.tokens.USDT ?? '';
export const MINT = SOLANA_TEXT.tokens.USDT ?? '';
export const BATCHES = [
  '01890000-0000-7000-8000-0000000000aa',
  '01890000-0000-7000-8000-0000000000bb',
  '01890000-0000-7000-8000-0000000000cc',
] as const;
export const CHARGES = [
  '01890000-0000-7000-8000-0000000000dd',
  '01890000-0000-7000-8000-0000000000ee',
] as const;

type Once = 'trc20' | 'spl';
const genesisOf = (network: Once) => (network === 'trc20' ? TRON_TEXT : SOLANA_TEXT).genesis;
/** Somebody's wallet. */
export const somebody = (network: Once, n: number): string =>
  network === 'trc20' ? tron.deposit(900, n) : solana.deposit(900, n);

export const itemOf = (network: Once, place: number, amount = '1000000'): PurposeItem => ({
  place,
  to: somebody(network, place),
  amount,
  memo: null,
});

export function paymentOn(network: Once, changes: Partial<Payment> = {}): Payment {
  const items = changes.items ?? [itemOf(network, 0), itemOf(network, 1, '2000000')];
  const places = network === 'trc20' ? [0] : items.map(({ place }) => place);
  return {
    kind: 'payout',
    merchant: MERCHANTS[0],
    id: BATCHES[0],
    asset: 'USDT',
    places,
    approvals: [],
    ...changes,
    items,
  };
}

/** With the signature of one approver. */
export function approvedOn(network: Once, purpose: Payment, validUntil = START / 1000 + 3_600): Payment {
  const statement = statementOf({ ...purpose, network }, validUntil);
  return {
    ...purpose,
    approvals: [{ approver: 'ada', validUntil, signature: signStatement(statement, ADA) }],
  };
}

interface Asked {
  account?: number;
  ordinal?: number;
  attempt?: string;
  history?: string;
  purpose: Purpose;
  genesis?: string;
}

function requestOf(network: Once, asked: Asked, unsigned: Uint8Array): SignRequest {
  const { account = 1, ordinal = 0, attempt, history = 'first', purpose, genesis } = asked;
  const idOf = (number: number) => `${network} ${account} ${number}`;
  return {
    network,
    genesis: genesis ?? genesisOf(network),
    account,
    attempt: {
      history,
      attemptId: attempt ?? idOf(ordinal),
      ordinal: String(ordinal),
      previous: ordinal === 0 ? null : idOf(ordinal - 1),
    },
    unsigned: toHex(unsigned),
    purpose,
  };
}

export interface TronBytes {
  contract: TronContract;
  /** Unix milliseconds. */
  time: number;
  validMs: number;
  feeLimit: bigint;
}

/** @param bytes a call has a fee limit of 30 TRX unless it says otherwise */
export function tronRequest(
  asked: Asked & { bytes: Partial<TronBytes> & Pick<TronBytes, 'contract'> },
): SignRequest {
  const { contract, time = START, validMs = 60_000, feeLimit } = asked.bytes;
  const unsigned = encodeTronTransaction({
    refBlockBytes: Uint8Array.of(1, 2),
    refBlockHash: new Uint8Array(8).fill(3),
    timestamp: BigInt(time),
    expiration: BigInt(time + validMs),
    contract,
    feeLimit: feeLimit ?? (contract.kind === 'trigger' ? 30_000_000n : 0n),
  });
  return requestOf('trc20', asked, unsigned);
}

const tronCall = (owner: string, contract: string, data: Call): TronContract => ({
  kind: 'trigger',
  owner,
  contract,
  data: encodeCall(data),
});

export const tronTransfer = (owner: string, to: string, amount: bigint, token = USDT_ON_TRON): TronContract =>
  tronCall(owner, token, { kind: 'transfer', to: accountOfTron(to), amount });

/** The transfer that pays the one place of a payment. */
export function tronPaying({ items, places: [place = 0] }: Payment, account = 1): TronContract {
  const { to = '', amount = '0' } = items[place] ?? {};
  return tronTransfer(tron.hot(account), to, BigInt(amount));
}

export interface SolanaBytes {
  steps: readonly SolanaInstruction[];
  blockhash: string;
  units: number;
  microLamports: bigint;
  feePayer: string;
}

export function solanaRequest(
  asked: Asked & { bytes: Partial<SolanaBytes> & Pick<SolanaBytes, 'steps'> },
): SignRequest {
  const { steps, blockhash = MINT, units = 200_000, microLamports = 100_000n, feePayer } = asked.bytes;
  const unsigned = encodeSolanaMessage({
    version: 0,
    feePayer: feePayer ?? solana.hot(0),
    blockhash,
    instructions: [{ kind: 'computeLimit', units }, { kind: 'computePrice', microLamports }, ...steps],
  });
  return requestOf('spl', asked, unsigned);
}

export const solanaTransfer = (
  from: string,
  to: string,
  amount: bigint,
  { authority = from, mint = MINT }: { authority?: string; mint?: string } = {},
) =>
  ({
    kind: 'transfer',
    source: tokenAccountOf(from, mint),
    mint,
    destination: tokenAccountOf(to, mint),
    authority,
    amount,
    decimals: 6,
  }) satisfies SolanaInstruction;

export const memo = (text: string): SolanaInstruction => ({ kind: 'memo', text });

export function solanaPaying({ id, items, places }: Payment, account = 1): SolanaInstruction[] {
  const paid = places.flatMap((place) => items[place] ?? []);
  return [
    memo(memoOf(id, places[0])),
    ...paid.flatMap(({ to, amount, memo: text }) => [
      ...(text === null ? [] : [memo(text)]),
      solanaTransfer(solana.hot(account), to, BigInt(amount)),
    ]),
  ];
}

/** Signed for by its payer, a wallet of `somebody`'s unless its key is given. */
export function chargeOf(
  changes: Partial<Omit<Charge, 'mandate'>> = {},
  { key = keys.spl.deposit(900, 50), genesis = SOLANA_TEXT.genesis, mint = MINT, ...signed }: Signed = {},
) {
  const { start = START / 1000, account = 1 } = signed;
  const of = { genesis, asset: 'USDT', mint, recipient: solana.hot(account), start } as const;
  const mandate = mandateOf(key, of, signed);
  const asked = { id: CHARGES[0], asset: 'USDT', payer: key.address, amount: '5000000' } as const;
  return { kind: 'charge', ...asked, mandate, ...changes } satisfies Purpose;
}

type Charge = Extract<Purpose, { kind: 'charge' }>;
interface Signed extends MandateChanges {
  key?: Key;
  genesis?: string;
  mint?: string;
  /** Whose hot wallet is named. */
  account?: number;
  /** Unix seconds. */
  start?: number;
}

export const solanaCharging = ({ id, payer, amount }: ReturnType<typeof chargeOf>, account = 1) => [
  memo(memoOf(id)),
  solanaTransfer(payer, solana.hot(account), BigInt(amount), { authority: solana.delegate() }),
];

/** A signer's decisions one after another. */
export class OnceBench {
  memory = new Memory();
  readonly policy;
  readonly entries: Entry[] = [];
  now = START;
  /** Attempts that its own node shows to be dead. */
  dead: ReadonlySet<string> = new Set();
  /** Those that it shows to have taken. */
  landed: ReadonlySet<string> = new Set();

  constructor(change: (policy: ReturnType<typeof allNetworksText>) => void = () => {}) {
    const text = allNetworksText();
    change(text);
    this.policy = readPolicy(JSON.stringify(text));
  }

  ask(request: SignRequest): OnceVerdict {
    const { memory, policy, now, dead, landed } = this;
    const verdict = judgeOnce(request, { memory, policy, now, clock: now, tron, solana, dead, landed });
    if (verdict.entry !== null) this.apply(verdict.entry);
    return verdict;
  }

  apply(entry: Entry): void {
    this.memory.apply(entry);
    this.entries.push(entry);
  }

  /** The signed bytes. */
  sign(request: SignRequest): string {
    return signOnce(keys, request, this.ask(request)).raw;
  }

  /** As after a restart: from the journal's lines alone. */
  restart(lines = this.entries.length): void {
    this.memory = new Memory();
    for (const entry of this.entries.slice(0, lines)) this.memory.apply(JSON.parse(JSON.stringify(entry)));
  }

  /** `signed`, or the code and the line of the refusal. */
  outcome(request: SignRequest): string {
    try {
      this.ask(request);
      return 'signed';
    } catch (error) {
      if (error instanceof Error && 'code' in error) return `${String(error.code)}: ${error.message}`;
      throw error;
    }
  }
}

/** The bytes of a request with one changed, as hex. */
export const withBytes = (request: SignRequest, change: (bytes: Uint8Array) => Uint8Array): SignRequest => ({
  ...request,
  unsigned: toHex(change(fromHex(request.unsigned))),
});
