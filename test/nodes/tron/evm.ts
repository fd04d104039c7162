import { type Anvil, startAnvil } from '../../../scripts/anvil.ts';

interface RpcAnswer {
  result?: unknown;
  error?: { message: string; data?: unknown };
}

export interface EvmReceipt {
  ok: boolean;
  gasUsed: number;
  logs: { address: string; topics: string[]; data: string }[];
  contractAddress: string | null;
}

export type CallResult = { ok: true; data: string } | { ok: false; data: string };

interface Call {
  from: string;
  to: string;
  data: string;
}

/** The machine that runs the contracts: anvil, which makes blocks when it is told and takes any sender. */
export class Evm {
  readonly #anvil: Anvil;
  #id = 0;

  private constructor(anvil: Anvil) {
    this.#anvil = anvil;
  }

  static async start(): Promise<Evm> {
    const evm = new Evm(await startAnvil());
    await evm.#rpc('anvil_autoImpersonateAccount', [true]);
    await evm.#rpc('evm_setAutomine', [false]);
    return evm;
  }

  async stop(): Promise<void> {
    await this.#anvil.stop();
  }

  /** Of the newest block, in seconds. */
  async time(): Promise<number> {
    const block = await this.#rpc('eth_getBlockByNumber', ['latest', false]);
    return Number(fieldOf(block, 'timestamp'));
  }

  async height(): Promise<number> {
    return Number(await this.#rpc('eth_blockNumber', []));
  }

  async setChainId(number: number): Promise<void> {
    await this.#rpc('anvil_setChainId', [number]);
  }

  async snapshot(): Promise<string> {
    return String(await this.#rpc('evm_snapshot', []));
  }

  async revert(snapshot: string): Promise<void> {
    await this.#rpc('evm_revert', [snapshot]);
  }

  async hasCode(address: string): Promise<boolean> {
    return (await this.#rpc('eth_getCode', [address, 'latest'])) !== '0x';
  }

  async mine(seconds: number): Promise<void> {
    await this.#prepareBlock(seconds);
    await this.#rpc('evm_mine', []);
  }

  /** In a block of its own. */
  async run(
    call: { from: string; to?: string; data: string },
    gas: number,
    seconds: number,
  ): Promise<EvmReceipt> {
    const sent = { ...call, gas: `0x${gas.toString(16)}`, gasPrice: '0x0' };
    await this.#prepareBlock(seconds);
    const hash = await this.#rpc('eth_sendTransaction', [sent]);
    await this.#rpc('evm_mine', []);
    return readReceipt(await this.#rpc('eth_getTransactionReceipt', [hash]));
  }

  /** Without keeping anything. */
  async call(call: Call, block: number | 'latest' = 'latest'): Promise<CallResult> {
    const at = block === 'latest' ? block : `0x${block.toString(16)}`;
    const { result, error } = await this.#ask('eth_call', [{ ...call, gasPrice: '0x0' }, at]);
    if (error === undefined) return { ok: true, data: String(result) };
    return { ok: false, data: typeof error.data === 'string' ? error.data : '0x' };
  }

  /** @returns undefined where the call fails whatever it is given */
  async estimate(call: Call): Promise<number | undefined> {
    const { result, error } = await this.#ask('eth_estimateGas', [{ ...call, gasPrice: '0x0' }]);
    return error === undefined ? Number(result) : undefined;
  }

  /** Two blocks may have the same time, and after a fork a block of Tron may be older than anvil's newest one. */
  async #prepareBlock(seconds: number): Promise<void> {
    const time = Math.max(seconds, await this.time());
    await this.#rpc('evm_setNextBlockTimestamp', [`0x${time.toString(16)}`]);
    await this.#rpc('anvil_setNextBlockBaseFeePerGas', ['0x0']);
  }

  async #rpc(method: string, params: unknown[]): Promise<unknown> {
    const { result, error } = await this.#ask(method, params);
    if (error !== undefined) throw new Error(`anvil: ${method}: ${error.message}`);
    return result;
  }

  async #ask(method: string, params: unknown[]): Promise<RpcAnswer> {
    this.#id += 1;
    const answer = await fetch(this.#anvil.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: this.#id, method, params }),
    });
    return (await answer.json()) as RpcAnswer;
  }
}

/** What a transaction costs before its contract runs: energy does not count it. */
export function intrinsicGas(data: string): number {
  const bytes = Buffer.from(data.replace(/^0x/, ''), 'hex');
  return 21_000 + bytes.reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), 0);
}

/** Anvil takes no transaction with less: since Prague each byte of data has a least price (EIP-7623). */
export function leastGas(data: string): number {
  const bytes = Buffer.from(data.replace(/^0x/, ''), 'hex');
  const floor = 21_000 + bytes.reduce((sum, byte) => sum + (byte === 0 ? 10 : 40), 0);
  return Math.max(intrinsicGas(data), floor);
}

function readReceipt(receipt: unknown): EvmReceipt {
  const logs = fieldOf(receipt, 'logs');
  const created = fieldOf(receipt, 'contractAddress');
  return {
    ok: fieldOf(receipt, 'status') === '0x1',
    gasUsed: Number(fieldOf(receipt, 'gasUsed')),
    logs: Array.isArray(logs) ? logs.map(readLog) : [],
    contractAddress: typeof created === 'string' ? created : null,
  };
}

function readLog(log: unknown) {
  const topics = fieldOf(log, 'topics');
  return {
    address: String(fieldOf(log, 'address')),
    topics: Array.isArray(topics) ? topics.map(String) : [],
    data: String(fieldOf(log, 'data')),
  };
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) throw new Error('anvil answers in an unknown form');
  return Reflect.get(value, name);
}
