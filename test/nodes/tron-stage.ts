import { createHash } from 'node:crypto';
import { TronWeb, utils } from 'tronweb';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { TestTronUSDT } from '../../contracts/artifacts/index.ts';
import { startTronNode, type TronNode } from './tron/node.ts';

export const TRX = 1_000_000;

export let node: TronNode;
export let usdt: string;

/** Keys of tests. */
export function keyOf(name: string) {
  const secret = createHash('sha256').update(`florin public test key: ${name}`).digest('hex');
  return { secret, address: String(TronWeb.address.fromPrivateKey(secret)) };
}

export const OWNER = keyOf('owner of tokens');
export const PAYER = keyOf('payer');

/** A node with a token and a payer who has some: for each test of the file, or one for all of them. */
export function useTron(often: 'each' | 'once'): void {
  const [before, after] = often === 'each' ? [beforeEach, afterEach] : [beforeAll, afterAll];
  before(async () => {
    node = await startTronNode({ blocks: 'byHand' });
    for (const { address } of [OWNER, PAYER]) node.fund(address, 10_000 * TRX);
    usdt = await node.deploy('USDT', TestTronUSDT.bytecode, OWNER.address);
    await sendOk(await call(OWNER, 'mint(address,uint256)', [PAYER.address, 1_000_000_000]));
    await node.chain.produce();
  });
  after(() => node.stop());
}

export interface Signed {
  txID: string;
  signature: string[];
  raw_data: Record<string, unknown>;
  raw_data_hex: string;
}

interface BuildOptions {
  contract?: string;
  feeLimit?: number;
  validMs?: number;
  /** Milliseconds by which the transaction differs from its like. */
  apart?: number;
  url?: string;
  reference?: { bytes: string; hash: string };
}

type Parameter = string | number | bigint;

/** What a transaction names of the chain, from the solid block. */
async function headerOf({ validMs = 60_000, apart = 0, url = node.url, reference }: BuildOptions) {
  const solid = await ask('walletsolidity/getnowblock', {}, url);
  const { raw_data: raw } = solid.block_header;
  const head = (await ask('wallet/getnowblock', {}, url)).block_header.raw_data.timestamp;
  return {
    ref_block_bytes: reference?.bytes ?? (raw.number ?? 0).toString(16).padStart(4, '0').slice(-4),
    ref_block_hash: reference?.hash ?? solid.blockID.slice(16, 32),
    timestamp: head + apart,
    expiration: head + validMs,
  };
}

/** A call of a contract, built and signed by tronweb without a node. */
export async function call(
  { secret, address }: { secret: string; address: string },
  method: string,
  values: Parameter[],
  options: BuildOptions = {},
): Promise<Signed> {
  const tronWeb = new TronWeb({ fullHost: 'http://127.0.0.1:1' });
  const types = /\((.*)\)/.exec(method)?.[1]?.split(',') ?? [];
  const parameters = values.map((value, at) => ({ type: types[at] ?? '', value: String(value) }));
  const { feeLimit = 50 * TRX, contract = usdt } = options;
  const local = { txLocal: true, feeLimit, blockHeader: await headerOf(options) };
  const { transaction } = await tronWeb.transactionBuilder.triggerSmartContract(
    contract,
    method,
    local,
    parameters,
    address,
  );
  return sign(transaction, secret);
}

export async function pay(to: string, amount: number, options: BuildOptions = {}): Promise<Signed> {
  return await call(PAYER, 'transfer(address,uint256)', [to, amount], options);
}

/** A native contract: TRX sent, staked or delegated. */
export async function native(
  { secret, address }: { secret: string; address: string },
  type: string,
  value: Record<string, unknown>,
  options: BuildOptions & { memo?: string } = {},
): Promise<Signed> {
  const { memo, feeLimit } = options;
  const raw = {
    contract: [
      {
        parameter: {
          value: { owner_address: hex(address), ...value },
          type_url: `type.googleapis.com/protocol.${type}`,
        },
        type,
      },
    ],
    ...(await headerOf(options)),
    ...(memo !== undefined && { data: Buffer.from(memo).toString('hex') }),
    ...(feeLimit !== undefined && { fee_limit: feeLimit }),
  };
  const made = utils.transaction.txJsonToPb({ raw_data: raw });
  const transaction = {
    txID: utils.transaction.txPbToTxID(made).replace(/^0x/, ''),
    raw_data: raw,
    raw_data_hex: utils.transaction.txPbToRawDataHex(made).toLowerCase(),
  };
  return sign(transaction, secret);
}

function sign(transaction: object, secret: string): Signed {
  return utils.crypto.signTransaction(secret, structuredClone(transaction)) as Signed;
}

export function hex(address: string): string {
  return TronWeb.address.toHex(address).toLowerCase();
}

/** The whole signed transaction as one message, as broadcasthex takes it. */
export function bytesOf({ raw_data_hex: raw, signature }: Signed): string {
  const part = (tag: string, body: string) => {
    const length = body.length / 2;
    const varint = length < 128 ? [length] : [(length & 127) | 128, length >> 7];
    return tag + Buffer.from(varint).toString('hex') + body;
  };
  return part('0a', raw) + signature.map((one) => part('12', one.replace(/^0x/, ''))).join('');
}

/** Any call, as it goes over the wire. */
export async function ask(path: string, fields: object = {}, url = node.url) {
  const answer = await fetch(`${url}/${path}`, { method: 'POST', body: JSON.stringify(fields) });
  return JSON.parse(await answer.text());
}

export async function send(signed: Signed, url = node.url) {
  return await ask('wallet/broadcasttransaction', signed, url);
}

export async function sendOk(signed: Signed): Promise<string> {
  const answer = await send(signed);
  if (answer.result !== true) throw new Error(`refused: ${JSON.stringify(answer)} ${said(answer)}`);
  return signed.txID;
}

/** The message of a refusal, which java-tron writes in hex. */
export function said({ message = '' }: { message?: string }): string {
  return Buffer.from(message, 'hex').toString();
}

export async function produce(blocks = 1): Promise<void> {
  for (let made = 0; made < blocks; made += 1) await node.chain.produce();
}

/** Of the token, by tronweb. */
export async function balance(of: string, part: 'wallet' | 'walletsolidity' = 'wallet'): Promise<number> {
  const { constant_result: words } = await ask(`${part}/triggerconstantcontract`, {
    owner_address: of,
    contract_address: usdt,
    function_selector: 'balanceOf(address)',
    parameter: hex(of).slice(2).padStart(64, '0'),
    visible: true,
  });
  return Number.parseInt(words[0], 16);
}
