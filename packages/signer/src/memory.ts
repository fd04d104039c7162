import { createHash } from 'node:crypto';
import { fromHex, type Hex } from './bytes.ts';
import type { ChargeEntry, Entry, PaymentEntry, SignEntry, SignOnceEntry } from './entries.ts';
import type { Numbering } from './numbering.ts';
import type { SignerNetwork } from './protocol.ts';
import type { Delegation } from './purposes.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A sum over the last hour or day. */
export class Window {
  readonly #spanMs: number;
  #entries: { at: number; amount: bigint }[] = [];
  #passed = 0;
  #sum = 0n;

  constructor(spanMs: number) {
    this.#spanMs = spanMs;
  }

  add(at: number, amount: bigint): void {
    if (amount === 0n) return;
    this.#entries.push({ at, amount });
    this.#sum += amount;
  }

  total(now: number): bigint {
    for (let next = this.#entries[this.#passed]; next !== undefined; next = this.#entries[this.#passed]) {
      if (next.at + this.#spanMs > now) break;
      this.#sum -= next.amount;
      this.#passed += 1;
    }
    if (this.#passed > 1_000 && this.#passed * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#passed);
      this.#passed = 0;
    }
    return this.#sum;
  }
}

export interface Version {
  maxFee: bigint;
  priority: bigint;
  gas: bigint;
  delegations: readonly Delegation[];
}

/** What was signed for one sequence of a sender. */
export interface SignedSequence {
  attempt: string;
  body: string;
  /** In the order in which they were signed, fees ascending. */
  versions: Version[];
  /** The most wei that any of them may cost. */
  fee: bigint;
}

/** The last signature for an item, by whichever hot wallet of its account. */
export interface SignedItem {
  sender: string;
  via: string | null;
  /** The most units that any signature by this way names, since it was the last way. */
  amount: bigint;
  /** As `amount`, of signatures without people: to other recipients than those that people have approved, perhaps. */
  unapproved: bigint;
  /** Unix milliseconds from which on all its transactions are in no block, if they are in none by then; null: nobody knows. */
  deadFrom: number | null;
  /** The attempts of its transactions. */
  attempts: readonly string[];
  /** The payout contract that each of them went through; null: a transfer of its own. */
  contracts: readonly (string | null)[];
}

/** What was signed for an attempt on trc20 or spl. */
export interface SignedAttempt {
  network: 'trc20' | 'spl';
  unsigned: Hex;
  /** Unix milliseconds. */
  at: number;
}

/** The name of the sum of native coin that was given to wallets of ours. */
export const topUpsOf = (network: SignerNetwork): string =>
  network === 'erc20' ? 'top-up' : `${network} top-up`;

/** The names of the sums of fees on trc20 and spl: of all wallets, and of an account's. */
export const feesOf = (network: 'trc20' | 'spl', account?: number): string =>
  account === undefined ? `${network} fee` : `${network} fee ${account}`;

/** The name of the sum of ids that came with another attempt. */
export const LEARNED = 'learned';

/** SHA-256 of the bytes, hex. @param unsigned hex */
export const digestOf = (unsigned: Hex): string =>
  createHash('sha256').update(fromHex(unsigned)).digest('hex');

interface KnownNumbers extends Numbering {
  last: bigint | null;
  known: Map<bigint, string>;
}

/** The last signature for a charge on spl, and the attempts of all of them. */
export interface SignedCharge extends ChargeEntry {
  account: number;
  attempts: readonly string[];
  /** The most units that all its transactions can pull. */
  pulled: bigint;
}

interface Paid {
  at: number;
  network: SignerNetwork;
  account: number;
  sender: string;
  attempt: string;
  deadFrom: number | null;
}

/** All that the signer knows of its past; built from the journal alone, entry by entry. */
export class Memory {
  held: { history: string; generation: bigint } | null = null;
  frozen: { since: number; reason: string } | null = null;
  /** Unix milliseconds of the newest entry. */
  newest = 0;
  fingerprint: string | null = null;
  readonly #numbers = new Map<string, KnownNumbers>();
  readonly #sequences = new Map<string, SignedSequence>();
  readonly #attempts = new Map<string, string>();
  readonly #items = new Map<string, SignedItem>();
  readonly #merchants = new Map<string, string>();
  readonly #epochs = new Map<number, number>();
  readonly #accounts = new Map<string, number>();
  readonly #delegates = new Map<string, string>();
  readonly #once = new Map<string, SignedAttempt>();
  readonly #digests = new Map<string, string>();
  readonly #charges = new Map<string, SignedCharge>();
  readonly #payers = new Map<string, Set<string>>();
  readonly #windows = new Map<string, Window>();

  apply(entry: Entry): void {
    this.newest = Math.max(this.newest, entry.at);
    switch (entry.type) {
      case 'open':
        this.fingerprint = entry.fingerprint;
        return;
      case 'start':
        return;
      case 'sign':
        this.#sign(entry);
        return;
      case 'sign_once':
        this.#signOnce(entry);
        return;
      case 'claim':
        this.held = { history: entry.history, generation: BigInt(entry.generation) };
        return;
      case 'epoch':
        if (entry.epoch !== this.epochOf(entry.account) + 1) throw new Error('epochs follow each other');
        this.#epochs.set(entry.account, entry.epoch);
        return;
      case 'freeze':
        this.frozen ??= { since: Math.floor(entry.at / 1000), reason: entry.reason };
        return;
      case 'unfreeze':
        this.frozen = null;
        return;
    }
  }

  numbering(sender: string, history: string): Numbering {
    return this.#numbers.get(`${sender} ${history}`) ?? { last: null, known: new Map() };
  }

  sequence(sender: string, sequence: string): SignedSequence | undefined {
    return this.#sequences.get(`${sender} ${sequence}`);
  }

  /** The sender and sequence that an attempt was signed for. */
  placeOf(attempt: string): string | undefined {
    return this.#attempts.get(attempt);
  }

  /** An item that an earlier hot wallet of the account was to pay is the same item. */
  item(
    { network, account }: { network: SignerNetwork; account: number },
    group: string,
    place: number,
  ): SignedItem | undefined {
    return this.#items.get(`${network} ${account} ${group} ${place}`);
  }

  /** Number of the account's hot wallet; it only grows. */
  epochOf(account: number): number {
    return this.#epochs.get(account) ?? 0;
  }

  /** The contract that a deposit address was last allowed to run. */
  delegateOf(account: number, index: number): string | undefined {
    return this.#delegates.get(`${account} ${index}`);
  }

  /** What was signed for an attempt on trc20 or spl. */
  signedOnce(attempt: string): SignedAttempt | undefined {
    return this.#once.get(attempt);
  }

  /** The attempt that bytes of trc20 or spl were signed for. */
  attemptOf(digest: string): string | undefined {
    return this.#digests.get(digest);
  }

  /** The last signature for a charge on spl. */
  charge(id: string): SignedCharge | undefined {
    return this.#charges.get(id);
  }

  /** What was signed for charges of a payer on spl. */
  chargesOf(payer: string): SignedCharge[] {
    return [...(this.#payers.get(payer) ?? [])].flatMap((id) => this.#charges.get(id) ?? []);
  }

  merchantOf(network: SignerNetwork, account: number): string | undefined {
    return this.#merchants.get(`${network} ${account}`);
  }

  accountOf(network: SignerNetwork, merchant: string): number | undefined {
    return this.#accounts.get(`${network} ${merchant}`);
  }

  /** @param name of the sum, such as `payout` or `payout <merchant>` */
  hour(name: string): Window {
    return this.#window(`${name} hour`, HOUR_MS);
  }

  day(name: string): Window {
    return this.#window(`${name} day`, DAY_MS);
  }

  /** What went out without people. */
  unapproved(kind: 'payout' | 'refund'): Window {
    return this.day(`${kind} unapproved`);
  }

  #window(name: string, spanMs: number): Window {
    const known = this.#windows.get(name);
    if (known !== undefined) return known;
    const window = new Window(spanMs);
    this.#windows.set(name, window);
    return window;
  }

  #sign(entry: SignEntry): void {
    const { at, history, sender, sequence, attempt } = entry;
    this.held ??= { history, generation: 1n };
    this.#learn(entry);
    const place = `${sender} ${sequence}`;
    const version = {
      maxFee: BigInt(entry.maxFee),
      priority: BigInt(entry.priority),
      gas: BigInt(entry.gas),
      delegations: (entry.delegations ?? []).map((one) => ({ ...one, nonce: BigInt(one.nonce) })),
    };
    for (const { account, index, delegate } of version.delegations)
      this.#delegates.set(`${account} ${index}`, delegate);
    const known = this.#sequences.get(place) ?? { attempt, body: entry.body, versions: [], fee: 0n };
    known.versions.push(version);
    known.fee += BigInt(entry.fee);
    this.#sequences.set(place, known);
    this.#attempts.set(attempt, place);
    this.day('fee').add(at, BigInt(entry.fee));
    this.day(topUpsOf('erc20')).add(at, BigInt(entry.topUp ?? '0'));
    if (entry.payment !== undefined) this.#pay({ network: 'erc20', deadFrom: null, ...entry }, entry.payment);
  }

  #signOnce(entry: SignOnceEntry): void {
    const { at, history, network, account, sender, attempt, charge } = entry;
    const unsigned = entry.unsigned as Hex;
    const digest = digestOf(unsigned);
    this.held ??= { history, generation: 1n };
    this.#learn(entry);
    this.#once.set(attempt, { network, unsigned, at });
    this.#digests.set(digest, attempt);
    this.#attempts.set(attempt, `${sender} ${digest}`);
    for (const name of [feesOf(network), feesOf(network, account)]) this.day(name).add(at, BigInt(entry.fee));
    this.day(topUpsOf(network)).add(at, BigInt(entry.topUp ?? '0'));
    if (entry.payment !== undefined) this.#pay({ deadFrom: null, ...entry }, entry.payment);
    if (charge === undefined) return;
    const known = this.#charges.get(charge.id);
    const attempts = [...(known?.attempts ?? []), attempt];
    // Where nothing is resent, its earlier transactions are dead.
    const pulled = (known === undefined || charge.resent === '0' ? 0n : known.pulled) + BigInt(charge.amount);
    this.#charges.set(charge.id, { ...charge, account, attempts, pulled });
    this.#payers.set(charge.payer, (this.#payers.get(charge.payer) ?? new Set()).add(charge.id));
    for (const name of ['spl charge', `spl charge ${account}`]) this.day(name).add(at, BigInt(charge.amount));
    this.day('spl charge resent').add(at, BigInt(charge.resent));
  }

  #learn({ at, sender, history, numbers }: Pick<SignEntry, 'at' | 'sender' | 'history' | 'numbers'>): void {
    const wallet = `${sender} ${history}`;
    const own = this.#numbers.get(wallet) ?? { last: null, known: new Map() };
    for (const [text, attempt] of numbers) {
      const ordinal = BigInt(text);
      own.known.set(ordinal, attempt);
      if (own.last === null || ordinal > own.last) own.last = ordinal;
    }
    this.#numbers.set(wallet, own);
    this.day(LEARNED).add(at, BigInt(Math.max(0, numbers.length - 1)));
  }

  #pay({ at, network, account, sender, attempt, deadFrom }: Paid, payment: PaymentEntry): void {
    const { kind, merchant, id, items, via, approved } = payment;
    this.#merchants.set(`${network} ${account}`, merchant);
    this.#accounts.set(`${network} ${merchant}`, account);
    for (const [place, text] of items) {
      const key = `${network} ${account} ${id} ${place}`;
      const amount = BigInt(text);
      const known = this.#items.get(key);
      // What a transfer of its own may move does not lower what the contract may.
      const isSameWay = known?.via === via && known.sender === sender;
      const before = isSameWay ? known : { amount: 0n, unapproved: 0n };
      this.#items.set(key, {
        sender,
        via,
        amount: larger(before.amount, amount),
        unapproved: larger(before.unapproved, approved ? 0n : amount),
        deadFrom: deadFrom === null ? null : Math.max(deadFrom, known?.deadFrom ?? 0),
        attempts: [...(known?.attempts ?? []), attempt],
        contracts: [...(known?.contracts ?? []), via],
      });
    }
    const counted = BigInt(payment.counted);
    this.hour(kind).add(at, counted);
    for (const name of [kind, `${kind} ${merchant}`]) this.day(name).add(at, counted);
    const withoutPeople = payment.unapproved ?? (approved ? '0' : payment.counted);
    this.unapproved(kind).add(at, BigInt(withoutPeople));
    this.day(`${kind} resent`).add(at, BigInt(payment.resent));
  }
}

const larger = (a: bigint, b: bigint) => (a > b ? a : b);
