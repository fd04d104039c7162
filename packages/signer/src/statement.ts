import { createHash } from 'node:crypto';
import { concat, fromHex, type Hex, keccak, toHex } from './bytes.ts';
import type { Purpose, PurposeItem, SignerAsset, SignerNetwork } from './protocol.ts';

/** The parts of a purpose that are money: a payout batch or a refund. */
export type Payment = Extract<Purpose, { kind: 'payout' | 'refund' }>;

/** What an approver says yes to. */
export interface Subject {
  kind: 'payout' | 'refund';
  /** UUID. */
  merchant: string;
  /** UUID of the batch or refund. */
  id: string;
  network: SignerNetwork;
  asset: SignerAsset;
  /** All of them, by place from 0. */
  items: readonly PurposeItem[];
}

/** Where it counts, and what it says. The signer of real money knows `live` and `approve` alone. */
interface Said {
  mode: 'live' | 'sandbox';
  decision: 'approve' | 'reject';
}
const APPROVED: Said = { mode: 'live', decision: 'approve' };

/**
 * The one statement that approvers sign: whoever shows, signs or checks it makes the same bytes with `statementText` or
 * `approvalTypedData`. `items` is a SHA-256 over network, asset, recipient, amount, memo and place of each.
 */
export interface Statement extends Said {
  kind: 'payout' | 'refund';
  merchant: string;
  id: string;
  network: SignerNetwork;
  asset: SignerAsset;
  count: number;
  /** Units of the token, decimal digits. */
  total: string;
  /** Hex. */
  items: Hex;
  /** Unix seconds. */
  validUntil: number;
}

export function statementOf(
  subject: Subject,
  validUntil: number,
  { mode, decision }: Said = APPROVED,
): Statement {
  const { kind, merchant, id, network, asset, items } = subject;
  const total = items.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return {
    mode,
    kind,
    merchant,
    id,
    network,
    asset,
    count: items.length,
    total: String(total),
    items: itemsDigest(subject),
    decision,
    validUntil,
  };
}

/** The case of hex is a checksum and changes nothing; base58 begins with no 0, and another case is another address. */
const signedAddress = (address: string) => (address.startsWith('0x') ? address.toLowerCase() : address);

/** A line of JSON for each item, in order of places. */
function itemsDigest({ network, asset, items }: Subject): Hex {
  const hash = createHash('sha256');
  for (const { place, to, amount, memo } of items.toSorted((a, b) => a.place - b.place))
    hash.update(`${JSON.stringify([place, network, asset, signedAddress(to), amount, memo])}\n`);
  return toHex(hash.digest());
}

/** The text whose UTF-8 bytes are signed with Ed25519. */
export function statementText(statement: Statement): string {
  const { mode, kind, merchant, id, network, asset, count, total, items, decision, validUntil } = statement;
  const lines = [
    'Florin approval 1',
    `mode ${mode}`,
    `kind ${kind}`,
    `merchant ${merchant}`,
    `id ${id}`,
    `network ${network}`,
    `asset ${asset}`,
    `count ${count}`,
    `total ${total}`,
    `items ${items}`,
    `decision ${decision}`,
    `valid_until ${validUntil}`,
  ];
  return `${lines.join('\n')}\n`;
}

const FIELDS = [
  { name: 'mode', type: 'string' },
  { name: 'kind', type: 'string' },
  { name: 'merchant', type: 'string' },
  { name: 'id', type: 'string' },
  { name: 'network', type: 'string' },
  { name: 'asset', type: 'string' },
  { name: 'count', type: 'uint256' },
  { name: 'total', type: 'uint256' },
  { name: 'items', type: 'bytes32' },
  { name: 'decision', type: 'string' },
  { name: 'validUntil', type: 'uint256' },
] as const;
const DOMAIN = { name: 'Florin approval', version: '1' } as const;

/** EIP-712, for any wallet's `eth_signTypedData_v4`. */
export function approvalTypedData(statement: Statement) {
  return {
    domain: DOMAIN,
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
      ],
      Approval: FIELDS,
    },
    primaryType: 'Approval',
    message: { ...statement, count: String(statement.count), validUntil: String(statement.validUntil) },
  } as const;
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const word = (number: bigint) => fromHex(`0x${number.toString(16).padStart(64, '0')}`);
const TYPE = keccak(utf8(`Approval(${FIELDS.map(({ name, type }) => `${type} ${name}`).join(',')})`));
const DOMAIN_SEPARATOR = keccak(
  keccak(utf8('EIP712Domain(string name,string version)')),
  keccak(utf8(DOMAIN.name)),
  keccak(utf8(DOMAIN.version)),
);

/** What a wallet signs for `approvalTypedData`. */
export function approvalDigest(statement: Statement): Uint8Array {
  const values = FIELDS.map(({ name, type }) => {
    const value = statement[name];
    if (type === 'string') return keccak(utf8(String(value)));
    return type === 'uint256' ? word(BigInt(value)) : fromHex(String(value));
  });
  return keccak(Uint8Array.of(0x19, 0x01), DOMAIN_SEPARATOR, keccak(TYPE, concat(...values)));
}
