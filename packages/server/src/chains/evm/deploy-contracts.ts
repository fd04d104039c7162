import { DETERMINISTIC_DEPLOYER } from '@florin/signer/contracts';
import { type Address, type Hex, size } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { UnbuildableTransfer } from '../port/port-errors.ts';
import { toAddress } from './build-transfer.ts';
import { type Fees, presentPrice, priceOf } from './fees.ts';
import { expectedGas, type GasUse, gasLimit } from './gas.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
import {
  type NodeReads,
  readBytes,
  readFeeHistory,
  readQuantity,
  readRecord,
  readsOf,
} from './node-answers.ts';
import { readNative } from './precheck.ts';
import { sendSigned } from './send.ts';
import { readSigned } from './transaction.ts';
import type { ContractReport } from './verify-contracts.ts';

/** A contract of ours that is not on the chain yet. */
export type MissingContract = Pick<ContractReport, 'contract' | 'expected'>;

/** What deploying will cost. Amounts in wei. */
export interface DeploymentQuote {
  deployer: Address;
  /** What the deployer holds. */
  native: bigint;
  sequence: number;
  fees: Fees;
  transactions: readonly QuotedDeployment[];
}

interface QuotedDeployment extends MissingContract {
  gas: bigint;
  cost: bigint;
  costAtMost: bigint;
}

/** A deployment that was sent, or may have been. */
export interface SentDeployment {
  contract: ContractReport['contract'];
  address: string;
  txId: Hex;
}

interface NodeOfNetwork {
  node: EvmNode;
  network: EvmNetwork;
}

const KEY_FORM = /^(?:0x)?([0-9a-f]{64})$/i;

/** @returns undefined where the text is no private key */
function readKey(text: string): PrivateKeyAccount | undefined {
  const [, digits] = KEY_FORM.exec(text) ?? [];
  try {
    return digits === undefined ? undefined : privateKeyToAccount(`0x${digits}`);
  } catch {
    return undefined;
  }
}

/** @param text a private key in hex @throws UnbuildableTransfer where it is none */
export function openDeployer(text: string): PrivateKeyAccount {
  const account = readKey(text);
  if (account === undefined) throw new UnbuildableTransfer('the key is not 64 hex digits of a private key');
  return account;
}

/**
 * The price of deploying these with the deployer's own ether.
 *
 * @throws UnbuildableTransfer where it cannot be done now; FeeCeilingReached, ChainUnavailable
 */
export async function quoteDeployments(
  { node, network }: NodeOfNetwork,
  deployer: Address,
  contracts: readonly MissingContract[],
): Promise<DeploymentQuote> {
  const reads = readsOf(node);
  const native = await readNative(reads, deployer);
  if (contracts.length === 0)
    return {
      deployer,
      native,
      sequence: 0,
      fees: { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
      transactions: [],
    };
  await assertDeployable(reads, network);
  const history = await readFeeHistory(reads);
  const fees = priceOf(history, network.feeCeilings);
  const price = presentPrice(history, network.feeCeilings);
  const transactions = contracts.map((one): QuotedDeployment => {
    const use: GasUse = { kind: 'deploy', bytes: size(toHex(one.expected.data)) };
    const gas = gasLimit(use, network.feeCeilings.gasPerTransaction);
    return { ...one, gas, cost: expectedGas(use) * price, costAtMost: gas * fees.maxFeePerGas };
  });
  const sequence = await readSequence(reads, deployer);
  return { deployer, native, sequence, fees, transactions };
}

async function assertDeployable(reads: NodeReads, network: EvmNetwork): Promise<void> {
  const code = await reads.agreed('eth_getCode', [DETERMINISTIC_DEPLOYER, 'latest']);
  if (readBytes(code, 'eth_getCode') === '0x')
    throw new UnbuildableTransfer(
      `${network.name} lacks the deterministic deployer ${DETERMINISTIC_DEPLOYER}: put it there first`,
    );
}

/** @throws UnbuildableTransfer while transactions of the wallet are in no block: they could take the same sequence */
async function readSequence(reads: NodeReads, deployer: Address): Promise<number> {
  const count = async (tag: 'latest' | 'pending') =>
    readQuantity(await reads.call('eth_getTransactionCount', [deployer, tag]), 'eth_getTransactionCount');
  const mined = await count('latest');
  if ((await count('pending')) > mined)
    throw new UnbuildableTransfer(`a transaction of ${deployer} is not in a block yet: wait for it`);
  return Number(mined);
}

/**
 * Sends what was quoted. A deployment that was sent twice changes nothing: its address follows from the code, and is taken.
 *
 * @throws UnbuildableTransfer where a node refuses one; ChainUnavailable, after which it may have been sent
 */
export async function sendDeployments(
  { node, network }: NodeOfNetwork,
  account: PrivateKeyAccount,
  { sequence, fees, transactions }: DeploymentQuote,
): Promise<SentDeployment[]> {
  const sent: SentDeployment[] = [];
  for (const [place, { contract, expected, gas }] of transactions.entries()) {
    const nonce = sequence + place;
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId: network.chainId,
      nonce,
      to: toAddress(expected.deployer),
      data: toHex(expected.data),
      value: 0n,
      gas,
      ...fees,
    });
    const txId = readSigned(raw)?.txId ?? '0x';
    const answer = await sendSigned(node, network, {
      network: 'erc20',
      txId,
      raw,
      sender: account.address,
      itemIds: [],
      sequence: String(nonce),
      feeLimit: gas * fees.maxFeePerGas,
    });
    if (answer.result === 'rejected')
      throw new UnbuildableTransfer(`the node refuses the transaction of ${contract}: ${answer.code}`);
    sent.push({ contract, address: expected.address, txId });
  }
  return sent;
}

/**
 * Those that have no code yet.
 *
 * @throws UnbuildableTransfer where a transaction failed; ChainUnavailable
 */
export async function readOpenDeployments(
  node: EvmNode,
  sent: readonly SentDeployment[],
): Promise<SentDeployment[]> {
  const reads = readsOf(node);
  const open: SentDeployment[] = [];
  for (const one of sent) {
    const code = readBytes(await reads.agreed('eth_getCode', [one.address, 'latest']), 'eth_getCode');
    if (code !== '0x') continue;
    const receipt = await reads.agreed('eth_getTransactionReceipt', [one.txId]);
    if (receipt !== null && readQuantity(readRecord(receipt, 'the receipt').status, 'status') === 0n)
      throw new UnbuildableTransfer(`the transaction of ${one.contract} failed on the chain: ${one.txId}`);
    open.push(one);
  }
  return open;
}

const toHex = (text: string): Hex => readBytes(text, 'the data');
