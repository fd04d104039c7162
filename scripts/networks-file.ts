import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Address, Hex } from 'viem';
import type { NetworkEntry, NetworksFile } from '../packages/server/src/chains/evm/networks-file.ts';

/** Files that this command wrote carry it; any other file is somebody's configuration and stays untouched. */
const WRITTEN_BY = 'npm run chains';

/** A local node's entry, which has everything. */
export interface LocalEntry extends NetworkEntry {
  endpoints: [{ url: string; own: true }];
  genesis_hash: Hex;
  tokens: Record<'USDT' | 'USDC', { address: Address; decimals: 6 }>;
  contracts: { batch_payout: Address; sweeper: Address; collector: Address };
}

interface LocalFile extends NetworksFile {
  networks: { erc20: LocalEntry };
}

/** @throws with one line where the file is not one that `writeNetworksFile` wrote, or cannot be read. */
export function readNetworksFile(file: string): LocalEntry {
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
export function writeNetworksFile(file: string, erc20: LocalEntry): void {
  refuseForeignFile(file);
  const content: LocalFile = { written_by: WRITTEN_BY, networks: { erc20 } };
  mkdirSync(path.dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(unfinished, file);
}

/** Removes the file of a node that has stopped, unless another node has written its own since. */
export function removeNetworksFile(file: string, { genesis_hash }: LocalEntry): void {
  const found = existsSync(file) ? parse(file) : undefined;
  if (found?.written_by === WRITTEN_BY && found.networks.erc20.genesis_hash === genesis_hash) rmSync(file);
}

function parse(file: string): LocalFile | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
