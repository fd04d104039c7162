import { createHash } from 'node:crypto';
import { TronWeb, utils } from 'tronweb';

// A node as its users' library sees it: tronweb builds and signs, and calls go over the wire.

export const TRX = 1_000_000;

export interface TestKey {
  secret: string;
  address: string;
}

/** Keys that everybody can compute. */
export function keyOf(name: string): TestKey {
  const secret = createHash('sha256').update(`florin public test key: ${name}`).digest('hex');
  return { secret, address: String(TronWeb.address.fromPrivateKey(secret)) };
}

export const OWNER = keyOf('owner of tokens');
export const PAYER = keyOf('payer');

export interface Signed {
  txID: string;
  signature: string[];
  raw_data: Record<string, unknown>;
  raw_data_hex: string;
}

export interface BuildOptions {
  /** Of the node. */
  url: string;
  feeLimit?: number;
  validMs?: number;
  /** Milliseconds by which the transaction differs from its like. */
  apart?: number;
  reference?: { bytes: string; hash: string };
}

export type Parameter = string | number | bigint | boolean;

/** What a transaction names of the chain, from the solid block. */
async function headerOf({ validMs = 60_000, apart = 0, url, reference }: BuildOptions) {
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
  { secret, address }: TestKey,
  method: string,
  values: Parameter[],
  options: BuildOptions & { contract: string },
): Promise<Signed> {
  const tronWeb = new TronWeb({ fullHost: 'http://127.0.0.1:1' });
  const types = /\((.*)\)/.exec(method)?.[1]?.split(',') ?? [];
  const parameters = values.map((value, at) => ({
    type: types[at] ?? '',
    value: typeof value === 'boolean' ? value : String(value),
  }));
  const { feeLimit = 50 * TRX, contract } = options;
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

/** A native contract: TRX sent, staked or delegated. */
export async function native(
  { secret, address }: TestKey,
  type: string,
  value: Record<string, unknown>,
  options: BuildOptions & { memo?: string },
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
export async function ask(path: string, fields: object, url: string) {
  const answer = await fetch(`${url}/${path}`, { method: 'POST', body: JSON.stringify(fields) });
  return JSON.parse(await answer.text());
}

export async function send(signed: Signed, url: string) {
  return await ask('wallet/broadcasttransaction', signed, url);
}

/** @returns the transaction's id @throws where the node refuses it */
export async function sendOk(signed: Signed, url: string): Promise<string> {
  const answer = await send(signed, url);
  if (answer.result !== true) throw new Error(`refused: ${JSON.stringify(answer)} ${said(answer)}`);
  return signed.txID;
}

/** The message of a refusal, which java-tron writes in hex. */
export function said({ message = '' }: { message?: string }): string {
  return Buffer.from(message, 'hex').toString();
}

/** Of a token, in units. */
export async function balanceOf(
  contract: string,
  of: string,
  { url, part = 'wallet' }: { url: string; part?: 'wallet' | 'walletsolidity' },
): Promise<bigint> {
  const { constant_result: words } = await ask(
    `${part}/triggerconstantcontract`,
    {
      owner_address: of,
      contract_address: contract,
      function_selector: 'balanceOf(address)',
      parameter: hex(of).slice(2).padStart(64, '0'),
      visible: true,
    },
    url,
  );
  return BigInt(`0x${words[0]}`);
}
