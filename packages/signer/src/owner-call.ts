import type { Accounts } from './accounts.ts';
import { readAddress, ZERO_ADDRESS } from './address.ts';
import { type Hex, toHex } from './bytes.ts';
import { ownerCallData } from './calldata.ts';
import { accountAtCollector, ownerOf } from './collector-owner.ts';
import { SignerMistake } from './mistake.ts';
import type { NetworkRules } from './policy.ts';
import { signTransaction } from './transaction.ts';

/** A call uses 35,000 to 75,000. */
const GAS = 120_000n;

export interface OwnerCall {
  /** Number of the merchant's account. */
  account: number;
  /** `operator`: who charges from now on, the zero address for nobody. `home`: where charges go in two days. */
  what: 'operator' | 'home';
  address: string;
}

/** How a key of the signer sends it; a cold owner decides that for itself. */
export interface OwnerFees {
  /** Of the owner's wallet. */
  nonce: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

interface CallOfOwner {
  owner: string;
  collector: string;
  /** The id of the account at the collector. */
  collectorAccount: Hex;
}

/** By the signer's own key. */
export interface SignedOwnerCall extends CallOfOwner {
  /** The most that it can cost, in wei. */
  costAtMost: string;
  raw: Hex;
  txId: Hex;
}

/** For the wallet of a cold owner, which signs and sends it. */
export interface UnsignedOwnerCall extends CallOfOwner {
  unsigned: { chainId: number; from: string; to: string; data: Hex; value: '0' };
  /** What it does, in words. */
  does: string;
}

/**
 * The call by which the owner of a merchant's account at the collector names an operator or a home: signed where the owner is a
 * key of the signer, otherwise as its wallet has to send it. It is asked for by a person with the passphrase, never by a server.
 *
 * @param fees need not be known for a cold owner
 * @throws SignerMistake
 */
export function makeOwnerCall(
  accounts: Accounts,
  rules: NetworkRules,
  { fees, ...call }: OwnerCall & { fees: OwnerFees | undefined },
): SignedOwnerCall | UnsignedOwnerCall {
  const { collector, to, data } = checkedCall(rules, call);
  const own = {
    hot: (account: number, epoch?: number) => accounts.hot(account, epoch).address,
    owner: (account: number) => accounts.owner(account).address,
  };
  const owner = ownerOf(rules, own, call.account);
  const account = accountAtCollector(rules, own, call.account);
  const named = { owner, collector, collectorAccount: toHex(account) };
  const bytes = data(account);
  if (rules.coldOwners.has(call.account)) {
    const chainId = Number(rules.chainId);
    const unsigned = { chainId, from: owner, to: collector, data: toHex(bytes), value: '0' } as const;
    return { ...named, unsigned, does: wordsOf(call, to) };
  }
  if (fees === undefined)
    throw mistake('the owner is a key of the signer: give the nonce and both fees of its transaction.');
  const { nonce, maxFeePerGas, maxPriorityFeePerGas } = checkedFees(rules, fees);
  const { raw, hash } = signTransaction(
    {
      type: 2,
      chainId: rules.chainId,
      nonce,
      maxPriorityFeePerGas,
      maxFeePerGas,
      gas: GAS,
      to: collector,
      value: 0n,
      data: bytes,
      accessList: 0,
    },
    [],
    accounts.owner(call.account).privateKey,
  );
  return { ...named, costAtMost: String(GAS * maxFeePerGas), raw: toHex(raw), txId: toHex(hash) };
}

/** As they stand in a request; undefined where they are not all there. */
export function ownerFeesOf(text: { [Field in keyof OwnerFees]?: string }): OwnerFees | undefined {
  const { nonce, maxFeePerGas, maxPriorityFeePerGas } = text;
  if (nonce === undefined || maxFeePerGas === undefined || maxPriorityFeePerGas === undefined)
    return undefined;
  return {
    nonce: BigInt(nonce),
    maxFeePerGas: BigInt(maxFeePerGas),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
  };
}

const mistake = (line: string) => new SignerMistake('owner_call', line);

function checkedCall(rules: NetworkRules, { account, what, address }: OwnerCall) {
  const { collector } = rules;
  if (collector === null) throw mistake('the policy names no collector.');
  if (account === 0) throw mistake('account 0 is the gas tank, which charges nobody.');
  const to = readAddress(address);
  if (to === undefined) throw mistake(`${address} has a wrong checksum: copy it again.`);
  const contracts = [...rules.tokens.values(), collector, rules.batchPayout];
  if (what === 'home' && (to === ZERO_ADDRESS || contracts.includes(to)))
    throw mistake(`coins would be lost at ${to}.`);
  return { collector, to, data: (id: Uint8Array) => ownerCallData(what, id, to) };
}

function checkedFees(rules: NetworkRules, fees: OwnerFees): OwnerFees {
  const { maxFeePerGas, maxPriorityFeePerGas } = fees;
  if (maxFeePerGas > rules.maxFeePerGas || maxPriorityFeePerGas > rules.maxPriorityFeePerGas)
    throw mistake('the fee is above the ceilings of the policy.');
  if (maxPriorityFeePerGas > maxFeePerGas) throw mistake('the priority fee is above the whole fee.');
  return fees;
}

function wordsOf({ account, what }: OwnerCall, address: string): string {
  const whose = `for the merchant of account ${account}`;
  if (what === 'home')
    return `From two days after this call on, what subscribers are charged ${whose} goes to ${address}.`;
  return address === ZERO_ADDRESS
    ? `Nobody charges subscribers ${whose} from this call on.`
    : `${address} charges subscribers ${whose} from this call on, and nobody else.`;
}
