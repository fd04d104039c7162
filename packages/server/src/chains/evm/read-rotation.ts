import { ASSETS, type Asset } from '@florin/contract/money';
import type { Address } from 'viem';
import { checkErc20Address } from '../addresses/erc20.ts';
import { accountData, readAccountAt } from '../collector/read.ts';
import type { CollectorAccount, Head, RotatedWallet, RotationFacts } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { readBalances } from './balances.ts';
import type { MovementWallets } from './build-movement.ts';
import { priceOf } from './fees.ts';
import { type GasUse, gasLimit } from './gas.ts';
import { collectorOf } from './mandates.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
import { type NodeReads, readFeeHistory, readQuantity, readRecord, readsOf } from './node-answers.ts';
import { readNative, readTank, readToken } from './precheck.ts';

/** As `makeOwnerCall` of the signer has it. */
const OWNER_CALL_GAS = 120_000n;

/** What an address holds in the newest final block. */
export type ReadFinalTokens = (address: string) => Promise<ReadonlyMap<Asset, bigint>>;

interface MerchantOnNetwork {
  network: EvmNetwork;
  node: EvmNode;
  wallets: MovementWallets;
  /** As `Chain.head`. */
  head: () => Promise<Pick<Head, 'finalHeight'>>;
}

/** @throws ChainUnavailable, FeeCeilingReached */
export async function readRotation(
  merchant: MerchantOnNetwork,
  readFinalTokens: ReadFinalTokens,
): Promise<Omit<RotationFacts, 'finalTime'>> {
  const { network, node, wallets } = merchant;
  const reads = readsOf(node);
  const { maxFeePerGas } = priceOf(await readFeeHistory(reads), network.feeCeilings);
  const costs = (use: GasUse) => gasLimit(use, network.feeCeilings.gasPerTransaction) * maxFeePerGas;
  const tank = await readTank(reads, wallets.tank);
  const rotated: RotatedWallet[] = [];
  for (const [epoch, address] of wallets.rotated.entries()) {
    const { nextSequence, native } = await readRotated(reads, address);
    const tokens = await readTokens(merchant, address);
    const refused = await readRefused(merchant, address, tokens);
    const finalTokens = await readFinalTokens(address);
    rotated.push({ keyRef: `hot:${epoch}`, address, nextSequence, native, tokens, refused, finalTokens });
  }
  return {
    hot: wallets.hot,
    wallets: rotated,
    collector: network.collector === null ? null : await readCollectorAccount(merchant),
    tank,
    fees: {
      move: costs({ kind: 'transfer' }),
      plain: costs({ kind: 'plain' }),
      account: costs({ kind: 'account' }),
      ownerCall: OWNER_CALL_GAS * maxFeePerGas,
    },
  };
}

/** Two endpoints have to agree on the sequence: the database takes it for its own where it is ahead. */
async function readRotated(reads: NodeReads, address: Address) {
  const count = await reads.agreed('eth_getTransactionCount', [address, 'latest']);
  const nextSequence = readQuantity(count, 'eth_getTransactionCount');
  return { nextSequence, native: await readNative(reads, address) };
}

async function readTokens(
  { network, node }: MerchantOnNetwork,
  address: string,
): Promise<ReadonlyMap<Asset, bigint>> {
  const newest = readRecord(await node.newest('latest'), 'the newest block');
  const height = readQuantity(newest.number, 'number');
  const held = new Map<Asset, bigint>();
  for (const asset of ASSETS) {
    const token = network.tokens[asset]?.address;
    if (token === undefined) continue;
    const request = { token, addresses: [address], height, endpoints: 'one' as const };
    held.set(asset, (await readBalances(node, request)).get(address) ?? 0n);
  }
  return held;
}

async function readRefused(
  { network, node, wallets, head }: MerchantOnNetwork,
  sender: Address,
  tokens: ReadonlyMap<Asset, bigint>,
): Promise<ReadonlySet<Asset>> {
  const { finalHeight: from } = await head();
  const refused = new Set<Asset>();
  for (const [asset, amount] of tokens) {
    if (amount === 0n) continue;
    const items = [{ itemId: asset, place: 0, to: wallets.hot, amount }];
    const found = await readToken(node, network, { sender, asset, items, contract: null, from });
    if (found.refused !== null || found.unpayable.size > 0) refused.add(asset);
  }
  return refused;
}

/** Two endpoints have to agree on it: a second call of the owner would begin the two days anew. */
async function readCollectorAccount({
  network,
  node,
  wallets,
}: MerchantOnNetwork): Promise<CollectorAccount> {
  const reads = readsOf(node);
  const owner = await readTank(reads, wallets.owner);
  const call = { to: collectorOf(network), data: accountData(wallets) };
  const account = readAccountAt(`0x${String(await reads.agreed('eth_call', [call, 'latest'])).slice(2)}`);
  if (account === undefined)
    throw new ChainUnavailable('erc20', 'the account at the collector is unreadable');
  const [own, operator, home, nextHome, movesAt] = account;
  const isMissing = BigInt(own) === 0n;
  return {
    isMissing,
    operator: isMissing ? '' : canonical(operator),
    home: isMissing ? '' : canonical(home),
    nextHome: movesAt === 0n ? null : { address: canonical(nextHome), movesAt: Number(movesAt) },
    owner: { ...owner, isCold: wallets.isOwnerCold },
  };
}

const canonical = (address: string): string => checkErc20Address(address.toLowerCase()).canonical;
