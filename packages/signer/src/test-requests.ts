import { type Hex, serializeTransaction } from 'viem';
import { signStatement } from './approver-files.ts';
import { toHex } from './bytes.ts';
import { type Call, encodeCall } from './calldata.ts';
import { groupOf } from './contracts.ts';
import { judge, type Verdict } from './judge.ts';
import { Keys } from './keys.ts';
import { Memory } from './memory.ts';
import { readPolicy } from './policy.ts';
import type { Purpose, PurposeItem, SignedApproval, SignRequest } from './protocol.ts';
import { type Payment, statementOf } from './statement.ts';
import { ADA, policyText, USDT } from './test-policy.ts';
import { seedOf } from './words.ts';

/** For tests: the requests of a server that does everything right, to be made wrong in one place each. */
export const keys = new Keys(seedOf('test test test test test test test test test test test junk'));
export const { erc20: accounts } = keys;
export const BATCH_PAYOUT = policyText().networks.erc20.batch_payout ?? '';
export const MERCHANTS = [
  '01890000-0000-7000-8000-000000000001',
  '01890000-0000-7000-8000-000000000002',
] as const;
const BATCH = '01890000-0000-7000-8000-0000000000aa';
export const OTHER_BATCH = '01890000-0000-7000-8000-0000000000bb';
/** Unix milliseconds. */
export const START = 1_790_000_000_000;

const addressBook = {
  hot: (account: number, epoch?: number) => accounts.hot(account, epoch).address,
  owner: (account: number) => accounts.owner(account).address,
  deposit: (account: number, index: number) => accounts.deposit(account, index).address,
};

export interface Bytes {
  chainId: number;
  nonce: number;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  gas: bigint;
  to: string;
  value: bigint;
  data: Uint8Array;
  type: 2 | 4;
}

export const GWEI = 1_000_000_000n;
const bytesOf = (changes: Partial<Bytes>): Bytes => ({
  chainId: 31_337,
  nonce: 0,
  maxFeePerGas: 30n * GWEI,
  maxPriorityFeePerGas: GWEI,
  gas: 1_000_000n,
  to: BATCH_PAYOUT,
  value: 0n,
  data: new Uint8Array(),
  type: 2,
  ...changes,
});

function unsigned(changes: Partial<Bytes>): Hex {
  const { type, data, to, ...rest } = bytesOf(changes);
  const fields = { ...rest, to: to as Hex, data: toHex(data) };
  return type === 2
    ? serializeTransaction({ ...fields, type: 'eip1559' })
    : serializeTransaction({ ...fields, type: 'eip7702', authorizationList: [] });
}

export const itemAt = (place: number, amount = '1000000'): PurposeItem => ({
  place,
  to: accounts.deposit(900, place).address,
  amount,
  memo: null,
});

export function payment(changes: Partial<Payment> = {}): Payment {
  const items = changes.items ?? [itemAt(0), itemAt(1, '2000000')];
  return {
    kind: 'payout',
    merchant: MERCHANTS[0],
    id: BATCH,
    asset: 'USDT',
    places: items.map(({ place }) => place),
    approvals: [],
    ...changes,
    items,
  };
}

export function approve(purpose: Payment, validUntil = START / 1000 + 3_600): SignedApproval {
  const statement = statementOf({ ...purpose, network: 'erc20' }, validUntil);
  return { approver: 'ada', validUntil, signature: signStatement(statement, ADA) };
}

export const approved = (purpose: Payment): Payment => ({ ...purpose, approvals: [approve(purpose)] });

export const payCall = ({ id, items, places }: Payment): Call => ({
  kind: 'pay',
  token: USDT,
  group: groupOf(id),
  payments: places.map((place) => ({
    index: BigInt(place),
    to: items[place]?.to ?? '',
    amount: BigInt(items[place]?.amount ?? 0),
  })),
});

/** Through `BatchPayout`. */
export const payBytes = (purpose: Payment): Partial<Bytes> => ({ data: encodeCall(payCall(purpose)) });

/** As a transfer of its own. */
export function transferBytes({ items, places: [place = 0] }: Payment): Partial<Bytes> {
  const { to = '', amount = '0' } = items[place] ?? {};
  return { to: USDT, data: encodeCall({ kind: 'transfer', to, amount: BigInt(amount) }) };
}

export interface RequestFields {
  account?: number;
  /** Of the wallet that sends. */
  epoch?: number;
  ordinal?: number;
  attempt?: string;
  history?: string;
  bytes: Partial<Bytes>;
  purpose: Purpose;
}

/** The attempt with that ordinal; its sequence is the same number unless the bytes have another. */
export function request({
  account = 1,
  epoch,
  ordinal = 0,
  attempt,
  history,
  bytes,
  purpose,
}: RequestFields): SignRequest {
  const wallet = epoch === undefined ? `${account}` : `${account}.${epoch}`;
  const idOf = (number: number) => `attempt ${wallet} ${number}`;
  return {
    network: 'erc20',
    account,
    ...(epoch === undefined ? {} : { epoch }),
    attempt: {
      history: history ?? 'first',
      attemptId: attempt ?? idOf(ordinal),
      ordinal: String(ordinal),
      previous: ordinal === 0 ? null : idOf(ordinal - 1),
    },
    unsigned: unsigned({ nonce: ordinal, ...bytes }),
    purpose,
  };
}

/** A signer's decisions one after another, without its keys. */
export class Bench {
  readonly memory = new Memory();
  readonly policy;
  now = START;
  /** What a node shows, as `findUnpaid` gives it. */
  unpaid: ReadonlySet<string> = new Set();

  constructor(change: (policy: ReturnType<typeof policyText>) => void = () => {}) {
    const text = policyText();
    change(text);
    this.policy = readPolicy(JSON.stringify(text));
  }

  ask(request: SignRequest): Verdict {
    const verdict = judge(request, {
      memory: this.memory,
      policy: this.policy,
      book: addressBook,
      unpaid: this.unpaid,
      now: this.now,
      clock: this.now,
    });
    if (verdict.entry !== null) this.memory.apply(verdict.entry);
    return verdict;
  }

  /** `signed`, or the code of the refusal. */
  outcome(request: SignRequest): string {
    try {
      this.ask(request);
      return 'signed';
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error);
    }
  }
}
