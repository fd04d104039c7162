import { readAddress } from './address.ts';
import { isEqual, numberOf } from './bytes.ts';
import type { Call } from './calldata.ts';
import { checkAccount, checkMandate, readCall, tokenOf } from './collector-calls.ts';
import { accountAtCollector, hotWallets, type OwnAddresses, ownerOf } from './collector-owner.ts';
import {
  batchPayoutDeployment,
  collectorDeployment,
  DETERMINISTIC_DEPLOYER,
  type Deployment,
  delegateDeployment,
  groupOf,
  sweeperDeployment,
} from './contracts.ts';
import { isLostOnEthereum } from './lost-accounts.ts';
import { differs, paidItems } from './paid-items.ts';
import type { NetworkRules } from './policy.ts';
import type { Purpose, PurposeItem, SignRequest } from './protocol.ts';
import { Refused } from './refusal.ts';
import type { Payment } from './statement.ts';
import type { UnsignedTransaction } from './transaction.ts';

/** The addresses of our keys. */
export interface AddressBook extends OwnAddresses {
  deposit(account: number, index: number): string;
}

/** A deposit address that a sweep lets run its merchant's delegate. */
export interface Delegation {
  account: number;
  index: number;
  nonce: bigint;
  delegate: string;
}

/** A transaction that does what its purpose says and nothing else. */
export interface Movement {
  /** Set where money leaves. */
  payment?: { purpose: Payment; items: readonly PurposeItem[]; via: string | null };
  topUp?: bigint;
  delegations?: readonly Delegation[];
}

/** What the transaction is compared with. */
interface Facts {
  request: SignRequest;
  tx: UnsignedTransaction;
  rules: NetworkRules;
  book: AddressBook;
  /** Number of an account's present hot wallet. */
  epochOf: (account: number) => number;
  /** The contract that a deposit address was last allowed to run; undefined where this signer has allowed none. */
  delegateOf: (account: number, index: number) => string | undefined;
}

type Of<Kind extends Purpose['kind']> = Extract<Purpose, { kind: Kind }>;

/** @throws Refused where the bytes are not what the purpose says, or the policy lacks what they need */
export function matchPurpose(facts: Facts): Movement {
  const { purpose } = facts.request;
  if (facts.tx.accessList > 0) throw differs('it has an access list');
  if (purpose.kind !== 'gas' && purpose.kind !== 'move' && facts.tx.value !== 0n)
    throw differs('it moves native coins');
  if (purpose.kind !== 'sweep' && facts.tx.type !== 2) throw differs('it carries authorizations');
  switch (purpose.kind) {
    case 'payout':
    case 'refund':
      return matchPayment(facts, purpose);
    case 'sweep':
      return matchSweep(facts, purpose);
    case 'gas':
      return matchGas(facts, purpose);
    case 'energy':
      throw differs('energy is of Tron');
    case 'move':
      return matchMove(facts, purpose);
    case 'approve':
      return matchApprove(facts, purpose);
    case 'deploy':
      return matchDeploy(facts, purpose);
    case 'account':
      return matchAccount(facts, purpose);
    case 'activate':
    case 'charge':
      return matchMandate(facts, purpose);
    case 'fill':
      if (facts.tx.to !== facts.book.hot(facts.request.account, facts.request.epoch))
        throw differs('it does not go to its sender');
      if (facts.tx.data.length > 0) throw differs('it carries data');
      return {};
  }
}

function matchPayment(facts: Facts, purpose: Payment): Movement {
  const { tx, rules, request, book, epochOf } = facts;
  const { account } = request;
  if (account === 0) throw differs('the gas tank pays nobody');
  const token = tokenOf(rules, purpose.asset);
  const own = [book.hot(0), ...hotWallets(book, account, epochOf(account))];
  const lost = [...rules.tokens.values(), rules.batchPayout, rules.collector, ...own];
  const isLost = (to: string) => lost.includes(to) || isLostOnEthereum(to);
  const items = paidItems(purpose, { read: readAddress, isLost });
  const call = readCall(facts.tx.data);
  if (call.kind === 'pay') {
    if (rules.batchPayout === null) throw new Refused('policy', 'the policy names no batch_payout.');
    if (tx.to !== rules.batchPayout)
      throw differs('it calls another contract than batch_payout of the policy');
    if (call.token !== token) throw differs(`it pays in another token than ${purpose.asset}`);
    if (!isEqual(call.group, groupOf(purpose.id))) throw differs(`it pays another group than ${purpose.id}`);
    if (call.payments.length !== items.length) throw differs('it pays another number of items');
    for (const [i, { place, to, amount }] of items.entries()) {
      const paid = call.payments[i];
      if (paid?.index !== BigInt(place)) throw differs(`payment ${i} is not of place ${place}`);
      if (paid.to !== to) throw differs(`place ${place} pays ${paid.to}, approved is ${to}`);
      if (paid.amount !== BigInt(amount))
        throw differs(`place ${place} pays ${paid.amount} units, approved are ${amount}`);
    }
    return { payment: { purpose, items, via: rules.batchPayout } };
  }
  const [item] = items;
  if (call.kind !== 'transfer' || item === undefined) throw differs('it pays nobody');
  if (items.length > 1) throw differs('a transfer pays one item');
  if (tx.to !== token) throw differs(`it pays in another token than ${purpose.asset}`);
  if (call.to !== item.to) throw differs(`place ${item.place} pays ${call.to}, approved is ${item.to}`);
  if (call.amount !== BigInt(item.amount))
    throw differs(`place ${item.place} pays ${call.amount} units, approved are ${item.amount}`);
  return { payment: { purpose, items, via: null } };
}

function matchSweep(facts: Facts, purpose: Of<'sweep'>): Movement {
  const { tx, book } = facts;
  const { account, deposits, delegates } = purpose;
  fromTank(facts);
  if (account === 0) throw differs('the gas tank has no deposits');
  const { address: sweeper } = sweeperDeployment(book.hot(0));
  if (tx.to !== sweeper) throw differs(`it calls another contract than our sweeper ${sweeper}`);
  const call = readCall(facts.tx.data);
  if (call.kind !== 'sweep') throw differs('it sweeps nothing');
  if (call.sweeps.length !== deposits.length) throw differs('it sweeps another number of addresses');
  for (const [i, { index, asset, amount }] of deposits.entries()) {
    const swept = call.sweeps[i];
    if (swept?.from !== book.deposit(account, index))
      throw differs(`sweep ${i} is not of deposit address ${index}`);
    if (swept.token !== tokenOf(facts.rules, asset))
      throw differs(`sweep ${i} is in another token than ${asset}`);
    if (swept.amount !== BigInt(amount)) throw differs(`sweep ${i} is not of ${amount} units`);
  }
  const swept = new Set(deposits.map(({ index }) => index));
  const delegating = new Set(delegates.map(({ index }) => index));
  if (delegating.size < delegates.length) throw differs('an address delegates twice');
  if ([...delegating].some((index) => !swept.has(index)))
    throw differs('an address delegates and is not swept');
  if ((tx.type === 4) !== delegates.length > 0) throw differs('type 4 is for addresses that delegate');
  const { address: delegate } = delegateDeployment(book.hot(account, presentOf(facts, purpose)), sweeper);
  for (const index of swept) {
    const before = facts.delegateOf(account, index);
    if (before !== undefined && before !== delegate && !delegating.has(index))
      throw new Refused(
        'epoch',
        `deposit address ${index} of account ${account} hands its coins to a hot wallet that was rotated: it has to delegate anew.`,
      );
  }
  return {
    delegations: delegates.map(({ index, nonce }) => ({ account, index, nonce: BigInt(nonce), delegate })),
  };
}

/** The epoch of a merchant's hot wallet, which a server that has not noticed its rotation names wrongly. @throws Refused */
function presentOf({ epochOf }: Facts, { account, epoch = 0 }: { account: number; epoch?: number }): number {
  const present = epochOf(account);
  if (epoch !== present)
    throw new Refused(
      'epoch',
      `account ${account} is in epoch ${present}: nothing goes to its hot wallet of epoch ${epoch}.`,
    );
  return present;
}

function fromTank({ request }: Facts): void {
  if (request.account !== 0) throw differs('it is for the gas tank to send, account 0');
}

function matchGas(facts: Facts, { account, index, epoch = 0, to }: Of<'gas'>): Movement {
  const { tx, rules, book, epochOf } = facts;
  fromTank(facts);
  if (index !== undefined) throw differs('deposit addresses need no gas here');
  if (account === 0) throw differs('the gas tank does not fill itself');
  if (epoch > epochOf(account))
    throw new Refused('epoch', `epoch ${epoch} of account ${account} has not begun.`);
  // A wallet that was rotated pays for handing its coins over, and is not taken for the present one by mistake.
  if (to !== 'owner' && (to === 'rotated') !== epoch < epochOf(account))
    throw new Refused('epoch', `epoch ${epoch} of account ${account} is ${to ? 'the present one' : 'over'}.`);
  if (to === 'owner' && rules.coldOwners.has(account))
    throw new Refused(
      'policy',
      `the owner of account ${account} is outside of the signer and pays its own fees.`,
    );
  const wallet = to === 'owner' ? book.owner(account) : book.hot(account, epoch);
  if (tx.to !== wallet) throw differs(`it does not go to the ${to ?? 'hot'} wallet of account ${account}`);
  if (tx.data.length > 0) throw differs('it carries data');
  return { topUp: tx.value };
}

/** From a hot wallet that was rotated to the present one. */
function matchMove({ tx, rules, book, request, epochOf }: Facts, { asset, amount }: Of<'move'>): Movement {
  const { account, epoch = 0 } = request;
  const present = epochOf(account);
  if (epoch === present) throw differs('it is the present hot wallet, which hands nothing over');
  const home = book.hot(account, present);
  const call = asset === null ? undefined : readCall(tx.data);
  const to = call?.kind === 'transfer' ? call.to : tx.to;
  // Whoever has missed a rotation takes the wallet of a later epoch for the present one.
  for (let between = epoch + 1; between < present; between++)
    if (to === book.hot(account, between))
      throw new Refused('epoch', `epoch ${between} of account ${account} is over, this is epoch ${present}.`);
  if (asset === null) {
    if (tx.to !== home) throw differs(`it does not go to the present hot wallet of account ${account}`);
    if (tx.data.length > 0) throw differs('it carries data');
    if (tx.value !== BigInt(amount)) throw differs(`it moves ${tx.value} wei`);
    return {};
  }
  if (tx.value !== 0n) throw differs('it moves native coins');
  if (call?.kind !== 'transfer') throw differs('it moves nothing');
  if (tx.to !== tokenOf(rules, asset)) throw differs(`it is in another token than ${asset}`);
  if (call.to !== home) throw differs(`it does not go to the present hot wallet of account ${account}`);
  if (call.amount !== BigInt(amount)) throw differs(`it moves ${call.amount} units`);
  return {};
}

function matchApprove(facts: Facts, purpose: Of<'approve'>): Movement {
  const { tx, rules, request } = facts;
  if (request.account === 0) throw differs('the gas tank approves nobody');
  if (rules.batchPayout === null) throw new Refused('policy', 'the policy names no batch_payout.');
  const call = readCall(facts.tx.data);
  if (call.kind !== 'approve') throw differs('it approves nothing');
  if (tx.to !== tokenOf(rules, purpose.asset)) throw differs(`it is for another token than ${purpose.asset}`);
  if (call.spender !== rules.batchPayout)
    throw differs(`it approves ${call.spender}, not batch_payout of the policy`);
  if (call.amount !== BigInt(purpose.amount)) throw differs(`it approves ${call.amount} units`);
  if (call.amount > rules.approveCeiling)
    throw new Refused(
      'limit',
      `approve_ceiling of the policy is ${rules.approveCeiling} units, this asks for more.`,
    );
  return {};
}

function collectorCall(facts: Facts): Call {
  const { collector } = facts.rules;
  if (collector === null) throw new Refused('policy', 'the policy names no collector.');
  if (facts.tx.to !== collector) throw differs('it calls another contract than collector of the policy');
  return readCall(facts.tx.data);
}

function matchAccount(facts: Facts, { account }: Of<'account'>): Movement {
  const { book, rules } = facts;
  fromTank(facts);
  if (account === 0) throw differs('the gas tank charges nobody');
  const owner = ownerOf(rules, book, account);
  checkAccount(collectorCall(facts), { account, owner, hot: book.hot(account) });
  return {};
}

function matchMandate(facts: Facts, purpose: Of<'activate' | 'charge'>): Movement {
  const { request, book, rules } = facts;
  const { account } = request;
  if (account === 0) throw differs('the gas tank charges nobody');
  const call = checkMandate(collectorCall(facts), purpose, {
    account,
    id: accountAtCollector(rules, book, account),
    token: tokenOf(rules, purpose.asset),
    payer: readAddress(purpose.payer),
    show: (address) => address,
  });
  if (call.kind === 'activate') checkPermit(call);
  return {};
}

/** Three years of a mandate's windows may be approved in advance. */
const APPROVED_SECONDS = 1_096n * 86_400n;
/** A permit is for an activation that follows its signature: none is kept for later. */
const PERMIT_SECONDS = 7n * 86_400n;

/**
 * A permit of the payer's, for the collector by the call itself: it allows no more than its mandate can take in three years, and
 * ends soon after the mandate begins. Signatures are for token and collector to check.
 */
function checkPermit({ mandate, permit }: Extract<Call, { kind: 'activate' }>): void {
  const [value, deadline] = permit;
  if (value === undefined || deadline === undefined) return;
  const [cap = 0n, period = 0n, subscriptions = 0n, start = 0n] = mandate.terms.map(numberOf);
  if (numberOf(value) * period > cap * subscriptions * APPROVED_SECONDS)
    throw differs(`its permit is of ${numberOf(value)} units, more than its mandate can take`);
  if (numberOf(deadline) > start + PERMIT_SECONDS) throw differs('its permit is good for too long');
}

function matchDeploy(facts: Facts, purpose: Of<'deploy'>): Movement {
  const { tx } = facts;
  fromTank(facts);
  if (tx.to !== DETERMINISTIC_DEPLOYER) throw differs('it does not go to the deterministic deployer');
  if (!isEqual(tx.data, deploymentOf(facts, purpose).data))
    throw differs(`it does not deploy ${purpose.contract} as the signer has it`);
  return {};
}

function deploymentOf(facts: Facts, purpose: Of<'deploy'>): Deployment {
  const { book } = facts;
  switch (purpose.contract) {
    case 'batch_payout':
      return batchPayoutDeployment();
    case 'collector':
      return collectorDeployment();
    case 'sweeper':
      return sweeperDeployment(book.hot(0));
    case 'sweep_delegate':
      return delegateDeployment(
        book.hot(purpose.account, presentOf(facts, purpose)),
        sweeperDeployment(book.hot(0)).address,
      );
  }
}
