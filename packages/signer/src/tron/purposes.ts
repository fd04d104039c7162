import type { Call } from '../calldata.ts';
import { checkAccount, checkMandate, readCall, tokenOf } from '../collector-calls.ts';
import { differs, paidItems } from '../paid-items.ts';
import type { Purpose, PurposeItem, SignerAsset } from '../protocol.ts';
import { Refused } from '../refusal.ts';
import type { Payment } from '../statement.ts';
import { accountOfTron, readTronAddress, tronOfAccount } from './address.ts';
import { isLostOnTron } from './lost.ts';
import {
  encodeSignedTron,
  encodeTronTransaction,
  type TronContract,
  type TronTransaction,
} from './transaction.ts';

/** The part of the policy about Tron; amounts of TRX in sun. */
export interface TronRules {
  /** Id of the network's first block, hex. */
  genesis: string;
  tokens: ReadonlyMap<SignerAsset, string>;
  /** Null: no wallet is charged. */
  collector: string | null;
  /** The most that the energy of one call may cost. */
  feeLimit: bigint;
  /** The most that all transactions of a day may burn. */
  nativeFeePerDay: bigint;
  /** Of one account. */
  nativeFeePerMerchantDay: bigint;
  gasTopUp: bigint;
  gasTopUpsPerDay: bigint;
  /** Merchants by account: no other account pays. Null: the first payment of an account decides. */
  accounts: ReadonlyMap<number, string> | null;
}

/** The addresses of our keys on Tron. */
export interface TronBook {
  hot(account: number): string;
  deposit(account: number, index: number): string;
  owner(account: number): string;
  /** The id of an account at the collector. */
  collectorAccount(account: number): Uint8Array;
}

/** A wallet of an account: its hot wallet, or a deposit address. */
interface OwnWallet {
  account: number;
  index?: number;
}

export type TronPurpose =
  | Payment
  | Extract<Purpose, { kind: 'account' | 'activate' | 'charge' }>
  /** Sent by the deposit address itself, into the hot wallet of its account. */
  | { kind: 'sweep'; account: number; index: number; asset: SignerAsset; amount: string }
  /** TRX of account 0. */
  | ({ kind: 'gas' } & OwnWallet)
  /** Energy of TRX that account 0 has staked: lent, or taken back. */
  | ({ kind: 'energy'; staked: string; isTakenBack: boolean } & OwnWallet);

export interface TronFacts {
  /** Whose wallet sends: a merchant's, or with 0 the installation's. */
  account: number;
  purpose: TronPurpose;
  tx: TronTransaction;
  rules: TronRules;
  book: TronBook;
  /** Unix milliseconds. */
  now: number;
}

/** What a transaction does that says what its purpose says. */
export interface TronMovement {
  /** The wallet that signs. */
  sender: string;
  /** Set where money leaves. */
  payment?: { purpose: Payment; items: readonly PurposeItem[] };
  topUp?: bigint;
  /** The most sun that it burns: energy up to the fee limit, bandwidth, and the activation of an account that it may create. */
  cost: bigint;
}

type Matched = Omit<TronMovement, 'cost'>;
type Of<Kind extends TronPurpose['kind']> = Extract<TronPurpose, { kind: Kind }>;
type Trigger = Extract<TronContract, { kind: 'trigger' }>;

/** Whoever asks for a signature that is good for longer keeps it for later. */
const VALID_MS = 600_000;
const SIGNATURE_BYTES = 65;
/** Bytes of the result, which count as bandwidth too. */
const RESULT_BYTES = 64n;
/** Of mainnet; what a transaction burns is counted as if its sender had neither energy nor bandwidth. */
const BANDWIDTH_SUN = 1_000n;
const ACTIVATION_SUN = 1_100_000n;

/** @throws Refused where the bytes are not what the purpose says, or the policy lacks what they need */
export function matchTronPurpose(facts: TronFacts): TronMovement {
  const { purpose, tx, now, rules } = facts;
  if (tx.expiration > BigInt(now + VALID_MS))
    throw new Refused(
      'limit',
      `it is valid for longer than ${VALID_MS / 1000} seconds by this machine's clock.`,
    );
  if (tx.contract.kind !== 'trigger' && tx.feeLimit > 0n)
    throw differs('it has a fee limit and calls nothing');
  if (tx.feeLimit > rules.feeLimit)
    throw new Refused('fee', `fee_limit is above ${rules.feeLimit}, as the policy has it.`);
  const { sender, ...movement } = matchKind(facts, purpose);
  if (tx.contract.owner !== sender) throw differs(`it is sent by ${tx.contract.owner}, not by ${sender}`);
  return { sender, ...movement, cost: costOf(tx) };
}

function costOf(tx: TronTransaction): bigint {
  const rawData = encodeTronTransaction(tx);
  const { length } = encodeSignedTron({ rawData, signature: new Uint8Array(SIGNATURE_BYTES) });
  const activation = tx.contract.kind === 'transfer' ? ACTIVATION_SUN : 0n;
  return tx.feeLimit + (BigInt(length) + RESULT_BYTES) * BANDWIDTH_SUN + activation;
}

function matchKind(facts: TronFacts, purpose: TronPurpose): Matched {
  switch (purpose.kind) {
    case 'payout':
    case 'refund':
      return matchPayment(facts, purpose);
    case 'sweep':
      return matchSweep(facts, purpose);
    case 'gas':
      return matchGas(facts, purpose);
    case 'energy':
      return matchEnergy(facts, purpose);
    case 'account':
      return matchAccount(facts, purpose);
    case 'activate':
    case 'charge':
      return matchMandate(facts, purpose);
  }
}

function triggerOf({ tx }: TronFacts): Trigger {
  if (tx.contract.kind !== 'trigger') throw differs('it calls no contract');
  return tx.contract;
}

/** Compares a transfer of tokens with what it should be. */
function checkTransfer(
  facts: TronFacts,
  { what, asset, to, amount }: { what: string; asset: SignerAsset; to: string; amount: string },
): void {
  const trigger = triggerOf(facts);
  const call = readCall(trigger.data);
  if (call.kind !== 'transfer') throw differs(`${what} is no transfer`);
  if (trigger.contract !== tokenOf(facts.rules, asset))
    throw differs(`${what} is in another token than ${asset}`);
  if (call.to !== accountOfTron(to)) throw differs(`${what} goes to ${tronOfAccount(call.to)}, not to ${to}`);
  if (call.amount !== BigInt(amount)) throw differs(`${what} is of ${call.amount} units, not of ${amount}`);
}

function matchPayment(facts: TronFacts, purpose: Payment): Matched {
  const { rules, account, book } = facts;
  if (account === 0) throw differs("the installation's wallet pays nobody");
  // Before thousands of places are read.
  if (purpose.places.length > 1) throw differs('a transfer pays one item');
  const own = [book.hot(0), book.hot(account)];
  const lost = [...rules.tokens.values(), rules.collector, ...own];
  const items = paidItems(purpose, {
    read: (text) => (readTronAddress(text) === undefined ? undefined : text),
    isLost: (to) => lost.includes(to) || isLostOnTron(to),
  });
  const [item] = items;
  if (item === undefined) throw differs('a transfer pays one item');
  checkTransfer(facts, { ...item, what: `place ${item.place}`, asset: purpose.asset });
  return { sender: book.hot(account), payment: { purpose, items } };
}

function matchSweep(facts: TronFacts, { account, index, asset, amount }: Of<'sweep'>): Matched {
  const { book } = facts;
  if (account === 0) throw differs("the installation's account has no deposits");
  if (facts.account !== account) throw differs(`it is for account ${account} to send`);
  checkTransfer(facts, { what: 'the sweep', asset, amount, to: book.hot(account) });
  return { sender: book.deposit(account, index) };
}

const walletOf = ({ book }: TronFacts, { account, index }: OwnWallet) =>
  index === undefined ? book.hot(account) : book.deposit(account, index);

function fromInstallation({ account, book }: TronFacts, to: OwnWallet): { sender: string } {
  if (account !== 0) throw differs('it is for account 0 to send');
  if (to.account === 0) throw differs('account 0 gives itself nothing');
  return { sender: book.hot(0) };
}

function matchGas(facts: TronFacts, purpose: Of<'gas'>): Matched {
  const { contract } = facts.tx;
  const movement = fromInstallation(facts, purpose);
  if (contract.kind !== 'transfer') throw differs('it moves no TRX');
  const to = walletOf(facts, purpose);
  if (contract.to !== to) throw differs(`it goes to ${contract.to}, not to ${to}`);
  return { ...movement, topUp: contract.amount };
}

function matchEnergy(facts: TronFacts, purpose: Of<'energy'>): Matched {
  const { contract } = facts.tx;
  const movement = fromInstallation(facts, purpose);
  const kind = purpose.isTakenBack ? 'undelegate' : 'delegate';
  if (contract.kind !== kind || contract.resource !== 'energy') throw differs(`it does not ${kind} energy`);
  const to = walletOf(facts, purpose);
  if (contract.receiver !== to) throw differs(`it is about the energy of ${contract.receiver}, not of ${to}`);
  if (contract.balance !== BigInt(purpose.staked)) throw differs(`it is about ${contract.balance} sun`);
  return movement;
}

function collectorCall(facts: TronFacts): Call {
  const { collector } = facts.rules;
  if (collector === null) throw new Refused('policy', 'the policy names no collector.');
  const trigger = triggerOf(facts);
  if (trigger.contract !== collector) throw differs('it calls another contract than collector of the policy');
  return readCall(trigger.data);
}

function matchAccount(facts: TronFacts, { account }: Of<'account'>): Matched {
  const { book } = facts;
  const movement = fromInstallation(facts, { account });
  checkAccount(collectorCall(facts), {
    account,
    owner: accountOfTron(book.owner(account)),
    hot: accountOfTron(book.hot(account)),
  });
  return movement;
}

function matchMandate(facts: TronFacts, purpose: Of<'activate' | 'charge'>): Matched {
  const { account, book, rules } = facts;
  if (account === 0) throw differs("the installation's wallet charges nobody");
  const call = checkMandate(collectorCall(facts), purpose, {
    account,
    id: book.collectorAccount(account),
    token: accountOfTron(tokenOf(rules, purpose.asset)),
    payer: purpose.payer,
    show: tronOfAccount,
  });
  if (call.kind === 'activate' && call.permit.length > 0)
    throw differs('it carries a permit, which no token of Tron takes');
  return { sender: book.hot(account) };
}
