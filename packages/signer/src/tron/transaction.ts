import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concat, isEqual } from '../bytes.ts';
import { BadEncoding } from '../rlp.ts';
import { TRON_ADDRESS_BYTES, tronAddressBytes, tronAddressOf } from './address.ts';
import { type Message, type Read, readMessage, writeMessage } from './protobuf.ts';

/** What a transaction does; addresses in base58check, amounts of TRX in sun. */
export type TronContract =
  | { kind: 'transfer'; owner: string; to: string; amount: bigint }
  /** Calls a smart contract, without coins. */
  | { kind: 'trigger'; owner: string; contract: string; data: Uint8Array }
  /** Lends the energy or bandwidth of so much staked TRX to another account, not locked. */
  | {
      kind: 'delegate' | 'undelegate';
      owner: string;
      resource: TronResource;
      balance: bigint;
      receiver: string;
    };

export type TronResource = 'bandwidth' | 'energy';

/** `Transaction.raw` of the network: all that a signature covers. */
export interface TronTransaction {
  /** Bytes 6 and 7 of the number of the block that it refers to. */
  refBlockBytes: Uint8Array;
  /** Bytes 8 to 15 of that block's id. */
  refBlockHash: Uint8Array;
  /** Unix milliseconds, as of the network's blocks: from then on it is in no block. */
  expiration: bigint;
  /** Unix milliseconds. Nothing but this tells two equal payments of one block apart. */
  timestamp: bigint;
  contract: TronContract;
  /** The most sun that the energy of a call may cost. */
  feeLimit: bigint;
}

export interface SignedTronTransaction {
  rawData: Uint8Array;
  /** r, s, then 27 or 28. */
  signature: Uint8Array;
}

const bytes = (name: string) => ({ name, type: 'bytes' }) as const;
const number = (name: string) => ({ name, type: 'number' }) as const;

const TRANSACTION: Message = {
  name: 'the transaction',
  fields: { 1: bytes('raw_data'), 2: bytes('signature') },
};
const RAW: Message = {
  name: 'the raw data',
  fields: {
    1: bytes('ref_block_bytes'),
    4: bytes('ref_block_hash'),
    8: number('expiration'),
    11: bytes('contract'),
    14: number('timestamp'),
    18: number('fee_limit'),
  },
};
const CONTRACT: Message = { name: 'the contract', fields: { 1: number('type'), 2: bytes('parameter') } };
const ANY: Message = { name: 'the parameter', fields: { 1: bytes('type_url'), 2: bytes('value') } };
const TYPE_URL = 'type.googleapis.com/protocol.';

const lending = (name: string): Message => ({
  name,
  fields: {
    1: bytes('owner_address'),
    2: number('resource'),
    3: number('balance'),
    4: bytes('receiver_address'),
  },
});

/** The contracts that are signed, by the number of their type. Their other fields, such as `call_value`, are not. */
const CONTRACTS = {
  transfer: {
    type: 1n,
    message: {
      name: 'TransferContract',
      fields: { 1: bytes('owner_address'), 2: bytes('to_address'), 3: number('amount') },
    },
  },
  trigger: {
    type: 31n,
    message: {
      name: 'TriggerSmartContract',
      fields: { 1: bytes('owner_address'), 2: bytes('contract_address'), 4: bytes('data') },
    },
  },
  delegate: { type: 57n, message: lending('DelegateResourceContract') },
  undelegate: { type: 58n, message: lending('UnDelegateResourceContract') },
} as const satisfies Record<TronContract['kind'], { type: bigint; message: Message }>;

const KINDS = ['transfer', 'trigger', 'delegate', 'undelegate'] as const;
const RESOURCES = ['bandwidth', 'energy'] as const;
const REF_BLOCK_BYTES = 2;
const REF_BLOCK_HASH_BYTES = 8;
const SIGNATURE_BYTES = 65;

/**
 * Reads the raw data of a transaction. It has one contract, of those that are signed, and nothing that is not understood.
 *
 * @throws BadEncoding unless the bytes are the one form of that transaction
 */
export function decodeTronTransaction(rawData: Uint8Array): TronTransaction {
  const raw = readMessage(RAW, rawData);
  return {
    refBlockBytes: exactly(raw, 1, REF_BLOCK_BYTES, 'ref_block_bytes'),
    refBlockHash: exactly(raw, 4, REF_BLOCK_HASH_BYTES, 'ref_block_hash'),
    expiration: positive(raw, 8, 'the expiration'),
    timestamp: positive(raw, 14, 'the timestamp'),
    contract: decodeContract(raw.bytes(11)),
    feeLimit: raw.number(18),
  };
}

function decodeContract(field: Uint8Array): TronContract {
  const contract = readMessage(CONTRACT, field);
  const type = contract.number(1);
  const kind = KINDS.find((one) => CONTRACTS[one].type === type);
  if (kind === undefined) throw new BadEncoding(`contracts of type ${type} are not signed`);
  const any = readMessage(ANY, contract.bytes(2));
  const { message } = CONTRACTS[kind];
  if (!isEqual(any.bytes(1), Buffer.from(TYPE_URL + message.name)))
    throw new BadEncoding(`type ${type} is not of the parameter's type_url`);
  const read = readMessage(message, any.bytes(2));
  const owner = addressIn(read, 1, 'owner_address');
  switch (kind) {
    case 'transfer':
      return { kind, owner, to: addressIn(read, 2, 'to_address'), amount: positive(read, 3, 'the amount') };
    case 'trigger':
      return { kind, owner, contract: addressIn(read, 2, 'contract_address'), data: read.bytes(4) };
    case 'delegate':
    case 'undelegate':
      return {
        kind,
        owner,
        resource: resourceIn(read),
        balance: positive(read, 3, 'the balance'),
        receiver: addressIn(read, 4, 'receiver_address'),
      };
  }
}

function exactly(read: Read, field: number, length: number, name: string): Uint8Array {
  const value = read.bytes(field);
  if (value.length !== length) throw new BadEncoding(`${name} has ${value.length} bytes, not ${length}`);
  return value;
}

function positive(read: Read, field: number, name: string): bigint {
  const value = read.number(field);
  if (value === 0n) throw new BadEncoding(`${name} is missing`);
  return value;
}

function addressIn(read: Read, field: number, name: string): string {
  const value = exactly(read, field, TRON_ADDRESS_BYTES, name);
  if (value[0] !== 0x41) throw new BadEncoding(`${name} does not begin with 41`);
  return tronAddressOf(value);
}

function resourceIn(read: Read): TronResource {
  const code = read.number(2);
  const resource = RESOURCES[Number(code)];
  if (resource === undefined) throw new BadEncoding(`there is no resource ${code}`);
  return resource;
}

/** The raw data of a transaction: `decodeTronTransaction` reads it back. */
export function encodeTronTransaction(tx: TronTransaction): Uint8Array {
  const { type, message } = CONTRACTS[tx.contract.kind];
  const parameter = writeMessage([1, Buffer.from(TYPE_URL + message.name)], [2, parameterOf(tx.contract)]);
  return writeMessage(
    [1, tx.refBlockBytes],
    [4, tx.refBlockHash],
    [8, tx.expiration],
    [11, writeMessage([1, type], [2, parameter])],
    [14, tx.timestamp],
    [18, tx.feeLimit],
  );
}

function parameterOf(contract: TronContract): Uint8Array {
  const owner = [1, tronAddressBytes(contract.owner)] as const;
  switch (contract.kind) {
    case 'transfer':
      return writeMessage(owner, [2, tronAddressBytes(contract.to)], [3, contract.amount]);
    case 'trigger':
      return writeMessage(owner, [2, tronAddressBytes(contract.contract)], [4, contract.data]);
    case 'delegate':
    case 'undelegate':
      return writeMessage(
        owner,
        [2, BigInt(RESOURCES.indexOf(contract.resource))],
        [3, contract.balance],
        [4, tronAddressBytes(contract.receiver)],
      );
  }
}

/** Its id, which is also what is signed. */
export const tronTransactionId = (rawData: Uint8Array): Uint8Array => sha256(rawData);

/** Signs raw data. The same call gives the same bytes (RFC 6979). */
export function signTronTransaction(rawData: Uint8Array, privateKey: Uint8Array): SignedTronTransaction {
  const signed = secp256k1.sign(tronTransactionId(rawData), privateKey, {
    prehash: false,
    lowS: true,
    format: 'recovered',
  });
  const [recovery = 0] = signed;
  return { rawData, signature: concat(signed.subarray(1), Uint8Array.of(27 + recovery)) };
}

/** What a node takes (`wallet/broadcasthex`). */
export const encodeSignedTron = ({ rawData, signature }: SignedTronTransaction): Uint8Array =>
  writeMessage([1, rawData], [2, signature]);

/**
 * Reads what `encodeSignedTron` wrote. Whether the signature is the owner's is not checked.
 *
 * @throws BadEncoding
 */
export function decodeSignedTron(bytesOfAll: Uint8Array): SignedTronTransaction {
  const read = readMessage(TRANSACTION, bytesOfAll);
  const rawData = read.bytes(1);
  decodeTronTransaction(rawData);
  return { rawData, signature: exactly(read, 2, SIGNATURE_BYTES, 'the signature') };
}
