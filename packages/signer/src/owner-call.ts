import type { Accounts } from './accounts.ts';
import { readAddress, ZERO_ADDRESS } from './address.ts';
import { type Hex, toHex } from './bytes.ts';
import { ownerCallData } from './calldata.ts';
import { collectorAccount } from './contracts.ts';
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
  /** Of the owner's wallet. */
  nonce: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

export interface SignedOwnerCall {
  owner: string;
  collector: string;
  /** The id of the account at the collector. */
  collectorAccount: Hex;
  /** The most that it can cost, in wei. */
  costAtMost: string;
  raw: Hex;
  txId: Hex;
}

/**
 * Signs a transaction of the owner's wallet, which somebody sends. It is called by a person with the passphrase, never for a
 * server.
 *
 * @throws SignerMistake
 */
export function signOwnerCall(accounts: Accounts, rules: NetworkRules, call: OwnerCall): SignedOwnerCall {
  const mistake = (line: string) => new SignerMistake('owner_call', line);
  if (rules.collector === null) throw mistake('the policy names no collector.');
  if (call.account === 0) throw mistake('account 0 is the gas tank, which charges nobody.');
  const address = readAddress(call.address);
  if (address === undefined) throw mistake(`${call.address} has a wrong checksum: copy it again.`);
  const contracts = [...rules.tokens.values(), rules.collector, rules.batchPayout];
  if (call.what === 'home' && (address === ZERO_ADDRESS || contracts.includes(address)))
    throw mistake(`coins would be lost at ${address}.`);
  const { maxFeePerGas, maxPriorityFeePerGas } = call;
  if (maxFeePerGas > rules.maxFeePerGas || maxPriorityFeePerGas > rules.maxPriorityFeePerGas)
    throw mistake('the fee is above the ceilings of the policy.');
  if (maxPriorityFeePerGas > maxFeePerGas) throw mistake('the priority fee is above the whole fee.');
  const owner = accounts.owner(call.account);
  const account = collectorAccount(owner.address, accounts.hot(call.account).address);
  const { raw, hash } = signTransaction(
    {
      type: 2,
      chainId: rules.chainId,
      nonce: call.nonce,
      maxPriorityFeePerGas,
      maxFeePerGas,
      gas: GAS,
      to: rules.collector,
      value: 0n,
      data: ownerCallData(call.what, account, address),
      accessList: 0,
    },
    [],
    owner.privateKey,
  );
  return {
    owner: owner.address,
    collector: rules.collector,
    collectorAccount: toHex(account),
    costAtMost: String(GAS * maxFeePerGas),
    raw: toHex(raw),
    txId: toHex(hash),
  };
}
