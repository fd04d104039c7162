import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Address, Hex } from 'viem';
import type { NetworkEntry, NetworksFile } from '../packages/server/src/chains/evm/networks-file.ts';
import type { SolanaEntry } from '../packages/server/src/chains/solana/network-entry.ts';
import type { TronEntry } from '../packages/server/src/chains/tron/network-entry.ts';

/** Files that this command wrote carry it; any other file is somebody's configuration and stays untouched. */
const WRITTEN_BY = 'npm run chains';

/** A local node's entry, which has everything. */
export interface LocalEntry extends NetworkEntry {
  endpoints: [{ url: string; own: true }];
  genesis_hash: Hex;
  tokens: Record<'USDT' | 'USDC', { address: Address; decimals: 6 }>;
  contracts: { batch_payout: Address; sweeper: Address; collector: Address };
}

type LocalTokens = Record<'USDT' | 'USDC', { address: string; decimals: 6 }>;

export interface LocalTronEntry extends TronEntry {
  endpoints: [{ url: string; own: true }];
  tokens: LocalTokens;
  contracts: { collector: string };
}

export interface LocalSolanaEntry extends SolanaEntry {
  endpoints: [{ url: string; own: true }];
  tokens: LocalTokens;
}

/** The three nodes that run together. */
export interface LocalNetworks {
  erc20: LocalEntry;
  trc20: LocalTronEntry;
  spl: LocalSolanaEntry;
}

interface LocalFile extends NetworksFile {
  networks: LocalNetworks;
}

/** @throws with one line where the file is not one that `writeNetworksFile` wrote, or cannot be read. */
export function readNetworksFile(file: string): LocalNetworks {
  if (!existsSync(file))
    throw new Error(`${file} does not exist: start npm run chains first, or give --file`);
  const found = parse(file);
  if (found?.written_by !== WRITTEN_BY) throw new Error(`${file} was not written by ${WRITTEN_BY}`);
  return found.networks;
}

/** @throws with one line where the file is somebody else's, which is not overwritten. */
export function refuseForeignFile(file: string): void {
  if (existsSync(file) && parse(file)?.written_by !== WRITTEN_BY) {
    throw new Error(`${file} was not written by ${WRITTEN_BY} and is not overwritten: give another --file`);
  }
}

/** Whole or not at all: a server that waits for the file never reads half of it. */
export function writeNetworksFile(file: string, networks: LocalNetworks): void {
  refuseForeignFile(file);
  const content: LocalFile = { written_by: WRITTEN_BY, networks };
  mkdirSync(path.dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(unfinished, file);
}

/** Removes the file of nodes that have stopped, unless others have written their own since. */
export function removeNetworksFile(file: string, { erc20 }: LocalNetworks): void {
  const found = existsSync(file) ? parse(file) : undefined;
  if (found?.written_by === WRITTEN_BY && found.networks.erc20.genesis_hash === erc20.genesis_hash)
    rmSync(file);
}

function parse(file: string): LocalFile | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
