import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Hex } from 'viem';
import { toQuantity } from '../../../packages/server/src/chains/evm/node-answers.ts';
import { DETERMINISTIC_DEPLOYER } from '../../../packages/signer/src/contracts.ts';
import { DirectNode } from './direct-node.ts';

const START_MS = 30_000;
/** `geth --dev` has no other. */
export const GETH_CHAIN_ID = 1_337;

/** `describe.skipIf(!hasGeth())`: it enforces rules of mempools that anvil does not. */
export function hasGeth(): boolean {
  const there = findGeth() !== undefined;
  if (!there)
    console.log('skipped: no geth is on the PATH (go install github.com/ethereum/go-ethereum/cmd/geth)');
  return there;
}

function findGeth(): string | undefined {
  const files = (process.env.PATH ?? '').split(path.delimiter).map((folder) => path.join(folder, 'geth'));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A geth of its own on 127.0.0.1 with a block each second, whose developer account has all the ether. */
export class Geth {
  readonly node: DirectNode;
  readonly #stop: () => Promise<void>;
  readonly #developer: Hex;

  private constructor(node: DirectNode, developer: Hex, stop: () => Promise<void>) {
    this.node = node;
    this.#developer = developer;
    this.#stop = stop;
  }

  static async start(): Promise<Geth> {
    const folder = mkdtempSync(path.join(tmpdir(), 'florin-geth-'));
    const options = [
      '--dev',
      '--dev.period=1',
      '--dev.gaslimit=60000000',
      `--datadir=${folder}`,
      '--http',
      '--http.addr=127.0.0.1',
      '--http.port=0',
      '--http.api=eth,debug',
      '--rpc.allow-unprotected-txs',
      '--port=0',
      '--authrpc.port=0',
      '--nodiscover',
      '--ipcdisable',
    ];
    const child = spawn(findGeth() ?? 'geth', options, { stdio: ['ignore', 'ignore', 'pipe'] });
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const stop = async () => {
      child.kill('SIGTERM');
      await ended;
      process.off('exit', kill);
      rmSync(folder, { recursive: true, force: true });
    };
    try {
      const node = new DirectNode(`http://${await listeningAddress(child)}`);
      const accounts: unknown = await node.call('eth_accounts', []);
      const [developer] = Array.isArray(accounts) ? accounts : [];
      return new Geth(node, developer, stop);
    } catch (error) {
      await stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  /** From the developer account. @returns the receipt */
  async send(transaction: { to?: string; value?: bigint; data?: Hex }): Promise<Record<string, unknown>> {
    const { to, value = 0n, data = '0x' } = transaction;
    const from = this.#developer;
    const fields = { from, value: toQuantity(value), data, ...(to !== undefined && { to }) };
    return await this.mined(await this.node.call('eth_sendTransaction', [fields]));
  }

  /** Waits for its block. */
  async mined(hash: unknown): Promise<Record<string, unknown>> {
    for (let i = 0; i < 100; i++) {
      const receipt = await this.node.call('eth_getTransactionReceipt', [hash]);
      if (receipt !== null) return { ...Object(receipt) };
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`${String(hash)} was not mined`);
  }

  /** Puts the deterministic deployer on the chain: by the one transaction that everybody uses, which nobody has signed. */
  async placeDeployer(): Promise<void> {
    await this.send({ to: '0x3fAB184622Dc19b6109349B94811493BF2a45362', value: 10n ** 17n });
    await this.mined(await this.node.call('eth_sendRawTransaction', [DEPLOYER_TRANSACTION]));
    const code = await this.node.call('eth_getCode', [DETERMINISTIC_DEPLOYER, 'latest']);
    if (code === '0x') throw new Error('the deterministic deployer is not there');
  }
}

const DEPLOYER_TRANSACTION = [
  '0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7f',
  'ff'.repeat(31),
  'e03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba0',
  '22'.repeat(32),
  'a0',
  '22'.repeat(32),
].join('');

/** Reads geth's log up to the line that names its port, then lets the rest go. */
function listeningAddress(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const late = setTimeout(() => reject(new Error('geth did not start')), START_MS);
  if (child.stderr === null) throw new Error('geth has no log');
  createInterface({ input: child.stderr }).on('line', (line) => {
    const address = /HTTP server started\s+endpoint=(127\.0\.0\.1:\d+)/.exec(line)?.[1];
    if (address !== undefined) resolve(address);
  });
  child.once('error', reject);
  child.once('close', () => reject(new Error('geth has ended')));
  return promise.finally(() => clearTimeout(late));
}
