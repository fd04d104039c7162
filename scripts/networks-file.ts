import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Address, Hex } from 'viem';

/** Files that this command wrote carry it; any other file is somebody's configuration and stays untouched. */
const WRITTEN_BY = 'npm run chains';

interface TokenEntry {
  address: Address;
  decimals: number;
}

/** What a server has to know of a network to work on it. Amounts of the native coin are decimal digits, in wei. */
export interface NetworkEntry {
  name: string;
  /** Coins without value. */
  test: boolean;
  endpoints: string[];
  chain_id: number;
  /** Another one under the same chain id is another chain: a local node that was started again. */
  genesis_hash: Hex;
  tokens: Record<'USDT' | 'USDC', TokenEntry>;
  contracts: { batch_payout: Address; sweeper: Address };
  /** Blocks up to the node's `finalized` are final; small deposits count earlier, after so many blocks. */
  finality: { tag: 'finalized'; early_confirmations: number };
  fee_ceilings: { max_fee_per_gas: string; max_priority_fee_per_gas: string; gas_per_transaction: number };
  /** Links with `{tx_id}` and `{address}` in them; null where nobody shows this chain. */
  explorer: { transaction: string; address: string } | null;
}

interface NetworksFile {
  written_by?: string;
  networks: { erc20: NetworkEntry };
}

/** @throws with one line where the file is not one that `writeNetworksFile` wrote, or cannot be read. */
export function readNetworksFile(file: string): NetworkEntry {
  if (!existsSync(file))
    throw new Error(`${file} does not exist: start npm run chains first, or give --file`);
  const found = parse(file);
  if (found?.written_by !== WRITTEN_BY) throw new Error(`${file} was not written by ${WRITTEN_BY}`);
  return found.networks.erc20;
}

/** @throws with one line where the file is somebody else's, which is not overwritten. */
export function refuseForeignFile(file: string): void {
  if (existsSync(file) && parse(file)?.written_by !== WRITTEN_BY) {
    throw new Error(`${file} was not written by ${WRITTEN_BY} and is not overwritten: give another --file`);
  }
}

/** Whole or not at all: a server that waits for the file never reads half of it. */
export function writeNetworksFile(file: string, erc20: NetworkEntry): void {
  refuseForeignFile(file);
  const content: NetworksFile = { written_by: WRITTEN_BY, networks: { erc20 } };
  mkdirSync(path.dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(unfinished, file);
}

/** Removes the file of a node that has stopped, unless another node has written its own since. */
export function removeNetworksFile(file: string, { genesis_hash }: NetworkEntry): void {
  const found = existsSync(file) ? parse(file) : undefined;
  if (found?.written_by === WRITTEN_BY && found.networks.erc20.genesis_hash === genesis_hash) rmSync(file);
}

function parse(file: string): NetworksFile | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
