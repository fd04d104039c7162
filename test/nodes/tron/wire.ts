import { TronWeb, utils } from 'tronweb';

/** What of tronweb's protobuf classes is used, which it types as nothing. */
interface ProtoRaw {
  serializeBinary(): Uint8Array;
  getContractList(): { getType(): number; getPermissionId(): number }[];
  getData_asU8(): Uint8Array;
}

interface ProtoTransaction {
  serializeBinary(): Uint8Array;
  getRawData(): ProtoRaw | undefined;
  getSignatureList_asU8(): Uint8Array[];
  setSignatureList(list: Uint8Array[]): void;
}

interface Proto {
  Transaction: { deserializeBinary(bytes: Uint8Array): ProtoTransaction };
}

const proto: Proto = Reflect.get(globalThis, 'TronWebProto');

const TYPES: Record<number, string> = {
  1: 'TransferContract',
  31: 'TriggerSmartContract',
  54: 'FreezeBalanceV2Contract',
  57: 'DelegateResourceContract',
  58: 'UnDelegateResourceContract',
};

/** Bytes that no transaction of this node is made of. */
export class Unreadable extends Error {}

export interface RawData {
  contract: [{ parameter: { value: Record<string, unknown>; type_url: string }; type: string }];
  ref_block_bytes: string;
  ref_block_hash: string;
  expiration: number;
  fee_limit?: number;
  timestamp: number;
  /** The memo, in hex. */
  data?: string;
}

/** A signed transaction, as tronweb reads it. Addresses are in hex with 41, all hex in lower case. */
export interface TronTransaction {
  id: string;
  raw: RawData;
  rawHex: string;
  signatures: string[];
  type: string;
  value: Record<string, unknown>;
  owner: string;
  /** In bytes, as bandwidth is counted: with 64 for the result. */
  size: number;
  /** 0 is the owner's own permission. */
  permission: number;
}

const RESULT_BYTES = 64;

/** @throws Unreadable */
export function readSigned(hex: string): TronTransaction {
  const bytes = fromHex(hex);
  let parsed: ProtoTransaction;
  try {
    parsed = proto.Transaction.deserializeBinary(bytes);
  } catch {
    throw new Unreadable('not a transaction');
  }
  // Unknown fields, fields twice and other spellings are lost when tronweb reads and writes.
  if (Buffer.compare(parsed.serializeBinary(), bytes) !== 0)
    throw new Unreadable('the bytes hold more than tronweb reads, or in another order');
  return readParsed(parsed);
}

/** Of the JSON that wallets send: the bytes follow from `raw_data`, and `raw_data_hex` is not looked at. */
export function readJson(json: Record<string, unknown>): TronTransaction {
  const { signature } = json;
  let parsed: ProtoTransaction;
  try {
    parsed = utils.transaction.txJsonToPb(json);
  } catch (error) {
    throw new Unreadable(error instanceof Error ? error.message : 'not a transaction');
  }
  const signatures = Array.isArray(signature) ? signature.map((one) => fromHex(String(one))) : [];
  parsed.setSignatureList(signatures);
  return readParsed(parsed);
}

function readParsed(parsed: ProtoTransaction): TronTransaction {
  const rawData = parsed.getRawData();
  const [contract, second] = rawData?.getContractList() ?? [];
  if (rawData === undefined || contract === undefined) throw new Unreadable('no contract');
  if (second !== undefined) throw new Unreadable('act size should be exactly 1, this is extend feature');
  const type = TYPES[contract.getType()];
  if (type === undefined) throw new Unreadable(`contract type ${contract.getType()} is not in this node`);
  const rawBytes = rawData.serializeBinary();
  const raw = readRaw(type, toHex(rawBytes), toHex(rawData.getData_asU8()));
  const { value } = raw.contract[0].parameter;
  return {
    id: utils.transaction.txPbToTxID(parsed).replace(/^0x/, '').toLowerCase(),
    raw,
    rawHex: toHex(rawBytes),
    signatures: parsed.getSignatureList_asU8().map(toHex),
    type,
    value,
    owner: textOf(value.owner_address),
    size: parsed.serializeBinary().length + RESULT_BYTES,
    permission: contract.getPermissionId(),
  };
}

function readRaw(type: string, rawHex: string, memo: string): RawData {
  const read = utils.deserializeTx.deserializeTransaction(type, rawHex);
  const value: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(read.contract[0].parameter.value)) {
    if (one === 0 || one === '' || one === false) continue;
    value[name] = typeof one === 'string' ? one.toLowerCase() : one;
  }
  return {
    contract: [{ parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type }],
    ref_block_bytes: read.ref_block_bytes.toLowerCase(),
    ref_block_hash: read.ref_block_hash.toLowerCase(),
    expiration: read.expiration,
    ...(read.fee_limit > 0 && { fee_limit: read.fee_limit }),
    timestamp: read.timestamp,
    ...(memo !== '' && { data: memo }),
  };
}

/** Who signed, in hex with 41; undefined where it is no signature. */
export function signerOf({ id, signatures }: TronTransaction): string | undefined {
  const [signature] = signatures;
  if (signature?.length !== 130) return undefined;
  try {
    return utils.crypto.ecRecover(id, signature).toLowerCase();
  } catch {
    return undefined;
  }
}

function fromHex(text: string): Uint8Array {
  const hex = text.replace(/^0x/, '');
  if (!/^([0-9a-fA-F]{2})+$/.test(hex)) throw new Unreadable('INVALID hex String');
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** A field of JSON that should be a text or a number; empty where it is neither. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** T…, 41… or 0x… as hex with 41. @throws Unreadable */
export function hexAddress(text: unknown): string {
  const given = textOf(text);
  if (/^0x[0-9a-fA-F]{40}$/.test(given)) return `41${given.slice(2).toLowerCase()}`;
  if (!TronWeb.isAddress(given)) throw new Unreadable('INVALID address');
  return TronWeb.address.toHex(given).toLowerCase();
}

export function evmAddress(hex41: string): `0x${string}` {
  return `0x${hex41.slice(2)}`;
}

export function base58Address(hex41: string): string {
  return TronWeb.address.fromHex(hex41);
}
