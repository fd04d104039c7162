import { readAddress, ZERO_ADDRESS } from './address.ts';
import { isEqual } from './bytes.ts';
import { type Call, decodeCall } from './calldata.ts';
import {
  batchPayoutDeployment,
  DETERMINISTIC_DEPLOYER,
  type Deployment,
  delegateDeployment,
  groupOf,
  sweeperDeployment,
} from './contracts.ts';
import type { NetworkRules } from './policy.ts';
import type { Purpose, PurposeItem, SignerAsset, SignRequest } from './protocol.ts';
import { Refused } from './refusal.ts';
import { BadEncoding } from './rlp.ts';
import type { Payment } from './statement.ts';
import type { UnsignedTransaction } from './transaction.ts';

/** The addresses of our keys. */
export interface AddressBook {
  hot(account: number): string;
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
}

type Of<Kind extends Purpose['kind']> = Extract<Purpose, { kind: Kind }>;

/** @throws Refused where the bytes are not what the purpose says, or the policy lacks what they need */
export function matchPurpose(facts: Facts): Movement {
  const { purpose } = facts.request;
  if (facts.tx.accessList > 0) throw differs('it has an access list');
  if (purpose.kind !== 'gas' && facts.tx.value !== 0n) throw differs('it moves native coins');
  if (purpose.kind !== 'sweep' && facts.tx.type !== 2) throw differs('it carries authorizations');
  switch (purpose.kind) {
    case 'payout':
    case 'refund':
      return matchPayment(facts, purpose);
    case 'sweep':
      return matchSweep(facts, purpose);
    case 'gas':
      return matchGas(facts, purpose);
    case 'approve':
      return matchApprove(facts, purpose);
    case 'deploy':
      return matchDeploy(facts, purpose);
    case 'fill':
      if (facts.tx.to !== facts.book.hot(facts.request.account))
        throw differs('it does not go to its sender');
      if (facts.tx.data.length > 0) throw differs('it carries data');
      return {};
  }
}

const differs = (what: string) =>
  new Refused('purpose', `the transaction is not what its purpose says: ${what}.`);

function tokenOf({ rules }: Facts, asset: SignerAsset): string {
  const token = rules.tokens.get(asset);
  if (token === undefined) throw new Refused('policy', `the policy names no address for ${asset}.`);
  return token;
}

function callOf({ tx }: Facts): Call {
  try {
    return decodeCall(tx.data);
  } catch (error) {
    if (error instanceof BadEncoding) throw differs(error.message);
    throw error;
  }
}

function matchPayment(facts: Facts, purpose: Payment): Movement {
  const { tx, rules, request } = facts;
  if (request.account === 0) throw differs('the gas tank pays nobody');
  const token = tokenOf(facts, purpose.asset);
  const items = paidItems(facts, purpose, token);
  const call = callOf(facts);
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

/**
 * The items of the places that this transaction pays, in their order. An item that nobody can be paid by stops itself alone:
 * the others of its group are paid by other transactions.
 */
function paidItems({ rules }: Facts, { items, places }: Payment, token: string): PurposeItem[] {
  for (const [i, { place }] of items.entries())
    if (place !== i) throw differs(`item ${i} has the place ${place}`);
  if (new Set(places).size < places.length) throw differs('it names a place twice');
  return places.map((place) => {
    const item = items[place];
    if (item === undefined) throw differs(`there is no item ${place}`);
    const to = readAddress(item.to);
    if (to === undefined) throw differs(`the address of place ${place} has a wrong checksum`);
    if (to === ZERO_ADDRESS || to === token || to === rules.batchPayout)
      throw differs(`place ${place} pays ${to}, where coins would be lost`);
    if (item.amount === '0') throw differs(`place ${place} pays nothing`);
    return { ...item, to };
  });
}

function matchSweep(facts: Facts, purpose: Of<'sweep'>): Movement {
  const { tx, book } = facts;
  const { account, deposits, delegates } = purpose;
  fromTank(facts);
  if (account === 0) throw differs('the gas tank has no deposits');
  const { address: sweeper } = sweeperDeployment(book.hot(0));
  if (tx.to !== sweeper) throw differs(`it calls another contract than our sweeper ${sweeper}`);
  const call = callOf(facts);
  if (call.kind !== 'sweep') throw differs('it sweeps nothing');
  if (call.sweeps.length !== deposits.length) throw differs('it sweeps another number of addresses');
  for (const [i, { index, asset, amount }] of deposits.entries()) {
    const swept = call.sweeps[i];
    if (swept?.from !== book.deposit(account, index))
      throw differs(`sweep ${i} is not of deposit address ${index}`);
    if (swept.token !== tokenOf(facts, asset)) throw differs(`sweep ${i} is in another token than ${asset}`);
    if (swept.amount !== BigInt(amount)) throw differs(`sweep ${i} is not of ${amount} units`);
  }
  const swept = new Set(deposits.map(({ index }) => index));
  const delegating = new Set(delegates.map(({ index }) => index));
  if (delegating.size < delegates.length) throw differs('an address delegates twice');
  if ([...delegating].some((index) => !swept.has(index)))
    throw differs('an address delegates and is not swept');
  if ((tx.type === 4) !== delegates.length > 0) throw differs('type 4 is for addresses that delegate');
  const { address: delegate } = delegateDeployment(book.hot(account), sweeper);
  return {
    delegations: delegates.map(({ index, nonce }) => ({ account, index, nonce: BigInt(nonce), delegate })),
  };
}

function fromTank({ request }: Facts): void {
  if (request.account !== 0) throw differs('it is for the gas tank to send, account 0');
}

function matchGas(facts: Facts, { account }: Of<'gas'>): Movement {
  const { tx, book } = facts;
  fromTank(facts);
  if (account === 0) throw differs('the gas tank does not fill itself');
  if (tx.to !== book.hot(account)) throw differs(`it does not go to the hot wallet of account ${account}`);
  if (tx.data.length > 0) throw differs('it carries data');
  return { topUp: tx.value };
}

function matchApprove(facts: Facts, purpose: Of<'approve'>): Movement {
  const { tx, rules, request } = facts;
  if (request.account === 0) throw differs('the gas tank approves nobody');
  if (rules.batchPayout === null) throw new Refused('policy', 'the policy names no batch_payout.');
  const call = callOf(facts);
  if (call.kind !== 'approve') throw differs('it approves nothing');
  if (tx.to !== tokenOf(facts, purpose.asset)) throw differs(`it is for another token than ${purpose.asset}`);
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

function matchDeploy(facts: Facts, purpose: Of<'deploy'>): Movement {
  const { tx } = facts;
  fromTank(facts);
  if (tx.to !== DETERMINISTIC_DEPLOYER) throw differs('it does not go to the deterministic deployer');
  if (!isEqual(tx.data, deploymentOf(facts, purpose).data))
    throw differs(`it does not deploy ${purpose.contract} as the signer has it`);
  return {};
}

function deploymentOf({ book }: Facts, purpose: Of<'deploy'>): Deployment {
  switch (purpose.contract) {
    case 'batch_payout':
      return batchPayoutDeployment();
    case 'sweeper':
      return sweeperDeployment(book.hot(0));
    case 'sweep_delegate':
      return delegateDeployment(book.hot(purpose.account), sweeperDeployment(book.hot(0)).address);
  }
}
