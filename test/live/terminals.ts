import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Florin } from '@florin/sdk';
import { vi } from 'vitest';
import { readNetworksFile } from '../../scripts/networks-file.ts';
import { giveInput } from '../give-input.ts';
import { FLORIN } from '../programs.ts';
import { tellOnFailure } from '../tell-on-failure.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
export const LONG = { timeout: 300_000, interval: 1_000 };

/** What a page of the docs gives to copy. @returns finds its only block with these words */
export function blocksOf(page: string): (words: string) => string {
  const text = readFileSync(path.join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/^```sh[^\n]*\n([\s\S]*?)^```$/gm)].map(([, lines = '']) => lines);
  return (words) => {
    const [only, ...others] = blocks.filter((lines) => lines.includes(words));
    if (only === undefined || others.length > 0) throw new Error(`not one block of ${page} has ${words}`);
    return only;
  };
}

interface Background {
  child: ChildProcess;
  ended: Promise<unknown>;
  /** What it says on standard error. */
  log: readonly string[];
}

/** Terminals of a person in a folder of their own: what pages say runs there as it stands, each program a process. Ports alone are free ones. */
export class Terminals {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'florin-guide-'));
  readonly #bin = path.join(this.#folder, 'bin');
  readonly #variables = path.join(this.#folder, 'variables');
  readonly #running = new Map<string, Background>();

  constructor() {
    mkdirSync(this.#bin);
    const node = process.execPath;
    this.#command('npx', `shift; exec ${node} ${FLORIN} "$@"`);
    this.#command(
      'npm',
      `if [ "$1" = start ]; then exec ${node} ${FLORIN} start --port 0 --json; fi
shift 2
if [ $# = 0 ]; then exec ${node} ${ROOT}/scripts/chains.ts --port 0 --solana-port 0 --tron-port 0 --block-time 1 --json; fi
shift
exec ${node} ${ROOT}/scripts/chains.ts "$@"`,
    );
    writeFileSync(this.#variables, '');
  }

  #command(name: string, lines: string): void {
    const file = path.join(this.#bin, name);
    writeFileSync(file, `#!/bin/sh\n${lines}\n`);
    chmodSync(file, 0o755);
  }

  #shell(lines: string) {
    return spawn('bash', ['-ec', lines], {
      cwd: this.#folder,
      env: {
        PATH: `${this.#bin}:${process.env.PATH}`,
        HOME: this.#folder,
        TMPDIR: tmpdir(),
        NODE_PATH: path.join(ROOT, 'node_modules'),
      },
    });
  }

  /** In one terminal: what a block sets, the next one has. @returns all that it printed */
  async run(lines: string, stdin = ''): Promise<string> {
    const child = this.#shell(`set -a; . ${this.#variables}; ${lines}
export -p > ${this.#variables}`);
    const out: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => out.push(chunk.toString()));
    giveInput(child.stdin, stdin);
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(`${lines}\n${out.join('')}`);
    return out.join('');
  }

  /** Starts a program that goes on running, and waits until it says that it is ready. @param name for `kill` and `logOf` */
  async start(name: string, lines: string): Promise<void> {
    const child = this.#shell(`exec env ${lines.trim()}`);
    const out: string[] = [];
    const failed: string[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => failed.push(chunk.toString()));
    const ended = new Promise((resolve) => child.once('close', resolve));
    this.#running.set(name, { child, ended, log: failed });
    tellOnFailure(
      () => `${name} said last: ${failed.join('').split('\n').slice(-4).join(' ').slice(-1_000)}`,
    );
    // Each says in one answer that it is ready, or ends.
    await vi.waitUntil(() => child.exitCode !== null || out.join('').endsWith('}\n'), LONG);
    if (child.exitCode !== null) throw new Error(failed.join(''));
  }

  async kill(name: string): Promise<void> {
    const one = this.#running.get(name);
    one?.child.kill('SIGKILL');
    await one?.ended;
  }

  logOf(name: string): string {
    return this.#running.get(name)?.log.join('') ?? '';
  }

  pathOf(file: string): string {
    return path.join(this.#folder, '.florin', file);
  }

  json(file: string) {
    return JSON.parse(readFileSync(this.pathOf(file), 'utf8'));
  }

  networks() {
    return readNetworksFile(this.pathOf('networks.json'));
  }

  /** With the key of the live merchant. */
  sdk(): Florin {
    const { api_key: apiKey, secret_key: secretKey } = this.json('live-key.json');
    return new Florin({ baseUrl: this.json('sandbox.json').base_url, apiKey, secretKey });
  }

  async close(): Promise<void> {
    for (const { child } of this.#running.values()) child.kill('SIGTERM');
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
