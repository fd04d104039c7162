import { Faults } from '../faults.ts';
import { type Answer, type Listening, listen, type NodeRequest } from '../http-server.ts';
import { findCall } from './calls.ts';
import { TronChain, type TronChainOptions } from './chain.ts';
import { lendStake } from './resources.ts';
import { TronView } from './view.ts';
import { base58Address, hexAddress } from './wire.ts';

export interface TronNodeOptions extends TronChainOptions {
  /** 0 takes a free one, which is the default. */
  port?: number;
  /**
   * instant: a block for each transaction that is sent · byHand: `chain.produce()` alone · a number: one each so many
   * milliseconds, as every 3,000 on mainnet
   */
  blocks?: 'instant' | 'byHand' | number;
}

/** A URL of a chain: what it has seen of it, and what goes wrong there. */
export interface TronEndpoint extends Listening {
  view: TronView;
  faults: Faults;
}

/** A local Tron, on 127.0.0.1: this process and an anvil. */
export interface TronNode {
  url: string;
  chain: TronChain;
  /** The first endpoint, which has a solid view. */
  endpoint: TronEndpoint;
  /** Another provider's node on the same chain, with its own lag and faults. */
  open(): Promise<TronEndpoint>;
  /** Gives TRX out of nothing, and activates the account. */
  fund(address: string, sun: number): void;
  /** Stakes TRX for energy out of nothing. */
  stake(address: string, sun: number): void;
  /** What an account has staked is lent to another past all signatures; with less than 0 it is taken back. */
  lend(from: string, to: string, sun: number): void;
  /** Puts a contract on the chain, past its rules. @returns its address in base58 */
  deploy(name: string, bytecode: string, from: string): Promise<string>;
  stop(): Promise<void>;
}

/** @throws with one line where there is no anvil */
export async function startTronNode(options: TronNodeOptions = {}): Promise<TronNode> {
  const { port = 0, blocks = 'instant' } = options;
  const chain = await TronChain.start(options);
  const sent = async () => {
    if (blocks === 'instant') await chain.produce();
  };
  const endpoints: TronEndpoint[] = [];
  const open = async (at = 0) => {
    const endpoint = await openEndpoint(new TronView(chain, sent), at);
    endpoints.push(endpoint);
    return endpoint;
  };
  const endpoint = await open(port).catch(async (error: unknown) => {
    await chain.evm.stop();
    throw error;
  });
  const timer = typeof blocks === 'number' ? setInterval(() => void chain.produce(), blocks) : undefined;
  return {
    url: endpoint.url,
    chain,
    endpoint,
    open: () => open(),
    fund(address, sun) {
      chain.change(hexAddress(address)).balance += sun;
    },
    stake(address, sun) {
      chain.change(hexAddress(address)).frozen.energy += sun;
    },
    lend(from, to, sun) {
      const [lender, borrower] = [chain.change(hexAddress(from)), chain.change(hexAddress(to))];
      lendStake({ lender, borrower, resource: 'energy', amount: sun });
    },
    deploy: (name, bytecode, from) => deploy(chain, { name, bytecode, from }),
    async stop() {
      clearInterval(timer);
      await Promise.all(endpoints.map((one) => one.stop()));
      await chain.alone(() => chain.evm.stop());
    },
  };
}

async function deploy(chain: TronChain, contract: { name: string; bytecode: string; from: string }) {
  const origin = hexAddress(contract.from);
  return await chain.alone(async () => {
    const seconds = Math.max(await chain.evm.time(), Math.floor(chain.head.time / 1_000));
    const call = { from: `0x${origin.slice(2)}`, data: contract.bytecode };
    const { ok, contractAddress } = await chain.evm.run(call, 10_000_000, seconds);
    if (!ok || contractAddress === null) throw new Error(`${contract.name} was not deployed`);
    chain.head.evmHeight = await chain.evm.height();
    const address = hexAddress(contractAddress);
    chain.contracts.set(address, { name: contract.name, origin });
    return base58Address(address);
  });
}

async function openEndpoint(view: TronView, port: number): Promise<TronEndpoint> {
  const faults = new Faults();
  const handler = {
    methodOf: ({ url }: NodeRequest) => url.pathname.slice(1),
    // As TronGrid answers.
    limited: () => ({ status: 429, body: { Error: 'request rate exceeded the allowed_rps' } }),
    answer: (request: NodeRequest) => answer(view, request),
  };
  return { ...(await listen(handler, faults, port)), view, faults };
}

async function answer(view: TronView, { url, verb, text }: NodeRequest): Promise<Answer> {
  const call = findCall(view, url.pathname);
  if (call === undefined) return { status: 404, body: '<html><title>Error 404 Not Found</title></html>' };
  let fields: Record<string, unknown>;
  try {
    fields = verb === 'GET' || text === '' ? Object.fromEntries(url.searchParams) : Object(JSON.parse(text));
  } catch {
    return { status: 200, body: { Error: 'class com.alibaba.fastjson.JSONException : syntax error' } };
  }
  try {
    return { status: 200, body: await call(fields) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { status: 200, body: { Error: `class java.lang.IllegalArgumentException : ${message}` } };
  }
}
